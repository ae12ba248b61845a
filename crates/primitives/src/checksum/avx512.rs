//! The sum by dot products of signed words, 64 bytes at a time.
//!
//! `vpdpwssd` multiplies 32 signed words, adds neighbours and adds that to 16 sums of 32 bits: with factors of
//! one, all the adding in one instruction. Words are unsigned, so 0x8000 is xored into each, which takes 32768
//! from it as a signed number; 32768 per lane is given back at the end. A lane that a mask left zero becomes
//! -32768 like any other zero, so the amount depends on the number of vectors alone and the sum is exact.
//!
//! Up to 256 bytes: one, two or four loads from the start of the data, the last ones masked. Above, and
//! where such a load would look into the next page: [whole lines](lines), aligned, the first and the last under
//! a mask. Inactive lanes then lie in a line that holds data too, so they never meet an inaccessible page.

use super::fold_64;
use crate::blocks::{load, reaches_next_page};
use core::arch::x86_64::{
    __m512i, _MM_HINT_T0, _bzhi_u64, _mm_prefetch, _mm512_add_epi32, _mm512_dpwssd_epi32,
    _mm512_maskz_loadu_epi8, _mm512_reduce_add_epi32, _mm512_set1_epi16, _mm512_setzero_si512,
    _mm512_xor_si512,
};

/// What xoring 0x8000 takes from the 32 words of one vector.
pub(super) const BIAS_PER_VECTOR: u64 = 32 * 0x8000;

/// Bytes summed before the 32-bit sums are emptied. Zeros drive them down fastest, by [`BIAS_PER_VECTOR`] per
/// vector for all lanes together; 2048 vectors of these reach -2^31, which just fits. A block of 2047 lines
/// touches one more where it is not aligned.
pub(crate) const BLOCK_BYTES: usize = 2047 * 64;

/// From here on the data is not expected in the second-level cache, where prefetching only costs.
const PREFETCH_FROM_BYTES: usize = 1 << 20;

/// How far ahead of the loop lines are asked for.
const PREFETCH_AHEAD_BYTES: usize = 2048;

/// The ladder.
///
/// # Safety
/// The CPU has AVX512F, BW, VL and VNNI and BMI2; otherwise as [`partial_raw`](super::partial_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is in the bounds that each function asks for; the pages that masked loads could look into
    // are not the next one.
    unsafe {
        match len {
            0 => seed,
            1..=64 if !reaches_next_page(data) => up_to_64(data, len, seed),
            65..=128 if !reaches_next_page(data.add(64)) => up_to_128(data, len, seed),
            129..=256 if !reaches_next_page(data.add(128)) && !reaches_next_page(data.wrapping_add(192)) => {
                up_to_256(data, len, seed)
            }
            1..=BLOCK_BYTES => fold_64(u64::from(seed) + lines::<false>(data, len)),
            _ => blocks(data, len, seed),
        }
    }
}

/// # Safety
/// The features of [`partial`]; `len <= 64`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn up_to_64(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the first `len` lanes are active, the whole of the data.
    let sums = unsafe { add_words(_mm512_setzero_si512(), load_first(data, len)) };
    finish::<1>(sums, seed)
}

/// # Safety
/// The features of [`partial`]; `64 <= len <= 128`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn up_to_128(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the first 64 bytes are there; behind them, len - 64 lanes are active.
    let sums = unsafe {
        let first = add_words(_mm512_setzero_si512(), load(data));
        add_words(first, load_first(data.add(64), len - 64))
    };
    finish::<2>(sums, seed)
}

/// # Safety
/// The features of [`partial`]; `128 <= len <= 256`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn up_to_256(data: *const u8, len: usize, seed: u32) -> u32 {
    let zero = _mm512_setzero_si512();
    // SAFETY: the first 128 bytes are there; behind them the lanes up to len are active, none in the last
    // vector if it lies behind len.
    let (even, odd) = unsafe {
        let even = add_words(zero, load(data));
        let odd = add_words(zero, load(data.add(64)));
        (
            add_words(even, load_first(data.add(128), len - 128)),
            add_words(odd, load_first(data.wrapping_add(192), len.saturating_sub(192))),
        )
    };
    finish::<4>(_mm512_add_epi32(even, odd), seed)
}

/// The folded sum of `VECTORS` vectors and the seed.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
fn finish<const VECTORS: u64>(sums: __m512i, seed: u32) -> u32 {
    fold_64(u64::from(seed) + unbiased(sums, VECTORS))
}

/// Any length, block by block.
///
/// # Safety
/// The features of [`partial`]; `len > 0`; `data` is valid for reads of `len` bytes.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn blocks(mut data: *const u8, mut len: usize, seed: u32) -> u32 {
    let prefetch = len >= PREFETCH_FROM_BYTES;
    let mut sum = u64::from(seed);
    // SAFETY: a block is taken while at least as much is left; a block has an even length, so that words keep
    // their places. A rest of 0 is not summed.
    unsafe {
        while len > 0 {
            let bytes = len.min(BLOCK_BYTES);
            let block = if prefetch { lines::<true>(data, bytes) } else { lines::<false>(data, bytes) };
            // A block is below 2^41, the folded sum before it below 2^32.
            sum = u64::from(fold_64(sum + block));
            data = data.add(bytes);
            len -= bytes;
        }
    }
    sum as u32
}

/// The sum of 1 to [`BLOCK_BYTES`] bytes at any address, below 2^41, by aligned lines.
///
/// At an odd address every word is a byte late in its line, so the sum comes out with its bytes swapped: 256
/// times too much, or too little, which is the same modulo 65535 as 256^2 = 65536 is 1. Multiplied by 256 it is
/// right again.
///
/// # Safety
/// The features of [`partial`]; `0 < len <= BLOCK_BYTES`; `data` is valid for reads of `len` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn lines<const PREFETCH: bool>(data: *const u8, len: usize) -> u64 {
    let offset = data.addr() & 63;
    let first_line = data.wrapping_sub(offset);
    let count = (offset + len).div_ceil(64);
    let first_mask = u64::MAX << offset;
    let last_mask = u64::MAX >> ((offset + len).wrapping_neg() & 63);
    let zero = _mm512_setzero_si512();

    // SAFETY: the masks leave active the lanes from `data` on in the first line and up to data + len in the
    // last. The lines between hold data only.
    let sums = unsafe {
        if count == 1 {
            add_words(zero, load_masked(first_line, first_mask & last_mask))
        } else {
            let first = add_words(zero, load_masked(first_line, first_mask));
            let last = add_words(zero, load_masked(first_line.wrapping_add((count - 1) * 64), last_mask));
            whole_lines::<PREFETCH>(first, last, first_line.wrapping_add(64), count - 2)
        }
    };
    unbiased(sums, count as u64) << ((offset & 1) * 8)
}

/// Adds `count` lines to the sums `a` and `b`, and these together.
///
/// # Safety
/// The features of [`partial`]; `data` is valid for reads of `count` lines.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn whole_lines<const PREFETCH: bool>(
    a: __m512i,
    b: __m512i,
    mut data: *const u8,
    mut count: usize,
) -> __m512i {
    // Eight sums keep the CPU busy: up to two dot products start in a cycle, and each takes four or five.
    let mut sums = [_mm512_setzero_si512(); 8];
    sums[0] = a;
    sums[1] = b;
    // SAFETY: as many lines are read as are left; a prefetch reads nothing.
    unsafe {
        while count >= 8 {
            for (lane, sum) in sums.iter_mut().enumerate() {
                if PREFETCH {
                    let ahead = data.wrapping_add(lane * 64 + PREFETCH_AHEAD_BYTES);
                    _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
                }
                *sum = add_words(*sum, load(data.add(lane * 64)));
            }
            data = data.add(512);
            count -= 8;
        }
        if count >= 4 {
            for (lane, sum) in sums[..4].iter_mut().enumerate() {
                *sum = add_words(*sum, load(data.add(lane * 64)));
            }
            data = data.add(256);
            count -= 4;
        }
        if count >= 2 {
            sums[4] = add_words(sums[4], load(data));
            sums[5] = add_words(sums[5], load(data.add(64)));
            data = data.add(128);
            count -= 2;
        }
        if count == 1 {
            sums[6] = add_words(sums[6], load(data));
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let low = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
    let high = _mm512_add_epi32(_mm512_add_epi32(e, f), _mm512_add_epi32(g, h));
    _mm512_add_epi32(low, high)
}

/// The first `count` bytes, at most 255, of the vector at `data`; zero in the other lanes.
///
/// # Safety
/// The features of [`partial`]; `data` is valid for reads of `count` bytes, or of 64 if that is less.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe fn load_first(data: *const u8, count: usize) -> __m512i {
    // SAFETY: the active lanes are the first `count`, by contract there.
    unsafe { load_masked(data, _bzhi_u64(u64::MAX, count as u32)) }
}

/// # Safety
/// The features of [`partial`]; `data` is valid for reads at the lanes that the mask makes active.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn load_masked(data: *const u8, mask: u64) -> __m512i {
    // SAFETY: by contract; inactive lanes are not read.
    unsafe { _mm512_maskz_loadu_epi8(mask, data.cast()) }
}

/// Adds the words of a vector, each less 32768, to the sums.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) fn add_words(sums: __m512i, words: __m512i) -> __m512i {
    let signed = _mm512_xor_si512(words, _mm512_set1_epi16(i16::MIN));
    _mm512_dpwssd_epi32(sums, signed, _mm512_set1_epi16(1))
}

/// The sum of all lanes with the bias of that many vectors given back; at most 2048 vectors, so that the lanes
/// together fit into 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) fn unbiased(sums: __m512i, vectors: u64) -> u64 {
    (i64::from(_mm512_reduce_add_epi32(sums)) + (vectors * BIAS_PER_VECTOR) as i64) as u64
}
