//! Fills memory with any byte, for implementations of `memset` such as the interposer's.
//!
//! It uses the blocks and size classes of zeroing; for larger sizes, the plan for zeroing selects a loop, `rep stosb` or
//! non-temporal stores.

use crate::blocks::{Block16, fill_aligned_loop, fill_head_tail, fill_up_to_32};
use crate::cpu::Features;
use crate::dispatch::Kernel;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::intent::{LOOPS_BELOW_BYTES, NARROW_LOOPS_BELOW_BYTES};

/// `set(dst, byte, len)`.
pub type SetFn = unsafe extern "C" fn(dst: *mut u8, byte: u8, len: usize);

/// The kernels, in the order of those of zeroing.
pub static KERNELS: &[Kernel<SetFn>] = &[
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx512", needs: Features::AVX512, function: avx512 },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "avx2", needs: Features::AVX2, function: avx2 },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Kernel { name: "sse2", needs: Features::SSE2, function: sse2 },
    Kernel { name: "portable", needs: Features::NONE, function: portable },
];

/// Uses stores of at most 16 bytes.
///
/// # Safety
/// `dst` is valid for writes of `len` bytes.
#[inline]
unsafe extern "C" fn portable(dst: *mut u8, byte: u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires; every CPU has its vectors.
    unsafe {
        match len {
            0..=32 => fill_up_to_32(dst, len, byte),
            33..=64 => fill_head_tail::<Block16, 2>(dst, len, byte),
            65..=128 => fill_head_tail::<Block16, 4>(dst, len, byte),
            _ => fill_aligned_loop::<Block16>(dst, len, byte),
        }
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use x86_64::{avx2, avx512, sse2};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod x86_64 {
    use super::{
        LOOPS_BELOW_BYTES, NARROW_LOOPS_BELOW_BYTES, fill_aligned_loop, fill_head_tail, fill_up_to_32,
        portable,
    };
    use crate::blocks::{
        Block16, fence, fill_non_temporal, fill_prefetched_loop, fill_rep_stosb, is_mask_slow, zero_by_clzero,
    };
    use crate::intent::{Intent, Plan, Way};
    use core::arch::x86_64::{__m256i, __m512i, _bzhi_u64, _mm512_mask_storeu_epi8, _mm512_set1_epi8};

    /// Defines the code for larger sizes. Not inlined: its registers would be saved at every small call.
    macro_rules! large {
        ($name:ident, $level:literal, $block:ty) => {
            /// # Safety
            /// The CPU has the level; `len >= NARROW_LOOPS_BELOW_BYTES`; `dst` is valid for writes of `len` bytes.
            #[target_feature(enable = $level)]
            #[cold]
            #[inline(never)]
            unsafe extern "C" fn $name(dst: *mut u8, byte: u8, len: usize) {
                // SAFETY: len exceeds what each path requires; the level and the bytes by contract.
                unsafe {
                    let plan = Plan::of_zero(Intent::default(), len);
                    match plan.way {
                        Way::Loop if plan.fetched => fill_prefetched_loop::<$block>(dst, len, byte),
                        Way::Loop => fill_aligned_loop::<$block>(dst, len, byte),
                        Way::String => fill_rep_stosb(dst, len, byte),
                        Way::NonTemporal | Way::Clzero => {
                            if plan.way != Way::Clzero || byte != 0 || !zero_by_clzero(dst, len) {
                                fill_non_temporal::<$block>(dst, len, byte);
                            }
                            fence();
                        }
                    }
                }
            }
        };
    }
    large!(large_sse2, "sse2", Block16);
    large!(large_avx2, "avx2", __m256i);
    large!(large_avx512, "avx512f,avx512bw,avx512vl,bmi2", __m512i);

    /// # Safety
    /// `dst` is valid for writes of `len` bytes.
    #[inline]
    pub(super) unsafe extern "C" fn sse2(dst: *mut u8, byte: u8, len: usize) {
        // SAFETY: the same contract; len is what the code for larger sizes requires, and the target has SSE2.
        unsafe {
            match len {
                ..NARROW_LOOPS_BELOW_BYTES => portable(dst, byte, len),
                _ => large_sse2(dst, byte, len),
            }
        }
    }

    /// # Safety
    /// The CPU has AVX2; `dst` is valid for writes of `len` bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe extern "C" fn avx2(dst: *mut u8, byte: u8, len: usize) {
        // SAFETY: each branch has the bounds that its block requires; the CPU has the vectors.
        unsafe {
            match len {
                0..=32 => fill_up_to_32(dst, len, byte),
                33..=64 => fill_head_tail::<__m256i, 1>(dst, len, byte),
                65..=128 => fill_head_tail::<__m256i, 2>(dst, len, byte),
                129..=256 => fill_head_tail::<__m256i, 4>(dst, len, byte),
                257..LOOPS_BELOW_BYTES => fill_aligned_loop::<__m256i>(dst, len, byte),
                _ => large_avx2(dst, byte, len),
            }
        }
    }

    /// # Safety
    /// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `dst` is valid for writes of `len`
    /// bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub(super) unsafe extern "C" fn avx512(dst: *mut u8, byte: u8, len: usize) {
        // SAFETY: each branch has the bounds that its block requires; in a masked store, the first `len`
        // lanes are active; the CPU has the vectors.
        unsafe {
            match len {
                ..=64 if !is_mask_slow(dst) => {
                    let mask = _bzhi_u64(u64::MAX, len as u32);
                    _mm512_mask_storeu_epi8(dst.cast(), mask, _mm512_set1_epi8(byte as i8));
                }
                ..=32 => fill_up_to_32(dst, len, byte),
                33..=64 => fill_head_tail::<__m256i, 1>(dst, len, byte),
                65..=128 => fill_head_tail::<__m512i, 1>(dst, len, byte),
                129..=256 => fill_head_tail::<__m512i, 2>(dst, len, byte),
                257..=512 => fill_head_tail::<__m512i, 4>(dst, len, byte),
                513..LOOPS_BELOW_BYTES => fill_aligned_loop::<__m512i>(dst, len, byte),
                _ => large_avx512(dst, byte, len),
            }
        }
    }
}
