//! Zeroing with 32-byte stores; `rep stosb` and non-temporal stores for the sizes where they are faster.

use super::ladder::ladder;
use crate::blocks::{
    begin_on_a_line, end_of_branch, zero_aligned_loop, zero_head_tail, zero_mixed_up_to_64, zero_up_to_32,
};
use crate::intent::LOOPS_BELOW_BYTES;
use core::arch::x86_64::__m256i;

ladder!(
    #[target_feature(enable = "avx2")]
    __m256i,
    zero_aligned_loop::<__m256i>
);

/// Selects the code by length.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx2")]
unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            0..=64 => zero_mixed_up_to_64(dst, len),
            65..=128 => zero_head_tail::<__m256i, 2>(dst, len),
            129..=256 => zero_head_tail::<__m256i, 4>(dst, len),
            257..LOOPS_BELOW_BYTES => zero_aligned_loop::<__m256i>(dst, len),
            _ => {
                begin_on_a_line();
                large_by_size(dst, len);
            }
        }
    }
}

/// As `zero`, for a caller who reads the bytes immediately: a load of 8 bytes can be forwarded from one store
/// of 8, but not from two of 4.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe extern "C" fn short_read_here(dst: *mut u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            0..=32 => zero_up_to_32(dst, len),
            33..=64 => {
                zero_head_tail::<__m256i, 1>(dst, len);
                end_of_branch::<64>();
            }
            65..=128 => {
                zero_head_tail::<__m256i, 2>(dst, len);
                end_of_branch::<128>();
            }
            129..=256 => {
                zero_head_tail::<__m256i, 4>(dst, len);
                end_of_branch::<256>();
            }
            _ => zero_aligned_loop::<__m256i>(dst, len),
        }
    }
}
