//! Zeroing with at most two masked 64-byte stores, and 32-byte stores above 128 bytes: for CPUs that execute a
//! 64-byte store as two of 32.
//!
//! The four stores of [`avx512`](super::avx512) take such a CPU eight cycles. On Zen 4, in gross ticks per
//! call at random offsets, here and there: 8 bytes 6.5 and 9.4, 64 bytes 6.6 and 10.6. Sizes from the fleet's
//! memset sets that a branch predictor has learned (A, B, D, M): 7.5 / 7.1 / 12.4 / 9.9 and 10.7 / 10.5 / 16.8
//! / 13.4; unpredictable ones (A, B, D, L, M, Q): 12.3 / 9.2 / 22.6 / 9.9 / 16.4 / 11.7 and 11.4 / 10.7 / 21.0
//! / 10.9 / 14.3 / 11.9. A branch near a page's end costs less than shifting the stores back from there, as
//! the other kernel does: 0.94 to 0.99 of the time for fixed sizes up to 128 bytes at random offsets and for
//! these sets.

use super::avx2::short_read_here;
use super::avx512::without_masks;
use super::ladder::ladder;
use crate::blocks::{begin_on_a_line, is_mask_slow, zero_aligned_loop, zero_head_tail};
use crate::intent::LOOPS_BELOW_BYTES;
use core::arch::x86_64::{__m256i, _bzhi_u64, _mm512_mask_storeu_epi8, _mm512_setzero_si512};

ladder!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m256i,
    zero_aligned_loop::<__m256i>
);

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
            ..=128 if is_mask_slow(dst) => {
                begin_on_a_line();
                without_masks(dst, len);
            }
            ..=128 => two_masked(dst, len),
            129..=256 => zero_head_tail::<__m256i, 4>(dst, len),
            257..LOOPS_BELOW_BYTES => zero_aligned_loop::<__m256i>(dst, len),
            _ => large_by_size(dst, len),
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
