//! Copying with 16-byte moves and nothing that is special to a CPU; no plan can change that.

pub(super) use crate::blocks::copy_mixed_up_to_64 as smallest;
use crate::blocks::{Block16, READ_KEPT, copy_backward, copy_forward, copy_head_tail, copy_up_to_32};
use crate::dispatch::CopyCode;
use crate::intent::Plan;

/// The code of this kernel.
pub(super) const CODE: CopyCode = CopyCode { copy, read_here, planned, unfenced: planned, overlapping };

/// What the smallest moves take.
pub(super) const SMALLEST_MOST_BYTES: usize = 64;

/// Up to 128 bytes with overlapping moves at both ends, which load all before they store.
pub(super) const SMALL_MOST_BYTES: usize = 128;

/// The ladder: above the small sizes a loop of 64 bytes.
///
/// # Safety
/// As [`bytes_raw`](super::bytes_raw).
pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len is in the bounds that each asks for.
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
    // SAFETY: between one and two times four blocks of 16, valid for `len` bytes, by contract.
    unsafe { copy_head_tail::<Block16, 4>(dst, src, len) }
}

/// The ladder for a caller who reads the copy at once: a load of 8 bytes gets its data from one store of 8, not from two of 4.
///
/// # Safety
/// As [`bytes_raw`](super::bytes_raw).
pub(super) unsafe extern "C" fn read_here(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
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

/// The ladder for buffers that may overlap.
///
/// # Safety
/// As [`within_raw`](super::within_raw).
unsafe extern "C" fn overlapping(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: `small` loads all before it stores. Above it, upwards where dst is outside of the len bytes behind
    // src; downwards where it is inside.
    unsafe {
        match len {
            ..=SMALLEST_MOST_BYTES => smallest(dst, src, len),
            _ if len <= SMALL_MOST_BYTES => small(dst, src, len),
            _ if dst.addr().wrapping_sub(src.addr()) >= len => {
                copy_forward::<Block16, READ_KEPT>(dst, src, len)
            }
            _ => copy_backward::<Block16>(dst, src, len),
        }
    }
}
