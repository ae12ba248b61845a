//! Zeroing with 16-byte stores, `rep stosb` and non-temporal stores, for every CPU of the architecture.

use super::ladder::ladder;
use super::portable;
use crate::blocks::{Block16, zero_aligned_loop};
use crate::intent::LOOPS_BELOW_BYTES;

use super::portable::read_here as short_read_here;

ladder!(Block16, zero_aligned_loop::<Block16>);

/// Selects the code by length.
///
/// # Safety
/// As [`fill_raw`](super::fill_raw).
unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: len is within the bounds that each path requires.
    unsafe {
        match len {
            ..LOOPS_BELOW_BYTES => portable::zero(dst, len),
            _ => large_by_size(dst, len),
        }
    }
}
