//! Copying with 32-byte moves; `rep movsb` and non-temporal stores for the sizes where these win.

use crate::blocks::{
    Block16, bytes_to_next_multiple, copy_aligned_loop, copy_head_tail, copy_up_to_32, load,
};
use crate::cpu::{Features, features};
use core::arch::asm;
use core::arch::x86_64::{__m256i, _MM_HINT_T0, _mm_prefetch, _mm_sfence, _mm256_stream_si256};

/// From here on `rep movsb` beats a loop of moves on CPUs with ERMS, once its destination is aligned: source and
/// destination together no longer fit into a first-level cache. Below, its start-up of 20 to 80 cycles shows.
pub(crate) const REP_MOVSB_FROM_BYTES: usize = 20 << 10;

/// From here on the stores bypass the caches: source and destination no longer fit into a second-level cache,
/// and a non-temporal store does not read the line that it overwrites. A caller that reads the copy at once
/// pays for that, which is why it is not lower. A fixed number, as what hypervisors say about cache sizes is
/// not to be trusted.
pub(crate) const NON_TEMPORAL_FROM_BYTES: usize = 1 << 20;

/// Bytes copied, and prefetched ahead, per turn of the non-temporal loop.
pub(crate) const NON_TEMPORAL_BLOCK_BYTES: usize = 1024;

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

/// Asks for the lines of the block of the non-temporal loop that starts at `from`. Prefetches never fault, so
/// it may lie behind the end.
#[inline(always)]
pub(crate) fn prefetch_block(from: *const u8) {
    for line in (0..NON_TEMPORAL_BLOCK_BYTES).step_by(64) {
        // SAFETY: a hint, which touches no memory as far as the program can tell.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) }
    }
}

/// Whole lines past the caches, block by block with the next block's source on its way, and ordinary moves at
/// both ends. The fence makes the stores visible before any later one, as a caller expects of every function
/// but this instruction does not promise.
///
/// # Safety
/// The CPU has AVX2; `len >= 128`; otherwise as [`copy_raw`](super::copy_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn copy_non_temporal(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: head and tail are 64 of at least 128 bytes. The loops copy lines whose destination starts at an
    // aligned address within the first 64 bytes, and that end at or before len.
    unsafe {
        copy_head_tail::<__m256i, 1>(dst, src, 64);
        copy_head_tail::<__m256i, 1>(dst.add(len - 64), src.add(len - 64), 64);
        let mut at = bytes_to_next_multiple(dst, 64);
        while at + NON_TEMPORAL_BLOCK_BYTES <= len {
            prefetch_block(src.wrapping_add(at + NON_TEMPORAL_BLOCK_BYTES));
            for line in (at..at + NON_TEMPORAL_BLOCK_BYTES).step_by(64) {
                stream_line(dst.add(line), src.add(line));
            }
            at += NON_TEMPORAL_BLOCK_BYTES;
        }
        while at + 64 <= len {
            stream_line(dst.add(at), src.add(at));
            at += 64;
        }
        _mm_sfence();
    }
}

/// # Safety
/// The CPU has AVX2; `src` is valid for reads and `dst`, a multiple of 32, for writes of 64 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn stream_line(dst: *mut u8, src: *const u8) {
    // SAFETY: by contract.
    unsafe {
        _mm256_stream_si256(dst.cast(), load(src));
        _mm256_stream_si256(dst.add(32).cast(), load(src.add(32)));
    }
}
