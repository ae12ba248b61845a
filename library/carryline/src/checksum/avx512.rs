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

use super::is_prefetched_far;
use crate::blocks::{back_from_page_end, begin_on_a_line, is_in_first_line, load, prefetch_far};
use crate::profile::{Decision, PREFETCH_FAR_LEAST_BYTES, SUM_PREFETCH_LEAST_BYTES};
use crate::tuning::decided;
use core::arch::asm;
use core::arch::x86_64::{
    __m512i, _MM_HINT_T0, _bzhi_u64, _mm_prefetch, _mm512_add_epi32, _mm512_cmple_epu8_mask,
    _mm512_madd_epi16, _mm512_maskz_loadu_epi8, _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_set1_epi16,
    _mm512_setzero_si512, _mm512_xor_si512,
};

/// The amount that xoring 0x8000 subtracts from the 32 words of one vector.
pub(super) const BIAS_PER_VECTOR: usize = 32 * 0x8000;

/// The bytes summed before the 32-bit sums are emptied. Zeros lower them fastest, by [`BIAS_PER_VECTOR`] per
/// vector over all lanes; 2048 such vectors reach -2^31, which just fits. An unaligned block of 2047 lines
/// touches 2048.
pub(crate) const BLOCK_BYTES: usize = 2047 * 64;

/// The most lines that are added without a loop.
const FEW_LINES: usize = 24;

/// Data up to this length has at most [`FEW_LINES`] whole lines at any address; an Ethernet packet has 1500
/// bytes.
const FEW_LINES_UP_TO_BYTES: usize = FEW_LINES * 64;

/// How [`walk`] adds the whole lines.
const FEW: u8 = 0;
/// See [`FEW`].
const MANY: u8 = 1;
/// See [`FEW`].
const MANY_PREFETCHED: u8 = 2;
/// See [`FEW`].
const MANY_PREFETCHED_FAR: u8 = 3;

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
/// Stands for the distance of [`prefetch_far`].
const FAR: usize = usize::MAX;

/// The sum of 257 to [`BLOCK_BYTES`] bytes at any address, by aligned lines.
///
/// At an odd address, every word is shifted by one byte within its line, so the sum has its bytes swapped: it
/// is 256 times too large or too small, which is the same modulo 65535, as 256^2 = 65536 is 1. Multiplying by
/// 256 corrects it, and rotating 32 bits by 8 multiplies by 256 modulo 2^32 - 1, which is a multiple of 65535.
///
/// Data that begins at a line needs no mask there. All other offsets execute the same instructions, so that
/// branches are predicted for packets of one size wherever they begin: the largest number of lines that the
/// data can touch is added, and if it touches one less, the last has no active lane.
///
/// # Safety
/// The features of [`partial`]; `256 < len <= BLOCK_BYTES`, or `FEW_LINES_UP_TO_BYTES` with `FEW`; `data` is
/// valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn walk<const LINES: u8>(data: *const u8, len: usize, ahead: usize) -> u32 {
    let offset = data.addr() & 63;
    let zero = _mm512_setzero_si512();
    // SAFETY: with no offset, whole lines end before len, and the 1 to 64 lanes that follow up to len are
    // active. Otherwise the masks leave active the lanes of the first line from `data` on, and those up to
    // data + len in the last two lines if the data reaches into both; if not, `last_line` is the one that it
    // ends in, and no lane of it is active the second time. The lines between hold only data.
    unsafe {
        let (parts, lines, count, vectors) = if offset == 0 {
            let whole = (len - 1) / 64;
            let rest = words(load_first(data.add(whole * 64), len - whole * 64));
            ([rest, zero, zero], data, whole, whole + 1)
        } else {
            let first_line = data.wrapping_sub(offset);
            // 64k + 1 to 64k + 64 bytes, at an offset of 1 to 63, touch k + 1 or k + 2 lines.
            let touched = (len + 126) / 64;
            // From the start of the last but one line that could be touched to the end of the data: 1 to 128.
            let in_last_two = offset + len - (touched - 2) * 64;
            let last_byte = data.wrapping_add(len - 1);
            let last_line = last_byte.wrapping_sub(last_byte.addr() & 63);
            let parts = [
                words(load_masked(first_line, u64::MAX << offset)),
                words(load_first(first_line.wrapping_add((touched - 2) * 64), in_last_two)),
                words(load_first(last_line, in_last_two.saturating_sub(64))),
            ];
            (parts, first_line.wrapping_add(64), touched - 3, touched)
        };
        let sums = match LINES {
            FEW => few_lines(parts, lines, count),
            _ => many_lines::<LINES>(parts, lines, count, ahead),
        };
        unbiased(sums, vectors).rotate_left((offset as u32 & 1) * 8)
    }
}

/// The sum of 1 to 256 bytes at any address, by aligned lines. Inactive lanes lie in lines that
/// also hold data. For odd addresses, see [`walk`].
///
/// # Safety
/// The features of [`partial`]; `0 < len <= 256`; `data` is valid for reads of `len` bytes.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn up_to_256_by_lines(data: *const u8, len: usize) -> u32 {
    let offset = data.addr() & 63;
    let first_line = data.wrapping_sub(offset);
    let count = (offset + len).div_ceil(64);
    let first_mask = u64::MAX << offset;
    let last_mask = u64::MAX >> ((offset + len).wrapping_neg() & 63);

    // SAFETY: the masks leave active the lanes of the first line from `data` on, and those of the last up to
    // data + len. The lines between, at most three, hold only data.
    let sums = unsafe {
        if count == 1 {
            words(load_masked(first_line, first_mask & last_mask))
        } else {
            let first = words(load_masked(first_line, first_mask));
            let last = words(load_masked(first_line.wrapping_add((count - 1) * 64), last_mask));
            few_lines([first, last, _mm512_setzero_si512()], first_line.wrapping_add(64), count - 2)
        }
    };
    unbiased(sums, count).rotate_left((offset as u32 & 1) * 8)
}

/// Jumps into the unrolled code such that the requested number of lines is added; see [`few_lines`].
///
/// A line takes 13 bytes of code. `rax` points to the end of the data, and lines are counted back from there,
/// so that none has the shorter encoding of a zero offset.
macro_rules! jump_into_lines {
    (@line $sum:literal, $words:literal, $n:literal) => {
        concat!(
            "vpxord zmm", $words, ", {flip}, [rax - 64*", $n, "]\n",
            "vpdpwssd {", $sum, "}, zmm", $words, ", {ones}\n",
        )
    };
    ($data:expr, $count:expr, $($sum:ident),+; $($name:literal, $words:literal, $n:literal);+) => {
        asm!(
            "lea {to}, [rip + 2f]",
            "lea {code}, [{count} + 2*{count}]",
            "lea {code}, [{count} + 4*{code}]",
            "sub {to}, {code}",
            "jmp {to}",
            ".p2align 6",
            concat!($(jump_into_lines!(@line $name, $words, $n)),+),
            "2:",
            count = in(reg) $count,
            to = out(reg) _,
            code = out(reg) _,
            in("rax") $data.wrapping_add($count * 64),
            $($sum = inout(zmm_reg) $sum,)+
            out("zmm16") _,
            out("zmm17") _,
            out("zmm18") _,
            out("zmm19") _,
            flip = in(zmm_reg) _mm512_set1_epi16(i16::MIN),
            ones = in(zmm_reg) _mm512_set1_epi16(1),
            options(pure, readonly, nostack),
        )
    };
}

/// Adds at most [`FEW_LINES`] lines to the sums, and then the sums together. If sizes vary, one branch is
/// mispredicted: the jump into the unrolled code.
///
/// ```text
/// count = 3:                                       jump here
///                                                     v
/// 24th from the end, 23rd from the end, .. 4th from the end, 3rd, 2nd, last
/// ```
///
/// Four sums are enough: while their dependency chains finish, the CPU already executes the next call.
///
/// # Safety
/// The features of [`partial`]; `count <= FEW_LINES`; `data` is valid for reads of `count` lines.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe fn few_lines(
    [mut a, mut b, mut c]: [__m512i; 3],
    data: *const u8,
    count: usize,
) -> __m512i {
    let mut d = _mm512_setzero_si512();
    // SAFETY: the jump goes back 13 bytes for each line to be added, hence to the start of a line's code, and
    // stays within it, because count is at most the number of lines there. Only the named registers are
    // changed, and no memory.
    unsafe {
        jump_into_lines!(data, count, a, b, c, d;
            "a", 16, 24; "b", 17, 23; "c", 18, 22; "d", 19, 21; "a", 16, 20; "b", 17, 19; "c", 18, 18; "d", 19, 17;
            "a", 16, 16; "b", 17, 15; "c", 18, 14; "d", 19, 13; "a", 16, 12; "b", 17, 11; "c", 18, 10; "d", 19, 9;
            "a", 16, 8; "b", 17, 7; "c", 18, 6; "d", 19, 5; "a", 16, 4; "b", 17, 3; "c", 18, 2; "d", 19, 1
        );
    }
    _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d))
}

/// Adds more than eight lines to the sums, and then the sums together: eight lines at a time, and the rest as in
/// [`few_lines`]. With [`MANY_PREFETCHED`], each is prefetched `ahead` bytes before it is loaded.
///
/// # Safety
/// The features of [`partial`]; `data` is valid for reads of `count` lines.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn many_lines<const LINES: u8>(
    [a, b, c]: [__m512i; 3],
    mut data: *const u8,
    mut count: usize,
    ahead: usize,
) -> __m512i {
    // Eight sums keep the CPU busy: up to two dot products start per cycle, and each takes four or five.
    let mut sums = [_mm512_setzero_si512(); 8];
    [sums[0], sums[1], sums[2]] = [a, b, c];
    // SAFETY: eight lines are read while more than eight are left; a prefetch reads nothing.
    unsafe {
        while count > 8 {
            if LINES == MANY_PREFETCHED_FAR {
                prefetch_far(data, 512);
            }
            for (lane, sum) in sums.iter_mut().enumerate() {
                if LINES == MANY_PREFETCHED {
                    _mm_prefetch::<_MM_HINT_T0>(data.wrapping_add(lane * 64 + ahead).cast());
                }
                *sum = add_words(*sum, load(data.add(lane * 64)));
            }
            data = data.add(512);
            count -= 8;
        }
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = sums;
    // SAFETY: as in `few_lines`; at most eight lines are left.
    unsafe {
        jump_into_lines!(data, count, a, b, c, d, e, f, g, h;
            "a", 16, 8; "b", 17, 7; "c", 18, 6; "d", 19, 5; "e", 16, 4; "f", 17, 3; "g", 18, 2; "h", 19, 1
        );
    }
    let low = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
    let high = _mm512_add_epi32(_mm512_add_epi32(e, f), _mm512_add_epi32(g, h));
    _mm512_add_epi32(low, high)
}

/// The first `count` bytes (at most 255) of the vector at `data`; zero in the other lanes.
///
/// # Safety
/// The features of [`partial`]; `data` is valid for reads of `count` bytes, at most 64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe fn load_first(data: *const u8, count: usize) -> __m512i {
    // SAFETY: the active lanes are the first `count`, readable by contract.
    unsafe { load_masked(data, _bzhi_u64(u64::MAX, count as u32)) }
}

/// # Safety
/// The features of [`partial`]; `data` is valid for reads at the lanes that the mask activates.
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
