//! The sum by dot products with one branch more than [`avx512`](super::avx512): up to 128 bytes two loads instead of four, for
//! CPUs on which two masks less are worth a branch that may be mispredicted.

use super::avx512::{add_words, bias, load_first, partial as any_size, total};
use super::fold_64;
use crate::blocks::{is_mask_slow, load};

/// The ladder.
///
/// # Safety
/// The CPU has AVX512F, BW, VL and VNNI and BMI2; otherwise as [`partial_raw`](super::partial_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the first 64 bytes are there, and of the lanes behind them those up to len are active; the page that the
    // others could look into is not the next one. Any other length is `any_size`'s contract.
    unsafe {
        match len {
            65..=128 if !is_mask_slow(data.wrapping_add(64)) => {
                let sums = add_words(add_words(bias(2), load(data)), load_first(data.add(64), len - 64));
                fold_64(u64::from(seed) + total(sums))
            }
            _ => any_size(data, len, seed),
        }
    }
}
