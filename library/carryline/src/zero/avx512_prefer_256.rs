//! Zeroing with at most two masked 64-byte stores, and 32-byte stores above 128 bytes, those of [`avx2`]: for CPUs that execute a
//! 64-byte store as two of 32.
//!
//! The four stores of [`avx512`](super::avx512) take such a CPU eight cycles.

use super::avx2;
use super::avx512::without_masks;
use crate::blocks::{is_mask_slow, zero_head_tail};
use crate::dispatch::ZeroCode;
use crate::intent::{NON_TEMPORAL_LEAST_BYTES, Plan};
use core::arch::x86_64::{__m256i, _bzhi_u64, _mm512_mask_storeu_epi8, _mm512_setzero_si512};

/// The code of this kernel.
pub(super) const CODE: ZeroCode = ZeroCode { zero, planned, unfenced, ..avx2::CODE };

/// Selects the code by length.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as
/// [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=128 if is_mask_slow(dst) => without_masks(dst, len),
            ..=128 => two_masked(dst, len),
            129..=256 => zero_head_tail::<__m256i, 4>(dst, len),
            _ => (avx2::CODE.zero)(dst, len),
        }
    }
}

/// As `zero`, for a caller with an intent.
///
/// # Safety
/// As [`zero`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn planned(dst: *mut u8, len: usize, plan: Plan) {
    // SAFETY: the same contract.
    unsafe {
        match len {
            ..NON_TEMPORAL_LEAST_BYTES => zero(dst, len),
            _ => (avx2::CODE.planned)(dst, len, plan),
        }
    }
}

/// As `planned`, without the fence after non-temporal stores.
///
/// # Safety
/// As [`fill_raw_unfenced`](super::fill_raw_unfenced); the CPU has [`Features::AVX512`](crate::cpu::Features::AVX512).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn unfenced(dst: *mut u8, len: usize, plan: Plan) {
    // SAFETY: the same contract.
    unsafe {
        match len {
            ..NON_TEMPORAL_LEAST_BYTES => zero(dst, len),
            _ => (avx2::CODE.unfenced)(dst, len, plan),
        }
    }
}

/// Up to 128 bytes without a branch on the length: the first and the last 64 bytes, both with the same mask.
/// Up to 64 bytes, both are the same store; above, the mask is full and the stores overlap.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= 128`; otherwise as
/// [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn two_masked(dst: *mut u8, len: usize) {
    let zero = _mm512_setzero_si512();
    let mask = _bzhi_u64(u64::MAX, len as u32);
    // SAFETY: below 64, both stores write exactly the `len` bytes, since only these lanes are active; none if `len`
    // is 0. From 64 on, they write the first and the last 64 of `len` bytes.
    unsafe {
        _mm512_mask_storeu_epi8(dst.cast(), mask, zero);
        _mm512_mask_storeu_epi8(dst.wrapping_add(len.saturating_sub(64)).cast(), mask, zero);
    }
}
