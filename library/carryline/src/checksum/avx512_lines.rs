//! Sums by aligned whole lines, the first and the last masked; see [`avx512`](super::avx512).

use super::avx512_vectors::{add_words, load_first, load_masked, unbiased, words};
use crate::blocks::{load, prefetch_far};
use core::arch::asm;
use core::arch::x86_64::{
    __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_add_epi32, _mm512_set1_epi16, _mm512_setzero_si512,
};

/// The most lines that are added without a loop.
const FEW_LINES: usize = 24;

/// Data up to this length has at most [`FEW_LINES`] whole lines at any address; an Ethernet packet has 1500
/// bytes.
pub(super) const FEW_LINES_UP_TO_BYTES: usize = FEW_LINES * 64;

/// How [`walk`] adds the whole lines.
pub(super) const FEW: u8 = 0;
/// See [`FEW`].
pub(super) const MANY: u8 = 1;
/// See [`FEW`].
pub(super) const MANY_PREFETCHED: u8 = 2;
/// See [`FEW`].
pub(super) const MANY_PREFETCHED_FAR: u8 = 3;

/// The sum of 257 to [`BLOCK_BYTES`](super::avx512::BLOCK_BYTES) bytes at any address, by aligned lines.
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
/// The features of [`partial`](super::avx512::partial); `256 < len <= BLOCK_BYTES`, or `FEW_LINES_UP_TO_BYTES` with `FEW`; `data` is
/// valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe fn walk<const LINES: u8>(data: *const u8, len: usize, ahead: usize) -> u32 {
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
/// The features of [`partial`](super::avx512::partial); `0 < len <= 256`; `data` is valid for reads of `len` bytes.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe extern "C" fn up_to_256_by_lines(data: *const u8, len: usize) -> u32 {
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
/// The features of [`partial`](super::avx512::partial); `count <= FEW_LINES`; `data` is valid for reads of `count` lines.
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
/// The features of [`partial`](super::avx512::partial); `data` is valid for reads of `count` lines.
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
