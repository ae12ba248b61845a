//! The features of the running CPU that the operating system supports.
//!
//! CPUID alone is not enough: programs can use AVX and AVX-512 registers only if the operating system saves
//! them at context switches, which it announces in XCR0 (read with XGETBV, which itself requires that CPUID
//! reports OSXSAVE). A virtual machine may report AVX-512 and disable it in XCR0; a library that checks only
//! CPUID then dies of SIGILL. [`Features::detect`] checks both.
//!
//! `CARRYLINE_MASK=avx512f,avx2` (crate feature `environment`) removes features and those that depend on
//! them, to run the code for a weaker CPU on a strong one. Features cannot be added.

pub(crate) mod caches;
mod model;

pub use model::Model;

use crate::word::Word;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

/// A set of the CPU features that this project's kernels use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Features(u32);

macro_rules! features {
    ($($(#[$doc:meta])* $constant:ident = $bit:literal, $name:literal;)*) => {
        impl Features {
            $($(#[$doc])* pub const $constant: Features = Features(1 << $bit);)*
            /// Every feature with its name in `CARRYLINE_MASK`, in `/proc/cpuinfo` and in listings.
            pub const NAMED: &'static [(&'static str, Features)] = &[$(($name, Features::$constant)),*];
        }
    };
}

features! {
    /// 128-bit integer vectors; part of every x86-64 CPU.
    SSE2 = 0, "sse2";
    /// 256-bit integer vectors, with the YMM state enabled by the operating system.
    AVX2 = 1, "avx2";
    /// `bzhi`, `shlx` and relatives, and `andn` of BMI1, which every CPU with them has.
    BMI2 = 2, "bmi2";
    /// `adcx` and `adox`: add with carry through CF or OF alone.
    ADX = 3, "adx";
    /// Enhanced `rep movsb` and `rep stosb`.
    ERMS = 4, "erms";
    /// 512-bit vectors and mask registers, with the ZMM and opmask state enabled by the operating system.
    AVX512F = 5, "avx512f";
    /// 512-bit vectors of bytes and words.
    AVX512BW = 6, "avx512bw";
    /// AVX-512 instructions on 128-bit and 256-bit vectors.
    AVX512VL = 7, "avx512vl";
    /// 512-bit dot products (`vpdpwssd`, `vpdpbusd`).
    AVX512VNNI = 8, "avx512_vnni";
    /// 256-bit dot products in VEX encoding.
    AVXVNNI = 9, "avx_vnni";
    /// AMD's `clzero`: zero one cache line without reading it.
    CLZERO = 10, "clzero";
    /// `clflushopt`: flush a line without waiting for earlier flushes.
    CLFLUSHOPT = 11, "clflushopt";
    /// `ssse3`: byte shuffles.
    SSSE3 = 12, "ssse3";
    /// `sse4_2`: string comparison and CRC-32; the baseline that some packet libraries are compiled for.
    SSE42 = 13, "sse4_2";
}

impl Features {
    /// The empty set.
    pub const NONE: Features = Features(0);

    /// The features that the masked-move AVX-512 kernels need.
    pub const AVX512: Features =
        Features::AVX512F.union(Features::AVX512BW).union(Features::AVX512VL).union(Features::BMI2);

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }

    /// This set without the members of `other`.
    #[must_use]
    pub const fn without(self, other: Features) -> Features {
        Features(self.0 & !other.0)
    }

    /// Whether every member of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Features) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set as bits, for storage in an atomic.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The feature with this name, as in [`Features::NAMED`].
    ///
    /// ```
    /// use carryline::internals::cpu::Features;
    /// assert_eq!(Features::from_name("avx2"), Some(Features::AVX2));
    /// assert_eq!(Features::from_name("avx3"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Features> {
        Features::NAMED.iter().find(|(known, _)| *known == name).map(|(_, feature)| *feature)
    }

    /// The names of the members, in the order of [`Features::NAMED`].
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Features::NAMED.iter().filter(move |(_, feature)| self.contains(*feature)).map(|(name, _)| *name)
    }

    /// This set without `masked` and the features that depend on it: without SSE2 no SSSE3, without that no SSE4.2
    /// and no AVX2, no AVX-512 without AVX2, no AVX-512 extension without AVX512F.
    ///
    /// ```
    /// use carryline::internals::cpu::Features;
    /// let strong = Features::AVX2.union(Features::AVX512F).union(Features::AVX512VNNI).union(Features::ERMS);
    /// assert_eq!(strong.masked(Features::AVX512F), Features::AVX2.union(Features::ERMS));
    /// assert_eq!(strong.masked(Features::AVX2), Features::ERMS);
    /// assert_eq!(strong.masked(Features::SSSE3), Features::ERMS);
    /// assert_eq!(strong.masked(Features::SSE2), Features::ERMS);
    /// ```
    #[must_use]
    pub const fn masked(self, mut masked: Features) -> Features {
        if masked.contains(Features::SSE2) {
            masked = masked.union(Features::SSSE3);
        }
        if masked.contains(Features::SSSE3) {
            masked = masked.union(Features::SSE42);
        }
        if masked.contains(Features::SSE42) {
            masked = masked.union(Features::AVX2);
        }
        let mut left = self.without(masked);
        if !left.contains(Features::AVX2) {
            left = left.without(Features::AVX512F).without(Features::AVXVNNI);
        }
        if !left.contains(Features::AVX512F) {
            left = left.without(Features::AVX512BW.union(Features::AVX512VL).union(Features::AVX512VNNI));
        }
        left
    }

    /// Queries the CPU and the operating system, without mask or cache. CPUID traps to the host in a virtual
    /// machine (thousands of cycles): call this once, or use [`features`].
    #[must_use]
    pub fn detect() -> Features {
        #[cfg(target_arch = "x86_64")]
        {
            x86_64::detect()
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            Features::NONE
        }
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

const KNOWN: u32 = 1 << 31;
static FEATURES: AtomicU32 = AtomicU32::new(0);

/// The features that kernels may use: [`Features::detect`] without masked ones, computed once.
#[must_use]
#[inline]
pub fn features() -> Features {
    let cached = FEATURES.load(Ordering::Relaxed);
    if cached & KNOWN != 0 {
        return Features(cached & !KNOWN);
    }
    find()
}

/// Removes features for the rest of the process, as `CARRYLINE_MASK` does, and returns the remaining ones;
/// for programs that read their own environment. Kernels and decisions chosen before stay.
///
/// ```
/// use carryline::internals::cpu::{self, Features};
/// assert!(!cpu::mask(Features::ERMS).contains(Features::ERMS));
/// assert!(!cpu::features().contains(Features::ERMS));
/// ```
pub fn mask(masked: Features) -> Features {
    let left = Features::detect().masked(masked);
    FEATURES.store(left.0 | KNOWN, Ordering::Relaxed);
    left
}

#[cold]
#[inline(never)]
fn find() -> Features {
    #[cfg(feature = "environment")]
    let mask = mask_from_environment().unwrap_or_else(|error| {
        static REPORTED: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);
        crate::environment::ignore(&REPORTED, &error);
        Features::NONE
    });
    #[cfg(not(feature = "environment"))]
    let mask = Features::NONE;
    let found = Features::detect().masked(mask);
    FEATURES.store(found.0 | KNOWN, Ordering::Relaxed);
    found
}

/// `CARRYLINE_MASK` names an unknown feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownFeature(Word);

impl fmt::Display for UnknownFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown CPU feature {} in CARRYLINE_MASK; known:", self.0)?;
        Features::NAMED.iter().try_for_each(|(name, _)| write!(f, " {name}"))
    }
}

impl core::error::Error for UnknownFeature {}

/// Reads a comma-separated list of feature names; empty words are skipped.
///
/// # Errors
/// [`UnknownFeature`] if a word is not a feature name.
///
/// ```
/// use carryline::internals::cpu::{Features, parse_mask};
/// assert_eq!(parse_mask("avx2, erms"), Ok(Features::AVX2.union(Features::ERMS)));
/// assert!(parse_mask("avx2,avx9").unwrap_err().to_string().contains("avx9"));
/// ```
pub fn parse_mask(list: &str) -> Result<Features, UnknownFeature> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty()).try_fold(Features::NONE, |set, word| {
        Features::from_name(word).map(|f| set.union(f)).ok_or_else(|| UnknownFeature(Word::new(word)))
    })
}

/// The mask in `CARRYLINE_MASK`; empty if the variable is unset or the crate is built without the feature
/// `environment`.
///
/// # Errors
/// [`UnknownFeature`] if a word in it is not a feature name.
pub fn mask_from_environment() -> Result<Features, UnknownFeature> {
    #[cfg(feature = "environment")]
    match crate::environment::variable("CARRYLINE_MASK") {
        None => Ok(Features::NONE),
        Some(list) => match list.to_str() {
            Some(list) => parse_mask(list),
            None => Err(UnknownFeature(Word::new(&list.to_string_lossy()))),
        },
    }
    #[cfg(not(feature = "environment"))]
    Ok(Features::NONE)
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::caches::Level;
    use super::{Features, Model};
    use core::arch::x86_64::{__cpuid_count, _xgetbv, CpuidResult};

    // XCR0 bits: SSE 1, AVX 2; opmask 5, upper halves of ZMM0-15 6, ZMM16-31 7.
    const XCR0_YMM: u64 = 0b110;
    const XCR0_ZMM: u64 = 0b1110_0110;

    #[allow(unused_unsafe, reason = "unsafe in the oldest Rust that is supported, safe in newer ones")]
    fn cpuid(leaf: u32, subleaf: u32) -> CpuidResult {
        // SAFETY: every x86-64 CPU has CPUID, with any leaf.
        unsafe { __cpuid_count(leaf, subleaf) }
    }

    /// The caches in the CPU's order, from the leaf that its vendor uses. No CPU has more than a few; a list
    /// that does not end is cut.
    pub(super) fn cache_levels() -> impl Iterator<Item = Level> {
        const INTEL_LEAF: u32 = 4;
        const AMD_LEAF: u32 = 0x8000_001d;
        const LEVELS_MOST: u32 = 8;
        let has_amd_leaf = cpuid(0x8000_0000, 0).eax >= AMD_LEAF && cpuid(0x8000_0001, 0).ecx >> 22 & 1 == 1;
        let leaf = if has_amd_leaf { AMD_LEAF } else { INTEL_LEAF };
        let count = if has_amd_leaf || cpuid(0, 0).eax >= INTEL_LEAF { LEVELS_MOST } else { 0 };
        (0..count).map_while(move |index| {
            let CpuidResult { eax, ebx, ecx, .. } = cpuid(leaf, index);
            Level::decode(eax, ebx, ecx)
        })
    }

    /// The CPU's model.
    pub(super) fn model() -> Model {
        let leaf0 = cpuid(0, 0);
        Model::decode([leaf0.ebx, leaf0.ecx, leaf0.edx], cpuid(1, 0).eax)
    }

    /// Whether the CPU has AVX10, which no kernel here needs; for [`Model::here`].
    pub(super) fn has_avx10() -> bool {
        cpuid(0, 0).eax >= 7 && cpuid(7, 0).eax >= 1 && cpuid(7, 1).edx >> 19 & 1 == 1
    }

    #[target_feature(enable = "xsave")]
    fn xcr0() -> u64 {
        // SAFETY: the caller has checked OSXSAVE, without which XGETBV is an illegal instruction.
        unsafe { _xgetbv(0) }
    }

    pub(super) fn detect() -> Features {
        let has = |register: u32, bit: u32| register >> bit & 1 == 1;
        let mut found = Features::SSE2;
        let mut add = |present: bool, feature: Features| {
            if present {
                found = found.union(feature);
            }
        };

        let leaf1 = cpuid(1, 0);
        let extended_8 = if cpuid(0x8000_0000, 0).eax >= 0x8000_0008 { cpuid(0x8000_0008, 0).ebx } else { 0 };

        let osxsave = has(leaf1.ecx, 26) && has(leaf1.ecx, 27);
        // SAFETY: OSXSAVE is set, so XGETBV exists and is enabled.
        let state = if osxsave { unsafe { xcr0() } } else { 0 };
        let ymm = state & XCR0_YMM == XCR0_YMM && has(leaf1.ecx, 28);
        let zmm = ymm && state & XCR0_ZMM == XCR0_ZMM;

        add(has(leaf1.ecx, 9), Features::SSSE3);
        add(has(leaf1.ecx, 20), Features::SSE42);
        add(has(extended_8, 0), Features::CLZERO);
        if cpuid(0, 0).eax >= 7 {
            let leaf7 = cpuid(7, 0);
            let leaf7_1 = if leaf7.eax >= 1 { cpuid(7, 1).eax } else { 0 };
            let avx2 = ymm && has(leaf7.ebx, 5);
            let avx512f = zmm && avx2 && has(leaf7.ebx, 16);
            add(avx2, Features::AVX2);
            add(has(leaf7.ebx, 3) && has(leaf7.ebx, 8), Features::BMI2);
            add(has(leaf7.ebx, 9), Features::ERMS);
            add(has(leaf7.ebx, 19), Features::ADX);
            add(has(leaf7.ebx, 23), Features::CLFLUSHOPT);
            add(avx2 && has(leaf7_1, 4), Features::AVXVNNI);
            add(avx512f, Features::AVX512F);
            add(avx512f && has(leaf7.ebx, 30), Features::AVX512BW);
            add(avx512f && has(leaf7.ebx, 31), Features::AVX512VL);
            add(avx512f && has(leaf7.ecx, 11), Features::AVX512VNNI);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_names_are_unique_and_parse_back() {
        for (index, (name, feature)) in Features::NAMED.iter().enumerate() {
            assert_eq!(Features::from_name(name), Some(*feature));
            assert!(Features::NAMED[index + 1..].iter().all(|(other, bit)| other != name && bit != feature));
            assert_eq!(feature.bits() & KNOWN, 0);
        }
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    fn agrees_with_the_standard_library() {
        let found = Features::detect();
        assert_eq!(found.contains(Features::AVX2), std::is_x86_feature_detected!("avx2"));
        assert_eq!(
            found.contains(Features::BMI2),
            std::is_x86_feature_detected!("bmi1") && std::is_x86_feature_detected!("bmi2")
        );
        assert_eq!(found.contains(Features::ADX), std::is_x86_feature_detected!("adx"));
        assert_eq!(found.contains(Features::SSSE3), std::is_x86_feature_detected!("ssse3"));
        assert_eq!(found.contains(Features::SSE42), std::is_x86_feature_detected!("sse4.2"));
        assert_eq!(found.contains(Features::AVX512F), std::is_x86_feature_detected!("avx512f"));
        assert_eq!(found.contains(Features::AVX512BW), std::is_x86_feature_detected!("avx512bw"));
        assert_eq!(found.contains(Features::AVX512VL), std::is_x86_feature_detected!("avx512vl"));
        assert_eq!(found.contains(Features::AVX512VNNI), std::is_x86_feature_detected!("avx512vnni"));
        assert_eq!(found.contains(Features::AVXVNNI), std::is_x86_feature_detected!("avxvnni"));
    }

    #[test]
    fn a_mask_removes_dependent_features() {
        let all = Features::NAMED.iter().fold(Features::NONE, |set, (_, feature)| set.union(*feature));
        let left = all.masked(Features::AVX2);
        for gone in [Features::AVX512F, Features::AVX512BW, Features::AVX512VNNI, Features::AVXVNNI] {
            assert!(!left.contains(gone), "{gone:?} must go with AVX2");
        }
        assert!(left.contains(Features::ADX));
    }
}
