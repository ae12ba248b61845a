//! 32-byte vectors: `vpmaddwd` with ones adds neighbouring 16-bit words into 32-bit lanes.
//!
//! `vpmaddwd` treats its words as signed, so each is first converted to w - 32768 by flipping its top bit,
//! and 32768 per word is added back at the end. Four accumulators, 128 bytes per iteration.
//!
//! A lane gets one pair, between -65536 and 65534, from every 32 bytes. Chunks of 512 KiB, counting all four
//! accumulators together, stay within 32 bits; after each chunk the lanes are widened to 64.

use crate::{Routine, Variant, ones_complement};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "avx2",
    routine: Routine::Checksum(run),
    needs: Features::AVX2,
    summary: "vpmaddwd with ones, four accumulators, 128 bytes per iteration",
    provenance: "Intel's Software Developer's Manual, PMADDWD; RFC 1071, section 2 (C)",
    ..Variant::PLAIN
};

const CHUNK_BYTES: usize = 512 * 1024;

/// # Safety
/// See [the family](super).
#[target_feature(enable = "avx2")]
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    let mut sum = u64::from(seed);
    let mut at = data;
    let mut left = len;
    // SAFETY: each chunk is a multiple of 32 and at most what is left; fewer than 32 bytes remain.
    unsafe {
        while left >= 32 {
            let bytes = left.min(CHUNK_BYTES) & !31;
            sum = ones_complement::add(sum, sum_chunk(at, bytes));
            at = at.add(bytes);
            left -= bytes;
        }
        ones_complement::reduce(ones_complement::add_rest(sum, at, left))
    }
}

/// The sum of the words of a chunk.
///
/// # Safety
/// `data` is valid for reads of `bytes` bytes, a multiple of 32 and at most [`CHUNK_BYTES`].
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn sum_chunk(data: *const u8, bytes: usize) -> u64 {
    use core::arch::x86_64::*;
    let flip = _mm256_set1_epi16(i16::MIN);
    let ones = _mm256_set1_epi16(1);
    let mut sums = [_mm256_setzero_si256(); 4];
    let mut at = data.cast::<__m256i>();
    let mut left = bytes;
    // SAFETY: every load has 32 bytes left before the end of the chunk.
    unsafe {
        while left >= 128 {
            for (index, sum) in sums.iter_mut().enumerate() {
                let words = _mm256_xor_si256(_mm256_loadu_si256(at.add(index)), flip);
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(words, ones));
            }
            at = at.add(4);
            left -= 128;
        }
        while left >= 32 {
            let words = _mm256_xor_si256(_mm256_loadu_si256(at), flip);
            sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(words, ones));
            at = at.add(1);
            left -= 32;
        }
    }
    let pairs = _mm256_add_epi32(_mm256_add_epi32(sums[0], sums[1]), _mm256_add_epi32(sums[2], sums[3]));
    let low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(pairs));
    let high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(pairs));
    let four = _mm256_add_epi64(low, high);
    let two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256::<1>(four));
    let one = _mm_add_epi64(two, _mm_unpackhi_epi64(two, two));
    // 32768 per word of two bytes, so 16384 per byte. The true sum of the words is not negative.
    (_mm_cvtsi128_si64(one) + 16384 * bytes as i64) as u64
}
