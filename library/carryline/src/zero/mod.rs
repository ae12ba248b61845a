//! Zeroing.
//!
//! | you have | you call |
//! | --- | --- |
//! | a slice | [`fill`]; [`fill_with`] with an [`Intent`] |
//! | uninitialised memory | [`fill_uninit`], [`fill_uninit_with`] |
//! | whole pages | [`pages`], [`pages_with`] |
//! | memory that is already mostly zero | [`if_dirty`] |
//! | keys, passwords and other secrets that must not stay in memory | [`secret`] |
//! | many pieces not needed soon, with one fence for all | [`fill_unfenced`] and [`drain`](crate::drain) |
//! | a pointer | the same with `_raw` |
//!
//! [`fill`] leaves the result in the cache, as `memset` does, unless it exceeds one core's share of the
//! caches ([`Next::Unknown`](crate::Next::Unknown)). The compiler may remove any of these calls except
//! [`secret`] if it can prove that the memory is not read again.

use crate::dispatch::TABLE;
use crate::intent::{Intent, NON_TEMPORAL_LEAST_BYTES, Plan};
use core::mem::MaybeUninit;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
mod assembly;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
pub(crate) mod avx2_assembly;
// Assembly is for ELF, with arguments in the registers of System V; elsewhere, LLVM compiles the whole kernel.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "sse2",
    not(any(target_os = "linux", target_os = "none"))
))]
use {
    avx2 as avx2_assembly, avx512_branched as avx512_assembly,
    avx512_prefer_256 as avx512_prefer_256_assembly, sse2 as sse2_assembly,
};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx512;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
pub(crate) mod avx512_assembly;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512_branched;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512_prefer_256;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
pub(crate) mod avx512_prefer_256_assembly;
pub(crate) mod kernels;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod ladder;
mod pages;
mod portable;
mod secret;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod sse2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
pub(crate) mod sse2_assembly;

pub use pages::{Page, pages, pages_with};
pub use secret::{secret, secret_raw};

/// Zeroes `dst`.
///
/// ```
/// let mut buffer = [7; 100];
/// carryline::zero::fill(&mut buffer[1..99]);
/// assert_eq!((buffer[0], buffer[99]), (7, 7));
/// assert!(buffer[1..99].iter().all(|byte| *byte == 0));
/// ```
#[inline]
pub fn fill(dst: &mut [u8]) {
    // SAFETY: a slice is valid for writes of its length.
    unsafe { fill_raw(dst.as_mut_ptr(), dst.len()) }
}

/// Zeroes `dst`; the caller's intent decides whether it is left in the cache.
///
/// ```
/// use carryline::{Intent, Next, zero};
/// let mut buffer = vec![7; 1 << 20];
/// zero::fill_with(&mut buffer, Next::NotSoon);
/// assert!(buffer.iter().all(|byte| *byte == 0));
///
/// // One of many pieces that together exceed the cache.
/// buffer.fill(7);
/// zero::fill_with(&mut buffer[..9000], Intent::new(Next::Unknown).part_of(1 << 30));
/// assert_eq!((buffer[8999], buffer[9000]), (0, 7));
/// ```
#[inline]
pub fn fill_with(dst: &mut [u8], intent: impl Into<Intent>) {
    // SAFETY: a slice is valid for writes of its length.
    unsafe { fill_raw_with(dst.as_mut_ptr(), dst.len(), intent) }
}

/// Zeroes memory that may be uninitialised, and returns it as bytes.
///
/// ```
/// let mut buffer = Vec::with_capacity(100);
/// let zeros: &mut [u8] = carryline::zero::fill_uninit(&mut buffer.spare_capacity_mut()[..100]);
/// assert_eq!(zeros, [0; 100]);
/// ```
#[inline]
pub fn fill_uninit(dst: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: a slice is valid for writes of its length; afterwards it is initialised.
    unsafe {
        fill_raw(dst.as_mut_ptr().cast(), dst.len());
        crate::blocks::assume_init(dst)
    }
}

/// [`fill_uninit`] with an intent, as in [`fill_with`].
///
/// ```
/// use carryline::{Next, zero};
/// let mut buffer = Vec::with_capacity(9000);
/// let zeros = zero::fill_uninit_with(&mut buffer.spare_capacity_mut()[..9000], Next::Device);
/// assert!(zeros.len() == 9000 && zeros.iter().all(|byte: &u8| *byte == 0));
/// ```
#[inline]
pub fn fill_uninit_with(dst: &mut [MaybeUninit<u8>], intent: impl Into<Intent>) -> &mut [u8] {
    // SAFETY: a slice is valid for writes of its length; afterwards it is initialised.
    unsafe {
        fill_raw_with(dst.as_mut_ptr().cast(), dst.len(), intent);
        crate::blocks::assume_init(dst)
    }
}

/// Reads `dst` first and writes only what is not zero, in blocks of 64 bytes (cache lines, and partial lines
/// at both ends). Returns the number of bytes written.
///
/// Lines that are only read need no write-back, stay shared with other cores, and cause no private copy of a
/// shared page. For mostly nonzero memory, [`fill`] is faster.
///
/// ```
/// #[repr(align(64))]
/// struct Aligned([u8; 4096]);
/// let mut page = Aligned([0; 4096]);
/// page.0[100] = 1;
/// assert_eq!(carryline::zero::if_dirty(&mut page.0), 64);
/// assert_eq!(carryline::zero::if_dirty(&mut page.0), 0);
/// assert_eq!(page.0, [0; 4096]);
/// ```
#[inline]
pub fn if_dirty(dst: &mut [u8]) -> usize {
    // SAFETY: a slice is valid for reads and writes of its length, and initialised.
    unsafe { if_dirty_raw(dst.as_mut_ptr(), dst.len()) }
}

/// Zeroes like [`fill_with`], without a fence: for a loop over many pieces that ends with one
/// [`drain`](crate::drain).
///
/// A fence waits until memory has accepted the stores, which is most of the time of a short call: on Zen 5, 4
/// KiB that are not cached take 163 ticks without a fence and 503 with one; the C library's `memset` takes
/// 379.
///
/// # Safety
/// Before the next synchronisation of this thread with another, or with a device, the caller calls
/// [`drain`](crate::drain): before it unlocks, stores to an atomic with release ordering, sends, spawns,
/// joins, or starts a transfer. Until then, only this thread is guaranteed to see zeros.
///
/// ```
/// use carryline::{Intent, Next, drain, zero};
/// let mut buffer = vec![7; 1 << 16];
/// for piece in buffer.chunks_mut(4096) {
///     // SAFETY: `drain` comes before any other thread sees the buffer.
///     unsafe { zero::fill_unfenced(piece, Next::NotSoon) };
/// }
/// drain();
/// assert!(buffer.iter().all(|byte| *byte == 0));
/// ```
#[inline]
pub unsafe fn fill_unfenced(dst: &mut [u8], intent: impl Into<Intent>) {
    // SAFETY: a slice is valid for writes of its length; the caller drains.
    unsafe { fill_raw_unfenced(dst.as_mut_ptr(), dst.len(), intent) }
}

/// Zeroes `len` bytes at `dst`, which may be uninitialised.
///
/// # Safety
/// `dst` must be valid for writes of `len` bytes; with `len` 0 it may be any pointer.
///
/// ```
/// let mut words = [u32::MAX; 3];
/// // SAFETY: the first two words.
/// unsafe { carryline::zero::fill_raw(words.as_mut_ptr().cast(), 8) };
/// assert_eq!(words, [0, 0, u32::MAX]);
/// ```
#[inline]
pub unsafe fn fill_raw(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes, by contract; the kernel was chosen for this CPU.
    unsafe { TABLE.zero()(dst, len) }
}

/// [`fill_raw`] with an intent, as in [`fill_with`].
///
/// # Safety
/// As [`fill_raw`].
///
/// ```
/// use carryline::{Next, zero};
/// let mut words = [u32::MAX; 3];
/// // SAFETY: the first two words.
/// unsafe { zero::fill_raw_with(words.as_mut_ptr().cast(), 8, Next::ReadHere) };
/// assert_eq!(words, [0, 0, u32::MAX]);
/// ```
#[inline]
pub unsafe fn fill_raw_with(dst: *mut u8, len: usize, intent: impl Into<Intent>) {
    let intent = intent.into();
    if intent.reads_here() {
        // SAFETY: `dst` is valid for writes of `len` bytes, by contract; the kernel was chosen for this CPU.
        return unsafe { TABLE.zero_read_here()(dst, len) };
    }
    if len < NON_TEMPORAL_LEAST_BYTES {
        // SAFETY: `dst` is valid for writes of `len` bytes by contract.
        return unsafe { fill_raw(dst, len) };
    }
    let plan = Plan::of_zero(intent, len);
    // SAFETY: `dst` is valid for writes of `len` bytes, by contract; the kernel was chosen for this CPU.
    unsafe { TABLE.zero_planned()(dst, len, plan) }
}

/// [`fill_raw_with`] without a fence.
///
/// # Safety
/// As [`fill_raw`] and [`fill_unfenced`].
///
/// ```
/// use carryline::{Next, drain, zero};
/// let mut page = [7; 4096];
/// // SAFETY: the bytes of the page; `drain` follows.
/// unsafe { zero::fill_raw_unfenced(page.as_mut_ptr(), page.len(), Next::NotSoon) };
/// drain();
/// assert_eq!(page, [0; 4096]);
/// ```
#[inline]
pub unsafe fn fill_raw_unfenced(dst: *mut u8, len: usize, intent: impl Into<Intent>) {
    let intent = intent.into();
    let plan = Plan::of_zero(intent, len).unfenced(intent);
    // SAFETY: `dst` is valid for writes of `len` bytes, and the caller drains, by contract; the kernel was
    // chosen for this CPU.
    unsafe { TABLE.zero_unfenced()(dst, len, plan) }
}

/// [`if_dirty`] for `len` bytes at `dst`.
///
/// # Safety
/// `dst` must be valid for reads and writes of `len` initialised bytes; with `len` 0 it may be any pointer.
///
/// ```
/// let mut bytes = [0, 1, 0];
/// // SAFETY: the bytes of the array.
/// assert!(unsafe { carryline::zero::if_dirty_raw(bytes.as_mut_ptr(), 3) } > 0);
/// assert_eq!(bytes, [0; 3]);
/// ```
#[inline]
pub unsafe fn if_dirty_raw(dst: *mut u8, len: usize) -> usize {
    // SAFETY: `dst` is valid for reads and writes of `len` initialised bytes, by contract; the kernel was
    // chosen for this CPU.
    unsafe { TABLE.zero_if_dirty()(dst, len) }
}
