//! Copying.
//!
//! | you have | you call |
//! | --- | --- |
//! | two slices | [`bytes`]; [`bytes_with`] with an [`Intent`] |
//! | an uninitialised destination | [`bytes_uninit`], [`bytes_uninit_with`] |
//! | both in one buffer | [`within`], [`within_with`] |
//! | many pieces not needed soon, with one fence for all | [`bytes_unfenced`] and [`drain`](crate::drain) |
//! | pointers | the same with `_raw` |
//!
//! [`bytes`] leaves the copy in the cache, as `memcpy` does, unless source and copy together exceed one
//! core's share of the caches ([`Next::Unknown`](crate::Next::Unknown)).

use crate::dispatch::TABLE;
use crate::intent::{Intent, NON_TEMPORAL_LEAST_BYTES, Plan};
use core::mem::MaybeUninit;

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
    avx512_prefer_256 as avx512_prefer_256_assembly,
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
mod overlapping;
pub(crate) mod portable;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
mod returning;
#[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
mod scalar;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod sse2;

pub use overlapping::{within, within_raw, within_raw_with, within_with};

/// Copies `src` to `dst`.
///
/// # Panics
/// If the lengths differ; the message names both.
///
/// ```
/// let mut greeting = *b"---------";
/// carryline::copy::bytes(&mut greeting[2..7], b"hello");
/// assert_eq!(&greeting, b"--hello--");
/// ```
#[inline]
#[track_caller]
pub fn bytes(dst: &mut [u8], src: &[u8]) {
    check_lengths(dst.len(), src.len());
    // SAFETY: slices are valid for their length, which is the same, and a mutable one overlaps no other.
    unsafe { bytes_raw(dst.as_mut_ptr(), src.as_ptr(), src.len()) }
}

/// Copies `src` to `dst`; the caller's intent decides whether the copy is left in the cache.
///
/// # Panics
/// As [`bytes`].
///
/// ```
/// use carryline::{Intent, Next, copy};
/// let packet = vec![7; 9000];
/// let mut ring = vec![0; 1 << 16];
/// copy::bytes_with(&mut ring[..9000], &packet, Intent::new(Next::Device).source_done());
/// assert_eq!((ring[8999], ring[9000]), (7, 0));
/// ```
#[inline]
#[track_caller]
pub fn bytes_with(dst: &mut [u8], src: &[u8], intent: impl Into<Intent>) {
    check_lengths(dst.len(), src.len());
    // SAFETY: slices are valid for their length, which is the same, and a mutable one overlaps no other.
    unsafe { bytes_raw_with(dst.as_mut_ptr(), src.as_ptr(), src.len(), intent) }
}

/// Copies to memory that may be uninitialised, and returns it as bytes.
///
/// # Panics
/// As [`bytes`].
///
/// ```
/// let mut buffer = Vec::with_capacity(5);
/// let copied: &mut [u8] = carryline::copy::bytes_uninit(&mut buffer.spare_capacity_mut()[..5], b"hello");
/// assert_eq!(copied, b"hello");
/// ```
#[inline]
#[track_caller]
pub fn bytes_uninit<'a>(dst: &'a mut [MaybeUninit<u8>], src: &[u8]) -> &'a mut [u8] {
    check_lengths(dst.len(), src.len());
    // SAFETY: slices are valid for their length, which is the same, and a mutable one overlaps no other;
    // afterwards the destination is initialised.
    unsafe {
        bytes_raw(dst.as_mut_ptr().cast(), src.as_ptr(), src.len());
        crate::blocks::assume_init(dst)
    }
}

/// [`bytes_uninit`] with an intent, as in [`bytes_with`].
///
/// # Panics
/// As [`bytes`].
///
/// ```
/// use carryline::{Next, copy};
/// let (block, mut buffer) = (vec![7; 9000], Vec::with_capacity(9000));
/// let copied = copy::bytes_uninit_with(&mut buffer.spare_capacity_mut()[..9000], &block, Next::NotSoon);
/// assert_eq!(copied, block);
/// ```
#[inline]
#[track_caller]
pub fn bytes_uninit_with<'a>(
    dst: &'a mut [MaybeUninit<u8>],
    src: &[u8],
    intent: impl Into<Intent>,
) -> &'a mut [u8] {
    check_lengths(dst.len(), src.len());
    // SAFETY: slices are valid for their length, which is the same, and a mutable one overlaps no other;
    // afterwards the destination is initialised.
    unsafe {
        bytes_raw_with(dst.as_mut_ptr().cast(), src.as_ptr(), src.len(), intent);
        crate::blocks::assume_init(dst)
    }
}

/// Copies like [`bytes_with`], without a fence: for a loop over many pieces that ends with one
/// [`drain`](crate::drain).
///
/// # Safety
/// As [`zero::fill_unfenced`](crate::zero::fill_unfenced): [`drain`](crate::drain) before the next
/// synchronisation.
///
/// # Panics
/// As [`bytes`].
///
/// ```
/// use carryline::{Intent, Next, copy, drain};
/// let (src, mut dst) = (vec![7; 1 << 16], vec![0; 1 << 16]);
/// for (to, from) in dst.chunks_mut(4096).zip(src.chunks(4096)) {
///     // SAFETY: `drain` comes before any other thread sees the copy.
///     unsafe { copy::bytes_unfenced(to, from, Next::NotSoon) };
/// }
/// drain();
/// assert_eq!(dst, src);
/// ```
#[inline]
#[track_caller]
pub unsafe fn bytes_unfenced(dst: &mut [u8], src: &[u8], intent: impl Into<Intent>) {
    check_lengths(dst.len(), src.len());
    // SAFETY: slices are valid for their length, which is the same, and a mutable one overlaps no other; the
    // caller drains.
    unsafe { bytes_raw_unfenced(dst.as_mut_ptr(), src.as_ptr(), src.len(), intent) }
}

/// Panics, naming both lengths and the caller's caller, if they differ.
#[inline(always)]
#[track_caller]
pub(crate) fn check_lengths(dst_bytes: usize, src_bytes: usize) {
    if dst_bytes != src_bytes {
        lengths_differ(dst_bytes, src_bytes);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn lengths_differ(dst_bytes: usize, src_bytes: usize) -> ! {
    panic!("the destination has {dst_bytes} bytes, the source {src_bytes}: their lengths must be equal")
}

/// Copies `len` bytes from `src` to `dst`. Bytes may be uninitialised or parts of pointers, and are so in the copy.
///
/// # Safety
/// `src` must be valid for reads and `dst` for writes of `len` bytes, and they must not overlap; with `len` 0
/// they may be any pointers.
///
/// ```
/// let (from, mut to) = ([1_u32, 2, 3], [0; 3]);
/// // SAFETY: the first two words of both.
/// unsafe { carryline::copy::bytes_raw(to.as_mut_ptr().cast(), from.as_ptr().cast(), 8) };
/// assert_eq!(to, [1, 2, 0]);
/// ```
#[inline]
pub unsafe fn bytes_raw(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: both are valid for `len` bytes and do not overlap, by contract; the kernel was chosen for this
    // CPU.
    unsafe { TABLE.copy()(dst, src, len) }
}

/// [`bytes_raw`] with an intent, as in [`bytes_with`].
///
/// # Safety
/// As [`bytes_raw`].
///
/// ```
/// use carryline::{Next, copy};
/// let (from, mut to) = ([1_u32, 2, 3], [0; 3]);
/// // SAFETY: the first two words of both.
/// unsafe { copy::bytes_raw_with(to.as_mut_ptr().cast(), from.as_ptr().cast(), 8, Next::ReadHere) };
/// assert_eq!(to, [1, 2, 0]);
/// ```
#[inline]
pub unsafe fn bytes_raw_with(dst: *mut u8, src: *const u8, len: usize, intent: impl Into<Intent>) {
    let intent = intent.into();
    if intent.reads_here() && (len < NON_TEMPORAL_LEAST_BYTES || !intent.is_source_done()) {
        // SAFETY: both are valid for `len` bytes and do not overlap, by contract; the kernel was chosen for
        // this CPU.
        return unsafe { TABLE.copy_read_here()(dst, src, len) };
    }
    if len < NON_TEMPORAL_LEAST_BYTES {
        // SAFETY: both are valid for `len` bytes and do not overlap, by contract.
        return unsafe { bytes_raw(dst, src, len) };
    }
    let plan = Plan::of_copy(intent, dst, src, len);
    // SAFETY: both are valid for `len` bytes and do not overlap, by contract; the kernel was chosen for this
    // CPU.
    unsafe { TABLE.copy_planned()(dst, src, len, plan) }
}

/// [`bytes_raw_with`] without a fence.
///
/// # Safety
/// As [`bytes_raw`] and [`bytes_unfenced`].
///
/// ```
/// use carryline::{Next, copy, drain};
/// let (from, mut to) = ([7; 4096], [0; 4096]);
/// // SAFETY: the bytes of both arrays; `drain` follows.
/// unsafe { copy::bytes_raw_unfenced(to.as_mut_ptr(), from.as_ptr(), 4096, Next::NotSoon) };
/// drain();
/// assert_eq!(to, from);
/// ```
#[inline]
pub unsafe fn bytes_raw_unfenced(dst: *mut u8, src: *const u8, len: usize, intent: impl Into<Intent>) {
    let intent = intent.into();
    let plan = Plan::of_copy(intent, dst, src, len).unfenced(intent);
    // SAFETY: both are valid for `len` bytes and do not overlap, and the caller drains, by contract; the
    // kernel was chosen for this CPU.
    unsafe { TABLE.copy_unfenced()(dst, src, len, plan) }
}
