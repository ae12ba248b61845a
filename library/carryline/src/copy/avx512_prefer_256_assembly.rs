//! [`avx512_prefer_256`](super::avx512_prefer_256) with assembly for up to 256 bytes, in which every branch leads to the start of a
//! cache line of code; above, it is [`avx2_assembly`](super::avx2_assembly).
//!
//! Alternating builds on Zen 4, gross ticks per call at random offsets, by LLVM's code, whose loops moved 64 bytes, and by this:
//! 100 bytes 6.6 and 6.3, 200 10.3 and 9.7, 448 16.9 and 15.8, 640 20.3 and 18.8, 1500 43.1 and 41.1, 4 KiB 102 and 96, 16,000
//! bytes 410 and 388; at offset 0 100 bytes 6.3 and 5.6 to 6.1, 256 6.4 and 7.0, 16 KiB, which with its copy fills the first
//! level, 418 and 445, others alike. Unpredictable sizes of memcpy-A, -B, -D, -L, -M and -Q 14.5, 10.7, 26.1, 8.7, 9.2 and 7.3,
//! and 14.5, 10.5, 24.7, 8.5, 9.1 and 7.2.
//!
//! A line of code takes a core cycle there (METHODOLOGY.md, null call). Moves of 129 to 256 bytes in the registers up to `ymm7` are
//! two lines, and three in those above, which need no `vzeroupper`: 160, 192 and 256 bytes at offset 0 7.9 and 7.2 ticks in one process
//! through the C interface, others and random offsets alike.
//!
//! In prototypes there, a branch near the end of a page, with which 64 bytes are one line of code, took 0.7 less at offset 0, but at
//! random ones, where it is mispredicted for either buffer, up to 0.5 more, and 65 to 128 bytes then take 0.6 more; a test for more than 256
//! bytes before the others 0.7 more; six moves at each end for 257 to 384 bytes 0.7 less at offset 0, but up to 0.6 more at random ones, and
//! 3 to 4 more just above 256 bytes.

use super::avx2_assembly::{four_at_each_end, loops, overlapping_loops};
use super::avx512_assembly::unmasked_returning;
use super::returning::entries;
use crate::blocks::{assembly_function, returned};
use crate::dispatch::CopyCode;

/// The code of this kernel.
pub(super) const CODE: CopyCode = CopyCode { copy, overlapping, ..super::avx512_prefer_256::CODE };

/// Defines an entry point that copies up to 256 bytes, where all loads come before all stores, and jumps to `$above_256` for more.
macro_rules! entry {
    ($(#[$attribute:meta])* $visible:vis $entry:ident $(-> $returned:ty)?, $above_256:ident) => {
        assembly_function! {
            $(#[$attribute])*
            ///
            /// # Safety
            /// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as the function for more than 256
            /// bytes.
            $visible unsafe extern "C" fn $entry(dst: *mut u8, src: *const u8, len: usize) $(-> $returned)? {
                "cmp rdx, 128",
                "ja 3f",
                "cmp edx, 64",
                "ja 2f",
                // One masked move. r8d is how many bytes before the buffers it begins: see `back_from_page_end`.
                "cmp rdi, 64",
                "jb {unmasked}",
                "cmp rsi, 64",
                "jb {unmasked}",
                "mov eax, esi",
                "or eax, edi",
                "not eax",
                "mov ecx, 64",
                "sub ecx, edx",
                "xor r8d, r8d",
                "test eax, 4096 - 64",
                "cmovz r8d, ecx",
                "mov rcx, -1",
                "bzhi rcx, rcx, rdx",
                "shlx rcx, rcx, r8",
                "sub rsi, r8",
                returned!($($returned)?),
                "kmovq k1, rcx",
                "vmovdqu8 zmm16 {{k1}} {{z}}, [rsi]",
                "sub rdi, r8",
                "vmovdqu8 [rdi] {{k1}}, zmm16",
                "ret",
                ".p2align 6",
                "2:",
                returned!($($returned)?),
                "vmovdqu64 zmm16, [rsi]",
                "vmovdqu64 zmm17, [rsi + rdx - 64]",
                "vmovdqu64 [rdi], zmm16",
                "vmovdqu64 [rdi + rdx - 64], zmm17",
                "ret",
                ".p2align 6",
                "3:",
                "cmp rdx, 256",
                "ja {above_256}",
                returned!($($returned)?),
                four_at_each_end!();
                unmasked = sym unmasked_returning,
                above_256 = sym $above_256,
            }
        }
    };
}

entries!(entry);
