//! The sum by dot products of signed words, 64 bytes at a time.
//!
//! `vpdpwssd` multiplies 32 signed words, adds neighbours, and adds the results to 16 sums of 32 bits: with
//! factors of one, all additions in one instruction. The words are unsigned, so each is xored with 0x8000,
//! which as a signed number subtracts 32768; the total is corrected at the end. A lane that a mask left zero
//! becomes -32768 like any other zero, so the correction depends only on the number of vectors, and the sum
//! is exact.
//!
//! Up to 64 bytes, one masked load. Up to 256, four loads for every length, three of them masked, because a
//! mispredicted branch costs more. Above, aligned whole lines, the first and the last masked: inactive lanes
//! then lie in a line that also holds data, so they never touch an inaccessible page. Up to
//! [`FEW_LINES_UP_TO_BYTES`], the lines are unrolled code entered by a jump; above, they are a loop.

use super::avx512_lines::{
    FEW, FEW_LINES_UP_TO_BYTES, MANY, MANY_PREFETCHED, MANY_PREFETCHED_FAR, up_to_256_by_lines, walk,
};
use super::avx512_vectors::{add_words, load_masked, unbiased, words};
use super::is_prefetched_far;
use crate::blocks::{back_from_page_end, begin_on_a_line, is_in_first_line, load};
use crate::profile::{Decision, PREFETCH_FAR_LEAST_BYTES, SUM_PREFETCH_LEAST_BYTES};
use crate::tuning::decided;
use core::arch::x86_64::{_bzhi_u64, _mm512_add_epi32, _mm512_cmple_epu8_mask, _mm512_set1_epi8};

/// The bytes summed before the 32-bit sums are emptied. Zeros lower them fastest, by
/// [`BIAS_PER_VECTOR`](super::avx512_vectors::BIAS_PER_VECTOR) per vector over all lanes; 2048 such vectors reach -2^31, which just
/// fits. An unaligned block of 2047 lines touches 2048.
pub(crate) const BLOCK_BYTES: usize = 2047 * 64;

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

/// [`partial`] with the code for larger sizes. That is out of line, so that the code for up to 64 bytes is in
/// one piece and in few cache lines.
///
/// # Safety
/// As [`partial`]; above 64 bytes, the contract of `above_64`.
#[inline(always)]
pub(super) unsafe fn partial_with(
    above_64: unsafe extern "C" fn(*const u8, usize, u32) -> u32,
    data: *const u8,
    len: usize,
    seed: u32,
) -> u32 {
    // SAFETY: len is within the bounds that each function requires, and valid for reads by contract.
    unsafe {
        match len {
            ..=64 if is_in_first_line(data) => {
                begin_on_a_line();
                at_first_line(data, len, seed)
            }
            ..=64 => up_to_64(data, len, seed),
            _ => above_64(data, len, seed),
        }
    }
}

/// # Safety
/// The features of [`partial`]; `len > 64`; `data` is valid for reads of `len` bytes.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe extern "C" fn above_64(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is within the bounds that each function requires, and valid for reads by contract.
    unsafe {
        match len {
            ..=256 => up_to_256(data, len, seed),
            _ => above_256(data, len, seed),
        }
    }
}

/// # Safety
/// The features of [`partial`]; `len > 256`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe fn above_256(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is within the bounds that each function requires, and valid for reads by contract.
    unsafe {
        match len {
            ..=FEW_LINES_UP_TO_BYTES => end_around_add(walk::<FEW>(data, len, NO_PREFETCH), seed),
            _ => {
                begin_on_a_line();
                blocks(data, len, seed)
            }
        }
    }
}

/// # Safety
/// The features of [`partial`]; `len <= 64`; `data` is valid for reads of `len` bytes.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn at_first_line(data: *const u8, len: usize, seed: u32) -> u32 {
    match len {
        0 => seed,
        // SAFETY: there is data, and it is valid for reads by contract.
        _ => end_around_add(unsafe { up_to_256_by_lines(data, len) }, seed),
    }
}

/// # Safety
/// The features of [`partial`]; `len <= 64`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn up_to_64(data: *const u8, len: usize, seed: u32) -> u32 {
    let back = back_from_page_end([data], len);
    let mask = _bzhi_u64(u64::MAX, len as u32).wrapping_shl(back as u32);
    // SAFETY: the active lanes are exactly the data: the first `len`, or the last if `back` is not 0, hence
    // 64 - len; none if `len` is 0.
    let sums = unsafe { words(load_masked(data.wrapping_sub(back), mask)) };
    // After an odd number of bytes, all words are shifted by one byte, as in `walk`. 32 words are below 2^21.
    end_around_add(unbiased(sums, 1) << ((back & 1) * 8), seed)
}

/// For each lane of the second to fourth vectors of [`up_to_256`], the least value of the last even length
/// less one for which the lane is new: 64 * vector + 63 - lane.
static BEFORE_END: BeforeEnd = BeforeEnd({
    let mut bytes = [[0; 64]; 3];
    let mut i = 0;
    while i < 192 {
        bytes[i / 64][63 - i % 64] = 64 + i as u8;
        i += 1;
    }
    bytes
});

/// Aligned, so that no load of a vector crosses a line.
#[repr(align(64))]
struct BeforeEnd([[u8; 64]; 3]);

/// Four vectors for every length. If the data ends before the end of a vector, the vector ends with the data,
/// and only the lanes that are in no earlier vector are added:
///
/// ```text
/// len 150:  [ 0 .. 64 ][ 64 .. 128 ]
///                         86 [ 128 .. 150 ]
///                         86             [] 150
/// ```
///
/// No vector reaches out of the data, whatever page follows. Words keep their positions, because vectors
/// begin at even offsets; the last byte of an odd length is added separately.
///
/// # Safety
/// The features of [`partial`]; `64 <= len <= 256`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn up_to_256(data: *const u8, len: usize, seed: u32) -> u32 {
    let even = len & !1;
    let last = _mm512_set1_epi8((even - 1) as i8);
    // SAFETY: each vector begins at `even` - 64 or before, hence ends within the data. The table has three
    // vectors. The last byte exists.
    unsafe {
        let line = |vector: usize, at: usize| {
            let is_new = _mm512_cmple_epu8_mask(load(BEFORE_END.0[vector - 1].as_ptr()), last);
            load_masked(data.add(at), is_new)
        };
        let low = words(load(data));
        let high = words(line(1, 64.min(even - 64)));
        let low = add_words(low, line(2, 128.min(even - 64)));
        let high = add_words(high, line(3, even - 64));
        let odd_byte = u32::from(*data.add(len - 1)) & (len as u32 & 1).wrapping_neg();
        // 128 words and a byte are below 2^24.
        end_around_add(unbiased(_mm512_add_epi32(low, high), 4) + odd_byte, seed)
    }
}

/// Adds with end-around carry. The result is 0 only for zeros.
#[inline(always)]
pub(super) fn end_around_add(a: u32, b: u32) -> u32 {
    // A sum that carries is at most 2^32 - 2.
    let (sum, carry) = a.overflowing_add(b);
    sum + u32::from(carry)
}

/// Data of any length, block by block.
///
/// # Safety
/// The features of [`partial`]; `len > 0`; `data` is valid for reads of `len` bytes.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe extern "C" fn blocks(mut data: *const u8, mut len: usize, seed: u32) -> u32 {
    let ahead = if len < SUM_PREFETCH_LEAST_BYTES { NO_PREFETCH } else { prefetch_ahead(len) };
    let mut sum = seed;
    // SAFETY: a block is taken while at least a block is left. Blocks have an even length, so that words keep
    // their positions. A rest of 0 bytes is not summed.
    unsafe {
        while len > 0 {
            let bytes = len.min(BLOCK_BYTES);
            let block = match bytes {
                ..=256 => up_to_256_by_lines(data, bytes),
                _ if ahead == NO_PREFETCH => walk::<MANY>(data, bytes, ahead),
                _ if ahead == FAR => walk::<MANY_PREFETCHED_FAR>(data, bytes, ahead),
                _ => walk::<MANY_PREFETCHED>(data, bytes, ahead),
            };
            sum = end_around_add(block, sum);
            data = data.add(bytes);
            len -= bytes;
        }
    }
    sum
}

/// How far ahead of the loads a sum of `len` bytes prefetches: not at all if the lines are expected in the
/// second-level cache, where prefetching only costs. Not inlined, so that shorter sums read no decision.
#[cold]
#[inline(never)]
extern "C" fn prefetch_ahead(len: usize) -> usize {
    match len {
        PREFETCH_FAR_LEAST_BYTES.. if is_prefetched_far(len) => FAR,
        _ if len >= decided(Decision::SumPrefetch) => decided(Decision::SumPrefetchAhead),
        _ => NO_PREFETCH,
    }
}

/// The distance for sums that do not prefetch.
const NO_PREFETCH: usize = 0;
/// Stands for the distance of [`prefetch_far`](crate::blocks::prefetch_far).
const FAR: usize = usize::MAX;
