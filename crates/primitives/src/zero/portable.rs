//! Zeroing with 16-byte stores: what every CPU of the architecture can do.

use crate::blocks::{Block16, zero_aligned_loop, zero_head_tail, zero_up_to_32};

/// Up to 128 bytes with overlapping stores at both ends, above with a loop of 64 bytes.
///
/// # Safety
/// As [`zero_raw`](super::zero_raw).
pub(crate) unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            0..=32 => zero_up_to_32(dst, len),
            33..=64 => zero_head_tail::<Block16, 2>(dst, len),
            65..=128 => zero_head_tail::<Block16, 4>(dst, len),
            _ => zero_aligned_loop::<Block16>(dst, len),
        }
    }
}
