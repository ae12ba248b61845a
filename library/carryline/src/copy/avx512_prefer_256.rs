//! Copying with masked 64-byte moves up to 128 bytes, and 32-byte moves above 256: for CPUs that execute a
//! 64-byte store as two of 32.
//!
//! On Zen 4, in gross ticks per call at random offsets, by a loop of 32-byte moves and by
//! [`avx512`](super::avx512): 257 bytes 9.8 and 19.4, 512 bytes 16.0 and 20.8, 1500 bytes 39.1 and 45.3, 4 KiB
//! 97 and 113, 8 KiB 191 and 208.

use super::avx512::{smallest, unmasked};
use super::ladder::ladder;
use crate::blocks::copy_head_tail;
use core::arch::x86_64::{__m256i, __m512i};

ladder!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m256i
);

/// Two masked moves hold this many bytes.
const SMALLEST_MOST_BYTES: usize = 128;

/// Two moves at each end hold this many bytes.
const SMALL_MOST_BYTES: usize = 256;

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
            _ => copy(dst, src, len),
        }
    }
}
