//! The sum by dot products with one branch more than [`avx512`](super::avx512): up to 128 bytes it uses two
//! loads instead of four, for CPUs on which two masked loads cost more than a branch that may be
//! mispredicted.

use super::avx512::{add_words, bias, end_around_add, load_first, partial as any_size, total};
use crate::blocks::{is_mask_slow, load};

/// Selects the code by length.
///
/// # Safety
/// The CPU has AVX512F, BW, VL and VNNI and BMI2; otherwise as [`partial_raw`](super::partial_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the first 64 bytes exist, and the active lanes after them are those up to len; inactive lanes
    // do not reach into the next page. Any other length meets the contract of `any_size`.
    unsafe {
        match len {
            65..=128 if !is_mask_slow(data.wrapping_add(64)) => {
                let sums = add_words(add_words(bias(2), load(data)), load_first(data.add(64), len - 64));
                end_around_add(total(sums), seed)
            }
            _ => any_size(data, len, seed),
        }
    }
}
