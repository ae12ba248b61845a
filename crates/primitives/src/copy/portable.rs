//! Copying with 16-byte moves: what every CPU of the architecture can do.

use crate::blocks::{Block16, copy_aligned_loop, copy_head_tail, copy_up_to_32};

/// Up to 128 bytes with overlapping moves at both ends, above with a loop of 64 bytes.
///
/// # Safety
/// As [`copy_raw`](super::copy_raw).
pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            0..=32 => copy_up_to_32(dst, src, len),
            33..=64 => copy_head_tail::<Block16, 2>(dst, src, len),
            65..=128 => copy_head_tail::<Block16, 4>(dst, src, len),
            _ => copy_aligned_loop::<Block16>(dst, src, len),
        }
    }
}
