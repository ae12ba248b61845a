//! Copying with 64-byte moves: one line each, masked for the smallest sizes.

use super::avx2::{NON_TEMPORAL_FROM_BYTES, REP_MOVSB_FROM_BYTES, copy_rep_movsb};
use crate::blocks::{
    bytes_to_next_multiple, copy_aligned_loop, copy_head_tail, copy_up_to_32, load, reaches_next_page,
};
use crate::cpu::{Features, features};
use core::arch::x86_64::{
    __m256i, __m512i, _bzhi_u64, _mm_sfence, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8,
    _mm512_stream_si512,
};

/// The ladder.
///
/// # Safety
/// The CPU has [`Features::AVX512`]; otherwise as [`copy_raw`](super::copy_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            1..=128 if reaches_next_page(src) | reaches_next_page(dst) => copy_at_page_end(dst, src, len),
            1..=128 => copy_two_masked(dst, src, len),
            // No byte may be at any address, even one that a load without active lanes is slow at.
            0 => {}
            129..=256 => copy_head_tail::<__m512i, 2>(dst, src, len),
            257..=512 => copy_head_tail::<__m512i, 4>(dst, src, len),
            513..REP_MOVSB_FROM_BYTES => copy_aligned_loop::<__m512i>(dst, src, len),
            _ => copy_large(dst, src, len),
        }
    }
}

/// Up to 128 bytes without a branch on the length: the first and the last 64 bytes, both under the same mask.
/// Up to 64 bytes that is the same move twice; above, the mask is full and the moves overlap.
///
/// # Safety
/// The CPU has [`Features::AVX512`]; `len <= 128`; otherwise as [`copy_raw`](super::copy_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn copy_two_masked(dst: *mut u8, src: *const u8, len: usize) {
    let mask = _bzhi_u64(u64::MAX, len as u32);
    let tail_at = len.saturating_sub(64);
    // SAFETY: below 64 both moves touch `len` bytes from the start on, as only these lanes are active; from 64
    // on they touch the first and the last 64 of len bytes.
    unsafe {
        let head = _mm512_maskz_loadu_epi8(mask, src.cast());
        let tail = _mm512_maskz_loadu_epi8(mask, src.add(tail_at).cast());
        _mm512_mask_storeu_epi8(dst.cast(), mask, head);
        _mm512_mask_storeu_epi8(dst.add(tail_at).cast(), mask, tail);
    }
}

/// The way around masked moves where the lanes behind the end would lie in another page.
///
/// # Safety
/// The CPU has [`Features::AVX512`]; `len <= 128`; otherwise as [`copy_raw`](super::copy_raw).
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn copy_at_page_end(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            ..=32 => copy_up_to_32(dst, src, len),
            33..=64 => copy_head_tail::<__m256i, 1>(dst, src, len),
            _ => copy_head_tail::<__m512i, 1>(dst, src, len),
        }
    }
}

/// # Safety
/// The CPU has [`Features::AVX512`]; `len >= 512`; otherwise as [`copy_raw`](super::copy_raw).
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn copy_large(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len is at least what each path asks for; AVX-512 by contract.
    unsafe {
        if len >= NON_TEMPORAL_FROM_BYTES {
            copy_non_temporal(dst, src, len);
        } else if features().contains(Features::ERMS) {
            copy_rep_movsb(dst, src, len);
        } else {
            copy_aligned_loop::<__m512i>(dst, src, len);
        }
    }
}

/// Whole lines past the caches, and ordinary moves at both ends; fenced, as in the AVX2 kernel.
///
/// # Safety
/// The CPU has [`Features::AVX512`]; `len >= 128`; otherwise as [`copy_raw`](super::copy_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) unsafe extern "C" fn copy_non_temporal(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: head and tail are 64 of at least 128 bytes. The loop copies lines whose destination starts at an
    // aligned address within the first 64 bytes, and that end at or before len.
    unsafe {
        copy_head_tail::<__m512i, 1>(dst, src, 64);
        copy_head_tail::<__m512i, 1>(dst.add(len - 64), src.add(len - 64), 64);
        let mut at = bytes_to_next_multiple(dst, 64);
        while at + 64 <= len {
            _mm512_stream_si512(dst.add(at).cast(), load(src.add(at)));
            at += 64;
        }
        _mm_sfence();
    }
}
