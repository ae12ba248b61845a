//! Copying with 16-byte moves, `rep movsb` and non-temporal stores: what every CPU of the architecture can do.

use super::ladder::above_small;
use super::portable::{self, SMALL_MOST_BYTES, SMALLEST_MOST_BYTES, small, smallest};
use crate::blocks::Block16;
use crate::cpu::profile::LOOPS_BELOW_BYTES;

use super::portable::read_here as short_read_here;

above_small!(Block16);

/// The ladder.
///
/// # Safety
/// As [`copy_raw`](super::copy_raw).
unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len is in the bounds that each path asks for.
    unsafe {
        match len {
            ..LOOPS_BELOW_BYTES => portable::copy(dst, src, len),
            _ => large_by_size(dst, src, len),
        }
    }
}
