//! The loops for measuring limits, as simple as possible: only loads, or only stores.

/// The bytes that one iteration of every loop processes: eight lines.
pub const TURN: usize = 512;

/// A loop that processes a buffer once.
///
/// # Safety
/// `len` bytes at `base`, which is aligned to a cache line, must be valid for reads and writes; `len` is a
/// multiple of 512.
pub type Kernel = unsafe fn(base: *mut u8, len: usize);

/// Several implementations of each operation; the fastest determines the limit.
#[derive(Debug)]
pub struct Kernels {
    /// The widest registers first, without and with a prefetch; then four concurrent streams, and the same
    /// for narrower registers.
    pub loads: Vec<Kernel>,
    /// With registers, the widest first.
    pub stores: Vec<Kernel>,
    /// With a string instruction, if the CPU has a fast one.
    pub string_store: Option<Kernel>,
    /// Non-temporal, the widest registers first.
    pub nt_stores: Vec<Kernel>,
}

/// The loops that this CPU supports.
#[cfg(target_arch = "x86_64")]
pub fn kernels() -> Kernels {
    use carryline::internals::cpu::{Features, features};
    use x86_64::{
        load_xmm, load_xmm_ahead, load_xmm_streams, load_xmm_streams_ahead, load_ymm, load_ymm_ahead,
        load_ymm_streams, load_ymm_streams_ahead, load_zmm, load_zmm_ahead, load_zmm_streams,
        load_zmm_streams_ahead,
    };
    let (mut loads, mut stores, mut nt_stores): (Vec<Kernel>, Vec<Kernel>, Vec<Kernel>) = Default::default();
    if features().contains(Features::AVX512F) {
        loads.extend([load_zmm as Kernel, load_zmm_ahead, load_zmm_streams, load_zmm_streams_ahead]);
        stores.push(x86_64::store_zmm);
        nt_stores.push(x86_64::nt_store_zmm);
    }
    if features().contains(Features::AVX2) {
        loads.extend([load_ymm as Kernel, load_ymm_ahead, load_ymm_streams, load_ymm_streams_ahead]);
        stores.push(x86_64::store_ymm);
        nt_stores.push(x86_64::nt_store_ymm);
    }
    if loads.is_empty() {
        loads.extend([load_xmm as Kernel, load_xmm_ahead, load_xmm_streams, load_xmm_streams_ahead]);
        stores.push(x86_64::store_xmm);
        nt_stores.push(x86_64::nt_store_xmm);
    }
    let string_store = features().contains(Features::ERMS).then_some(x86_64::rep_stosb as Kernel);
    Kernels { loads, stores, string_store, nt_stores }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::asm;

    macro_rules! sweep {
        ($(#[$attribute:meta])* $name:ident, $step:literal, $per_turn:literal, $body:literal, $clear:literal, $after:literal) => {
            /// # Safety
            /// As for [`Kernel`](super::Kernel); the CPU has the instructions.
            $(#[$attribute])*
            pub(super) unsafe fn $name(base: *mut u8, len: usize) {
                // SAFETY: the loop processes [base, base + len) in iterations of 512 bytes, by the caller's
                // contract; only the named registers and flags change.
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

    // Four concurrent streams, each over a quarter of the bytes.
    macro_rules! streams {
        ($(#[$attribute:meta])* $name:ident, $step:literal, $per_turn:literal, $body:literal, $after:literal) => {
            /// # Safety
            /// As for [`Kernel`](super::Kernel); the CPU has the instructions.
            $(#[$attribute])*
            pub(super) unsafe fn $name(base: *mut u8, len: usize) {
                let quarter = len / 4;
                // SAFETY: the four streams process [base, base + len) in iterations of 128 bytes each, as len
                // is a multiple of 512, by the caller's contract; only the named registers and flags change.
                unsafe {
                    asm!(
                        "2:",
                        concat!(".set carryline_at, 0\n.rept ", $per_turn, "\n", $body, "\n.set carryline_at, carryline_at + ", $step, "\n.endr"),
                        "add {at}, 128",
                        "cmp {at}, {end}",
                        "jb 2b",
                        $after,
                        at = inout(reg) base => _,
                        end = in(reg) base.wrapping_add(quarter),
                        q = in(reg) quarter,
                        q3 = in(reg) 3 * quarter,
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                        options(nostack, readonly),
                    );
                }
            }
        };
    }

    /// # Safety
    /// `len` bytes are writable at `base`.
    pub(super) unsafe fn rep_stosb(base: *mut u8, len: usize) {
        // SAFETY: writes [base, base + len), by the caller's contract; the direction flag is clear by the
        // ABI.
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
    streams!(
        #[target_feature(enable = "avx512f")]
        load_zmm_streams,
        "64",
        "2",
        "vpord zmm0, zmm0, [{at} + carryline_at]\nvpord zmm1, zmm1, [{at} + {q} + carryline_at]\nvpord zmm2, zmm2, [{at} + 2*{q} + carryline_at]\nvpord zmm3, zmm3, [{at} + {q3} + carryline_at]",
        "vzeroupper"
    );
    streams!(
        #[target_feature(enable = "avx512f")]
        load_zmm_streams_ahead,
        "64",
        "2",
        "prefetcht0 [{at} + carryline_at + 1024]\nprefetcht0 [{at} + {q} + carryline_at + 1024]\nprefetcht0 [{at} + 2*{q} + carryline_at + 1024]\nprefetcht0 [{at} + {q3} + carryline_at + 1024]\nvpord zmm0, zmm0, [{at} + carryline_at]\nvpord zmm1, zmm1, [{at} + {q} + carryline_at]\nvpord zmm2, zmm2, [{at} + 2*{q} + carryline_at]\nvpord zmm3, zmm3, [{at} + {q3} + carryline_at]",
        "vzeroupper"
    );
    streams!(
        #[target_feature(enable = "avx2")]
        load_ymm_streams,
        "64",
        "2",
        "vpor ymm0, ymm0, [{at} + carryline_at]\nvpor ymm1, ymm1, [{at} + {q} + carryline_at]\nvpor ymm2, ymm2, [{at} + 2*{q} + carryline_at]\nvpor ymm3, ymm3, [{at} + {q3} + carryline_at]\nvpor ymm0, ymm0, [{at} + carryline_at + 32]\nvpor ymm1, ymm1, [{at} + {q} + carryline_at + 32]\nvpor ymm2, ymm2, [{at} + 2*{q} + carryline_at + 32]\nvpor ymm3, ymm3, [{at} + {q3} + carryline_at + 32]",
        "vzeroupper"
    );
    streams!(
        #[target_feature(enable = "avx2")]
        load_ymm_streams_ahead,
        "64",
        "2",
        "prefetcht0 [{at} + carryline_at + 1024]\nprefetcht0 [{at} + {q} + carryline_at + 1024]\nprefetcht0 [{at} + 2*{q} + carryline_at + 1024]\nprefetcht0 [{at} + {q3} + carryline_at + 1024]\nvpor ymm0, ymm0, [{at} + carryline_at]\nvpor ymm1, ymm1, [{at} + {q} + carryline_at]\nvpor ymm2, ymm2, [{at} + 2*{q} + carryline_at]\nvpor ymm3, ymm3, [{at} + {q3} + carryline_at]\nvpor ymm0, ymm0, [{at} + carryline_at + 32]\nvpor ymm1, ymm1, [{at} + {q} + carryline_at + 32]\nvpor ymm2, ymm2, [{at} + 2*{q} + carryline_at + 32]\nvpor ymm3, ymm3, [{at} + {q3} + carryline_at + 32]",
        "vzeroupper"
    );
    streams!(
        load_xmm_streams,
        "64",
        "2",
        "por xmm0, [{at} + carryline_at]\npor xmm1, [{at} + {q} + carryline_at]\npor xmm2, [{at} + 2*{q} + carryline_at]\npor xmm3, [{at} + {q3} + carryline_at]\npor xmm0, [{at} + carryline_at + 16]\npor xmm1, [{at} + {q} + carryline_at + 16]\npor xmm2, [{at} + 2*{q} + carryline_at + 16]\npor xmm3, [{at} + {q3} + carryline_at + 16]\npor xmm0, [{at} + carryline_at + 32]\npor xmm1, [{at} + {q} + carryline_at + 32]\npor xmm2, [{at} + 2*{q} + carryline_at + 32]\npor xmm3, [{at} + {q3} + carryline_at + 32]\npor xmm0, [{at} + carryline_at + 48]\npor xmm1, [{at} + {q} + carryline_at + 48]\npor xmm2, [{at} + 2*{q} + carryline_at + 48]\npor xmm3, [{at} + {q3} + carryline_at + 48]",
        ""
    );
    streams!(
        load_xmm_streams_ahead,
        "64",
        "2",
        "prefetcht0 [{at} + carryline_at + 1024]\nprefetcht0 [{at} + {q} + carryline_at + 1024]\nprefetcht0 [{at} + 2*{q} + carryline_at + 1024]\nprefetcht0 [{at} + {q3} + carryline_at + 1024]\npor xmm0, [{at} + carryline_at]\npor xmm1, [{at} + {q} + carryline_at]\npor xmm2, [{at} + 2*{q} + carryline_at]\npor xmm3, [{at} + {q3} + carryline_at]\npor xmm0, [{at} + carryline_at + 16]\npor xmm1, [{at} + {q} + carryline_at + 16]\npor xmm2, [{at} + 2*{q} + carryline_at + 16]\npor xmm3, [{at} + {q3} + carryline_at + 16]\npor xmm0, [{at} + carryline_at + 32]\npor xmm1, [{at} + {q} + carryline_at + 32]\npor xmm2, [{at} + 2*{q} + carryline_at + 32]\npor xmm3, [{at} + {q3} + carryline_at + 32]\npor xmm0, [{at} + carryline_at + 48]\npor xmm1, [{at} + {q} + carryline_at + 48]\npor xmm2, [{at} + 2*{q} + carryline_at + 48]\npor xmm3, [{at} + {q3} + carryline_at + 48]",
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

/// The loops that this CPU supports.
#[cfg(not(target_arch = "x86_64"))]
pub fn kernels() -> Kernels {
    /// # Safety
    /// As for [`Kernel`].
    unsafe fn load(base: *mut u8, len: usize) {
        let mut sink = 0_u64;
        for at in (0..len).step_by(8) {
            // SAFETY: at + 8 <= len, by the caller's contract.
            sink |= unsafe { base.add(at).cast::<u64>().read_volatile() };
        }
        std::hint::black_box(sink);
    }
    /// # Safety
    /// As for [`Kernel`].
    unsafe fn store(base: *mut u8, len: usize) {
        for at in (0..len).step_by(8) {
            // SAFETY: at + 8 <= len, by the caller's contract.
            unsafe { base.add(at).cast::<u64>().write_volatile(0) };
        }
    }
    // There is no portable non-temporal store: plain stores replace it.
    Kernels { loads: vec![load], stores: vec![store], string_store: None, nt_stores: vec![store] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_machine::arena::{Arena, Pages};

    #[test]
    fn store_loops_write_exactly_their_bytes() {
        let mut arena = Arena::new(64 << 10, Pages::Base).expect("64 KiB");
        let kinds = kernels();
        for kernel in kinds.stores.into_iter().chain(kinds.string_store).chain(kinds.nt_stores) {
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
    #[cfg(target_os = "linux")]
    fn load_loops_read_only_their_bytes() {
        const PAGE: usize = 4096;
        // SAFETY: a new mapping, inaccessible except for the page in the middle; unmapped at the end.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start = libc::mmap(std::ptr::null_mut(), 3 * PAGE, libc::PROT_NONE, flags, -1, 0);
            assert!(start != libc::MAP_FAILED);
            let middle = start.cast::<u8>().add(PAGE);
            assert_eq!(libc::mprotect(middle.cast(), PAGE, libc::PROT_READ | libc::PROT_WRITE), 0);
            for kernel in kernels().loads {
                for len in [TURN, 3 * TURN, PAGE] {
                    kernel(middle, len);
                    kernel(middle.add(PAGE - len), len);
                }
            }
            libc::munmap(start, 3 * PAGE);
        }
    }
}
