//! Zeroing with 16-byte stores, `rep stosb` and non-temporal stores: what every CPU of the architecture can do.

use super::ladder::ladder;
use super::portable;
use crate::blocks::{Block16, zero_aligned_loop};
use crate::intent::LOOPS_BELOW_BYTES;

use super::portable::read_here as short_read_here;

ladder!(Block16, zero_aligned_loop::<Block16>);

/// The ladder.
///
/// # Safety
/// As [`fill_raw`](super::fill_raw).
unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: len is in the bounds that each path asks for.
    unsafe {
        match len {
            ..LOOPS_BELOW_BYTES => portable::zero(dst, len),
            _ => large_by_size(dst, len),
        }
    }
}
