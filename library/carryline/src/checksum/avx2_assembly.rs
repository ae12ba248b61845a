//! [`avx2`](super::avx2) with assembly for up to 256 bytes: its own code, but every branch leads to the start of a cache
//! line of code, and sizes above 256 are told apart first. LLVM aligns no branch targets.
//!
//! Up to 256 bytes, words are made signed and multiplied by one; see [`signed_words`](super::signed_words). Up to 64, words of 32
//! bits are loaded by masked loads, and the last 1 to 4 bytes by one load that ends with the data, shifted by a distance that is a
//! multiple of the length.
//!
//! Alternating builds on Granite Rapids with AVX-512 masked, gross ticks per call at offset 0 and at random offsets, before (sums of
//! halves, the last 0 to 3 bytes, near the end of a page additions with carry, and a test of bit 12 in an upper byte register)
//! and now: 4 bytes 6.5 and 7.2, 5.3 and 6.1; 20 6.2 and 6.8, 5.8 and 6.5; 24 6.6 and 6.9, 5.9 and 6.5; 64 6.5 and 7.1, 5.7 and 6.4;
//! 100 8.0 and 8.8, 6.9 and 8.2; 128 7.5 and 8.5, 6.7 and 8.0; 160 9.8 and 12.4, 9.9 and 12.4; 200 10.9 and 13.3, 11.2 and 13.1;
//! 256 9.6 and 11.9, 9.8 and 12.3; lengths from 1 to 64 7.4 and 8.0, 6.7 and 7.0; from 1 to 128 15.6 and 16.0, 14.7 and 14.8; from 1
//! to 256 17.6 and 18.2, 16.5 and 17.0. At the end of a page: 40 bytes 8.2, 7.0; lengths from 1 to 64 27.7, 8.1.
//!
//! On Zen 4, each line of code that a call runs through takes a core cycle. In one process there, called by pointer, with 65 to 128 bytes in
//! five lines and the test for less than 4 bytes after that for more than 64, and with four lines and that test first: 3 bytes at
//! random offsets 9.3 and 8.6, 80 10.6 and 9.9, 128 10.8 and 10.0, 20, 40, 64 and 160 to 400 bytes the same, lengths from 1 to 128 18.3
//! and 18.0.
//!
//! In prototypes there, 65 to 128 bytes took 0.3 more with the last byte of an odd length added separately, as 129 to 256 do. With
//! words shifted instead, as 65 to 128 do, 129 bytes at offset 0 took 11.2 instead of 10.0. With means of words as in
//! [`avx2_vectors`](super::avx2_vectors), 200 and 255 bytes took 0.2 to 0.4 less at offset 0, but lengths from 1 to 256 17.3 and 17.4
//! instead of 16.8 and 17.0. Shifts by `cl` instead of those of BMI2 took 0.1 more. With AVX-VNNI (`vpdpwssd`), before these
//! changes, 4 to 128 bytes took 0.2 to 1.0 less; from 300 bytes on it is no faster than means of words.

use super::avx2::{LANES, above_512, from_257_to_512};
use super::avx2_vectors::SELECTED;
use super::signed_words::{BIAS_OF_64_BYTES, BIAS_OF_128, CONSTANTS, FACTORS, return_with, swap_if_shifted};
use crate::blocks::assembly_function;

/// The sum of two masked vectors, `ymm1` and `ymm2`, in `ymm1`. Uses `ymm5` and `ymm6`.
macro_rules! sum_of_two {
    () => {
        "
        vpbroadcastd ymm5, [rip + {constants}]
        vpbroadcastd ymm6, [rip + {constants} + {factors}]
        vpxor ymm1, ymm1, ymm5
        vpxor ymm2, ymm2, ymm5
        vpmaddwd ymm1, ymm1, ymm6
        vpmaddwd ymm2, ymm2, ymm6
        vpaddd ymm1, ymm1, ymm2
        "
    };
}

/// The sum of the lanes of `ymm1`, words of 32 bits, in `eax` and `ecx`; less the bias, so only their sum modulo 2^32 counts. Uses
/// `ymm2`.
macro_rules! lanes {
    () => {
        "
        vextracti128 xmm2, ymm1, 1
        vpaddd xmm1, xmm1, xmm2
        vpshufd xmm2, xmm1, 0xee
        vpaddd xmm1, xmm1, xmm2
        vmovq rax, xmm1
        rorx rcx, rax, 32
        vzeroupper
        "
    };
}

assembly_function! {
    /// Selects the code by length.
    ///
    /// # Safety
    /// The CPU has AVX2 and BMI2; otherwise as [`partial_raw`](super::partial_raw).
    pub(super) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
        "cmp rsi, 64",
        "ja 2f",
        "cmp esi, 4",
        "jb 4f",
        // 4 to 64: the (len - 1) / 4 first words of 32 bits by masked loads, which are slow if they reach into the next page.
        "mov eax, edi",
        "and eax, 4095",
        "cmp eax, 4096 - 64",
        "ja 5f",
        "lea rcx, [rip + {lanes} + 68]",
        "sub rcx, rsi",
        "and rcx, -4",
        "vmovdqu ymm1, [rcx]",
        "vmovdqu ymm2, [rcx + 32]",
        "vpmaskmovd ymm1, ymm1, [rdi]",
        "vpmaskmovd ymm2, ymm2, [rdi + 32]",
        // The last 1 to 4 bytes, from a load that ends with the data. A shift uses five bits of its distance.
        "imul eax, esi, -8",
        "shrx r8d, [rdi + rsi - 4], eax",
        sum_of_two!(),
        lanes!(),
        // With the bias, the sum of the words is below 2^21. No carry is lost: after a first one, too little is left for a second,
        // and if only the seed's addition carries, at most 2^32 - 2 is left.
        "lea eax, [rax + rcx + {bias_of_64}]",
        "add eax, r8d",
        "adc eax, edx",
        "adc eax, 0",
        "ret",
        ".p2align 6",
        // Near the end of a page: the (len - 1) / 4 last words, from loads that end with the data, and the first 1 to 4 bytes. After
        // an odd number of bytes, all words are shifted.
        "5:",
        "lea eax, [rsi - 1]",
        "and eax, -4",
        "lea rcx, [rip + {lanes} + 64]",
        "add rcx, rax",
        "imul eax, esi, -8",
        "shlx r8d, [rdi], eax",
        "add rdi, rsi",
        "vmovdqu ymm1, [rcx]",
        "vmovdqu ymm2, [rcx + 32]",
        "vpmaskmovd ymm1, ymm1, [rdi - 64]",
        "vpmaskmovd ymm2, ymm2, [rdi - 32]",
        sum_of_two!(),
        lanes!(),
        "lea eax, [rax + rcx + {bias_of_64}]",
        "add eax, r8d",
        "adc eax, 0",
        swap_if_shifted!("sil", "ecx"),
        return_with!("edx"),
        ".p2align 6",
        "2:",
        "cmp rsi, 512",
        "ja {above_512}",
        "cmp esi, 256",
        "ja {from_257_to_512}",
        "cmp esi, 128",
        "ja 3f",
        // 65 to 128: two vectors, and of the two that end with the data the bytes after them.
        "lea r8, [rip + {constants}]",
        "lea rcx, [rip + {selected} + 160]",
        "mov eax, esi",
        "and eax, 1",
        "vpbroadcastd ymm5, [r8]",
        "vpbroadcastd ymm6, [r8 + {factors}]",
        "vpbroadcastd ymm7, [r8 + 4*rax + {factors}]",
        "vmovdqu ymm3, [rcx + rsi - 32]",
        "vmovdqu ymm4, [rcx + rsi]",
        "vpxor ymm1, ymm5, [rdi]",
        "vpxor ymm2, ymm5, [rdi + 32]",
        "add rdi, rsi",
        "mov esi, [r8 + 4*rax + {bias_of_128}]",
        "vpand ymm3, ymm3, [rdi - 64]",
        "vpand ymm4, ymm4, [rdi - 32]",
        "vpxor ymm3, ymm3, ymm5",
        "vpxor ymm4, ymm4, ymm5",
        "vpmaddwd ymm1, ymm1, ymm6",
        "vpmaddwd ymm2, ymm2, ymm6",
        "vpmaddwd ymm3, ymm3, ymm7",
        "vpmaddwd ymm4, ymm4, ymm7",
        "vpaddd ymm1, ymm1, ymm2",
        "vpaddd ymm3, ymm3, ymm4",
        "vpaddd ymm1, ymm1, ymm3",
        lanes!(),
        "add eax, esi",
        "add eax, ecx",
        return_with!("edx"),
        ".p2align 6",
        // 129 to 256: four vectors, and of the four that end with the data, or a byte before its end, the bytes after them. Words
        // stay in place, so that 129 bytes at a line do not cross into other lines. The last byte of an odd length.
        "3:",
        "mov eax, esi",
        "lea r9, [rip + {selected}]",
        "and eax, -2",
        "xor ecx, ecx",
        "lea r10, [rdi + rax]",
        "movzx r8d, byte ptr [rdi + rsi - 1]",
        "test sil, 1",
        "cmovz r8d, ecx",
        "add r9, rax",
        "vpbroadcastd ymm5, [rip + {constants}]",
        "vpbroadcastd ymm6, [rip + {constants} + {factors}]",
        "vpxor ymm1, ymm5, [rdi]",
        "vpxor ymm2, ymm5, [rdi + 32]",
        "vpxor ymm3, ymm5, [rdi + 64]",
        "vpxor ymm4, ymm5, [rdi + 96]",
        "vpmaddwd ymm1, ymm1, ymm6",
        "vpmaddwd ymm2, ymm2, ymm6",
        "vpmaddwd ymm3, ymm3, ymm6",
        "vpmaddwd ymm4, ymm4, ymm6",
        "vmovdqu ymm8, [r9]",
        "vmovdqu ymm9, [r9 + 32]",
        "vmovdqu ymm10, [r9 + 64]",
        "vmovdqu ymm11, [r9 + 96]",
        "vpand ymm8, ymm8, [r10 - 128]",
        "vpand ymm9, ymm9, [r10 - 96]",
        "vpand ymm10, ymm10, [r10 - 64]",
        "vpand ymm11, ymm11, [r10 - 32]",
        "vpxor ymm8, ymm8, ymm5",
        "vpmaddwd ymm8, ymm8, ymm6",
        "vpxor ymm9, ymm9, ymm5",
        "vpmaddwd ymm9, ymm9, ymm6",
        "vpxor ymm10, ymm10, ymm5",
        "vpmaddwd ymm10, ymm10, ymm6",
        "vpxor ymm11, ymm11, ymm5",
        "vpmaddwd ymm11, ymm11, ymm6",
        "vpaddd ymm1, ymm1, ymm2",
        "vpaddd ymm3, ymm3, ymm4",
        "vpaddd ymm8, ymm8, ymm9",
        "vpaddd ymm10, ymm10, ymm11",
        "vpaddd ymm1, ymm1, ymm3",
        "vpaddd ymm8, ymm8, ymm10",
        "vpaddd ymm1, ymm1, ymm8",
        lanes!(),
        "add eax, r8d",
        "lea eax, [rax + rcx + 4*{bias_of_64}]",
        return_with!("edx"),
        ".p2align 6",
        // 0 to 3: the first, the middle and the last, each shifted to its place; see `below_4`.
        "4:",
        "mov eax, edx",
        "test esi, esi",
        "jz 4f",
        "movzx r8d, byte ptr [rdi]",
        "movzx edx, byte ptr [rdi + rsi - 1]",
        "mov ecx, esi",
        "shr ecx",
        "movzx r9d, byte ptr [rdi + rcx]",
        "shl ecx, 3",
        "shl r9d, cl",
        "lea ecx, [rsi * 8 - 8]",
        "shl edx, cl",
        "or r8d, r9d",
        "or r8d, edx",
        "add eax, r8d",
        "adc eax, 0",
        "4:",
        "ret";
        lanes = sym LANES,
        selected = sym SELECTED,
        constants = sym CONSTANTS,
        factors = const FACTORS,
        bias_of_64 = const BIAS_OF_64_BYTES,
        bias_of_128 = const BIAS_OF_128,
        from_257_to_512 = sym from_257_to_512,
        above_512 = sym above_512,
    }
}
