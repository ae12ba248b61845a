//! Copying between buffers that do not overlap.
//!
//! The copy is in the cache, as with `memcpy`, except for buffers so large that source and destination fill it
//! (from 16 MiB on with the AVX2 and AVX-512 kernels).

use crate::cpu::Features;
use crate::dispatch::{CopyFn, Kernel, TABLE};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx512;
pub(crate) mod portable;

/// The kernels, the first that the CPU can run wins.
///
/// The order rests on the width of loads and stores, as that of [`zero::KERNELS`](crate::zero::KERNELS) does,
/// and has been checked on Zen 5 only; the laboratory ranks the kernels of the machine it runs on.
pub static KERNELS: &[Kernel<CopyFn>] = &[
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512", needs: Features::AVX512, function: avx512::copy },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx2", needs: Features::AVX2, function: avx2::copy },
    Kernel { name: "portable", needs: Features::NONE, function: portable::copy },
];

/// Copies `src` to `dst`.
///
/// # Panics
/// When the lengths differ; the message names both. At the first call also when the environment asks for a
/// kernel that is not there, which ends the process; see [`dispatch`](crate::dispatch).
///
/// ```
/// let mut greeting = *b"---------";
/// carryline::copy(&mut greeting[2..7], b"hello");
/// assert_eq!(&greeting, b"--hello--");
/// ```
#[inline]
#[track_caller]
pub fn copy(dst: &mut [u8], src: &[u8]) {
    if dst.len() != src.len() {
        lengths_differ(dst.len(), src.len());
    }
    // SAFETY: slices are valid for their length, which is the same, and a mutable one overlaps no other.
    unsafe { copy_raw(dst.as_mut_ptr(), src.as_ptr(), src.len()) }
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn lengths_differ(dst_bytes: usize, src_bytes: usize) -> ! {
    panic!("the destination has {dst_bytes} bytes, the source {src_bytes}: a copy needs as many of both")
}

/// Copies `len` bytes from `src` to `dst`. Bytes may be uninitialised.
///
/// # Safety
/// `src` must be valid for reads and `dst` for writes of `len` bytes, and they must not overlap; with `len` 0
/// they may be any pointers.
///
/// # Panics
/// At the first call only, when the environment asks for a kernel that is not there; that ends the process. See
/// [`dispatch`](crate::dispatch).
#[inline]
pub unsafe fn copy_raw(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller's obligation is the kernel's; the kernel was picked for this CPU.
    unsafe { TABLE.copy()(dst, src, len) }
}
