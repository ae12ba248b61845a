//! Copying with 64-byte moves of one cache line each, masked for the smallest sizes.

use super::ladder::ladder;
use crate::blocks::{MaskedEnds, copy_head_tail, copy_up_to_32, straight_line_ends};
use core::arch::asm;
use core::arch::x86_64::{__m256i, __m512i, _bzhi_u64};

ladder!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m512i,
    TwoMasked
);

/// Two masked moves hold this many bytes.
const SMALLEST_MOST_BYTES: usize = 128;

/// Head and tail of this many bytes take eight of the 32 registers.
const SMALL_MOST_BYTES: usize = 512;

/// Gross ticks on Zen 5, by `copy_forward` and by `copy_by_distance`: 2 KiB at random offsets 31.9 and 31.3, at offset 0 21.3 and
/// 23.1; 4 KiB 56.7 and 50.8, 40.3 and 40.4; 16,000 bytes 192 and 166, 156 and 156, with the destination 300 bytes above the
/// source modulo 4096 336 and 166.
pub(super) const BY_DISTANCE_FROM_BYTES: usize = 3 << 10;

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
            ..=256 => copy_head_tail::<__m512i, 2>(dst, src, len),
            _ => copy_head_tail::<__m512i, 4>(dst, src, len),
        }
    }
}

/// Up to 128 bytes without a branch on the length: the first and the last 64 bytes, both with the same mask.
/// Up to 64 bytes, both are the same move; above, the mask is full and the moves overlap.
struct TwoMasked {
    len: usize,
    ends: MaskedEnds<2>,
}

impl TwoMasked {
    /// The moves, computed before the first branch; see [`straight_line_ends`].
    #[inline(always)]
    fn before_branches(dst: *mut u8, src: *const u8, len: usize) -> TwoMasked {
        let ends = MaskedEnds::<2>::of(dst, src.cast_mut(), len);
        straight_line_ends();
        TwoMasked { len, ends }
    }

    /// All loads come before all stores. Written out, because LLVM would choose registers after which it needs
    /// `vzeroupper`.
    ///
    /// # Safety
    /// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= 128`; otherwise as
    /// [`within_raw`](super::within_raw).
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    unsafe fn copy(self) {
        let MaskedEnds { first: [dst, src], back, last } = self.ends;
        // `bzhi` uses eight bits of the length.
        let mask = _bzhi_u64(u64::MAX, self.len as u32).wrapping_shl(back as u32);
        // SAFETY: below 64, both moves touch exactly the `len` bytes, since only these lanes are active: from
        // the start, or if `back` is not 0, hence 64 - len, the last `len` of 64 that begin `back` bytes
        // earlier; none if `len` is 0. From 64 on, `back` is 0, and they touch the first and the last 64 of
        // len bytes.
        unsafe {
            asm!(
                "vmovdqu8 zmm16 {{{mask}}} {{z}}, zmmword ptr [{src}]",
                "vmovdqu8 zmm17 {{{mask}}} {{z}}, zmmword ptr [{src} + {last}]",
                "vmovdqu8 zmmword ptr [{dst}] {{{mask}}}, zmm16",
                "vmovdqu8 zmmword ptr [{dst} + {last}] {{{mask}}}, zmm17",
                dst = in(reg) dst,
                src = in(reg) src,
                last = in(reg) last,
                mask = in(kreg) mask,
                out("zmm16") _,
                out("zmm17") _,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// As `copy`, for a caller who reads the copy immediately: a load is not forwarded from a masked store that
/// is still in the store buffer, but waits for it.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as
/// [`bytes_raw`](super::bytes_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) unsafe extern "C" fn short_read_here(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the same contract; the first gets at most 128 bytes.
    unsafe {
        match len {
            ..=128 => unmasked(dst, src, len),
            _ if len <= SMALL_MOST_BYTES => small(dst, src, len),
            _ => loops(dst, src, len),
        }
    }
}

/// [`unmasked`], not inlined.
///
/// # Safety
/// As [`unmasked`].
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) unsafe extern "C" fn without_masks(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the same contract.
    unsafe { unmasked(dst, src, len) }
}

/// The fallback without masked moves.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len <= 128`; otherwise as
/// [`within_raw`](super::within_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) unsafe fn unmasked(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=32 => copy_up_to_32(dst, src, len),
            33..=64 => copy_head_tail::<__m256i, 1>(dst, src, len),
            _ => copy_head_tail::<__m512i, 1>(dst, src, len),
        }
    }
}
