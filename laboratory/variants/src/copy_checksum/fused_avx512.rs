//! One pass through 64-byte vectors: each is loaded once, stored, and summed by `vpdpwssd`.
//!
//! The sum is that of [`avx512_dot`]: top bits flipped, pairs of words added into 32-bit lanes, four
//! accumulators, chunks of 1 MiB before a lane can overflow. 256 bytes per iteration. Neither buffer is
//! aligned.

use crate::{Routine, Variant, checksum::avx512_dot, edges, ones_complement};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "fused_avx512",
    routine: Routine::CopyChecksum(run),
    needs: Features::AVX512F.union(Features::AVX512VNNI),
    summary: "one pass: 64-byte load, store, vpdpwssd into four accumulators",
    provenance: "Linux csum_partial_copy, as an idea; Intel's Software Developer's Manual, VPDPWSSD",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    let mut sum = u64::from(seed);
    let mut at = 0;
    // SAFETY: each chunk is a multiple of 64 and at most what is left; fewer than 64 bytes remain.
    unsafe {
        while len - at >= 64 {
            let bytes = (len - at).min(avx512_dot::CHUNK_BYTES) & !63;
            sum = ones_complement::add(sum, copy_and_sum_chunk(dst.add(at), src.add(at), bytes));
            at += bytes;
        }
        edges::copy_below_64(dst.add(at), src.add(at), len - at);
        ones_complement::reduce(ones_complement::add_rest(sum, src.add(at), len - at))
    }
}

/// Copies a chunk and returns the sum of its words.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `bytes` bytes, a multiple of 64 and at most
/// [`avx512_dot::CHUNK_BYTES`].
#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
unsafe fn copy_and_sum_chunk(dst: *mut u8, src: *const u8, bytes: usize) -> u64 {
    use core::arch::x86_64::*;
    let flip = _mm512_set1_epi16(i16::MIN);
    let ones = _mm512_set1_epi16(1);
    let mut sums = [_mm512_setzero_si512(); 4];
    let mut at = 0;
    // SAFETY: every load and store has 64 bytes left before the end of the chunk.
    unsafe {
        while bytes - at >= 256 {
            for (index, sum) in sums.iter_mut().enumerate() {
                let line = _mm512_loadu_si512(src.add(at + 64 * index).cast());
                _mm512_storeu_si512(dst.add(at + 64 * index).cast(), line);
                *sum = _mm512_dpwssd_epi32(*sum, _mm512_xor_si512(line, flip), ones);
            }
            at += 256;
        }
        while bytes - at >= 64 {
            let line = _mm512_loadu_si512(src.add(at).cast());
            _mm512_storeu_si512(dst.add(at).cast(), line);
            sums[0] = _mm512_dpwssd_epi32(sums[0], _mm512_xor_si512(line, flip), ones);
            at += 64;
        }
    }
    avx512_dot::total(sums, bytes)
}
