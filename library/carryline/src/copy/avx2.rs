//! Copying with 32-byte moves; `rep movsb` and non-temporal stores for the sizes where they are faster.

use super::ladder::ladder;
use crate::blocks::{copy_head_tail, copy_mixed_up_to_64 as smallest, copy_up_to_32};
use core::arch::x86_64::__m256i;

ladder!(
    #[target_feature(enable = "avx2")]
    __m256i
);

/// The most bytes for the smallest moves.
const SMALLEST_MOST_BYTES: usize = 64;

/// Half of the sixteen registers hold this many bytes; head and tail of the next size class would take all of
/// them.
const SMALL_MOST_BYTES: usize = 256;

/// Gross ticks on Zen 5, by `copy_forward` and by `copy_by_distance`: 6,200 bytes at random offsets 106 and 94, at offset 0 90 and
/// 94; 16,000 bytes 256 and 232, 219 and 222, with the destination 300 bytes above the source modulo 4096 360 and 230.
pub(super) const BY_DISTANCE_FROM_BYTES: usize = 6 << 10;

/// Moves both ends, which overlap in the middle. All loads come before all stores.
///
/// # Safety
/// The CPU has AVX2; `SMALLEST_MOST_BYTES < len <= SMALL_MOST_BYTES`; otherwise as
/// [`within_raw`](super::within_raw).
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn small(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=128 => copy_head_tail::<__m256i, 2>(dst, src, len),
            _ => copy_head_tail::<__m256i, 4>(dst, src, len),
        }
    }
}

/// As `copy`, for a caller who reads the copy immediately: a load of 8 bytes can be forwarded from one store
/// of 8, but not from two of 4.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`bytes_raw`](super::bytes_raw).
#[inline]
#[target_feature(enable = "avx2")]
unsafe extern "C" fn short_read_here(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=32 => copy_up_to_32(dst, src, len),
            33..=64 => copy_head_tail::<__m256i, 1>(dst, src, len),
            _ if len <= SMALL_MOST_BYTES => small(dst, src, len),
            _ => loops(dst, src, len),
        }
    }
}
