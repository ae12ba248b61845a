//! Copying with 16-byte moves, without CPU-specific instructions; plans have no effect. In programs for x86-64 without
//! vectors, such as operating systems, this is the only kernel; there, [`scalar`](super::scalar) copies what does not overlap.

#[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
pub(crate) use super::scalar::copy;
pub(super) use crate::blocks::copy_mixed_up_to_64 as smallest;
use crate::blocks::{Block16, READ_KEPT, copy_backward, copy_forward, copy_head_tail, copy_up_to_32};
use crate::dispatch::CopyCode;
use crate::intent::Plan;
#[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
use crate::intent::STRINGS_FROM_BYTES;

/// The code of this kernel.
pub(super) const CODE: CopyCode = CopyCode { copy, read_here, planned, unfenced: planned, overlapping };

/// The most bytes for the smallest moves.
pub(super) const SMALLEST_MOST_BYTES: usize = 64;

/// Up to 128 bytes with overlapping moves at both ends; all loads come before all stores.
pub(super) const SMALL_MOST_BYTES: usize = 128;

/// Selects the code by length: above the small sizes, a loop of 64 bytes.
///
/// # Safety
/// As [`bytes_raw`](super::bytes_raw).
#[cfg(not(all(target_arch = "x86_64", not(target_feature = "sse2"))))]
pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len is within the bounds that each requires.
    unsafe {
        match len {
            ..=SMALLEST_MOST_BYTES => smallest(dst, src, len),
            _ if len <= SMALL_MOST_BYTES => small(dst, src, len),
            _ => copy_forward::<Block16, READ_KEPT>(dst, src, len),
        }
    }
}

/// # Safety
/// `SMALLEST_MOST_BYTES < len <= SMALL_MOST_BYTES`; otherwise as [`within_raw`](super::within_raw).
#[inline(always)]
pub(super) unsafe fn small(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len is between four and eight blocks of 16, valid for `len` bytes, by contract.
    unsafe { copy_head_tail::<Block16, 4>(dst, src, len) }
}

/// As `copy`, for a caller who reads the copy immediately: a load of 8 bytes can be forwarded from one store
/// of 8, but not from two of 4.
///
/// # Safety
/// As [`bytes_raw`](super::bytes_raw).
pub(super) unsafe extern "C" fn read_here(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=32 => copy_up_to_32(dst, src, len),
            33..=64 => copy_head_tail::<Block16, 2>(dst, src, len),
            _ => copy(dst, src, len),
        }
    }
}

/// # Safety
/// As [`bytes_raw`](super::bytes_raw).
unsafe extern "C" fn planned(dst: *mut u8, src: *const u8, len: usize, _: Plan) {
    // SAFETY: both are valid for `len` bytes and do not overlap, by contract.
    unsafe { copy(dst, src, len) }
}

/// As `copy`, for buffers that may overlap.
///
/// # Safety
/// As [`within_raw`](super::within_raw).
unsafe extern "C" fn overlapping(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: in `small`, all loads come before all stores. Above it, copies go upwards if dst is not within
    // the len bytes after src, downwards if it is.
    unsafe {
        match len {
            ..=SMALLEST_MOST_BYTES => smallest(dst, src, len),
            _ if len <= SMALL_MOST_BYTES => small(dst, src, len),
            #[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
            STRINGS_FROM_BYTES.. if dst.addr().abs_diff(src.addr()) >= len => copy(dst, src, len),
            _ if dst.addr().wrapping_sub(src.addr()) >= len => {
                copy_forward::<Block16, READ_KEPT>(dst, src, len)
            }
            _ => copy_backward::<Block16>(dst, src, len),
        }
    }
}
