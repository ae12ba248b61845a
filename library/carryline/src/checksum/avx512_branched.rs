//! The sum by dot products with one branch more than [`avx512`](super::avx512): up to 128 bytes it uses two
//! loads instead of four, for CPUs on which two masked loads cost more than a branch that may be
//! mispredicted.

use super::avx512::{self, add_words, end_around_add, load_first, partial_with, unbiased, words};
use crate::blocks::{begin_on_a_line, is_near_page_end, load};

/// Selects the code by length.
///
/// # Safety
/// The CPU has AVX512F, BW, VL and VNNI and BMI2; otherwise as [`partial_raw`](super::partial_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract.
    unsafe { partial_with(above_64, data, len, seed) }
}

/// # Safety
/// The features of [`partial`]; `len > 64`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn above_64(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: calls have the same contract. Otherwise, the first 64 bytes exist, and of the lanes after them,
    // those up to len are active; no inactive lane is in the next page.
    unsafe {
        if len > 128 {
            return avx512::above_64(data, len, seed);
        }
        if is_near_page_end(data.add(64)) {
            // The code for 65 to 128 bytes follows, and begins on a line too.
            begin_on_a_line();
            return avx512::above_64(data, len, seed);
        }
        let sums = add_words(words(load(data)), load_first(data.add(64), len - 64));
        end_around_add(unbiased(sums, 2), seed)
    }
}
