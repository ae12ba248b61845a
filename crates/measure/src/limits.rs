//! What the hardware allows: bytes per tick that one core loads, stores, and stores past the caches, by cache level.
//!
//! The loops are as plain as bandwidth gets: the widest registers the CPU has, eight lines per turn, nothing else. Loads
//! are tried with and without a prefetch ahead, stores also by `rep stosb`, and the fastest counts. A limit is the best sample of several, for it is a ceiling; a figure that beats it would show a fault of the method.

use crate::arena::Arena;
use crate::clock;
use crate::results::Limit;
use crate::sampler::CacheSizes;
use crate::status::{Now, Phase, StatusPage};

/// Bytes that one turn of every loop moves: eight lines.
pub(crate) const TURN: usize = 512;
/// A sample is at least this long, in nanoseconds.
const SAMPLE_NS: f64 = 100_000.0;
const SAMPLES: usize = 7;

/// The buffers, in bytes, that stand for each level: half of it, so that everything fits (a quarter of the last, which
/// others share); for memory one that no level holds.
#[must_use]
pub fn buffers(caches: &CacheSizes) -> [(&'static str, u64); 4] {
    [("L1", caches.l1 / 2), ("L2", caches.l2 / 2), ("L3", caches.l3 / 4), ("memory", caches.too_large())]
}

/// Bytes of the largest buffer that the limits of these levels need.
#[must_use]
pub fn largest_buffer(caches: &CacheSizes, levels: &[String]) -> u64 {
    let wanted = buffers(caches).into_iter().filter(|(level, _)| levels.iter().any(|wanted| wanted == level));
    wanted.map(|(_, bytes)| bytes).max().unwrap_or(0)
}

/// Measures those levels in `arena`, which must have been prefaulted; levels larger than it are left out.
#[must_use]
pub fn measure(
    caches: &CacheSizes,
    levels: &[String],
    arena: &mut Arena,
    ticks_per_ns: f64,
    status: &StatusPage,
) -> Vec<Limit> {
    let kinds = kernels();
    let mut limits = Vec::new();
    for (level, bytes) in buffers(caches) {
        let len = bytes as usize / TURN * TURN;
        if len == 0 || len > arena.len() || !levels.iter().any(|wanted| wanted == level) {
            continue;
        }
        let rate = |kernel: Kernel| {
            let mut best = f64::INFINITY;
            let mut turns = 1_u32;
            let mut samples = 0;
            while samples < SAMPLES {
                status.set(Now {
                    subject: u64::MAX,
                    phase: Phase::Limits as u64,
                    len: len as u64,
                    ..Now::default()
                });
                let begin = clock::start();
                for _ in 0..turns {
                    // SAFETY: len bytes of the arena, a multiple of 512 from a page boundary; &mut, so nobody else's.
                    unsafe { kernel(arena.start(), len) };
                }
                let ticks = clock::stop().wrapping_sub(begin) as f64;
                if ticks < SAMPLE_NS * ticks_per_ns && turns < 1 << 20 {
                    let short_by = SAMPLE_NS * ticks_per_ns / ticks.max(1.0);
                    turns = (f64::from(turns) * short_by.clamp(1.5, 64.0)).ceil() as u32;
                    continue;
                }
                best = best.min(ticks / f64::from(turns));
                samples += 1;
            }
            len as f64 / best
        };
        let best_of = |kernels: &[Kernel]| kernels.iter().map(|kernel| rate(*kernel)).fold(0.0, f64::max);
        limits.push(Limit {
            level: level.to_owned(),
            buffer_bytes: len as u64,
            load: best_of(&kinds.loads),
            store: best_of(&kinds.stores),
            nt_store: best_of(&kinds.nt_stores),
        });
    }
    limits
}

/// Keeps, level by level, the higher of two measurements of the same machine.
pub fn merge(into: &mut Vec<Limit>, other: &[Limit]) {
    for limit in other {
        match into.iter_mut().find(|known| known.level == limit.level) {
            Some(known) => {
                known.load = known.load.max(limit.load);
                known.store = known.store.max(limit.store);
                known.nt_store = known.nt_store.max(limit.nt_store);
            }
            None => into.push(limit.clone()),
        }
    }
}

/// # Safety
/// `len` bytes at `base`, which is aligned to a line, must be valid for reads and writes; `len` a multiple of 512.
pub(crate) type Kernel = unsafe fn(base: *mut u8, len: usize);

/// Ways of doing each thing; the fastest makes the limit.
pub(crate) struct Kernels {
    /// With and without a prefetch ahead, which the last level gains from.
    pub loads: Vec<Kernel>,
    /// By registers and by a string instruction, which some levels take faster.
    pub stores: Vec<Kernel>,
    /// Past the caches.
    pub nt_stores: Vec<Kernel>,
}

#[cfg(target_arch = "x86_64")]
pub(crate) fn kernels() -> Kernels {
    use carryline::cpu::{Features, features};
    let (loads, store, nt_store): ([Kernel; 2], Kernel, Kernel) = if features().contains(Features::AVX512F) {
        ([x86_64::load_zmm, x86_64::load_zmm_ahead], x86_64::store_zmm, x86_64::nt_store_zmm)
    } else if features().contains(Features::AVX2) {
        ([x86_64::load_ymm, x86_64::load_ymm_ahead], x86_64::store_ymm, x86_64::nt_store_ymm)
    } else {
        ([x86_64::load_xmm, x86_64::load_xmm_ahead], x86_64::store_xmm, x86_64::nt_store_xmm)
    };
    let string_store = features().contains(Features::ERMS).then_some(x86_64::rep_stosb as Kernel);
    Kernels {
        loads: loads.to_vec(),
        stores: std::iter::once(store).chain(string_store).collect(),
        nt_stores: vec![nt_store],
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::asm;

    macro_rules! sweep {
        ($(#[$attribute:meta])* $name:ident, $step:literal, $per_turn:literal, $body:literal, $clear:literal, $after:literal) => {
            $(#[$attribute])*
            pub(super) unsafe fn $name(base: *mut u8, len: usize) {
                // SAFETY: the loop walks [base, base + len) in turns of 512 bytes, by the caller's contract; only the
                // named registers and flags change.
                unsafe {
                    asm!(
                        $clear,
                        "2:",
                        concat!(".set carryline_at, 0\n.rept ", $per_turn, "\n", $body, "\n.set carryline_at, carryline_at + ", $step, "\n.endr"),
                        "add {at}, 512",
                        "cmp {at}, {end}",
                        "jb 2b",
                        $after,
                        at = inout(reg) base => _,
                        end = in(reg) base.wrapping_add(len),
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                        options(nostack),
                    );
                }
            }
        };
    }

    pub(super) unsafe fn rep_stosb(base: *mut u8, len: usize) {
        // SAFETY: writes [base, base + len), by the caller's contract; the direction flag is clear by the ABI.
        unsafe {
            asm!("rep stosb", inout("rdi") base => _, inout("rcx") len => _, in("al") 0_u8, options(nostack, preserves_flags));
        }
    }

    sweep!(
        #[target_feature(enable = "avx512f")]
        load_zmm,
        "256",
        "2",
        "vpord zmm0, zmm0, [{at} + carryline_at]\nvpord zmm1, zmm1, [{at} + carryline_at + 64]\nvpord zmm2, zmm2, [{at} + carryline_at + 128]\nvpord zmm3, zmm3, [{at} + carryline_at + 192]",
        "",
        "vzeroupper"
    );
    sweep!(
        #[target_feature(enable = "avx2")]
        load_ymm,
        "128",
        "4",
        "vpor ymm0, ymm0, [{at} + carryline_at]\nvpor ymm1, ymm1, [{at} + carryline_at + 32]\nvpor ymm2, ymm2, [{at} + carryline_at + 64]\nvpor ymm3, ymm3, [{at} + carryline_at + 96]",
        "",
        "vzeroupper"
    );
    sweep!(
        load_xmm,
        "64",
        "8",
        "por xmm0, [{at} + carryline_at]\npor xmm1, [{at} + carryline_at + 16]\npor xmm2, [{at} + carryline_at + 32]\npor xmm3, [{at} + carryline_at + 48]",
        "",
        ""
    );
    // The same with a prefetch 2 KiB ahead.
    sweep!(
        #[target_feature(enable = "avx512f")]
        load_zmm_ahead,
        "256",
        "2",
        "prefetcht0 [{at} + carryline_at + 2048]\nprefetcht0 [{at} + carryline_at + 2112]\nprefetcht0 [{at} + carryline_at + 2176]\nprefetcht0 [{at} + carryline_at + 2240]\nvpord zmm0, zmm0, [{at} + carryline_at]\nvpord zmm1, zmm1, [{at} + carryline_at + 64]\nvpord zmm2, zmm2, [{at} + carryline_at + 128]\nvpord zmm3, zmm3, [{at} + carryline_at + 192]",
        "",
        "vzeroupper"
    );
    sweep!(
        #[target_feature(enable = "avx2")]
        load_ymm_ahead,
        "128",
        "4",
        "prefetcht0 [{at} + carryline_at + 2048]\nprefetcht0 [{at} + carryline_at + 2112]\nvpor ymm0, ymm0, [{at} + carryline_at]\nvpor ymm1, ymm1, [{at} + carryline_at + 32]\nvpor ymm2, ymm2, [{at} + carryline_at + 64]\nvpor ymm3, ymm3, [{at} + carryline_at + 96]",
        "",
        "vzeroupper"
    );
    sweep!(
        load_xmm_ahead,
        "64",
        "8",
        "prefetcht0 [{at} + carryline_at + 2048]\npor xmm0, [{at} + carryline_at]\npor xmm1, [{at} + carryline_at + 16]\npor xmm2, [{at} + carryline_at + 32]\npor xmm3, [{at} + carryline_at + 48]",
        "",
        ""
    );
    sweep!(
        #[target_feature(enable = "avx512f")]
        store_zmm,
        "64",
        "8",
        "vmovdqa64 [{at} + carryline_at], zmm0",
        "vpxord zmm0, zmm0, zmm0",
        "vzeroupper"
    );
    sweep!(
        #[target_feature(enable = "avx2")]
        store_ymm,
        "32",
        "16",
        "vmovdqa [{at} + carryline_at], ymm0",
        "vpxor ymm0, ymm0, ymm0",
        "vzeroupper"
    );
    sweep!(store_xmm, "16", "32", "movdqa [{at} + carryline_at], xmm0", "pxor xmm0, xmm0", "");
    sweep!(
        #[target_feature(enable = "avx512f")]
        nt_store_zmm,
        "64",
        "8",
        "vmovntdq [{at} + carryline_at], zmm0",
        "vpxord zmm0, zmm0, zmm0",
        "sfence\nvzeroupper"
    );
    sweep!(
        #[target_feature(enable = "avx2")]
        nt_store_ymm,
        "32",
        "16",
        "vmovntdq [{at} + carryline_at], ymm0",
        "vpxor ymm0, ymm0, ymm0",
        "sfence\nvzeroupper"
    );
    sweep!(nt_store_xmm, "16", "32", "movntdq [{at} + carryline_at], xmm0", "pxor xmm0, xmm0", "sfence");
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn kernels() -> Kernels {
    unsafe fn load(base: *mut u8, len: usize) {
        let mut sink = 0_u64;
        for at in (0..len).step_by(8) {
            // SAFETY: at + 8 <= len, by the caller's contract.
            sink |= unsafe { base.add(at).cast::<u64>().read_volatile() };
        }
        std::hint::black_box(sink);
    }
    unsafe fn store(base: *mut u8, len: usize) {
        for at in (0..len).step_by(8) {
            // SAFETY: as above.
            unsafe { base.add(at).cast::<u64>().write_volatile(0) };
        }
    }
    // No portable store past the caches: the plain store stands for it.
    Kernels { loads: vec![load], stores: vec![store], nt_stores: vec![store] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Pages;

    #[test]
    fn the_store_loops_write_every_byte_and_no_other() {
        let mut arena = Arena::new(64 << 10, Pages::Base).expect("64 KiB");
        let kinds = kernels();
        for kernel in kinds.stores.into_iter().chain(kinds.nt_stores) {
            arena.prefault();
            // SAFETY: inside the arena, a multiple of 512 at a line boundary.
            unsafe { kernel(arena.start().add(4096), 8 * TURN) };
            // SAFETY: the arena's own bytes.
            let bytes = unsafe { std::slice::from_raw_parts(arena.start(), arena.len()) };
            assert!(bytes[4096..4096 + 8 * TURN].iter().all(|byte| *byte == 0));
            assert!(bytes[4096 - 64..4096].iter().any(|byte| *byte != 0));
            assert!(bytes[4096 + 8 * TURN..][..64].iter().any(|byte| *byte != 0));
        }
    }

    #[test]
    fn every_level_has_a_limit_and_merging_keeps_the_higher() {
        let caches = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20 };
        let mut arena = Arena::new(1 << 20, Pages::Base).expect("1 MiB");
        arena.prefault();
        let status = StatusPage::create().expect("a page");
        let levels = ["L1", "L2", "L3", "memory"].map(str::to_owned);
        assert_eq!(largest_buffer(&caches, &levels[..2]), 128 << 10);
        let mut limits = measure(&caches, &levels, &mut arena, 1.0, &status);
        assert_eq!(limits.iter().map(|l| l.level.as_str()).collect::<Vec<_>>(), ["L1", "L2", "L3"]);
        assert!(limits.iter().all(|l| l.load > 0.0 && l.store > 0.0 && l.nt_store > 0.0));
        let mut better = limits[0].clone();
        better.load *= 2.0;
        merge(&mut limits, &[better.clone()]);
        assert_eq!(limits[0].load, better.load);
        assert_eq!(limits.len(), 3);
    }
}
