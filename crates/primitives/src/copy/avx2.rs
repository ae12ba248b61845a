//! Copying with 32-byte moves; `rep movsb` and non-temporal stores for the sizes where these win.

use crate::blocks::{
    Block16, bytes_to_next_multiple, copy_aligned_loop, copy_head_tail, copy_up_to_32, load,
};
use crate::cpu::{Features, features};
use core::arch::asm;
use core::arch::x86_64::{__m256i, _mm_sfence, _mm256_stream_si256};

/// From here on `rep movsb` beats a loop of moves on CPUs with ERMS, once its destination is aligned: source and
/// destination together no longer fit into a first-level cache. Below, its start-up of 20 to 80 cycles shows.
pub(crate) const REP_MOVSB_FROM_BYTES: usize = 20 << 10;

/// From here on the stores bypass the caches: source and destination together fill a common last-level cache of
/// 32 MiB, so that the copy would evict its own beginning, and a non-temporal store does not read the line that
/// it overwrites. Below, `rep movsb` is faster, and leaves the copy where the caller finds it. A fixed number,
/// as what hypervisors say about cache sizes is not to be trusted.
pub(crate) const NON_TEMPORAL_FROM_BYTES: usize = 16 << 20;

/// The ladder.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`copy_raw`](super::copy_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            0..=32 => copy_up_to_32(dst, src, len),
            33..=64 => copy_head_tail::<__m256i, 1>(dst, src, len),
            65..=128 => copy_head_tail::<__m256i, 2>(dst, src, len),
            129..=256 => copy_head_tail::<__m256i, 4>(dst, src, len),
            257..REP_MOVSB_FROM_BYTES => copy_aligned_loop::<__m256i>(dst, src, len),
            _ => copy_large(dst, src, len),
        }
    }
}

/// # Safety
/// The CPU has AVX2; `len >= 256`; otherwise as [`copy_raw`](super::copy_raw).
#[target_feature(enable = "avx2")]
#[inline(never)]
unsafe extern "C" fn copy_large(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len is at least what each path asks for; AVX2 by contract.
    unsafe {
        if len >= NON_TEMPORAL_FROM_BYTES {
            copy_non_temporal(dst, src, len);
        } else if features().contains(Features::ERMS) {
            copy_rep_movsb(dst, src, len);
        } else {
            copy_aligned_loop::<__m256i>(dst, src, len);
        }
    }
}

/// `rep movsb` behind a head that aligns the destination to a line. On some CPUs it is twenty times slower to
/// an unaligned destination.
///
/// # Safety
/// `len >= 64`; otherwise as [`copy_raw`](super::copy_raw).
pub(crate) unsafe extern "C" fn copy_rep_movsb(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the head takes 64 of at least 64 bytes; `rep movsb` starts 1 to 64 bytes in and ends at len. The
    // direction flag is clear on entry to every function.
    unsafe {
        copy_head_tail::<Block16, 2>(dst, src, 64);
        let skip = bytes_to_next_multiple(dst, 64);
        asm!(
            "rep movsb",
            inout("rcx") len - skip => _,
            inout("rdi") dst.add(skip) => _,
            inout("rsi") src.add(skip) => _,
            options(nostack, preserves_flags)
        );
    }
}

/// Whole lines past the caches, and ordinary moves at both ends. The fence makes the stores visible before any
/// later one, as a caller expects of every function but this instruction does not promise. The source is read
/// straight on, which hardware prefetchers follow; prefetch instructions gained nothing on Zen 5.
///
/// # Safety
/// The CPU has AVX2; `len >= 128`; otherwise as [`copy_raw`](super::copy_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn copy_non_temporal(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: head and tail are 64 of at least 128 bytes. The loop copies lines whose destination starts at an
    // aligned address within the first 64 bytes, and that end at or before len.
    unsafe {
        copy_head_tail::<__m256i, 1>(dst, src, 64);
        copy_head_tail::<__m256i, 1>(dst.add(len - 64), src.add(len - 64), 64);
        let mut at = bytes_to_next_multiple(dst, 64);
        while at + 64 <= len {
            _mm256_stream_si256(dst.add(at).cast(), load(src.add(at)));
            _mm256_stream_si256(dst.add(at + 32).cast(), load(src.add(at + 32)));
            at += 64;
        }
        _mm_sfence();
    }
}
