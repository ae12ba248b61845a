//! The sum by dot products with two branches more than [`avx512`](super::avx512): up to 128 bytes it uses two
//! loads instead of four, and up to 256 four loads whose masks follow from the length alone, for CPUs on which
//! masked loads cost more than a branch that may be mispredicted.
//!
//! Masks from the length instead of from a comparison with a table took Zen 4, for 129 to 256 bytes in gross
//! ticks per call, 17.3 instead of 19.5 at random offsets, and 12.8 instead of 14.0 at fixed ones; Zen 5 7.4
//! instead of 7.5, and 6.1 to 6.3 instead of 6.9 to 7.5.

use super::avx512::{self, above_256, end_around_add, partial_with};
use super::avx512_vectors::{add_words, load_first, unbiased, words};
use crate::blocks::{begin_on_a_line, is_near_page_end, load};
use core::arch::x86_64::_mm512_add_epi32;

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
pub(super) unsafe extern "C" fn above_64(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: calls have the same contract. Otherwise, the first 64 bytes exist, and of the lanes after them,
    // those up to len are active; no inactive lane is in the next page.
    unsafe {
        if len > 128 {
            return above_128(data, len, seed);
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

/// Up to 256 bytes, two full vectors, and two of which those lanes are active that hold data: of the fourth,
/// possibly none.
///
/// # Safety
/// The features of [`partial`]; `len > 128`; `data` is valid for reads of `len` bytes.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn above_128(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: calls have the same contract. Otherwise, the first 128 bytes exist, and of the 128 lanes after them,
    // those up to len are active.
    unsafe {
        match len {
            // An inactive lane would be in the next page.
            ..=256 if data.addr().wrapping_add(128) & 4095 > 4096 - 128 => avx512::above_64(data, len, seed),
            ..=256 => {
                let low = add_words(words(load(data)), load_first(data.add(128), len - 128));
                let rest = load_first(data.wrapping_add(192), len.saturating_sub(192));
                let high = add_words(words(load(data.add(64))), rest);
                end_around_add(unbiased(_mm512_add_epi32(low, high), 4), seed)
            }
            _ => above_256(data, len, seed),
        }
    }
}
