//! The sum by multiply-add of signed words, 32 bytes at a time.
//!
//! `vpmaddwd` multiplies 16 signed words and adds neighbours into 8 sums of 32 bits. With factors of one it
//! would add words, were they not unsigned. So 0x8000 is xored into each word, which takes 32768 from it as a
//! signed number, and 32768 per word is given back at the end: exactly, for lanes that were masked to zero too.

use super::{adc, fold_64};
use crate::blocks::load;
use core::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_add_epi32,
    _mm256_and_si256, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_madd_epi16, _mm256_set1_epi16,
    _mm256_setzero_si256, _mm256_xor_si256,
};

/// What xoring 0x8000 takes from the 16 words of one vector.
const BIAS_PER_VECTOR: i64 = 16 * 0x8000;

/// Bytes summed before the 32-bit sums are emptied. Zeros drive them down fastest, by [`BIAS_PER_VECTOR`] per
/// vector for all lanes together; 4096 vectors of these reach -2^31, which just fits. One vector is kept for
/// the tail, another for good measure.
pub(crate) const BLOCK_BYTES: usize = 4094 * 32;

/// Below, carry chains are through before vectors are added up.
const WORTH_VECTORS_BYTES: usize = 224;

/// 32 bytes at offset n of this mask select the last n bytes of a vector.
static LAST_BYTES: [u8; 64] = {
    let mut mask = [0; 64];
    let mut i = 32;
    while i < 64 {
        mask[i] = 0xff;
        i += 1;
    }
    mask
};

/// # Safety
/// The CPU has AVX2; otherwise as [`partial_raw`](super::partial_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn partial(mut data: *const u8, mut len: usize, seed: u32) -> u32 {
    // SAFETY: blocks are taken while more than one is left; each part has the bounds that its function asks for.
    unsafe {
        if len < WORTH_VECTORS_BYTES {
            return adc::partial(data, len, seed);
        }
        let mut sum = u64::from(seed);
        while len > BLOCK_BYTES + 32 {
            sum = u64::from(fold_64(sum + block(data, BLOCK_BYTES)));
            data = data.add(BLOCK_BYTES);
            len -= BLOCK_BYTES;
        }
        // Of a little more than a block, so much is taken that the rest still fills a vector.
        if len > BLOCK_BYTES {
            sum += block(data, 64);
            data = data.add(64);
            len -= 64;
        }
        fold_64(sum + block(data, len))
    }
}

/// The sum of 32 to [`BLOCK_BYTES`] bytes: whole vectors from the start; the rest of an even length cut out of
/// the last 32 of its bytes, where every word keeps its place; and an odd last byte by itself.
///
/// ```text
/// [ vector ][ vector ]..[ vector ][ rest ]b
///                            [  last 32  ]
/// ```
///
/// # Safety
/// The CPU has AVX2; `32 <= len <= BLOCK_BYTES`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn block(data: *const u8, len: usize) -> u64 {
    let even = len & !1;
    let vectors = even / 32;
    let mut sums = [_mm256_setzero_si256(); 4];
    let mut done = 0;
    // SAFETY: whole vectors end at or before `even`, which is at least 32; the mask is read within 64 bytes, as
    // even % 32 is below 32; the byte read last is the last of len, which is not 0.
    unsafe {
        while done + 4 <= vectors {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = add_words(*sum, load(data.add((done + lane) * 32)));
            }
            done += 4;
        }
        while done < vectors {
            sums[0] = add_words(sums[0], load(data.add(done * 32)));
            done += 1;
        }
        let mask: __m256i = load(LAST_BYTES.as_ptr().add(even % 32));
        sums[1] = add_words(sums[1], _mm256_and_si256(mask, load(data.add(even - 32))));
        let odd_byte = if len & 1 == 1 { i64::from(data.add(len - 1).read()) } else { 0 };

        let both = _mm256_add_epi32(_mm256_add_epi32(sums[0], sums[1]), _mm256_add_epi32(sums[2], sums[3]));
        let total = i64::from(add_lanes(both)) + (vectors as i64 + 1) * BIAS_PER_VECTOR + odd_byte;
        total as u64
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_words(sums: __m256i, words: __m256i) -> __m256i {
    let signed = _mm256_xor_si256(words, _mm256_set1_epi16(i16::MIN));
    _mm256_add_epi32(sums, _mm256_madd_epi16(signed, _mm256_set1_epi16(1)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_lanes(lanes: __m256i) -> i32 {
    let four: __m128i = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two)))
}
