//! Zeroing with 16-byte stores, `rep stosb` and non-temporal stores, for every CPU of the architecture.

use super::ladder::ladder;
use super::portable::read_here as short_read_here;
use crate::blocks::{
    Block16, begin_on_a_line, end_of_branch, zero_aligned_loop, zero_head_tail, zero_mixed_up_to_64,
    zero_mostly_aligned, zero_rep_stosb,
};
use crate::intent::{NARROW_LOOPS_BELOW_BYTES, Plan};

ladder!(Block16, zero_aligned_loop::<Block16>);

/// Selects the code by length.
///
/// # Safety
/// As [`fill_raw`](super::fill_raw).
unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: len is within the bounds that each path requires.
    unsafe {
        match len {
            0..=64 => zero_mixed_up_to_64(dst, len),
            65..=128 => {
                zero_head_tail::<Block16, 4>(dst, len);
                end_of_branch::<128>();
            }
            129..=192 => zero_mostly_aligned::<Block16, 7>(dst, len),
            193..=256 => zero_mostly_aligned::<Block16, 11>(dst, len),
            257..NARROW_LOOPS_BELOW_BYTES => zero_aligned_loop::<Block16>(dst, len),
            _ if Plan::is_zero_by_string(len) => zero_rep_stosb(dst, len),
            _ => {
                begin_on_a_line();
                large_by_size(dst, len);
            }
        }
    }
}
