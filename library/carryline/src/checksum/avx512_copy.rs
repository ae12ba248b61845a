//! Copy and sum in one pass: each line is loaded once, stored, and added by a dot product as in [`avx512`].
//!
//! [`avx512`]: super::avx512

use super::avx512::{end_around_add, partial};
use super::avx512_vectors::{add_words, load_masked, unbiased, words};
use super::by_blocks::{BEYOND_CACHES_LEAST_BYTES, beyond_caches};
use crate::blocks::{
    back_from_page_end, begin_on_a_line, is_in_first_line, load, load_group, order_by_distance, store,
    store_group,
};
use core::arch::asm;
use core::arch::x86_64::{
    __m512i, _bzhi_u64, _mm512_add_epi32, _mm512_and_si512, _mm512_mask_storeu_epi8, _mm512_set1_epi16,
    _mm512_setzero_si512, _mm512_shuffle_epi8,
};
use core::sync::atomic::{Ordering, compiler_fence};

/// The bytes summed before the 32-bit sums are emptied: the bound of
/// [`avx512::BLOCK_BYTES`](super::avx512::BLOCK_BYTES) less one vector. They have 2045 lines, and head and
/// tail are three more vectors.
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
            64..=256 => end_around_add(from_start(dst, src, len), seed),
            257..=FEW_LINES_UP_TO_BYTES => few(dst, src, len, seed),
            _ => many(dst, src, len, seed),
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
    end_around_add(unbiased(words(bytes), 1) << ((back & 1) * 8), seed)
}

/// The fallback for the start of the address space, without masked moves.
///
/// # Safety
/// The features of [`copy_and_sum`]; `len < 64`; otherwise as [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe extern "C" fn one_after_the_other(
    dst: *mut u8,
    src: *const u8,
    len: usize,
    seed: u32,
) -> u32 {
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
unsafe fn from_start(dst: *mut u8, src: *const u8, len: usize) -> u32 {
    let vectors = len / 64;
    // SAFETY: whole vectors end at or before len, and len is at least 64, so the last 64 bytes exist.
    unsafe {
        let mut sums = edge_words(load(src.add(len - 64)), 64 + len % 64, len & 1);
        store::<__m512i>(dst.add(len - 64), load(src.add(len - 64)));
        for vector in 0..vectors {
            sums = copy_line(sums, dst.add(vector * 64), src.add(vector * 64));
        }
        unbiased(sums, vectors + 1)
    }
}

/// Data of which at most [`FEW_LINES`] lines are copied. Not inlined: its registers would be saved at every
/// call.
///
/// # Safety
/// The features of [`copy_and_sum`]; `256 < len <= FEW_LINES_UP_TO_BYTES`; otherwise as
/// [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn few(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract.
    end_around_add(unsafe { aligned::<FEW>(dst, src, len) }, seed)
}

/// Data of any length, block by block.
///
/// # Safety
/// The features of [`copy_and_sum`]; `len >= 512`; otherwise as
/// [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(super) unsafe extern "C" fn many(mut dst: *mut u8, mut src: *const u8, mut len: usize, seed: u32) -> u32 {
    let mut sum = seed;
    // SAFETY: a block is taken while more than a block is left, and leaves at least 512 bytes. Blocks have an
    // even length, so that words keep their positions.
    unsafe {
        loop {
            let bytes = match len {
                ..=BLOCK_BYTES => len,
                _ => {
                    // Here, where no shorter call gets.
                    if len >= BEYOND_CACHES_LEAST_BYTES
                        && let Some(sum) =
                            beyond_caches(crate::copy::avx512::CODE.unfenced, partial, dst, src, len, sum)
                    {
                        break sum;
                    }
                    // Rarely executed. A loop over the lines that began in the middle of a line of code took
                    // 1.06 times as long for 9000 bytes on Zen 5.
                    begin_on_a_line();
                    BLOCK_BYTES.min(len - 512) & !63
                }
            };
            sum = end_around_add(aligned::<MANY>(dst, src, bytes), sum);
            len -= bytes;
            if len == 0 {
                break sum;
            }
            dst = dst.add(bytes);
            src = src.add(bytes);
        }
    }
}

/// The most lines that are copied without a loop. With the loop, 1700 bytes take 1.04 to 1.07 times as long on
/// Zen 5; with 48 lines, 2500 bytes 1.03 times at random offsets and 1.18 times where the order of the loop
/// matters most, but 0.96 times at offset 0.
const FEW_LINES: usize = 32;

/// Data up to this length has at most [`FEW_LINES`] lines that [`aligned`] copies.
const FEW_LINES_UP_TO_BYTES: usize = (FEW_LINES + 2) * 64;

/// How [`aligned`] copies the lines.
const FEW: bool = true;
/// See [`FEW`].
const MANY: bool = false;

/// Vectors for the ends of the data. Starting at byte n, the last n bytes of two vectors are selected; starting
/// at byte 64 + n, the last n of one; starting at byte 192 + n, all but the last n of one. At byte 320 begins
/// the vector of every byte's own place in its 16, and at byte 384 that of the other place in its word.
pub(super) static EDGES: Edges = Edges({
    let mut bytes = [0; 448];
    let mut i = 0;
    while i < 64 {
        bytes[128 + i] = 0xff;
        bytes[192 + i] = 0xff;
        bytes[320 + i] = i as u8 % 16;
        bytes[384 + i] = (i as u8 % 16) ^ 1;
        i += 1;
    }
    bytes
});

/// Aligned to lines.
#[repr(align(64))]
pub(super) struct Edges([u8; 448]);

/// The sum of 257 to [`BLOCK_BYTES`] bytes, with stores aligned to lines. An unaligned vector at the start and
/// two at the end cover the ends; of these, only the bytes outside the aligned lines are added.
///
/// The number of lines is the largest that fits at every address, and depends on the length alone: if it
/// depended on the address, the branch on it would be mispredicted for data of one length at random offsets.
/// 1 to 127 bytes follow the lines.
///
/// If the lines start an odd number of bytes into the data, their words are shifted by one byte, and their
/// sum has its bytes swapped. The head, whose words are in place, is swapped to match; the tail is brought
/// into the order of the lines; and multiplying the total by 256 swaps it back.
///
/// ```text
/// [   head   ]
///     [ line ][ line ]..[ line ]
///                          [  tail 0  ][  tail 1  ]
/// ```
///
/// # Safety
/// The features of [`copy_and_sum`]; `len <= BLOCK_BYTES`; `256 < len <= FEW_LINES_UP_TO_BYTES` with `FEW`,
/// `len >= 512` with `MANY`; otherwise as [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn aligned<const LINES: bool>(dst: *mut u8, src: *const u8, len: usize) -> u32 {
    let offset = dst.addr() & 63;
    let (head_bytes, odd) = (64 - offset, offset & 1);
    let lines = (len - 1) / 64 - 1;
    // `len` less the head and the lines.
    let after_lines = (len - 1) % 64 + 1 + offset;
    // Words begin with the first byte after the lines.
    let swap = after_lines & 1;
    // SAFETY: the first 64 and the last 128 bytes exist. Lines start at most 64 bytes in and end before len. The
    // table has vectors at the offsets, at most 255.
    unsafe {
        let head: __m512i = load(src);
        let tail: [__m512i; 2] = [load(src.add(len - 128)), load(src.add(len - 64))];
        let head_sums = edge_words(head, 192 + offset, odd);
        let tail_sums = [edge_words(tail[0], after_lines, swap), edge_words(tail[1], after_lines + 64, swap)];
        let edge_sums = _mm512_add_epi32(head_sums, _mm512_add_epi32(tail_sums[0], tail_sums[1]));
        // After the loads from the table, which would wait for a store of the same low 12 bits: a load that overlaps it in
        // part cannot tell that it is another page. Where `dst` began at such a place, 300 bytes took 47 ticks on Granite
        // Rapids, and take 26.
        compiler_fence(Ordering::SeqCst);
        store(dst, head);

        let (first_line, from) = (dst.add(head_bytes), src.add(head_bytes));
        let sums = match LINES {
            FEW => copy_few_lines(first_line, from, lines),
            MANY => copy_many_lines(first_line, from, lines),
        };
        store(dst.add(len - 128), tail[0]);
        store(dst.add(len - 64), tail[1]);
        // Multiplied by 256 modulo 2^32 - 1, which is a multiple of 65535.
        unbiased(_mm512_add_epi32(sums, edge_sums), lines + 3).rotate_left(8 * odd as u32)
    }
}

/// Copies lines, adds them to four sums, and then adds the sums together. The order of the lines follows from
/// the distance between the buffers, as in [`copy_by_distance`](crate::blocks::copy_by_distance).
///
/// # Safety
/// The features of [`copy_and_sum`]; `src` is valid for reads and `dst` for writes of `count` lines, at least
/// four, and they do not overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn copy_many_lines(dst: *mut u8, src: *const u8, count: usize) -> __m512i {
    let [mut a, mut b, mut c, mut d] = [_mm512_setzero_si512(); 4];
    let rest = count % 4 * 64;
    let (mut at, end, step) = order_by_distance(dst, src, rest..count * 64, 256);
    // SAFETY: exactly `count` lines are copied: up to three, and those of every group of four after them once, in
    // either order.
    unsafe {
        for line in (0..rest).step_by(64) {
            d = copy_line(d, dst.add(line), src.add(line));
        }
        while at != end {
            let group: [__m512i; 4] = load_group(src.wrapping_add(at));
            store_group(dst.wrapping_add(at), group);
            a = add_words(a, group[0]);
            b = add_words(b, group[1]);
            c = add_words(c, group[2]);
            d = add_words(d, group[3]);
            at = at.wrapping_add(step);
        }
    }
    _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d))
}

/// Copies at most [`FEW_LINES`] lines, adds them to four sums, and then adds the sums together, by a jump into
/// unrolled code as in [`few_lines`](super::avx512_lines::few_lines).
///
/// # Safety
/// The features of [`copy_and_sum`]; `count <= FEW_LINES`; `src` is valid for reads and `dst` for writes of
/// `count` lines, and they do not overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn copy_few_lines(dst: *mut u8, src: *const u8, count: usize) -> __m512i {
    let [mut a, mut b, mut c, mut d] = [_mm512_setzero_si512(); 4];
    /// 26 bytes of code for line `$n` from the end, counted from 1, at which `r8` and `r9` point.
    macro_rules! lines {
        ($($sum:literal, $bytes:literal, $n:literal);+) => {
            concat!($(
                "vmovdqu64 zmm", $bytes, ", [r8 - 64*", $n, "]\n",
                "vmovdqu64 [r9 - 64*", $n, "], zmm", $bytes, "\n",
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
            "imul {count}, {count}, 26",
            "sub {to}, {count}",
            "jmp {to}",
            ".p2align 6",
            lines!(
                "a", 16, 32; "b", 17, 31; "c", 18, 30; "d", 19, 29; "a", 16, 28; "b", 17, 27; "c", 18, 26; "d", 19, 25;
                "a", 16, 24; "b", 17, 23; "c", 18, 22; "d", 19, 21; "a", 16, 20; "b", 17, 19; "c", 18, 18; "d", 19, 17;
                "a", 16, 16; "b", 17, 15; "c", 18, 14; "d", 19, 13; "a", 16, 12; "b", 17, 11; "c", 18, 10; "d", 19, 9;
                "a", 16, 8; "b", 17, 7; "c", 18, 6; "d", 19, 5; "a", 16, 4; "b", 17, 3; "c", 18, 2; "d", 19, 1
            ),
            "2:",
            count = inout(reg) count => _,
            to = out(reg) _,
            in("r8") src.wrapping_add(count * 64),
            in("r9") dst.wrapping_add(count * 64),
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

/// The words, as [`words`], of those bytes of a vector that [`EDGES`] selects at an offset, with the bytes of
/// each word swapped if `swap` is 1 and not if it is 0.
///
/// # Safety
/// The features of [`copy_and_sum`]; `selected_at` is at most 256, and `swap` at most 1.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn edge_words(bytes: __m512i, selected_at: usize, swap: usize) -> __m512i {
    // SAFETY: the table has 448 bytes: a vector after each offset up to 384.
    unsafe {
        let selected = _mm512_and_si512(bytes, load(EDGES.0.as_ptr().add(selected_at)));
        words(_mm512_shuffle_epi8(selected, load(EDGES.0.as_ptr().add(320 + swap * 64))))
    }
}
