//! What depends on the CPU's model and on no feature bit: where string instructions and non-temporal stores win, and
//! which of two kernels of the same features.
//!
//! A feature bit says that an instruction is there, never that it is fast. `rep movsb` copies 64 KiB on a Zen 3 in 3,200
//! ticks or in 52,900, depending on the distance between the buffers, and both that CPU and one on which it wins at every
//! distance report ERMS. So every decision of this kind stands in [`PROFILES`], one row for each CPU that was measured, and
//! each row says where the figures are. A CPU that nobody measured gets [`UNMEASURED`]: loops, never a string
//! instruction, and non-temporal stores only from sizes at which they won on every CPU so far.

use super::Features;
use core::ops::RangeInclusive;

/// No length is this large.
const NEVER: usize = usize::MAX;

/// Whatever the model, calls without an intent that are shorter than this are done by loops, so that kernels need not look
/// at the profile for them.
pub const LOOPS_BELOW_BYTES: usize = 16 << 10;

/// What a CPU is best off with; `..._from_bytes` is the length from which on a call is not done by a loop.
///
/// ```
/// let profile = carryline::internals::cpu::profile();
/// if !profile.is_measured() {
///     assert_eq!(profile.rep_movsb_from_bytes, usize::MAX);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Profile {
    /// The CPU, as people call it.
    pub name: &'static str,
    /// Where the figures behind the row are.
    pub source: &'static str,
    /// The kernel that is preferred over those above it in its lists.
    pub kernel: Option<&'static str>,
    /// `rep stosb` instead of a loop of stores.
    pub rep_stosb_from_bytes: usize,
    /// The same for bytes that are read at once: as long as the first level can hold them they should be in it, where
    /// `rep stosb` does not always leave them.
    pub rep_stosb_read_here_from_bytes: usize,
    /// The same for bytes that nothing reads soon: destinations that are not cached.
    pub rep_stosb_not_soon_from_bytes: usize,
    /// `rep movsb` instead of a loop of moves, at distances of the buffers at which no CPU was seen to be slow.
    pub rep_movsb_from_bytes: usize,
    /// The same for copies that nothing reads soon.
    pub rep_movsb_not_soon_from_bytes: usize,
    /// Zeroing that nothing reads soon uses non-temporal stores. Below, the fence costs more than they save.
    pub zero_non_temporal_from_bytes: usize,
    /// Copies that nothing reads soon use non-temporal stores.
    pub copy_non_temporal_from_bytes: usize,
}

impl Profile {
    /// False on a CPU that nobody measured.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        *self != UNMEASURED
    }
}

/// A maker, a family and models of it, as CPUID numbers them with the extended fields added.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Models {
    vendor: Vendor,
    family: u32,
    models: RangeInclusive<u32>,
}

/// Who made the CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vendor {
    /// `AuthenticAMD`.
    Amd,
    /// `GenuineIntel`.
    Intel,
    /// Anybody else.
    Other,
}

/// A CPU's model as CPUID tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Model {
    pub(crate) vendor: Vendor,
    pub(crate) family: u32,
    pub(crate) model: u32,
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other CPU has CPUID"))]
impl Model {
    /// Reads the registers of leaf 0 (EBX, ECX, EDX) and of leaf 1 (EAX).
    pub(crate) fn decode([ebx, ecx, edx]: [u32; 3], leaf1_eax: u32) -> Model {
        let is = |first, second, third| [ebx, edx, ecx] == [first, second, third].map(u32::from_le_bytes);
        let vendor = match () {
            () if is(*b"Auth", *b"enti", *b"cAMD") => Vendor::Amd,
            () if is(*b"Genu", *b"ineI", *b"ntel") => Vendor::Intel,
            () => Vendor::Other,
        };
        let (base, extended) = (leaf1_eax >> 8 & 0xf, leaf1_eax >> 20 & 0xff);
        let family = if base == 0xf { base + extended } else { base };
        let model = (leaf1_eax >> 4 & 0xf) | if base >= 6 { leaf1_eax >> 12 & 0xf0 } else { 0 };
        Model { vendor, family, model }
    }
}

/// What every CPU gets that is in no row.
///
/// Loops lose to string instructions by at most 1.7 times where those win (Sapphire Rapids, copies of 24 KiB that the first
/// level just does not hold), string instructions to loops by 16 times where they lose. Non-temporal stores won from
/// 16 KiB on, on all three CPUs of the table, against loops on lines that are not cached.
pub(crate) const UNMEASURED: Profile = Profile {
    name: "a CPU that nobody measured",
    source: "no measurement: what was never far from the best on the CPUs that were measured",
    kernel: None,
    rep_stosb_from_bytes: NEVER,
    rep_stosb_read_here_from_bytes: NEVER,
    rep_stosb_not_soon_from_bytes: NEVER,
    rep_movsb_from_bytes: NEVER,
    rep_movsb_not_soon_from_bytes: NEVER,
    zero_non_temporal_from_bytes: 16 << 10,
    copy_non_temporal_from_bytes: 16 << 10,
};

/// The CPUs that were measured. A row's models are those of which one was measured, no more.
static PROFILES: &[(Models, Profile)] = &[
    (
        // The measurements are of model 2; models 0 to 15 are one product with the same cores.
        Models { vendor: Vendor::Amd, family: 26, models: 0x00..=0x0f },
        Profile {
            name: "AMD Zen 5 (EPYC 9005)",
            source: "docs/benchmarks.md, Zen 5, and 'carryline measure' at random offsets, 2026-11-22. Ticks by the loop and by \
                     rep stosb: in the caches 24 KiB 235 and 378, 64 KiB 952 and 1001, 512 KiB 5377 and 7958, 1.5 MiB \
                     31,900 and 26,500, 32 MiB 2.59 and 1.06 million; in no cache 32 KiB 4907 and 3818, 64 KiB 7676 and 7475, \
                     1 MiB 90,700 and 109,000; 36 KiB zeroed and read 367 and 737. By the loop and by rep movsb: 20 KiB 252 and \
                     334, 32 KiB 929 and 534, 4 MiB 212,000 and 179,000. Not soon read, by rep stosb and non-temporal: 64 KiB in \
                     the caches 576 and 4012, in none 7475 and 6610; 512 KiB 22,300 and 30,100, in none 1 MiB 109,000 and 94,000. \
                     By rep movsb and non-temporal: 64 KiB in the caches 1365 and 5126, in none 10,900 and 10,800",
            kernel: None,
            rep_stosb_from_bytes: 1 << 20,
            rep_stosb_read_here_from_bytes: 1 << 20,
            rep_stosb_not_soon_from_bytes: 512,
            rep_movsb_from_bytes: 25 << 10,
            rep_movsb_not_soon_from_bytes: 512,
            zero_non_temporal_from_bytes: 512 << 10,
            copy_non_temporal_from_bytes: 1 << 20,
        },
    ),
    (
        Models { vendor: Vendor::Amd, family: 25, models: 0x00..=0x0f },
        Profile {
            name: "AMD Zen 3 (EPYC 7003)",
            source: "a second harness on one machine, 2026-11-22, not yet this project's own. Copies of 64 KiB with the \
                     destination 1 to 31 bytes above the source modulo 4096: rep movsb 52,900 ticks, a loop 3,200; at other \
                     distances no difference. Zeroing lines that are not cached, non-temporal against a loop: 4 KiB 1.6 \
                     times faster, 16 KiB 2.4 times, 32 KiB 3 times; copies of 4 to 12 KiB 1.2 to 1.4 times",
            zero_non_temporal_from_bytes: 4 << 10,
            copy_non_temporal_from_bytes: 4 << 10,
            ..UNMEASURED
        },
    ),
    (
        Models { vendor: Vendor::Intel, family: 6, models: 0x8f..=0x8f },
        Profile {
            name: "Intel Sapphire Rapids",
            source: "a harness of its own on one machine, 2026-11-22; the library there: docs/benchmarks.md. Ticks by the 64-byte loop and by rep movsb: 16 KiB 266 and 271, 24 KiB \
                     841 and 501, 64 KiB 4295 and 4123, 1 MiB 95,800 and 84,900, not cached 16 KiB 6745 and 5141; at \
                     distances of 1 to 63 modulo 4096 within 3 % of each other up to 512 KiB. By rep stosb: 16 KiB 220 \
                     and 223, 48 KiB 1092 and 698, 16 MiB 2.80 and 1.65 million, not cached 16 KiB 4096 and 3706. Non-temporal, \
                     not cached: zero 8 KiB 2072 against 2010, 16 KiB 3003 against 3706; copy 16 KiB 5167 against \
                     5141, 32 KiB 9247 against 9875",
            kernel: Some("avx512_branched"),
            rep_stosb_from_bytes: 24 << 10,
            rep_stosb_read_here_from_bytes: 48 << 10,
            rep_stosb_not_soon_from_bytes: 8 << 10,
            rep_movsb_from_bytes: 16 << 10,
            rep_movsb_not_soon_from_bytes: 2 << 10,
            zero_non_temporal_from_bytes: 12 << 10,
            copy_non_temporal_from_bytes: 24 << 10,
        },
    ),
];

// What kernels rely on.
const _: () = {
    let mut row = 0;
    while row < PROFILES.len() {
        let profile = &PROFILES[row].1;
        assert!(profile.rep_stosb_from_bytes >= LOOPS_BELOW_BYTES);
        assert!(profile.rep_stosb_read_here_from_bytes >= LOOPS_BELOW_BYTES);
        assert!(profile.rep_movsb_from_bytes >= LOOPS_BELOW_BYTES);
        row += 1;
    }
};

/// The row of a model.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other CPU has CPUID"))]
fn of_model(model: Model) -> &'static Profile {
    let is_in = |models: &Models| {
        models.vendor == model.vendor && models.family == model.family && models.models.contains(&model.model)
    };
    PROFILES.iter().find(|(models, _)| is_in(models)).map_or(&UNMEASURED, |(_, profile)| profile)
}

/// Every profile, the one for CPUs that nobody measured last.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = &'static Profile> {
    PROFILES.iter().map(|(_, profile)| profile).chain([&UNMEASURED])
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod cached {
    use super::{PROFILES, Profile, UNMEASURED, of_model};
    use core::sync::atomic::{AtomicUsize, Ordering};

    /// A row's number and one, `PROFILES.len() + 1` where there is none, 0 before the CPU was asked. Numbers, not a
    /// pointer: those need no relocation.
    static ROW: AtomicUsize = AtomicUsize::new(0);

    #[inline]
    pub(super) fn profile() -> &'static Profile {
        match ROW.load(Ordering::Relaxed) {
            0 => find(),
            row => PROFILES.get(row - 1).map_or(&UNMEASURED, |(_, profile)| profile),
        }
    }

    /// Two threads that race here store the same.
    #[cold]
    #[inline(never)]
    fn find() -> &'static Profile {
        let found = of_model(super::super::x86_64::model());
        let row = PROFILES.iter().position(|(_, profile)| core::ptr::eq(profile, found));
        ROW.store(row.unwrap_or(PROFILES.len()) + 1, Ordering::Relaxed);
        found
    }
}

/// The profile of this CPU, looked up once. It depends only on the CPU's model: masked features are checked where
/// they are used.
#[must_use]
#[inline]
pub fn profile() -> &'static Profile {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        cached::profile()
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        &UNMEASURED
    }
}

/// What the choice between loops, string instructions and non-temporal stores rests on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    pub(crate) profile: &'static Profile,
    /// The CPU has fast string instructions, and they are not masked.
    pub(crate) has_erms: bool,
}

impl Machine {
    /// This one.
    #[inline(always)]
    pub(crate) fn here() -> Machine {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        let has_erms = super::known_features().contains(Features::ERMS);
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
        let has_erms = Features::NONE.contains(Features::ERMS);
        Machine { profile: profile(), has_erms }
    }
}

/// False where the destination lies 1 to 63 bytes above the source modulo 4096: `rep movsb` is 16 times slower on Zen 3 at 1
/// to 31, and CPUs that compare fewer bits of an address than it has take such a distance for an overlap.
#[inline(always)]
pub(crate) fn is_rep_movsb_safe(dst: usize, src: usize) -> bool {
    dst.wrapping_sub(src).wrapping_sub(1) & 4095 >= 63
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(vendor: Vendor, family: u32, model: u32) -> Model {
        Model { vendor, family, model }
    }

    #[test]
    fn registers_are_read_as_the_manuals_say() {
        let amd = [0x6874_7541, 0x444d_4163, 0x6974_6e65];
        let intel = [0x756e_6547, 0x6c65_746e, 0x4965_6e69];
        assert_eq!(Model::decode(amd, 0x00b0_0f21), model(Vendor::Amd, 26, 2));
        assert_eq!(Model::decode(amd, 0x00a0_0f11), model(Vendor::Amd, 25, 1));
        assert_eq!(Model::decode(intel, 0x000806f8), model(Vendor::Intel, 6, 0x8f));
        assert_eq!(Model::decode(intel, 0x0000_0f29), model(Vendor::Intel, 15, 2));
        assert_eq!(Model::decode([0; 3], 0), model(Vendor::Other, 0, 0));
    }

    #[test]
    fn a_model_gets_its_row_and_no_other() {
        assert!(of_model(model(Vendor::Amd, 26, 2)).name.contains("Zen 5"));
        assert!(of_model(model(Vendor::Amd, 25, 1)).name.contains("Zen 3"));
        assert!(of_model(model(Vendor::Intel, 6, 0x8f)).name.contains("Sapphire"));
        for unknown in [
            model(Vendor::Other, 26, 2),
            model(Vendor::Intel, 26, 2),
            model(Vendor::Amd, 26, 0x44),
            model(Vendor::Amd, 23, 1),
            model(Vendor::Intel, 6, 0xcf),
            model(Vendor::Other, 0, 0),
        ] {
            assert!(!of_model(unknown).is_measured(), "{unknown:?}");
        }
        let ambiguous =
            (0..=0xff).flat_map(|family| (0..=0xff).map(move |number| (family, number))).find(|at| {
                [Vendor::Amd, Vendor::Intel, Vendor::Other].into_iter().any(|vendor| {
                    let holds = |models: &Models| {
                        models.vendor == vendor && models.family == at.0 && models.models.contains(&at.1)
                    };
                    PROFILES.iter().filter(|(models, _)| holds(models)).count() > 1
                })
            });
        assert_eq!(ambiguous, None);
    }

    #[test]
    fn nobody_measured_means_no_string_instruction() {
        let Profile {
            rep_stosb_from_bytes,
            rep_stosb_read_here_from_bytes,
            rep_stosb_not_soon_from_bytes,
            rep_movsb_from_bytes,
            rep_movsb_not_soon_from_bytes,
            ..
        } = UNMEASURED;
        let all = [
            rep_stosb_from_bytes,
            rep_stosb_read_here_from_bytes,
            rep_stosb_not_soon_from_bytes,
            rep_movsb_from_bytes,
            rep_movsb_not_soon_from_bytes,
        ];
        assert_eq!(all, [NEVER; 5]);
    }

    #[test]
    fn a_distance_that_looks_like_an_overlap_is_known() {
        let src: usize = (1 << 40) + 77;
        for pages in [0, 4096, 1 << 20, 1 << 32, usize::MAX - 4095] {
            let is_safe =
                |distance: usize| is_rep_movsb_safe(src.wrapping_add(pages).wrapping_add(distance), src);
            for near in [1, 2, 31, 32, 63] {
                assert!(!is_safe(near), "{pages} + {near}");
            }
            for far in [0, 64, 65, 2048, 4032, 4095] {
                assert!(is_safe(far), "{pages} + {far}");
            }
        }
    }

    #[test]
    fn the_second_answer_is_the_first() {
        assert!(core::ptr::eq(profile(), profile()));
    }
}
