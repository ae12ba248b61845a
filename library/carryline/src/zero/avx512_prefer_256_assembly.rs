//! [`avx512_prefer_256`](super::avx512_prefer_256) with assembly for up to 512 bytes, in which every branch leads to the start of a
//! cache line of code; above 256 bytes it is that of [`avx2_assembly`](super::avx2_assembly).
//!
//! Zen 4 stores 32 bytes a cycle, and what counts is how many aligned blocks of 32 bytes the stores touch. A masked store costs as
//! much as a full one, whatever its mask. A store that begins in the block in which the one before it ended costs one block less, so
//! stores go upwards: unaligned 32-byte stores take 1.1 cycles each upwards and 2 downwards. A store that crosses into another page
//! takes 34 cycles, even if no byte there is active.
//!
//! It also takes a core cycle for each line of code that a call runs through, whatever is in it. Prototypes of two masked stores take
//! 5.6 ticks if they are exactly a line, with five additions besides that still fit too, and 6.3 with padding that reaches into the next.
//! So the path for up to 128 bytes is a line, and that for 129 to 256 another. Near the end of a page and for empty buffers, the first
//! branches: without a branch, as it was, the same takes two lines.
//!
//! Both in one process there, through the C interface, gross ticks per call before and now: up to 128 bytes at offset 0 7.0 and 6.3, at
//! random offsets 7.3 and 6.6; lengths from 1 to 128 7.3 and 6.7; 160, 192 and 256 bytes at offset 0 7.0 and 6.3, at random offsets 9.3
//! and 9.2; lengths from 1 to 256 15.0 and 13.8; unpredictable sizes of memset-A, -B, -D, -L, -M and -Q 12.2, 9.7, 22.9, 10.2, 16.4 and 12.3,
//! and 12.4, 9.6, 23.2, 10.4, 16.2 and 12.1; learnt sizes as before. At the end of a page one size up to 128 takes 0.2 to 0.8 less, and
//! lengths from 1 to 128, of which the longer begin before the last line, 15.2 instead of 7.3.
//!
//! In prototypes of the code before, the tests for more than 512 and 256 bytes before that for more than 128, which gives the fewest
//! mispredictions, brought memset-D from 22.1 to 19.7, -M from 15.3 to 13.6, -Q from 11.3 to 10.6, -A from 11.2 to 10.8, -B and -L no gain;
//! but one size up to 128 bytes took 0.6 more, and learnt sizes 0.3 to 0.6 more, where the C library's routine is faster then.

use super::assembly::{entries, up_to_16_blocks};
use super::avx2_assembly::above_512;
use crate::blocks::{assembly_function, returned};
use crate::dispatch::ZeroCode;

/// The code of this kernel.
pub(super) const CODE: ZeroCode = ZeroCode { zero, ..super::avx512_prefer_256::CODE };

/// Defines an entry point that zeroes up to 512 bytes, and jumps to `above_512` for more. Most paths are the same whether or not the
/// declaration says that `dst` is returned.
macro_rules! entry {
    ($(#[$attribute:meta])* $visible:vis $entry:ident $(-> $returned:ty)?) => {
        assembly_function! {
            $(#[$attribute])*
            ///
            /// # Safety
            /// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as [`fill_raw`](super::fill_raw).
            $visible unsafe extern "C" fn $entry(dst: *mut u8, len: usize) $(-> $returned)? {
                "cmp rsi, 128",
                "ja 5f",
                // Up to 128: two masked stores. Up to 64 bytes, both are the same store; above, the mask is full.
                "xor edx, edx",
                "lea rcx, [rdx - 1]",
                "bzhi rcx, rcx, rsi",
                "jz 3f",
                // In the last line of a page, the carry reaches the page's number.
                "lea eax, [rdi + 64]",
                "xor eax, edi",
                "shr eax, 12",
                "jnz 2f",
                "sub esi, 64",
                "cmovb esi, edx",
                returned!($($returned)?),
                "kmovq k1, rcx",
                "vpxor xmm0, xmm0, xmm0",
                "vmovdqu8 [rdi] {{k1}}, zmm0",
                "vmovdqu8 [rdi + rsi] {{k1}}, zmm0",
                "ret",
                ".p2align 6",
                // There, stores of less than 64 bytes end with the buffer: r8d is how many bytes before it they begin.
                "2:",
                "sub esi, 64",
                "mov r8d, edx",
                "cmovb r8d, esi",
                "cmovb esi, edx",
                "neg r8d",
                "mov rax, rdi",
                "shlx rcx, rcx, r8",
                "sub rdi, r8",
                "kmovq k1, rcx",
                "vpxor xmm0, xmm0, xmm0",
                "vmovdqu8 [rdi] {{k1}}, zmm0",
                "vmovdqu8 [rdi + rsi] {{k1}}, zmm0",
                "ret",
                // Nothing: dst may be any address.
                "3:",
                "mov rax, rdi",
                "ret",
                ".p2align 6",
                "5:",
                "cmp rsi, 256",
                "ja 6f",
                "vpxor xmm0, xmm0, xmm0",
                returned!($($returned)?),
                "vmovdqu [rdi], ymm0",
                "vmovdqu [rdi + 32], ymm0",
                "vmovdqu [rdi + 64], ymm0",
                "vmovdqu [rdi + 96], ymm0",
                "vmovdqu [rdi + rsi - 128], ymm0",
                "vmovdqu [rdi + rsi - 96], ymm0",
                "vmovdqu [rdi + rsi - 64], ymm0",
                "vmovdqu [rdi + rsi - 32], ymm0",
                "ret",
                ".p2align 6",
                "6:",
                "cmp rsi, 512",
                "ja {above_512}",
                up_to_16_blocks!("vpxor xmm0, xmm0, xmm0", "vmovdqu", "vmovdqa", "ymm0", "vzeroupper");
                above_512 = sym above_512,
                block = const 32,
            }
        }
    };
}

entries!(entry);
