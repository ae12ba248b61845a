//! Zeroing with 64-byte stores: one line each, masked for the smallest sizes.

use super::ladder::above_small;
use crate::blocks::{reaches_next_page, zero_aligned_loop, zero_head_tail, zero_up_to_32};
use core::arch::x86_64::{__m256i, __m512i, _bzhi_u64, _mm512_mask_storeu_epi8, _mm512_setzero_si512};

above_small!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m512i
);

/// From here on `rep stosb` beats a loop of stores on CPUs with ERMS: the buffer no longer fits into a
/// second-level cache, and a CPU that knows that whole lines are written need not read them first.
pub(crate) const REP_STOSB_FROM_BYTES: usize = 512 << 10;

/// The ladder.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as [`fill_raw`](super::fill_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            1..=128 if reaches_next_page(dst) => at_page_end(dst, len),
            1..=128 => two_masked(dst, len),
            // No byte may be at any address, even one that a store without active lanes is slow at.
            0 => {}
            129..=256 => zero_head_tail::<__m512i, 2>(dst, len),
            257..=512 => zero_head_tail::<__m512i, 4>(dst, len),
            513..REP_STOSB_FROM_BYTES => zero_aligned_loop::<__m512i>(dst, len),
            _ => large_by_size(dst, len),
        }
    }
}

/// Up to 128 bytes without a branch on the length: the first and the last 64 bytes, both under the same mask.
/// Up to 64 bytes that is the same store twice; above, the mask is full and the stores overlap.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= 128`; otherwise as
/// [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn two_masked(dst: *mut u8, len: usize) {
    let mask = _bzhi_u64(u64::MAX, len as u32);
    let zero = _mm512_setzero_si512();
    // SAFETY: below 64 both stores write `len` bytes from dst on, as only these lanes are active; from 64 on
    // they write the first and the last 64 of len bytes.
    unsafe {
        _mm512_mask_storeu_epi8(dst.cast(), mask, zero);
        _mm512_mask_storeu_epi8(dst.add(len.saturating_sub(64)).cast(), mask, zero);
    }
}

/// The way around masked stores where the lanes behind the end would lie in another page.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= 128`; otherwise as
/// [`fill_raw`](super::fill_raw).
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn at_page_end(dst: *mut u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            ..=32 => zero_up_to_32(dst, len),
            33..=64 => zero_head_tail::<__m256i, 1>(dst, len),
            _ => zero_head_tail::<__m512i, 1>(dst, len),
        }
    }
}
