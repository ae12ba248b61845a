//! [`avx512_branched`](super::avx512_branched) with another sum of up to 64 bytes: 32-bit words are added in
//! lanes of 64 bits, which takes fewer and faster instructions than a dot product, of whose 16 lanes each holds a
//! part of the result.
//!
//! Emerald Rapids executes instructions of 512 bits on two ports. Prototypes of both there, in gross ticks per call at
//! random offsets: 8 bytes 6.4 instead of 7.9, 40 bytes 6.7 instead of 8.0, 64 bytes 6.9 instead of 7.9, unpredictable
//! sizes from 1 to 64 7.0 instead of 7.9. With two 32-byte vectors, which have three ports, these take 6.6, 7.0, 7.0
//! and 7.3; with a branch to one such vector up to 32 bytes 6.0, 7.3, 7.6 and 15.5.

use super::avx512::{self, end_around_add};
use super::avx512_branched::above_64;
use crate::blocks::is_mask_slow;
use core::arch::asm;
use core::arch::x86_64::_bzhi_u64;

/// Selects the code by length.
///
/// # Safety
/// The CPU has AVX512F, BW, VL and VNNI and BMI2; otherwise as [`partial_raw`](super::partial_raw).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract; len is within the bounds that each function requires.
    unsafe {
        match len {
            ..=64 if is_mask_slow(data) => where_masks_are_slow(data, len, seed),
            ..=64 => up_to_64(data, len, seed),
            _ => above_64(data, len, seed),
        }
    }
}

/// By [`avx512`], which reads no other page. Not inlined, so that the code above is in few cache lines.
///
/// # Safety
/// The features of [`partial`]; `len <= 64`; `data` is valid for reads of `len` bytes.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe extern "C" fn where_masks_are_slow(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract.
    unsafe { avx512::partial(data, len, seed) }
}

/// One masked load, whose words of 32 bits are added to a sum of 64 bits.
///
/// Written out, because LLVM would choose registers after which it needs `vzeroupper`.
///
/// # Safety
/// The features of [`partial`]; `len <= 64`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,bmi2")]
unsafe fn up_to_64(data: *const u8, len: usize, seed: u32) -> u32 {
    /// Selects the lower word of a lane.
    static LOWER: u64 = 0xffff_ffff;
    let mask = _bzhi_u64(u64::MAX, len as u32);
    let sum: u64;
    // SAFETY: the first `len` lanes are active, and only these bytes are read.
    unsafe {
        asm!(
            "vmovdqu8 zmm16 {{{mask}}} {{z}}, zmmword ptr [{data}]",
            "vpsrlq zmm17, zmm16, 32",
            "vpandq zmm16, zmm16, qword ptr [rip + {lower}]{{1to8}}",
            "vpaddq zmm16, zmm16, zmm17",
            "vextracti64x4 ymm17, zmm16, 1",
            "vpaddq ymm16, ymm16, ymm17",
            "vextracti32x4 xmm17, ymm16, 1",
            "vpaddq xmm16, xmm16, xmm17",
            "vpshufd xmm17, xmm16, 0xee",
            "vpaddq xmm16, xmm16, xmm17",
            "vmovq {sum}, xmm16",
            data = in(reg) data,
            mask = in(kreg) mask,
            lower = sym LOWER,
            sum = lateout(reg) sum,
            out("zmm16") _,
            out("zmm17") _,
            options(nostack, pure, readonly, preserves_flags),
        );
    }
    // 17 words of 32 bits are below 2^37.
    let sum = sum + u64::from(seed);
    end_around_add(sum as u32, (sum >> 32) as u32)
}
