//! Zeroing with 64-byte stores of one cache line each, masked for the smallest sizes.

use super::ladder::ladder;
use crate::blocks::{
    LINE_BYTES, MaskedEnds, computed_here, end_of_branch, store, straight_line_ends, zero_head_tail,
    zero_up_to_32,
};
use crate::intent::LOOPS_BELOW_BYTES;
use core::arch::asm;
use core::arch::x86_64::{__m256i, __m512i, _bzhi_u64, _mm512_mask_storeu_epi8, _mm512_setzero_si512};
use core::sync::atomic::{Ordering, compiler_fence};

ladder!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m512i,
    lines
);

/// Selects the code by length. What up to 255 bytes need is computed before the first branch, in the first
/// cache line of the code; see [`straight_line_ends`].
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as
/// [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    let MaskedEnds { first: [first], back, last } = MaskedEnds::<1>::of(dst, len);
    let all_lanes = computed_here(usize::MAX) as u64;
    straight_line_ends();
    // SAFETY: below 64, `last` is 0, and the active lanes are exactly the `len` bytes: the first, or if `back`
    // is not 0, hence 64 - len, the last; none if `len` is 0. From 64 on, `back` is 0, the mask is full, and
    // `last` is len - 64. The other branches have the bounds that their blocks require.
    unsafe {
        match len {
            ..=255 => {
                // `bzhi` uses eight bits of the length.
                let mask = _bzhi_u64(all_lanes, len as u32).wrapping_shl(back as u32);
                four_masked(first, last, mask);
            }
            // In its own branch, because the mask for it does not fit into the eight bits that `bzhi` uses.
            256 => zero_head_tail::<__m512i, 2>(dst, len),
            257..=512 => zero_head_tail::<__m512i, 4>(dst, len),
            513..LOOPS_BELOW_BYTES => lines(dst, len),
            _ => large_by_size(dst, len),
        }
    }
}

/// As `zero`, for a caller who reads the bytes immediately: a load is not forwarded from a masked store that
/// is still in the store buffer, but waits for it.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as
/// [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) unsafe extern "C" fn short_read_here(dst: *mut u8, len: usize) {
    // SAFETY: the same contract; the first gets at most 256 bytes.
    unsafe {
        match len {
            ..=256 => unmasked(dst, len),
            257..=512 => {
                zero_head_tail::<__m512i, 4>(dst, len);
                end_of_branch::<512>();
            }
            _ => lines(dst, len),
        }
    }
}

/// Up to 255 bytes without a branch on the length, because a mispredicted one costs more than the stores:
/// four stores at equal distances, all with the same mask. From 64 bytes on, the mask is full and the stores
/// overlap as needed; below, all four are the same store.
///
/// ```text
/// len 150:  [ 0 .. 64 ]      [ 56 .. 120 ]
///                  [ 28 .. 92 ]       [ 86 .. 150 ]
/// ```
///
/// Written out, because LLVM would end the function with `vzeroupper`, which it does not need: `vpxor` with
/// 16-byte registers zeroes all 64 bytes.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `last < 192`; the lanes of `mask` are valid
/// for writes at `first`, at `first + last` and at every address between.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn four_masked(first: *mut u8, last: usize, mask: u64) {
    // A third of `last`, rounded such that no gap of more than 64 bytes remains after two steps.
    let step = (last as u32 * 43 / 128) as usize;
    // SAFETY: no offset exceeds `last`, as 2 * 43 < 128.
    unsafe {
        asm!(
            "vpxor {zero:x}, {zero:x}, {zero:x}",
            "vmovdqu8 zmmword ptr [{first}] {{{mask}}}, {zero:z}",
            "vmovdqu8 zmmword ptr [{first} + {step}] {{{mask}}}, {zero:z}",
            "vmovdqu8 zmmword ptr [{first} + 2*{step}] {{{mask}}}, {zero:z}",
            "vmovdqu8 zmmword ptr [{first} + {last}] {{{mask}}}, {zero:z}",
            first = in(reg) first,
            step = in(reg) step,
            last = in(reg) last,
            mask = in(kreg) mask,
            zero = out(xmm_reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// Line by line, the first and the last masked, so that no store crosses into a second line, or page, which
/// costs Zen 5 some twenty cycles. All lanes of a masked line lie in the page of its bytes, so none is slow.
///
/// ```text
///       [ first ][ 4 lines ][ 4 lines ] ...
///                                [ 4 lines ]
///                                     [ 3 lines ][ last ]
/// ```
///
/// The number of groups depends on the length alone, for the reason given in `blocks/loops.rs`; the last one
/// starts earlier if it would otherwise reach the last line. Zeroing 540 bytes at random offsets took 17.1 ticks
/// on Zen 5 when the groups ended where those lines begin, and 9.2 since.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len >= 5 * 64`; otherwise as
/// [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) unsafe fn lines(dst: *mut u8, len: usize) {
    let zero = _mm512_setzero_si512();
    let before = dst.addr() & (LINE_BYTES - 1);
    let in_last = (dst.addr().wrapping_add(len - 1) & (LINE_BYTES - 1)) + 1;
    // The start of the last four lines, as an offset from dst like all offsets below.
    let tail = len.wrapping_sub(in_last + 3 * LINE_BYTES);
    // SAFETY: the active lanes of the first store are those of dst's line from dst on, those of the last
    // store the last line up to len. The groups start at `at`, 64 - before bytes in, or 0 if that is 64.
    // `tail - at` is a multiple of 64 and between len - 319 and len - 193, hence at least 64. With
    // `len - 257 = 256 * a + b`, b < 256, the loop takes 256 * a bytes, to at + len - 257 at most; the last line
    // starts at at + len - 127 at least. The group after the loop starts there or a line before the tail, so it
    // ends where the last line starts or before. It reaches the tail, since tail - at is a multiple of 64 and at
    // most 256 * a + 255 + 64, hence at most 256 * a + 256.
    unsafe {
        let mut at = 0;
        if before > 0 {
            _mm512_mask_storeu_epi8(
                dst.wrapping_sub(before).cast(),
                u64::MAX.wrapping_shl(before as u32),
                zero,
            );
            at = LINE_BYTES - before;
        }
        let end = at + (len - 4 * LINE_BYTES - 1) / (4 * LINE_BYTES) * (4 * LINE_BYTES);
        while at < end {
            four_lines(dst.add(at), zero);
            at += 4 * LINE_BYTES;
        }
        four_lines(dst.add(at.min(tail - LINE_BYTES)), zero);
        for line in 0..3 {
            store(dst.add(tail + line * LINE_BYTES), zero);
        }
        let mask = _bzhi_u64(u64::MAX, in_last as u32);
        _mm512_mask_storeu_epi8(dst.add(tail + 3 * LINE_BYTES).cast(), mask, zero);
    }
}

/// Zeroes four lines in ascending order.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); four lines at `to` are valid for writes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn four_lines(to: *mut u8, zero: __m512i) {
    for line in 0..4 {
        // SAFETY: one of four lines by contract.
        unsafe { store(to.add(line * LINE_BYTES), zero) };
        // Keeps the order. The compiler prefers the reverse one, with which 64 KiB took 1.05 times as long on
        // Zen 5.
        compiler_fence(Ordering::SeqCst);
    }
}

/// [`unmasked`], not inlined.
///
/// # Safety
/// As [`unmasked`].
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) unsafe extern "C" fn without_masks(dst: *mut u8, len: usize) {
    // SAFETY: the same contract.
    unsafe { unmasked(dst, len) }
}

/// The fallback without masked stores.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= 256`; otherwise as
/// [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) unsafe fn unmasked(dst: *mut u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=32 => zero_up_to_32(dst, len),
            33..=64 => {
                zero_head_tail::<__m256i, 1>(dst, len);
                end_of_branch::<64>();
            }
            65..=128 => {
                zero_head_tail::<__m512i, 1>(dst, len);
                end_of_branch::<128>();
            }
            _ => {
                zero_head_tail::<__m512i, 2>(dst, len);
                end_of_branch::<256>();
            }
        }
    }
}
