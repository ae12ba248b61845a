//! Zeroing with 32-byte stores; `rep stosb` and non-temporal stores for the sizes where these win.

use crate::blocks::{self, bytes_to_next_multiple, zero_aligned_loop, zero_head_tail, zero_up_to_32};
use crate::cpu::{Features, features};
use core::arch::asm;
use core::arch::x86_64::{__m256i, _mm_sfence, _mm256_setzero_si256, _mm256_stream_si256};

/// From here on `rep stosb` beats a loop of stores on CPUs with ERMS: the buffer no longer fits into a
/// second-level cache, and a CPU that knows that whole lines are written need not read them first.
pub(crate) const REP_STOSB_FROM_BYTES: usize = 512 << 10;

/// From here on the stores bypass the caches. Half of a common last-level cache: such a buffer would evict all
/// else and its own beginning. A fixed number, as what hypervisors say about cache sizes is not to be trusted.
pub(crate) const NON_TEMPORAL_FROM_BYTES: usize = 16 << 20;

/// The ladder.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`zero_raw`](super::zero_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: each branch's bounds are those that its block asks for.
    unsafe {
        match len {
            0..=32 => zero_up_to_32(dst, len),
            33..=64 => zero_head_tail::<__m256i, 1>(dst, len),
            65..=128 => zero_head_tail::<__m256i, 2>(dst, len),
            129..=256 => zero_head_tail::<__m256i, 4>(dst, len),
            257..REP_STOSB_FROM_BYTES => zero_aligned_loop::<__m256i>(dst, len),
            _ => zero_large(dst, len),
        }
    }
}

/// # Safety
/// The CPU has AVX2; `len >= 256`; otherwise as [`zero_raw`](super::zero_raw).
#[target_feature(enable = "avx2")]
#[inline(never)]
unsafe extern "C" fn zero_large(dst: *mut u8, len: usize) {
    // SAFETY: len is at least what each path asks for; AVX2 by contract.
    unsafe {
        if len >= NON_TEMPORAL_FROM_BYTES {
            zero_non_temporal(dst, len);
        } else if features().contains(Features::ERMS) {
            zero_rep_stosb(dst, len);
        } else {
            zero_aligned_loop::<__m256i>(dst, len);
        }
    }
}

/// `rep stosb` behind a head that aligns it to a line.
///
/// # Safety
/// `len >= 64`; otherwise as [`zero_raw`](super::zero_raw).
pub(crate) unsafe extern "C" fn zero_rep_stosb(dst: *mut u8, len: usize) {
    // SAFETY: the head takes 64 of at least 64 bytes; `rep stosb` starts 1 to 64 bytes in and ends at len. The
    // direction flag is clear on entry to every function.
    unsafe {
        zero_head_tail::<blocks::Block16, 2>(dst, 64);
        let skip = bytes_to_next_multiple(dst, 64);
        asm!(
            "rep stosb",
            inout("rcx") len - skip => _,
            inout("rdi") dst.add(skip) => _,
            in("al") 0_u8,
            options(nostack, preserves_flags)
        );
    }
}

/// Whole lines past the caches, and ordinary stores at both ends. The fence makes the stores visible before any
/// later one, as a caller expects of every function but this instruction does not promise.
///
/// # Safety
/// The CPU has AVX2; `len >= 128`; otherwise as [`zero_raw`](super::zero_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn zero_non_temporal(dst: *mut u8, len: usize) {
    let zero = _mm256_setzero_si256();
    // SAFETY: head and tail are 64 of at least 128 bytes. The loop stores lines that start at an aligned address
    // within the first 64 bytes and end at or before len.
    unsafe {
        zero_head_tail::<__m256i, 1>(dst, 64);
        zero_head_tail::<__m256i, 1>(dst.add(len - 64), 64);
        let mut at = bytes_to_next_multiple(dst, 64);
        while at + 64 <= len {
            _mm256_stream_si256(dst.add(at).cast(), zero);
            _mm256_stream_si256(dst.add(at + 32).cast(), zero);
            at += 64;
        }
        _mm_sfence();
    }
}
