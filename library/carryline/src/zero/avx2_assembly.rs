//! [`avx2`](super::avx2) with assembly for up to 512 bytes, in which every branch leads to the start of a cache line
//! of code, and each path takes as few lines as it can. LLVM aligns no branch targets.
//!
//! On a Zen 3 whose cores are shared with other guests, 8, 256 and 384 bytes take 8 to 9.5, 9 to 11 and 11 to 15 ticks;
//! with LLVM's order of the same stores, and a loop from 257 bytes on, 9 to 12, 10 to 15 and 13 to 21 at the same
//! moments. If all stores of 384 bytes were unaligned, they would take 16 ticks at offset 16 where these take 14, and
//! 21 at offset 5 where these take 17. If the unaligned stores ended with the buffer, instead of beginning with it, 383
//! bytes at offset 0 would take 13.6 ticks instead of 10.6, and at random offsets 13.6 instead of 14.2. With the fifth
//! unaligned store always, on a quiet Zen 3, 320 and 512 bytes at offset 0 take 10.6 and 13.6 ticks instead of 9.8 and
//! 12.8, 320 at random offsets 15.0 instead of 14.1; only 482 to 511 bytes at random offsets, where the branch is
//! mispredicted, would gain (17.6 instead of 18.6 with 500).
//!
//! Above 64 bytes, 512 is tested before 256 and 128, which gives the fewest mispredictions with a fleet's sets: 0.72 a call
//! in their mean, computed from the sets, and 0.75 with 256 first. In both of two runs, memset-A, -D, -M and -Q take 1 to
//! 3 % less. With 512, 256 and 128 tested before 64 there would be 0.58, but 16 to 64 bytes would take two lines of code
//! and a core cycle more, and the sets with sizes that a predictor has learned would be slower.

use super::assembly::{entries, up_to_16_blocks, up_to_64};
use super::avx2::large_by_size;
use crate::blocks::{assembly_function, begin_on_a_line, unlikely, zero_aligned_loop};
use crate::dispatch::ZeroCode;
use crate::intent::LOOPS_BELOW_BYTES;
use core::arch::x86_64::__m256i;

/// The code of this kernel.
pub(super) const CODE: ZeroCode = ZeroCode { zero, ..super::avx2::CODE };

/// Defines an entry point that zeroes up to 512 bytes, and jumps to `above_512` for more. The code is the same whether
/// or not the declaration says that `dst` is returned.
macro_rules! entry {
    ($(#[$attribute:meta])* $visible:vis $entry:ident $(-> $returned:ty)?) => {
        assembly_function! {
            $(#[$attribute])*
            ///
            /// # Safety
            /// The CPU has AVX2; otherwise as [`fill_raw`](super::fill_raw).
            $visible unsafe extern "C" fn $entry(dst: *mut u8, len: usize) $(-> $returned)? {
                up_to_64!("vpxor xmm0, xmm0, xmm0", "vmovdqu"),
                "4:",
                "cmp rsi, 512",
                "ja {above_512}",
                "cmp esi, 256",
                "ja 6f",
                "mov rax, rdi",
                "vpxor xmm0, xmm0, xmm0",
                "vmovdqu [rdi], ymm0",
                "vmovdqu [rdi + 32], ymm0",
                "cmp esi, 128",
                "ja 5f",
                "vmovdqu [rdi + rsi - 64], ymm0",
                "vmovdqu [rdi + rsi - 32], ymm0",
                "vzeroupper",
                "ret",
                ".p2align 6",
                "5:",
                "vmovdqu [rdi + 64], ymm0",
                "vmovdqu [rdi + 96], ymm0",
                "vmovdqu [rdi + rsi - 128], ymm0",
                "vmovdqu [rdi + rsi - 96], ymm0",
                "vmovdqu [rdi + rsi - 64], ymm0",
                "vmovdqu [rdi + rsi - 32], ymm0",
                "vzeroupper",
                "ret",
                ".p2align 6",
                "6:",
                up_to_16_blocks!("vpxor xmm0, xmm0, xmm0", "vmovdqu", "vmovdqa", "ymm0", "vzeroupper");
                above_512 = sym above_512,
                block = const 32,
            }
        }
    };
}

entries!(entry);

/// Returns `dst`.
///
/// # Safety
/// The CPU has AVX2; `len > 512`; otherwise as [`fill_raw`](super::fill_raw).
#[target_feature(enable = "avx2")]
pub(super) unsafe extern "C" fn above_512(dst: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: len exceeds what both require.
    unsafe {
        if len >= LOOPS_BELOW_BYTES {
            unlikely();
            begin_on_a_line();
            large_by_size(dst, len);
        } else {
            zero_aligned_loop::<__m256i>(dst, len);
        }
    }
    dst
}
