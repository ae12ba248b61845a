//! Zeroing with 64-byte stores: one line each, masked for the smallest sizes.

use super::avx2::{NON_TEMPORAL_FROM_BYTES, REP_STOSB_FROM_BYTES, zero_rep_stosb};
use crate::blocks::{
    bytes_to_next_multiple, reaches_next_page, zero_aligned_loop, zero_head_tail, zero_up_to_32,
};
use crate::cpu::{Features, features};
use core::arch::x86_64::{
    __m512i, _bzhi_u64, _mm_sfence, _mm512_mask_storeu_epi8, _mm512_setzero_si512, _mm512_stream_si512,
};

/// The ladder.
///
/// # Safety
/// The CPU has [`Features::AVX512`]; otherwise as [`zero_raw`](super::zero_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            1..=128 if reaches_next_page(dst) => zero_at_page_end(dst, len),
            1..=128 => zero_two_masked(dst, len),
            // No byte may be at any address, even one that a store without active lanes is slow at.
            0 => {}
            129..=256 => zero_head_tail::<__m512i, 2>(dst, len),
            257..=512 => zero_head_tail::<__m512i, 4>(dst, len),
            513..REP_STOSB_FROM_BYTES => zero_aligned_loop::<__m512i>(dst, len),
            _ => zero_large(dst, len),
        }
    }
}

/// Up to 128 bytes without a branch on the length: the first and the last 64 bytes, both under the same mask.
/// Up to 64 bytes that is the same store twice; above, the mask is full and the stores overlap.
///
/// # Safety
/// The CPU has [`Features::AVX512`]; `len <= 128`; otherwise as [`zero_raw`](super::zero_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn zero_two_masked(dst: *mut u8, len: usize) {
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
/// The CPU has [`Features::AVX512`]; `len <= 128`; otherwise as [`zero_raw`](super::zero_raw).
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn zero_at_page_end(dst: *mut u8, len: usize) {
    use core::arch::x86_64::__m256i;
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            ..=32 => zero_up_to_32(dst, len),
            33..=64 => zero_head_tail::<__m256i, 1>(dst, len),
            _ => zero_head_tail::<__m512i, 1>(dst, len),
        }
    }
}

/// # Safety
/// The CPU has [`Features::AVX512`]; `len >= 512`; otherwise as [`zero_raw`](super::zero_raw).
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn zero_large(dst: *mut u8, len: usize) {
    // SAFETY: len is at least what each path asks for; AVX-512 by contract.
    unsafe {
        if len >= NON_TEMPORAL_FROM_BYTES {
            zero_non_temporal(dst, len);
        } else if features().contains(Features::ERMS) {
            zero_rep_stosb(dst, len);
        } else {
            zero_aligned_loop::<__m512i>(dst, len);
        }
    }
}

/// Whole lines past the caches, and ordinary stores at both ends; fenced, as in the AVX2 kernel.
///
/// # Safety
/// The CPU has [`Features::AVX512`]; `len >= 128`; otherwise as [`zero_raw`](super::zero_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) unsafe extern "C" fn zero_non_temporal(dst: *mut u8, len: usize) {
    let zero = _mm512_setzero_si512();
    // SAFETY: head and tail are 64 of at least 128 bytes. The loop stores lines that start at an aligned address
    // within the first 64 bytes and end at or before len.
    unsafe {
        zero_head_tail::<__m512i, 1>(dst, 64);
        zero_head_tail::<__m512i, 1>(dst.add(len - 64), 64);
        let mut at = bytes_to_next_multiple(dst, 64);
        while at + 64 <= len {
            _mm512_stream_si512(dst.add(at).cast(), zero);
            at += 64;
        }
        _mm_sfence();
    }
}
