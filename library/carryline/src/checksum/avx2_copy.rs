//! Copy and sum in one pass: each vector is loaded once, stored, and added as in [`avx2`].
//!
//! [`avx2`]: super::avx2

use super::avx2::{above_64, from_4_to_64, partial};
use crate::blocks::copy_mixed_up_to_64;

/// Selects the code by length. Up to 64 bytes, the copy and the sum are a few instructions each, and loading
/// twice costs nothing.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn copy_and_sum(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: valid for `len` bytes, the source's initialised, and no overlap, by contract; len is what
    // `above_64` requires.
    unsafe {
        match len {
            4..=64 => {
                copy_mixed_up_to_64(dst, src, len);
                from_4_to_64(src, len, seed)
            }
            65.. => above_64::<true>(dst, src, len, seed),
            ..4 => {
                copy_mixed_up_to_64(dst, src, len);
                partial(src, len, seed)
            }
        }
    }
}
