//! Zeroing with 16-byte stores, `rep stosb` and non-temporal stores: what every CPU of the architecture can do.

use super::ladder::above_small;
use super::portable;
use crate::blocks::{Block16, zero_aligned_loop};

/// No store here is masked: a load at once finds its data.
use super::portable::zero as short_read_here;

above_small!(Block16, zero_aligned_loop::<Block16>);

/// From here on `rep stosb` beats a loop of stores on CPUs with ERMS; it stores more at once than these do.
pub(crate) const REP_STOSB_FROM_BYTES: usize = 4 << 10;
/// The same for bytes that are read at once.
const REP_STOSB_READ_HERE_FROM_BYTES: usize = REP_STOSB_FROM_BYTES;

/// The ladder.
///
/// # Safety
/// As [`fill_raw`](super::fill_raw).
unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: len is in the bounds that each path asks for.
    unsafe {
        match len {
            ..REP_STOSB_FROM_BYTES => portable::zero(dst, len),
            _ => large_by_size(dst, len),
        }
    }
}
