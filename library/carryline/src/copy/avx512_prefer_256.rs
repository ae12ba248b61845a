//! Copying with one masked 64-byte move up to 64 bytes, and 32-byte moves above 256: for CPUs that execute a
//! 64-byte store as two of 32.
//!
//! On Zen 4, in gross ticks per call at random offsets, by a loop of 32-byte moves and by
//! [`avx512`](super::avx512): 257 bytes 9.8 and 19.4, 512 bytes 16.0 and 20.8, 1500 bytes 39.1 and 45.3, 4 KiB
//! 97 and 113, 8 KiB 191 and 208. One masked move up to 64 bytes, compared with two up to 128, took 0.95 to
//! 1.07 times as long for unpredictable sizes of the fleet's memcpy sets (longer only for B, and for D in one of
//! two runs), and 0.83 to 0.98 times for sizes that a branch predictor has learned. For zeroing, two were faster
//! where sizes are unpredictable.

use super::avx512::{unmasked, without_masks};
use super::ladder::ladder;
use crate::blocks::{back_from_page_end, copy_head_tail, is_in_first_line};
use core::arch::x86_64::{__m256i, __m512i, _bzhi_u64, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8};

ladder!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m256i
);

/// One move at each end holds this many bytes.
const SMALLEST_MOST_BYTES: usize = 128;

/// Two moves at each end hold this many bytes.
const SMALL_MOST_BYTES: usize = 256;

/// One masked move, or one at each end. All loads come before all stores.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= SMALLEST_MOST_BYTES`; otherwise as
/// [`within_raw`](super::within_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn smallest(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=64 if is_in_first_line(dst) | is_in_first_line(src) => without_masks(dst, src, len),
            ..=64 => one_masked(dst, src, len),
            _ => copy_head_tail::<__m512i, 1>(dst, src, len),
        }
    }
}

/// Up to 64 bytes without a branch on the length.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= 64`; otherwise as
/// [`within_raw`](super::within_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn one_masked(dst: *mut u8, src: *const u8, len: usize) {
    let back = back_from_page_end([dst, src], len);
    let mask = _bzhi_u64(u64::MAX, len as u32).wrapping_shl(back as u32);
    // SAFETY: the active lanes are exactly the `len` bytes: the first of the move, or the last if `back` is not
    // 0, hence 64 - len; none if `len` is 0.
    unsafe {
        let bytes = _mm512_maskz_loadu_epi8(mask, src.wrapping_sub(back).cast());
        _mm512_mask_storeu_epi8(dst.wrapping_sub(back).cast(), mask, bytes);
    }
}

/// Moves both ends, which overlap in the middle. All loads come before all stores.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `SMALLEST_MOST_BYTES < len <=
/// SMALL_MOST_BYTES`; otherwise as [`within_raw`](super::within_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn small(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: two blocks and up to four.
    unsafe { copy_head_tail::<__m512i, 2>(dst, src, len) }
}

/// As `copy`, for a caller who reads the copy immediately: a load is not forwarded from a masked store that
/// is still in the store buffer, but waits for it.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as
/// [`bytes_raw`](super::bytes_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn short_read_here(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the same contract; the first gets at most 128 bytes.
    unsafe {
        match len {
            ..=128 => unmasked(dst, src, len),
            _ if len <= SMALL_MOST_BYTES => small(dst, src, len),
            _ => loops(dst, src, len),
        }
    }
}
