//! 64-byte vectors: `vpdpwssd` multiplies 16-bit words by ones and adds pairs into 32-bit lanes, in one
//! instruction.
//!
//! It treats its words as signed, so each is first converted to w - 32768 by flipping its top bit, and 32768
//! per word is added back at the end. Four accumulators, 256 bytes per iteration.
//!
//! A lane gets one pair, between -65536 and 65534, from every 64 bytes. Chunks of 1 MiB, counting all four
//! accumulators together, stay within 32 bits; after each chunk the lanes are widened to 64.

use crate::{Routine, Variant, ones_complement};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "avx512_dot",
    routine: Routine::Checksum(run),
    needs: Features::AVX512F.union(Features::AVX512VNNI),
    summary: "flip the top bits, vpdpwssd with ones, four accumulators, 256 bytes per iteration",
    provenance: "Intel's Software Developer's Manual, VPDPWSSD; RFC 1071, section 2 (C)",
    ..Variant::PLAIN
};

pub(crate) const CHUNK_BYTES: usize = 1024 * 1024;

/// # Safety
/// See [the family](super).
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    let mut sum = u64::from(seed);
    let mut at = data;
    let mut left = len;
    // SAFETY: each chunk is a multiple of 64 and at most what is left; fewer than 64 bytes remain.
    unsafe {
        while left >= 64 {
            let bytes = left.min(CHUNK_BYTES) & !63;
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
/// `data` is valid for reads of `bytes` bytes, a multiple of 64 and at most [`CHUNK_BYTES`].
#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
unsafe fn sum_chunk(data: *const u8, bytes: usize) -> u64 {
    use core::arch::x86_64::*;
    let flip = _mm512_set1_epi16(i16::MIN);
    let ones = _mm512_set1_epi16(1);
    let mut sums = [_mm512_setzero_si512(); 4];
    let mut at = data;
    let mut left = bytes;
    // SAFETY: every load has 64 bytes left before the end of the chunk.
    unsafe {
        while left >= 256 {
            for (index, sum) in sums.iter_mut().enumerate() {
                let words = _mm512_xor_si512(_mm512_loadu_si512(at.add(64 * index).cast()), flip);
                *sum = _mm512_dpwssd_epi32(*sum, words, ones);
            }
            at = at.add(256);
            left -= 256;
        }
        while left >= 64 {
            let words = _mm512_xor_si512(_mm512_loadu_si512(at.cast()), flip);
            sums[0] = _mm512_dpwssd_epi32(sums[0], words, ones);
            at = at.add(64);
            left -= 64;
        }
    }
    total(sums, bytes)
}

/// The sum of the words of `bytes` bytes whose flipped pairs are in the lanes of `sums`.
#[target_feature(enable = "avx512f")]
#[inline]
pub(crate) fn total(sums: [core::arch::x86_64::__m512i; 4], bytes: usize) -> u64 {
    use core::arch::x86_64::*;
    let pairs = _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]));
    let low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(pairs));
    let high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64::<1>(pairs));
    let flipped = _mm512_reduce_add_epi64(_mm512_add_epi64(low, high));
    // 32768 per word of two bytes, so 16384 per byte. The true sum of the words is not negative.
    (flipped + 16384 * bytes as i64) as u64
}
