//! The dot products of [`avx512`](super::avx512) for CPUs that execute instructions of 64 bytes on two ports, in assembly for
//! all but the longest data.
//!
//! On Intel's CPUs from Sapphire Rapids on, these two ports limit a sum: masks, additions across lanes and moves to general
//! registers need them too. So
//! - a masked load and the xor with 0x8000 are one addition: `vpaddb` with merge-masking adds 0x80 to the upper byte of each
//!   word in the active lanes, and leaves 0x8000, the biased zero, in the others;
//! - where the number of vectors is fixed, sums start with their bias. Then each sum of 32 bits is positive, so that they may
//!   be added in lanes of 64 bits, of which one move takes two to a general register;
//! - up to 64 bytes are two vectors of 32, whose instructions have three ports;
//! - all is in `ymm16` and above, after which no `vzeroupper` is needed.
//!
//! Near the end of a page, where a masked load is slow, up to 256 bytes are added without one, and without a branch on the length: a
//! path that one call in 64 takes is not predicted.
//!
//! From 257 bytes on, aligned lines are added as in [`avx512`](super::avx512), by a jump into unrolled code. If there are more than
//! 24, a loop adds the first ones.
//!
//! Alternating builds on Granite Rapids, gross ticks per call at offset 0 and at random offsets, before (masks and sums from
//! LLVM; up to 64 bytes, words of 32 bits added in lanes of 64) and after: 40 bytes 4.6 and 5.7, 4.2 and 5.6; 128 6.3 and 7.1, 5.3
//! and 6.6; 256 8.7 and 10.9, 6.9 and 9.3; 320 11.3 and 14.4, 9.5 and 11.9; 576 14.1 and 17.2, 12.2 and 14.7; 1500 25.0 and 28.8,
//! 23.8 and 26.8; 1537 29.8 and 33.5, 24.8 and 26.8; 4096 61.9 and 64.5, 60.4 and 60.7; lengths from 1 to 256 15.7 and 16.0, 14.8
//! and 15.3; from 1 to 1500 30.7 and 31.9, 28.6 and 29.8.
//!
//! Again, with LLVM's code near the end of a page and a test of bit 12 in an upper byte register, and without: 16 bytes 4.7 and
//! 6.1, 4.5 and 5.7; 100 5.7 and 6.9, 5.6 and 6.6; 200 7.5 and 9.9, 7.5 and 9.8; lengths from 1 to 256 15.7 and 16.0, 15.6 and 15.7;
//! at the end of a page 16 bytes 7.8, 6.0; 100 12.5, 6.5; 200 12.5, 8.9. With the paths for the end of a page everywhere, 65 to 255
//! bytes took 0.4 to 0.9 more at offset 0, as the vectors that select the last bytes cross cache lines, but 128 bytes 0.2 less.
//!
//! In prototypes there, without the path for data that begins at a line, random offsets took 1 to 3 % less from 257 bytes on,
//! but offset 0 up to 12 % more; with unaligned vectors, 1000 bytes 25.0 instead of 21.1 at random offsets; with 256 tested before
//! 128, 257 bytes 0.5 less, but 128 bytes 0.3 more, and lengths from 1 to 512 28.0 instead of 26.2; with one vector of 64 bytes
//! for up to 64, 40 bytes 0.5 more at offset 0, and 0.1 at random offsets. Not measured on Sapphire and Emerald Rapids.
//!
//! Zen 4 splits instructions of 64 bytes, and this is the fastest of the kernels there too: at random offsets, by
//! [`avx512_branched`](super::avx512_branched) and by this, 40 bytes 7.1 and 7.3, 80 8.8 and 8.1, 256 11.2 and 9.8, 576 17.7 and 15.3, 1500
//! 29.5 and 27.2, 4096 67.5 and 63.8, 9000 125.7 and 127.7; lengths from 1 to 256 17.2 and 16.4, from 1 to 1500 31.9 and 31.6.

use super::avx512::{self, BLOCK_BYTES, blocks};
use super::avx512_copy::EDGES;
use super::signed_words::{
    CONSTANTS, FACTORS, LANES_OF_1, LANES_OF_2, LANES_OF_4, return_with, swap_if_shifted,
};
use crate::blocks::assembly_function;

/// Adds lines: of each, the number of the sum, that of a vector for the words, and the address. A line is 13 bytes of code, unless
/// its address is a register alone.
macro_rules! lines {
    ($($sum:literal $words:literal $at:literal),+) => {
        concat!($(
            "vpxord zmm", $words, ", zmm24, [", $at, "]\nvpdpwssd zmm", $sum, ", zmm", $words, ", zmm25\n",
        )+)
    };
}

/// Adds the `eax` lines before `rcx`, at most 24, by a jump into unrolled code, which goes on at label 6.
macro_rules! jump_into_lines {
    () => {
        "
        lea r9, [rip + 6f]
        lea esi, [rax + 2*rax]
        lea esi, [rax + 4*rsi]
        sub r9, rsi
        jmp r9
        "
    };
}

/// The sum of the lanes of `zmm20` or `ymm20`, words of 32 bits that are not negative, in `eax`. Uses `zmm16` and the register
/// `$other`.
macro_rules! sum_of_positive_lanes {
    (zmm20, $other:literal) => {
        concat!(
            "vextracti64x4 ymm16, zmm20, 1\nvpaddq ymm20, ymm20, ymm16\n",
            sum_of_positive_lanes!(ymm20, $other)
        )
    };
    (ymm20, $other:literal) => {
        concat!(
            "
            vextracti32x4 xmm16, ymm20, 1
            vpaddq xmm20, xmm20, xmm16
            vpshufd xmm16, xmm20, 0xee
            vpaddq xmm20, xmm20, xmm16
            vmovq rax, xmm20
            ",
            "mov ",
            $other,
            ", eax\nshr rax, 32\nadd eax, ",
            $other,
            "\n",
        )
    };
}
pub(super) use sum_of_positive_lanes;

/// Loads the constants for vectors in place and as many that end with the data: the flip in `zmm24`, factors in `zmm25` and in
/// `zmm26`, what the lanes start with in `zmm20`, and the address of [`EDGES`] in `r9`. Uses `r10` and `r11`.
macro_rules! load_constants {
    ($len:literal, $lanes:literal) => {
        concat!(
            "lea r9, [rip + {edges}]\nlea r11, [rip + {constants}]\nmov r10d, ",
            $len,
            "
            and r10d, 1
            vpbroadcastd zmm24, [r11]
            vpbroadcastd zmm25, [r11 + {factors}]
            vpbroadcastd zmm26, [r11 + 4*r10 + {factors}]
            ",
            "vpbroadcastd zmm20, [r11 + 4*r10 + {",
            $lanes,
            "}]\n",
        )
    };
}
pub(super) use load_constants;

/// The sum of the lanes of `zmm20`, words of 32 bits, and of `r8d`, which must be below 2^32, in `eax`: what wraps on the way wraps
/// back. Uses `zmm16` and the register `$other`.
macro_rules! sum_of_lanes {
    ($other:literal) => {
        concat!(
            "
            vextracti64x4 ymm16, zmm20, 1
            vpaddd ymm20, ymm20, ymm16
            vextracti32x4 xmm16, ymm20, 1
            vpaddd xmm20, xmm20, xmm16
            vpshufd xmm16, xmm20, 0xee
            vpaddd xmm20, xmm20, xmm16
            vmovq rax, xmm20
            ",
            "mov ",
            $other,
            ", eax\nshr rax, 32\nadd ",
            $other,
            ", r8d\nadd eax, ",
            $other,
            "\n",
        )
    };
}
pub(super) use sum_of_lanes;

/// Defines a kernel, from its code for up to 64 bytes. That goes on at label 2 if there are more, and at label 9 if the data begins in the
/// last 64 bytes of a page.
macro_rules! kernel {
    ($($up_to_64:expr),+; $($operand:ident = sym $function:path),*) => {
        assembly_function! {
            /// Selects the code by length.
            ///
            /// # Safety
            /// The CPU has AVX512F, BW, VL and VNNI and BMI2; otherwise as
            /// [`partial_raw`]($crate::checksum::partial_raw).
            pub(super) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
                $($up_to_64,)+
                ".p2align 6",
                // Near the end of a page: 64 bytes that end with the data, of which the last are added. After an odd number of bytes, their
                // words are shifted.
                "9:",
                "mov eax, 64",
                "mov rcx, -1",
                "sub eax, esi",
                "bzhi rcx, rcx, rsi",
                "shlx rcx, rcx, rax",
                "kmovq k1, rcx",
                "sub rdi, rax",
                "vpbroadcastd zmm16, [rip + {constants}]",
                "vpbroadcastd zmm17, [rip + {constants} + {factors}]",
                "vpbroadcastd zmm20, [rip + {constants} + {lanes_of_1}]",
                "vpaddb zmm16 {{k1}}, zmm16, [rdi]",
                "vpdpwssd zmm20, zmm16, zmm17",
                sum_of_positive_lanes!(zmm20, "ecx"),
                swap_if_shifted!("sil", "ecx"),
                return_with!("edx"),
                ".p2align 6",
                "2:",
                "cmp rsi, 128",
                "ja 3f",
                // 65 to 128: a vector, and a masked one.
                "lea eax, [rdi + 64]",
                "and eax, 4095",
                "cmp eax, 4096 - 64",
                "ja 8f",
                "lea eax, [rsi - 64]",
                "mov rcx, -1",
                "bzhi rcx, rcx, rax",
                "kmovq k1, rcx",
                "vpbroadcastd zmm24, [rip + {constants}]",
                "vpbroadcastd zmm25, [rip + {constants} + {factors}]",
                "vpbroadcastd zmm20, [rip + {constants} + {lanes_of_2}]",
                "vmovdqa64 zmm17, zmm24",
                "vpxord zmm16, zmm24, [rdi]",
                "vpaddb zmm17 {{k1}}, zmm24, [rdi + 64]",
                "vpdpwssd zmm20, zmm16, zmm25",
                "vpdpwssd zmm20, zmm17, zmm25",
                sum_of_positive_lanes!(zmm20, "ecx"),
                return_with!("edx"),
                ".p2align 6",
                // Near the end of a page: a vector, and of the one that ends with the data the bytes after it.
                "8:",
                load_constants!("esi", "lanes_of_2"),
                "vmovdqu64 zmm18, [r9 + rsi]",
                "vmovdqu64 zmm17, [rdi + rsi - 64]",
                "vpxord zmm16, zmm24, [rdi]",
                // Those of zmm17 that zmm18 selects, xored with zmm24.
                "vpternlogd zmm18, zmm17, zmm24, 0x6a",
                "vpdpwssd zmm20, zmm16, zmm25",
                "vpdpwssd zmm20, zmm18, zmm26",
                sum_of_positive_lanes!(zmm20, "ecx"),
                return_with!("edx"),
                ".p2align 6",
                "3:",
                "cmp rsi, 256",
                "ja 4f",
                // 129 to 256: two vectors, and two masked ones, the second possibly without an active lane.
                "lea eax, [rdi + 128]",
                "and eax, 4095",
                "cmp eax, 4096 - 128",
                "ja 8f",
                // `bzhi` uses eight bits of the length.
                "lea eax, [rsi - 128]",
                "mov rcx, -1",
                "bzhi rax, rcx, rax",
                "kmovq k1, rax",
                "xor eax, eax",
                "sub esi, 192",
                "cmovae eax, esi",
                "bzhi rcx, rcx, rax",
                "kmovq k2, rcx",
                "vpbroadcastd zmm24, [rip + {constants}]",
                "vpbroadcastd zmm25, [rip + {constants} + {factors}]",
                "vpbroadcastd zmm20, [rip + {constants} + {lanes_of_4}]",
                "vmovdqa64 zmm18, zmm24",
                "vmovdqa64 zmm19, zmm24",
                "vpxord zmm16, zmm24, [rdi]",
                "vpxord zmm17, zmm24, [rdi + 64]",
                "vpaddb zmm18 {{k1}}, zmm24, [rdi + 128]",
                "vpaddb zmm19 {{k2}}, zmm24, [rdi + 192]",
                "vpdpwssd zmm20, zmm16, zmm25",
                "vpdpwssd zmm20, zmm17, zmm25",
                "vpdpwssd zmm20, zmm18, zmm25",
                "vpdpwssd zmm20, zmm19, zmm25",
                sum_of_positive_lanes!(zmm20, "ecx"),
                return_with!("edx"),
                ".p2align 6",
                // Near the end of a page: two vectors, and of the two that end with the data the bytes after them.
                "8:",
                load_constants!("esi", "lanes_of_4"),
                "vmovdqu64 zmm22, [r9 + rsi - 128]",
                "vmovdqu64 zmm23, [r9 + rsi - 64]",
                "vmovdqu64 zmm18, [rdi + rsi - 128]",
                "vmovdqu64 zmm19, [rdi + rsi - 64]",
                "vpxord zmm16, zmm24, [rdi]",
                "vpxord zmm17, zmm24, [rdi + 64]",
                "vpternlogd zmm22, zmm18, zmm24, 0x6a",
                "vpternlogd zmm23, zmm19, zmm24, 0x6a",
                "vpdpwssd zmm20, zmm16, zmm25",
                "vpdpwssd zmm20, zmm17, zmm25",
                "vpdpwssd zmm20, zmm22, zmm26",
                "vpdpwssd zmm20, zmm23, zmm26",
                sum_of_positive_lanes!(zmm20, "ecx"),
                return_with!("edx"),
                ".p2align 6",
                "9:",
                "jmp {blocks}",
                ".p2align 6",
                "4:",
                "cmp rsi, {most}",
                "ja 9b",
                "vpbroadcastd zmm24, [rip + {constants}]",
                "vpbroadcastd zmm25, [rip + {constants} + {factors}]",
                // The offset, whose lowest bit says at the end whether the sum has its bytes swapped; see `walk` of `avx512`.
                "mov r10d, edi",
                "and r10d, 63",
                "jz 5f",
                // The lanes from the data on in its first line (rdi); those up to its end in the last line but one that it can touch
                // (rcx), of r8, 1 to 128; and what is left of these in the line where it ends (r11, relative to the first).
                "mov r9, -1",
                "lea r11, [rsi + r10 - 1]",
                "lea ecx, [rsi + 126]",
                "mov r8d, ecx",
                "shr r8d, 6",
                "and ecx, -64",
                "and rdi, -64",
                "lea esi, [r11 + 129]",
                "and r11d, -64",
                "sub esi, ecx",
                "shlx rax, r9, r10",
                "kmovq k1, rax",
                "bzhi rax, r9, rsi",
                "kmovq k2, rax",
                "xor eax, eax",
                "sub esi, 64",
                "cmovae eax, esi",
                "bzhi rax, r9, rax",
                "kmovq k3, rax",
                "lea rcx, [rdi + rcx - 128]",
                "vmovdqa64 zmm20, zmm24",
                "vmovdqa64 zmm21, zmm24",
                "vmovdqa64 zmm22, zmm24",
                "vpaddb zmm20 {{k1}}, zmm24, [rdi]",
                "vpaddb zmm21 {{k2}}, zmm24, [rcx]",
                "vpaddb zmm22 {{k3}}, zmm24, [rdi + r11]",
                "vpmaddwd zmm20, zmm20, zmm25",
                "vpmaddwd zmm21, zmm21, zmm25",
                "vpmaddwd zmm22, zmm22, zmm25",
                // All lines but three are whole ones.
                "lea eax, [r8 - 3]",
                "add rdi, 64",
                "cmp eax, 24",
                "ja 7f",
                jump_into_lines!(),
                ".p2align 6",
                // Data that begins at a line: whole lines, and 1 to 64 bytes of the last one.
                "5:",
                "lea ecx, [rsi - 1]",
                "mov eax, ecx",
                "and ecx, -64",
                "add rcx, rdi",
                "mov r8, -1",
                "neg esi",
                "shrx r8, r8, rsi",
                "kmovq k1, r8",
                "vmovdqa64 zmm20, zmm24",
                "vpxord zmm21, zmm21, zmm21",
                "vpxord zmm22, zmm22, zmm22",
                "vpaddb zmm20 {{k1}}, zmm24, [rcx]",
                "vpmaddwd zmm20, zmm20, zmm25",
                "shr eax, 6",
                "lea r8d, [rax + 1]",
                "cmp eax, 24",
                "ja 7f",
                jump_into_lines!(),
                ".p2align 6",
                // Eight lines at a time, with a sum for each, until the jump can add the rest.
                "7:",
                "vpxord zmm26, zmm26, zmm26",
                "vpxord zmm27, zmm27, zmm27",
                "vpxord zmm28, zmm28, zmm28",
                "vpxord zmm29, zmm29, zmm29",
                "vpxord zmm30, zmm30, zmm30",
                ".p2align 6",
                "2:",
                lines!(
                    20 16 "rdi", 21 17 "rdi + 64", 22 18 "rdi + 128", 26 19 "rdi + 192",
                    27 16 "rdi + 256", 28 17 "rdi + 320", 29 18 "rdi + 384", 30 19 "rdi + 448"
                ),
                "add rdi, 512",
                "sub eax, 8",
                "cmp eax, 24",
                "ja 2b",
                "vpaddd zmm20, zmm20, zmm26",
                "vpaddd zmm21, zmm21, zmm27",
                "vpaddd zmm22, zmm22, zmm28",
                "vpaddd zmm20, zmm20, zmm29",
                "vpaddd zmm21, zmm21, zmm30",
                jump_into_lines!(),
                ".p2align 6",
                lines!(
                    20 16 "rcx - 64*24", 21 17 "rcx - 64*23", 22 18 "rcx - 64*22", 20 19 "rcx - 64*21", 21 16 "rcx - 64*20", 22 17 "rcx - 64*19",
                    20 18 "rcx - 64*18", 21 19 "rcx - 64*17", 22 16 "rcx - 64*16", 20 17 "rcx - 64*15", 21 18 "rcx - 64*14", 22 19 "rcx - 64*13",
                    20 16 "rcx - 64*12", 21 17 "rcx - 64*11", 22 18 "rcx - 64*10", 20 19 "rcx - 64*9", 21 16 "rcx - 64*8", 22 17 "rcx - 64*7",
                    20 18 "rcx - 64*6", 21 19 "rcx - 64*5", 22 16 "rcx - 64*4", 20 17 "rcx - 64*3", 21 18 "rcx - 64*2", 22 19 "rcx - 64*1"
                ),
                "6:",
                "vpaddd zmm20, zmm20, zmm21",
                "vpaddd zmm20, zmm20, zmm22",
                // The bias of r8 vectors of 16 lanes.
                "shl r8d, 20",
                sum_of_lanes!("ecx"),
                swap_if_shifted!("r10b", "ecx"),
                return_with!("edx");
                constants = sym CONSTANTS,
                factors = const FACTORS,
                lanes_of_1 = const LANES_OF_1,
                lanes_of_2 = const LANES_OF_2,
                lanes_of_4 = const LANES_OF_4,
                edges = sym EDGES,
                blocks = sym blocks,
                most = const BLOCK_BYTES,
                $($operand = sym $function,)*
            }
        }
    };
}
pub(super) use {jump_into_lines, kernel, lines};

kernel!(
    "cmp rsi, 64",
    "ja 2f",
    // Up to 64: two masked loads, unless they are slow; see `is_mask_slow`.
    "mov eax, edi",
    "and eax, 4095",
    "cmp eax, 4096 - 64",
    "ja 9f",
    "cmp rdi, 64",
    "jb 8f",
    "mov rcx, -1",
    "bzhi rcx, rcx, rsi",
    "kmovq k1, rcx",
    "kshiftrq k2, k1, 32",
    "vpbroadcastd ymm16, [rip + {constants}]",
    "vpbroadcastd ymm20, [rip + {constants} + {lanes_of_2}]",
    "vpbroadcastd ymm17, [rip + {constants} + {factors}]",
    "vmovdqa64 ymm18, ymm16",
    "vpaddb ymm16 {{k1}}, ymm16, [rdi]",
    "vpaddb ymm18 {{k2}}, ymm18, [rdi + 32]",
    "vpdpwssd ymm20, ymm16, ymm17",
    "vpdpwssd ymm20, ymm18, ymm17",
    sum_of_positive_lanes!(ymm20, "ecx"),
    return_with!("edx"),
    "8:",
    "jmp {up_to_64}";
    up_to_64 = sym avx512::partial
);
