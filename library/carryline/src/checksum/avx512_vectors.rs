//! Operations on vectors of 64 bytes, for sums by dot products of signed words; see [`avx512`](super::avx512).

use core::arch::asm;
use core::arch::x86_64::{
    __m512i, _bzhi_u64, _mm512_madd_epi16, _mm512_maskz_loadu_epi8, _mm512_reduce_add_epi32,
    _mm512_set1_epi16, _mm512_xor_si512,
};

/// The amount that xoring 0x8000 subtracts from the 32 words of one vector.
pub(super) const BIAS_PER_VECTOR: usize = 32 * 0x8000;

/// The first `count` bytes (at most 255) of the vector at `data`; zero in the other lanes.
///
/// # Safety
/// The features of [`partial`](super::avx512::partial); `data` is valid for reads of `count` bytes, at most 64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe fn load_first(data: *const u8, count: usize) -> __m512i {
    // SAFETY: the active lanes are the first `count`, readable by contract.
    unsafe { load_masked(data, _bzhi_u64(u64::MAX, count as u32)) }
}

/// # Safety
/// The features of [`partial`](super::avx512::partial); `data` is valid for reads at the lanes that the mask activates.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe fn load_masked(data: *const u8, mask: u64) -> __m512i {
    // SAFETY: by contract; inactive lanes are not read.
    unsafe { _mm512_maskz_loadu_epi8(mask, data.cast()) }
}

/// The words of a vector, each less 32768, added in pairs. To start a sum with them takes one instruction
/// less than adding to zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) fn words(words: __m512i) -> __m512i {
    _mm512_madd_epi16(_mm512_xor_si512(words, _mm512_set1_epi16(i16::MIN)), _mm512_set1_epi16(1))
}

/// Adds the words of a vector, each less 32768, to the sums. The instruction is written out because LLVM
/// turns its intrinsic into a multiplication and an addition.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) fn add_words(mut sums: __m512i, words: __m512i) -> __m512i {
    let signed = _mm512_xor_si512(words, _mm512_set1_epi16(i16::MIN));
    // SAFETY: an AVX512-VNNI instruction that changes only the sums.
    unsafe {
        asm!(
            "vpdpwssd {sums}, {signed}, {ones}",
            sums = inout(zmm_reg) sums,
            signed = in(zmm_reg) signed,
            ones = in(zmm_reg) _mm512_set1_epi16(1),
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}

/// The sum of all lanes with the bias of that many vectors added back. It is below 2^32, because there are at
/// most 2048 vectors: what wraps on the way wraps back.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) fn unbiased(sums: __m512i, vectors: usize) -> u32 {
    (_mm512_reduce_add_epi32(sums) as u32).wrapping_add((vectors * BIAS_PER_VECTOR) as u32)
}
