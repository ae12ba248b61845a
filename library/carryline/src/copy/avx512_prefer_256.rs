//! Copying with one masked 64-byte move up to 64 bytes, two up to 128, and above, the 32-byte moves of [`avx2`]: for CPUs that
//! execute a 64-byte store as two of 32.
//!
//! One masked move up to 64 bytes, compared with two up to 128, took Zen 4 0.95 to 1.07 times as long for unpredictable sizes of
//! the fleet's memcpy sets (longer only for B, and for D in one of two runs), and 0.83 to 0.98 times for sizes that a branch
//! predictor has learned. For zeroing, two were faster where sizes are unpredictable.
//!
//! The loops are not compiled here: where LLVM may use 64-byte registers, it merges moves of 32 bytes.

use super::avx2;
use super::avx512::without_masks;
use crate::blocks::{back_from_page_end, copy_head_tail, copy_masked, is_in_first_line};
use crate::dispatch::CopyCode;
use crate::intent::{NON_TEMPORAL_LEAST_BYTES, Plan};
use core::arch::x86_64::{__m256i, __m512i, _bzhi_u64};

/// The code of this kernel.
pub(super) const CODE: CopyCode = CopyCode { copy, overlapping, planned, unfenced, ..avx2::CODE };

/// The most bytes that this kernel copies by its own code; all loads come before all stores.
const SMALL_MOST_BYTES: usize = 256;

/// Selects the code by length.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as [`bytes_raw`](super::bytes_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the same contract.
    unsafe {
        match len {
            ..=SMALL_MOST_BYTES => small(dst, src, len),
            _ => (avx2::CODE.copy)(dst, src, len),
        }
    }
}

/// As `copy`, for buffers that may overlap.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as [`within_raw`](super::within_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn overlapping(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the same contract.
    unsafe {
        match len {
            ..=SMALL_MOST_BYTES => small(dst, src, len),
            _ => (avx2::CODE.overlapping)(dst, src, len),
        }
    }
}

/// As `copy`, for a caller with an intent.
///
/// # Safety
/// As [`copy`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn planned(dst: *mut u8, src: *const u8, len: usize, plan: Plan) {
    // SAFETY: the same contract.
    unsafe {
        match len {
            ..NON_TEMPORAL_LEAST_BYTES => copy(dst, src, len),
            _ => (avx2::CODE.planned)(dst, src, len, plan),
        }
    }
}

/// As `planned`, without the fence after non-temporal stores.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as
/// [`bytes_raw_unfenced`](super::bytes_raw_unfenced).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn unfenced(dst: *mut u8, src: *const u8, len: usize, plan: Plan) {
    // SAFETY: the same contract.
    unsafe {
        match len {
            ..NON_TEMPORAL_LEAST_BYTES => copy(dst, src, len),
            _ => (avx2::CODE.unfenced)(dst, src, len, plan),
        }
    }
}

/// One masked move, or moves at both ends, which overlap in the middle. All loads come before all stores.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= SMALL_MOST_BYTES`; otherwise as
/// [`within_raw`](super::within_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn small(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=64 if is_in_first_line(dst) | is_in_first_line(src) => without_masks(dst, src, len),
            ..=64 => one_masked(dst, src, len),
            65..=128 => copy_head_tail::<__m512i, 1>(dst, src, len),
            _ => copy_head_tail::<__m256i, 4>(dst, src, len),
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
    unsafe { copy_masked(dst.wrapping_sub(back), src.wrapping_sub(back), mask) }
}
