//! Copy and sum in one pass: each line is loaded once, stored, and added by a dot product as in [`avx512`].
//!
//! [`avx512`]: super::avx512

use super::avx512::{add_words, load_first, unbiased};
use super::fold_64;
use crate::blocks::{bytes_to_next_multiple, load, reaches_next_page, store};
use core::arch::x86_64::{
    __m512i, _bzhi_u64, _mm512_add_epi32, _mm512_mask_shuffle_epi8, _mm512_mask_storeu_epi8,
    _mm512_maskz_mov_epi8, _mm512_set_epi64, _mm512_setzero_si512,
};

/// Bytes summed before the 32-bit sums are emptied: the bound of
/// [`avx512::BLOCK_BYTES`](super::avx512::BLOCK_BYTES) less a vector, as head and tail are vectors of their own.
pub(crate) const BLOCK_BYTES: usize = 2046 * 64;

/// The ladder.
///
/// # Safety
/// The CPU has AVX512F, BW, VL and VNNI and BMI2; otherwise as
/// [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(crate) unsafe extern "C" fn copy_and_sum(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is in the bounds that each function asks for.
    unsafe {
        match len {
            0 => seed,
            1..64 if reaches_next_page(src) | reaches_next_page(dst) => at_page_end(dst, src, len, seed),
            1..64 => below_64(dst, src, len, seed),
            64..=256 => fold_64(u64::from(seed) + from_start(dst, src, len)),
            257..=BLOCK_BYTES => fold_64(u64::from(seed) + aligned(dst, src, len)),
            _ => blocks(dst, src, len, seed),
        }
    }
}

/// # Safety
/// The features of [`copy_and_sum`]; `len < 64`; otherwise as [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn below_64(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the first `len` lanes are active in both, the whole of the data.
    unsafe {
        let bytes = load_first(src, len);
        _mm512_mask_storeu_epi8(dst.cast(), _bzhi_u64(u64::MAX, len as u32), bytes);
        fold_64(u64::from(seed) + unbiased(add_words(_mm512_setzero_si512(), bytes), 1))
    }
}

/// The way around masked moves where the lanes behind the end would lie in another page.
///
/// # Safety
/// The features of [`copy_and_sum`]; `len < 64`; otherwise as [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn at_page_end(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller's obligation is the same.
    unsafe {
        crate::copy::avx512::copy(dst, src, len);
        super::avx512::partial(src, len, seed)
    }
}

/// The sum of 64 to 256 bytes: whole vectors from the start, and the last 64 bytes of which only those behind
/// the whole vectors are added.
///
/// # Safety
/// The features of [`copy_and_sum`]; `64 <= len <= BLOCK_BYTES`; otherwise as
/// [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn from_start(dst: *mut u8, src: *const u8, len: usize) -> u64 {
    let vectors = len / 64;
    // SAFETY: whole vectors end at or before len, and the last 64 bytes are there as len is not less.
    unsafe {
        let mut sums = add_last(_mm512_setzero_si512(), load(src.add(len - 64)), len % 64);
        store::<__m512i>(dst.add(len - 64), load(src.add(len - 64)));
        for vector in 0..vectors {
            sums = copy_line(sums, dst.add(vector * 64), src.add(vector * 64));
        }
        unbiased(sums, vectors as u64 + 1)
    }
}

/// Any length, block by block.
///
/// # Safety
/// The features of [`copy_and_sum`]; `len >= 256`; otherwise as [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn blocks(mut dst: *mut u8, mut src: *const u8, mut len: usize, seed: u32) -> u32 {
    let mut sum = seed;
    // SAFETY: a block is taken while more than one and 256 bytes are left, so that at least 256 remain; a block
    // has an even length, so that words keep their places.
    unsafe {
        while len > BLOCK_BYTES {
            let bytes = BLOCK_BYTES.min(len - 256) & !63;
            sum = fold_64(u64::from(sum) + aligned(dst, src, bytes));
            dst = dst.add(bytes);
            src = src.add(bytes);
            len -= bytes;
        }
        fold_64(u64::from(sum) + aligned(dst, src, len))
    }
}

/// The sum of 128 to [`BLOCK_BYTES`] bytes, below 2^41, with stores aligned to lines: an unaligned vector at
/// the start and one at the end, of which only the bytes outside the aligned lines are added.
///
/// If the lines start an odd number of bytes into the data, their words are a byte off, and their sum has its
/// bytes swapped. The head, whose words are in place, is swapped to match; the tail is brought into the order
/// of the lines like any other; and the total multiplied by 256, which swaps it back.
///
/// ```text
/// [   head   ]
///     [ line ][ line ]..[ line ]
///                          [   tail   ]
/// ```
///
/// # Safety
/// The features of [`copy_and_sum`]; `128 <= len <= BLOCK_BYTES`; otherwise as
/// [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn aligned(dst: *mut u8, src: *const u8, len: usize) -> u64 {
    let head_bytes = bytes_to_next_multiple(dst, 64);
    let odd = head_bytes & 1;
    let lines = (len - head_bytes) / 64;
    let zero = _mm512_setzero_si512();
    // SAFETY: the first and the last 64 bytes are there. Lines start at most 64 bytes in and end at or before
    // len.
    unsafe {
        let head: __m512i = load(src);
        let tail: __m512i = load(src.add(len - 64));
        store(dst, head);
        store(dst.add(len - 64), tail);
        let head = _mm512_maskz_mov_epi8(_bzhi_u64(u64::MAX, head_bytes as u32), head);
        let mut sums = [
            add_words(zero, swap_bytes_if(odd, head)),
            add_last(zero, tail, (len - head_bytes) % 64),
            zero,
            zero,
        ];
        let mut at = head_bytes;
        for _ in 0..lines / 4 {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = copy_line(*sum, dst.add(at + lane * 64), src.add(at + lane * 64));
            }
            at += 256;
        }
        for _ in 0..lines % 4 {
            sums[2] = copy_line(sums[2], dst.add(at), src.add(at));
            at += 64;
        }
        let [a, b, c, d] = sums;
        let all = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
        unbiased(all, lines as u64 + 2) << (odd * 8)
    }
}

/// # Safety
/// The features of [`copy_and_sum`]; `src` is valid for reads and `dst` for writes of 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn copy_line(sums: __m512i, dst: *mut u8, src: *const u8) -> __m512i {
    // SAFETY: by contract.
    unsafe {
        let line = load(src);
        store(dst, line);
        add_words(sums, line)
    }
}

/// Adds the last `count` (0 to 63) bytes of a vector as if they began a word: if the count is odd they begin in
/// the middle of one, and are swapped.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
fn add_last(sums: __m512i, bytes: __m512i, count: usize) -> __m512i {
    let last = _mm512_maskz_mov_epi8(!_bzhi_u64(u64::MAX, 64 - count as u32), bytes);
    add_words(sums, swap_bytes_if(count & 1, last))
}

/// Swaps the bytes of each word if `odd` is 1, not if it is 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
fn swap_bytes_if(odd: usize, words: __m512i) -> __m512i {
    const LOW: i64 = 0x0607_0405_0203_0001;
    const HIGH: i64 = 0x0e0f_0c0d_0a0b_0809;
    let swapped = _mm512_set_epi64(HIGH, LOW, HIGH, LOW, HIGH, LOW, HIGH, LOW);
    _mm512_mask_shuffle_epi8(words, (odd as u64).wrapping_neg(), words, swapped)
}
