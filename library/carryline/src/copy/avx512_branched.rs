//! Copying with 64-byte moves, up to 64 bytes with masked moves of 32: for CPUs on which a masked move that crosses into
//! a second line costs more than a branch.
//!
//! Measured when up to 64 bytes were one masked move. Prototypes of both on Sapphire Rapids, in ticks per call at random
//! offsets; the [`avx512`](super::avx512) prototype had a branch for the end of a page. 40 bytes: 5.5 here, 8.1 there; 100
//! bytes: 5.5 and 8.2. Unpredictable sizes from the fleet's memcpy sets: 19.6 / 18.3 / 27.9 / 11.9 / 16.8 / 9.1 here, 18.8 /
//! 15.8 / 26.0 / 12.5 / 14.7 / 10.7 there. On Emerald Rapids they take 0.51 of the C library's time in the mean here and 0.45
//! there (in two runs), and with learned sizes 0.61 and 0.79. For two masked moves see `avx512_assembly`.

use super::avx512::{short_read_here, without_masks};
use super::ladder::ladder;
use crate::blocks::{copy_head_tail, copy_masked_by_halves, is_mask_slow_at_either};
use core::arch::x86_64::{__m512i, _bzhi_u64};

ladder!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m512i
);

/// Two masked moves of 32 bytes hold this many.
const SMALLEST_MOST_BYTES: usize = 64;

/// Head and tail of this many bytes take eight of the 32 registers.
const SMALL_MOST_BYTES: usize = 512;

/// Uncached copies that go downwards take longer. Alternating builds on Granite Rapids, ticks with 3 KiB here and with 8: uncached at
/// random offsets 3 KiB 1710 and 1553, 4 KiB 2130 and 1943, 6 KiB 2970 and 2737, at offset 0 8000 bytes 3662 and 3443; cached at random
/// offsets 3 KiB 47.2 and 44.7, 4 KiB 60.2 and 57.7, 6 KiB 84.4 and 86.6; but cached and the destination 49 bytes above the source 4
/// KiB 70.2 and 72.4, 6 KiB 84.6 and 93.8. Without the choice at any length, 64 KiB at random offsets would take 3550 instead of 2980, 20
/// KiB 49 bytes above 336 instead of 276. Not measured on Sapphire and Emerald Rapids.
pub(super) const BY_DISTANCE_FROM_BYTES: usize = 8 << 10;

/// Two masked moves of 32 bytes: half of them stay within a line at random offsets, and hardly any of 64 bytes.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= SMALLEST_MOST_BYTES`; otherwise as
/// [`within_raw`](super::within_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn smallest(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the first `len` of all lanes are active, and only these bytes are touched. The second accesses are behind the
    // buffers if all their lanes are inactive.
    unsafe {
        if is_mask_slow_at_either(dst, src) {
            without_masks(dst, src, len);
        } else {
            copy_masked_by_halves(dst, src, _bzhi_u64(u64::MAX, len as u32));
        }
    }
}

/// Moves both ends, which overlap in the middle. All loads come before all stores.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `SMALLEST_MOST_BYTES < len <=
/// SMALL_MOST_BYTES`; otherwise as [`within_raw`](super::within_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn small(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=128 => copy_head_tail::<__m512i, 1>(dst, src, len),
            129..=256 => copy_head_tail::<__m512i, 2>(dst, src, len),
            257..=384 => copy_head_tail::<__m512i, 3>(dst, src, len),
            _ => copy_head_tail::<__m512i, 4>(dst, src, len),
        }
    }
}
