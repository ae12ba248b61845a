//! Copying with 16-byte moves, `rep movsb` and non-temporal stores, for every CPU of the architecture.

use super::ladder::ladder;
use super::portable::{self, SMALLEST_MOST_BYTES, read_here as short_read_here, smallest};
use crate::blocks::{Block16, copy_head_tail};

ladder!(Block16);

/// Twelve moves; above, the loop makes fewer.
const SMALL_MOST_BYTES: usize = 192;

/// Moves both ends, which overlap in the middle. All loads come before all stores.
///
/// # Safety
/// `SMALLEST_MOST_BYTES < len <= SMALL_MOST_BYTES`; otherwise as [`within_raw`](super::within_raw).
#[inline]
unsafe fn small(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=portable::SMALL_MOST_BYTES => portable::small(dst, src, len),
            _ => copy_head_tail::<Block16, 6>(dst, src, len),
        }
    }
}
