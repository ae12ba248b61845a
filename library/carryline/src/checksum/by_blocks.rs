//! Copy and sum in two passes over blocks that stay in the first-level cache.
//!
//! The source is summed. The copy holds the same bytes, but loading them in other widths than they were
//! stored in would wait until the stores have left the store buffer.

use crate::dispatch::{ChecksumFn, CopyFn};

/// A block and its copy take half of a first-level cache of 32 KiB. Even, so that words keep their positions
/// from one block to the next.
pub(crate) const BLOCK_BYTES: usize = 8 << 10;

/// # Safety
/// As [`copy_and_sum_raw`](super::copy_and_sum_raw); the CPU has what `copy` and `sum` require.
#[inline(always)]
unsafe fn copy_and_sum(
    copy: CopyFn,
    sum: ChecksumFn,
    mut dst: *mut u8,
    mut src: *const u8,
    mut len: usize,
    seed: u32,
) -> u32 {
    let mut total = seed;
    // SAFETY: whole blocks are taken while more than one is left, then the rest; both buffers contain them.
    unsafe {
        while len > BLOCK_BYTES {
            copy(dst, src, BLOCK_BYTES);
            total = sum(src, BLOCK_BYTES, total);
            dst = dst.add(BLOCK_BYTES);
            src = src.add(BLOCK_BYTES);
            len -= BLOCK_BYTES;
        }
        copy(dst, src, len);
        sum(src, len, total)
    }
}

/// The portable kernels.
///
/// # Safety
/// As [`copy_and_sum_raw`](super::copy_and_sum_raw).
pub(crate) unsafe extern "C" fn portable(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: valid for `len` bytes, the source's initialised, and no overlap, by contract.
    unsafe { copy_and_sum(crate::copy::portable::copy, super::portable::partial, dst, src, len, seed) }
}

/// The portable copy and the sum by add-with-carry.
///
/// # Safety
/// As [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe extern "C" fn adc(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: valid for `len` bytes, the source's initialised, and no overlap, by contract.
    unsafe { copy_and_sum(crate::copy::portable::copy, super::adc::partial, dst, src, len, seed) }
}
