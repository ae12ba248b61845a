//! Zeroing with 64-byte stores, masked up to 64 bytes only: for CPUs on which a masked store that crosses
//! into a second line costs more than a branch.
//!
//! Measured with prototypes of both on Sapphire Rapids, in ticks per call at random offsets; the
//! [`avx512`](super::avx512) prototype had a branch for the end of a page. 40 bytes: 4.9 here, 14.6 there;
//! 100 bytes: 4.9 and 13.7; 200 bytes: 8.3 and 13.7. Unpredictable sizes from the fleet's memset sets: 14.6 /
//! 9.8 / 28.0 / 13.2 / 21.2 / 17.9 here, 12.1 / 12.5 / 21.1 / 11.7 / 16.5 / 14.4 there. On
//! Emerald Rapids the library with either takes 0.96 of the C library's time in the mean for these, and with
//! learned sizes 0.87 of it here and 1.47 times there.

use super::avx512::{lines, short_read_here, without_masks};
use super::ladder::ladder;
use crate::blocks::{begin_on_a_line, is_mask_slow, zero_head_tail};
use crate::intent::LOOPS_BELOW_BYTES;
use core::arch::x86_64::{__m512i, _bzhi_u64, _mm512_mask_storeu_epi8, _mm512_setzero_si512};

ladder!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m512i,
    lines
);

/// Selects the code by length.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as
/// [`fill_raw`](super::fill_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn zero(dst: *mut u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires; in a masked store, the first `len` lanes
    // are active.
    unsafe {
        match len {
            ..=64 if is_mask_slow(dst) => {
                begin_on_a_line();
                without_masks(dst, len);
            }
            ..=64 => {
                let mask = _bzhi_u64(u64::MAX, len as u32);
                _mm512_mask_storeu_epi8(dst.cast(), mask, _mm512_setzero_si512());
            }
            65..=128 => zero_head_tail::<__m512i, 1>(dst, len),
            129..=256 => zero_head_tail::<__m512i, 2>(dst, len),
            257..=512 => zero_head_tail::<__m512i, 4>(dst, len),
            513..LOOPS_BELOW_BYTES => lines(dst, len),
            _ => large_by_size(dst, len),
        }
    }
}
