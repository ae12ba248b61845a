//! Copy and sum in one pass: each line is loaded once, stored, and added by a dot product as in [`avx512`].
//!
//! [`avx512`]: super::avx512

use super::avx512::{FEW_LINES, add_words, bias, end_around_add, load_masked, total, unbiased, words};
use super::fold_64;
use crate::blocks::{
    back_from_page_end, begin_on_a_line, bytes_to_next_multiple, is_in_first_line, load, store,
};
use core::arch::asm;
use core::arch::x86_64::{
    __m512i, _bzhi_u64, _mm512_add_epi32, _mm512_mask_shuffle_epi8, _mm512_mask_storeu_epi8,
    _mm512_maskz_mov_epi8, _mm512_set_epi64, _mm512_set1_epi16, _mm512_setzero_si512,
};

/// The bytes summed before the 32-bit sums are emptied: the bound of
/// [`avx512::BLOCK_BYTES`](super::avx512::BLOCK_BYTES) less one vector, because head and tail are separate
/// vectors.
pub(crate) const BLOCK_BYTES: usize = 2046 * 64;

/// Selects the code by length.
///
/// # Safety
/// The CPU has AVX512F, BW, VL and VNNI and BMI2; otherwise as
/// [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(crate) unsafe extern "C" fn copy_and_sum(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is within the bounds that each function requires.
    unsafe {
        match len {
            ..64 if is_in_first_line(dst) | is_in_first_line(src) => {
                begin_on_a_line();
                one_after_the_other(dst, src, len, seed)
            }
            ..64 => below_64(dst, src, len, seed),
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
    let back = back_from_page_end([dst, src], len);
    let mask = _bzhi_u64(u64::MAX, len as u32).wrapping_shl(back as u32);
    // SAFETY: the active lanes are exactly the data in both buffers: the first `len`, or the last if `back`
    // is not 0, hence 64 - len; none if `len` is 0.
    let bytes = unsafe {
        let bytes = load_masked(src.wrapping_sub(back), mask);
        _mm512_mask_storeu_epi8(dst.wrapping_sub(back).cast(), mask, bytes);
        bytes
    };
    // After an odd number of bytes, all words are shifted by one byte, as in `walk` of `avx512`.
    end_around_add(total(add_words(bias(1), bytes)) << ((back & 1) * 8), seed)
}

/// The fallback for the start of the address space, without masked moves.
///
/// # Safety
/// The features of [`copy_and_sum`]; `len < 64`; otherwise as [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn one_after_the_other(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: valid for `len` bytes, the source's initialised, no overlap, and the features, by contract.
    unsafe {
        crate::copy::avx512::copy(dst, src, len);
        super::avx512::partial(src, len, seed)
    }
}

/// The sum of 64 to 256 bytes: whole vectors from the start, and the last 64 bytes, of which only those after
/// the whole vectors are added.
///
/// # Safety
/// The features of [`copy_and_sum`]; `64 <= len <= BLOCK_BYTES`; otherwise as
/// [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn from_start(dst: *mut u8, src: *const u8, len: usize) -> u64 {
    let vectors = len / 64;
    // SAFETY: whole vectors end at or before len, and len is at least 64, so the last 64 bytes exist.
    unsafe {
        let mut sums = words(last_bytes(load(src.add(len - 64)), len % 64));
        store::<__m512i>(dst.add(len - 64), load(src.add(len - 64)));
        for vector in 0..vectors {
            sums = copy_line(sums, dst.add(vector * 64), src.add(vector * 64));
        }
        unbiased(sums, vectors as u64 + 1)
    }
}

/// Data of any length, block by block.
///
/// # Safety
/// The features of [`copy_and_sum`]; `len >= 256`; otherwise as
/// [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn blocks(mut dst: *mut u8, mut src: *const u8, mut len: usize, seed: u32) -> u32 {
    let mut sum = seed;
    // SAFETY: a block is taken while more than a block and 256 bytes are left, so at least 256 remain. Blocks
    // have an even length, so that words keep their positions.
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

/// The sum of 128 to [`BLOCK_BYTES`] bytes, with stores aligned to lines; below 2^41. An unaligned vector at
/// the start and one at the end cover the ends; of these, only the bytes outside the aligned lines are added.
///
/// If the lines start an odd number of bytes into the data, their words are shifted by one byte, and their
/// sum has its bytes swapped. The head, whose words are in place, is swapped to match; the tail is brought
/// into the order of the lines; and multiplying the total by 256 swaps it back.
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
    // SAFETY: the first and the last 64 bytes exist. Lines start at most 64 bytes in and end at or before
    // len.
    unsafe {
        let head: __m512i = load(src);
        let tail: __m512i = load(src.add(len - 64));
        store(dst, head);
        store(dst.add(len - 64), tail);
        let head = _mm512_maskz_mov_epi8(_bzhi_u64(u64::MAX, head_bytes as u32), head);
        let parts = [words(swap_bytes_if(odd, head)), words(last_bytes(tail, (len - head_bytes) % 64))];
        let (dst, src) = (dst.add(head_bytes), src.add(head_bytes));
        let sums = if lines <= FEW_LINES {
            copy_few_lines(parts, dst, src, lines)
        } else {
            copy_many_lines(parts, dst, src, lines)
        };
        unbiased(sums, lines as u64 + 2) << (odd * 8)
    }
}

/// Copies more than four lines, adds them to the sums, and then adds the sums together.
///
/// # Safety
/// The features of [`copy_and_sum`]; `src` is valid for reads and `dst` for writes of `count` lines.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn copy_many_lines(
    [a, b]: [__m512i; 2],
    mut dst: *mut u8,
    mut src: *const u8,
    mut count: usize,
) -> __m512i {
    let zero = _mm512_setzero_si512();
    let mut sums = [a, b, zero, zero];
    // SAFETY: exactly `count` lines are copied.
    unsafe {
        while count >= 4 {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = copy_line(*sum, dst.add(lane * 64), src.add(lane * 64));
            }
            dst = dst.add(256);
            src = src.add(256);
            count -= 4;
        }
        for lane in 0..count {
            sums[2] = copy_line(sums[2], dst.add(lane * 64), src.add(lane * 64));
        }
    }
    let [a, b, c, d] = sums;
    _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d))
}

/// Copies at most [`FEW_LINES`] lines, adds them to the sums, and then adds the sums together, by a jump into
/// unrolled code as in [`few_lines`](super::avx512::few_lines).
///
/// # Safety
/// The features of [`copy_and_sum`]; `count <= FEW_LINES`; `src` is valid for reads and `dst` for writes of
/// `count` lines, and they do not overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn copy_few_lines(
    [mut a, mut b]: [__m512i; 2],
    dst: *mut u8,
    src: *const u8,
    count: usize,
) -> __m512i {
    let mut c = _mm512_setzero_si512();
    let mut d = _mm512_setzero_si512();
    /// 26 bytes of code for line `$n` from the end, counted from 1, at which `rax` and `rdx` point.
    macro_rules! lines {
        ($($sum:literal, $bytes:literal, $n:literal);+) => {
            concat!($(
                "vmovdqu64 zmm", $bytes, ", [rax - 64*", $n, "]\n",
                "vmovdqu64 [rdx - 64*", $n, "], zmm", $bytes, "\n",
                "vpxord zmm", $bytes, ", zmm", $bytes, ", {flip}\n",
                "vpdpwssd {", $sum, "}, zmm", $bytes, ", {ones}\n",
            )+)
        };
    }
    // SAFETY: the jump goes back 26 bytes for each line, hence to the start of a line's code, and stays
    // within it, because count is at most the number of lines there. The lines are valid by contract.
    unsafe {
        asm!(
            "lea {to}, [rip + 2f]",
            "imul {code}, {count}, 26",
            "sub {to}, {code}",
            "jmp {to}",
            ".p2align 6",
            lines!(
                "a", 16, 24; "b", 17, 23; "c", 18, 22; "d", 19, 21; "a", 16, 20; "b", 17, 19; "c", 18, 18; "d", 19, 17;
                "a", 16, 16; "b", 17, 15; "c", 18, 14; "d", 19, 13; "a", 16, 12; "b", 17, 11; "c", 18, 10; "d", 19, 9;
                "a", 16, 8; "b", 17, 7; "c", 18, 6; "d", 19, 5; "a", 16, 4; "b", 17, 3; "c", 18, 2; "d", 19, 1
            ),
            "2:",
            count = in(reg) count,
            to = out(reg) _,
            code = out(reg) _,
            in("rax") src.wrapping_add(count * 64),
            in("rdx") dst.wrapping_add(count * 64),
            a = inout(zmm_reg) a,
            b = inout(zmm_reg) b,
            c = inout(zmm_reg) c,
            d = inout(zmm_reg) d,
            out("zmm16") _,
            out("zmm17") _,
            out("zmm18") _,
            out("zmm19") _,
            flip = in(zmm_reg) _mm512_set1_epi16(i16::MIN),
            ones = in(zmm_reg) _mm512_set1_epi16(1),
            options(nostack),
        );
    }
    _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d))
}

/// # Safety
/// The features of [`copy_and_sum`]; `src` is valid for reads and `dst` for writes of 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn copy_line(sums: __m512i, dst: *mut u8, src: *const u8) -> __m512i {
    // SAFETY: the line is valid by contract.
    unsafe {
        let line = load(src);
        store(dst, line);
        add_words(sums, line)
    }
}

/// The last `count` (0 to 63) bytes of a vector as if they began a word: if the count is odd, they begin in
/// the middle of one and are swapped.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
fn last_bytes(bytes: __m512i, count: usize) -> __m512i {
    let last = _mm512_maskz_mov_epi8(!_bzhi_u64(u64::MAX, 64 - count as u32), bytes);
    swap_bytes_if(count & 1, last)
}

/// Swaps the bytes of each word if `odd` is 1; does nothing if it is 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
fn swap_bytes_if(odd: usize, words: __m512i) -> __m512i {
    const LOW: i64 = 0x0607_0405_0203_0001;
    const HIGH: i64 = 0x0e0f_0c0d_0a0b_0809;
    let swapped = _mm512_set_epi64(HIGH, LOW, HIGH, LOW, HIGH, LOW, HIGH, LOW);
    _mm512_mask_shuffle_epi8(words, (odd as u64).wrapping_neg(), words, swapped)
}
