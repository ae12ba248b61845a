//! Zeroing.
//!
//! The result is in the cache, as with `memset`, except for buffers so large that they would push everything
//! else out of it (from 16 MiB on with the AVX2 and AVX-512 kernels). Zeroing secrets is another job: the compiler
//! may remove these calls when it can see that nobody reads the buffer again.

use crate::cpu::Features;
use crate::dispatch::{Kernel, TABLE, ZeroFn};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx512;
pub(crate) mod portable;

/// The kernels, the first that the CPU can run wins.
///
/// The order rests on store width: every x86-64 CPU so far stores a whole line of 64 bytes in one instruction
/// at least as fast as in two or four. It has been checked on Zen 5 only; the laboratory ranks the kernels of
/// the machine it runs on.
pub static KERNELS: &[Kernel<ZeroFn>] = &[
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512", needs: Features::AVX512, function: avx512::zero },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx2", needs: Features::AVX2, function: avx2::zero },
    Kernel { name: "portable", needs: Features::NONE, function: portable::zero },
];

/// Zeroes `dst`.
///
/// # Panics
/// At the first call only, when the environment asks for a kernel that is not there; that ends the process. See
/// [`dispatch`](crate::dispatch).
///
/// ```
/// let mut buffer = [7; 100];
/// carryline::zero(&mut buffer[1..99]);
/// assert_eq!((buffer[0], buffer[99]), (7, 7));
/// assert!(buffer[1..99].iter().all(|byte| *byte == 0));
/// ```
#[inline]
pub fn zero(dst: &mut [u8]) {
    // SAFETY: a slice is valid for writes of its length.
    unsafe { zero_raw(dst.as_mut_ptr(), dst.len()) }
}

/// Zeroes `len` bytes at `dst`, which may be uninitialised.
///
/// # Safety
/// `dst` must be valid for writes of `len` bytes; with `len` 0 it may be any pointer.
///
/// # Panics
/// As [`zero`](fn@zero).
#[inline]
pub unsafe fn zero_raw(dst: *mut u8, len: usize) {
    // SAFETY: the caller's obligation is the kernel's; the kernel was picked for this CPU.
    unsafe { TABLE.zero()(dst, len) }
}
