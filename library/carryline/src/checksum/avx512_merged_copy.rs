//! Copy and sum in one pass as in [`avx512_copy`](super::avx512_copy), in assembly for up to 2176 bytes, with as few
//! instructions as possible for the two ports that execute those of 64 bytes; see [`avx512_merged`](super::avx512_merged).
//!
//! At the ends of the data are vectors of which only some bytes are to be added. One `vpternlogd` selects them and makes their
//! words signed. Where words are shifted by one byte against the lines, the factors of the dot product are 256 instead of 1, which
//! is as good as to swap the bytes of each word: a shift in the order of bytes multiplies by 256 modulo 65535.
//!
//! Above 256 bytes, the vectors are those of `aligned` in [`avx512_copy`](super::avx512_copy), and what is said there of lines and of
//! the order of bytes holds here too.
//!
//! Alternating builds on Granite Rapids, gross ticks per call at offset 0 and at random offsets, by [`avx512_copy`](super::avx512_copy)
//! and by this: 40 bytes 7.0 and 8.6, 5.2 and 7.2; 100 8.1 and 9.7, 6.4 and 8.0; 160 9.3 and 11.5, 9.2 and 12.2, as nothing tells it
//! from 256 bytes, which take 10.9 and 15.3, 7.7 and 11.7; 300 18.3 and 21.9, 14.2 and 18.1; 1500 37.8 and 48.4, 33.8 and 44.8; lengths
//! from 1 to 256 19.9 and 20.2, 15.9 and 16.3; from 1 to 1500 34.3 and 40.5, 32.3 and 37.9; 40 bytes at the end of a page 6.9, 7.2.
//! Later, without a test in an upper byte register and with lanes that start with their bias, 40 bytes 5.4 and 7.5, 5.2 and 7.2; 64 6.0
//! and 7.9, 5.4 and 7.7; 128 5.9 and 7.9, 5.5 and 7.7; 200 9.3 and 12.3, 9.1 and 12.1.
//!
//! In prototypes there, adding a line one or two lines after it was stored took 1 to 8 % more; a loop in assembly for more than 2176
//! bytes took 2 to 9 % less up to 9000, but with 24 to 34 KiB at offset 0, which just exceed the first level, 6 to 22 % more. Not
//! measured on Sapphire and Emerald Rapids, and Zen 5.
//!
//! What a loop can reach there, with 8 KiB in the first level and aligned stores, in ticks per line with aligned and with unaligned
//! loads: a load and a store take 0.63 and 0.77; with two vector instructions besides, whether or not they depend on the load, 0.93 and
//! 1.25, in any order; without the store, 0.71 with aligned loads. With vectors of 32 bytes all of it takes 1.34. So at most 0.6 to 0.7
//! of the speed of a copy is possible. 16 KiB take 0.96 and 1.27 a line.
//!
//! Zen 4 at random offsets, by [`avx512_copy`](super::avx512_copy), by this and by [`avx2_copy`](super::avx2_copy): 40 bytes 8.3, 8.3
//! and 9.9; 100 11.2, 9.1 and 9.8; 256 16.9, 13.3 and 14.3; 576 29.9, 26.6 and 30.6; 1500 58.6, 54.2 and 53.6; 4096 122, 121 and 107.
//! 16 KiB take 494 by the first and 436 by the last, 32 KiB to 1 MiB as long by both. So there the loop of AVX2 follows.

use super::avx2_copy::copy_and_sum as many_by_avx2;
use super::avx512_copy::{EDGES, many, one_after_the_other};
use super::avx512_merged::{load_constants, sum_of_lanes, sum_of_positive_lanes};
use super::signed_words::{
    BIAS_OF_64, BIAS_OF_64_BYTES, CONSTANTS, FACTORS, LANES_OF_2, LANES_OF_4, return_with, swap_if_shifted,
};
use crate::blocks::assembly_function;

/// The most bytes that are copied without a loop: 32 lines between the ends. The sum is below 2^32: the lines have at most 2^10
/// words, and the ends 96 that may count 256 times.
const MOST_BYTES: usize = (32 + 2) * 64;

/// Copies lines and adds them: of each, the number of the sum, that of a vector for the bytes, and the number of lines from its
/// start to `rsi` and `rdi`. A line is 26 bytes of code.
macro_rules! lines {
    ($($sum:literal $bytes:literal $n:literal),+) => {
        concat!($(
            "vmovdqu64 zmm", $bytes, ", [rsi - 64*", $n, "]\nvmovdqu64 [rdi - 64*", $n, "], zmm", $bytes,
            "\nvpxord zmm", $bytes, ", zmm", $bytes, ", zmm24\nvpdpwssd zmm", $sum, ", zmm", $bytes, ", zmm25\n",
        )+)
    };
}

/// Defines an entry point that jumps to `$many` above [`MOST_BYTES`].
macro_rules! entry {
    ($(#[$attribute:meta])* $entry:ident, $many:ident) => {
        assembly_function! {
            $(#[$attribute])*
            ///
            /// # Safety
            /// The CPU has AVX512F, BW, VL and VNNI and BMI2; otherwise as
            /// [`copy_and_sum_raw`](super::copy_and_sum_raw).
            pub(super) unsafe extern "C" fn $entry(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
                "cmp rdx, 64",
                "jae 2f",
                // Below 64: two masked moves, unless they are slow; see `is_mask_slow_at_either`.
                "lea eax, [rdi + 63]",
                "lea r8d, [rsi + 63]",
                "xor eax, edi",
                "xor r8d, esi",
                "or eax, r8d",
                "mov r8, -1",
                "bzhi r8, r8, rdx",
                "test eax, 4096",
                "jnz 7f",
                "cmp rdi, 64",
                "jb 9f",
                "cmp rsi, 64",
                "jb 9f",
                "kmovq k1, r8",
                "kshiftrq k2, k1, 32",
                "vpbroadcastd ymm24, [rip + {constants}]",
                "vpbroadcastd ymm25, [rip + {constants} + {factors}]",
                "vpbroadcastd ymm20, [rip + {constants} + {lanes_of_2}]",
                "vmovdqu8 ymm16 {{k1}} {{z}}, [rsi]",
                "vmovdqu8 ymm17 {{k2}} {{z}}, [rsi + 32]",
                "vmovdqu8 [rdi] {{k1}}, ymm16",
                "vmovdqu8 [rdi + 32] {{k2}}, ymm17",
                "vpxord ymm16, ymm16, ymm24",
                "vpxord ymm17, ymm17, ymm24",
                "vpdpwssd ymm20, ymm16, ymm25",
                "vpdpwssd ymm20, ymm17, ymm25",
                sum_of_positive_lanes!(ymm20, "edx"),
                return_with!("ecx"),
                "9:",
                "jmp {one_after_the_other}",
                ".p2align 6",
                // Near the end of a page: the 64 bytes end with the data, and the last lanes are active. After an odd number of bytes, the
                // words are shifted.
                "7:",
                "mov r10d, 64",
                "sub r10d, edx",
                "shlx r8, r8, r10",
                "sub rsi, r10",
                "sub rdi, r10",
                "kmovq k1, r8",
                "mov r8d, {bias_of_64_bytes}",
                "vpbroadcastd zmm24, [rip + {constants}]",
                "vpbroadcastd zmm25, [rip + {constants} + {factors}]",
                "vmovdqu8 zmm16 {{k1}} {{z}}, [rsi]",
                "vmovdqu8 [rdi] {{k1}}, zmm16",
                "vpxord zmm20, zmm16, zmm24",
                "vpmaddwd zmm20, zmm20, zmm25",
                sum_of_lanes!("edx"),
                swap_if_shifted!("r10b", "edx"),
                return_with!("ecx"),
                ".p2align 6",
                "2:",
                "cmp rdx, 128",
                "ja 3f",
                // 64 to 128: the first vector, and of the last one the bytes after it.
                load_constants!("edx", "lanes_of_2"),
                "vmovdqu64 zmm16, [rsi]",
                "vmovdqu64 zmm17, [rsi + rdx - 64]",
                "vmovdqu64 zmm18, [r9 + rdx]",
                "vmovdqu64 [rdi], zmm16",
                "vpxord zmm16, zmm16, zmm24",
                // Those of zmm17 that zmm18 selects, xored with zmm24.
                "vpternlogd zmm18, zmm17, zmm24, 0x6a",
                "vmovdqu64 [rdi + rdx - 64], zmm17",
                "vpdpwssd zmm20, zmm16, zmm25",
                "vpdpwssd zmm20, zmm18, zmm26",
                sum_of_positive_lanes!(zmm20, "edx"),
                return_with!("ecx"),
                ".p2align 6",
                "3:",
                "cmp rdx, 256",
                "ja 4f",
                // 129 to 256: two vectors, and of the last two the bytes after them.
                load_constants!("edx", "lanes_of_4"),
                "vmovdqu64 zmm16, [rsi]",
                "vmovdqu64 zmm17, [rsi + 64]",
                "vmovdqu64 zmm18, [rsi + rdx - 128]",
                "vmovdqu64 zmm19, [rsi + rdx - 64]",
                "vmovdqu64 zmm22, [r9 + rdx - 128]",
                "vmovdqu64 zmm23, [r9 + rdx - 64]",
                "vmovdqu64 [rdi], zmm16",
                "vmovdqu64 [rdi + 64], zmm17",
                "vpxord zmm16, zmm16, zmm24",
                "vpxord zmm17, zmm17, zmm24",
                "vpternlogd zmm22, zmm18, zmm24, 0x6a",
                "vpternlogd zmm23, zmm19, zmm24, 0x6a",
                "vmovdqu64 [rdi + rdx - 128], zmm18",
                "vmovdqu64 [rdi + rdx - 64], zmm19",
                "vpdpwssd zmm20, zmm16, zmm25",
                "vpdpwssd zmm20, zmm17, zmm25",
                "vpdpwssd zmm20, zmm22, zmm26",
                "vpdpwssd zmm20, zmm23, zmm26",
                sum_of_positive_lanes!(zmm20, "edx"),
                return_with!("ecx"),
                ".p2align 6",
                "8:",
                "jmp {many}",
                ".p2align 6",
                // Lines (r8), of which the last ends at rsi and rdi; head and tail. r10 is the offset of dst, whose lowest bit says
                // whether the words of the lines are shifted; r9 the bytes after the lines, whose lowest bit says so of the tail
                // against the lines.
                "4:",
                "cmp rdx, {most}",
                "ja 8b",
                "lea r9, [rip + {edges}]",
                "lea r11, [rip + {constants}]",
                "vpbroadcastd zmm24, [r11]",
                "vpbroadcastd zmm25, [r11 + {factors}]",
                "mov r10d, edi",
                "and r10d, 63",
                "lea r8d, [rdx - 1]",
                "vmovdqu64 zmm20, [r9 + r10 + 192]",
                "mov eax, r8d",
                "and eax, 63",
                "add rax, r10",
                "vmovdqu64 zmm21, [r9 + rax + 1]",
                "vmovdqu64 zmm22, [r9 + rax + 65]",
                "lea r9d, [rax + 1]",
                "vmovdqu64 zmm16, [rsi]",
                "vmovdqu64 zmm17, [rsi + rdx - 128]",
                "vmovdqu64 zmm18, [rsi + rdx - 64]",
                "mov eax, r10d",
                "and eax, 1",
                "and r9d, 1",
                "vpbroadcastd zmm26, [r11 + 4*rax + {factors}]",
                "vpbroadcastd zmm27, [r11 + 4*r9 + {factors}]",
                "mov eax, [r11 + 4*rax + {bias_of_64}]",
                "mov r9d, [r11 + 4*r9 + {bias_of_64}]",
                // After the loads from the table; see `aligned`.
                "vmovdqu64 [rdi], zmm16",
                "vpternlogd zmm20, zmm16, zmm24, 0x6a",
                "vpternlogd zmm21, zmm17, zmm24, 0x6a",
                "vpternlogd zmm22, zmm18, zmm24, 0x6a",
                "vpmaddwd zmm20, zmm20, zmm26",
                "vpmaddwd zmm21, zmm21, zmm27",
                "vpmaddwd zmm22, zmm22, zmm27",
                // The bias of the ends. The end of dst. From the start to the end of the lines, of which there are (len - 1) / 64 - 1.
                "lea eax, [rax + 2*r9]",
                "add rdx, rdi",
                "mov r11d, r8d",
                "and r11d, -64",
                "sub r11, r10",
                "shr r8d, 6",
                "dec r8d",
                "add rsi, r11",
                "add rdi, r11",
                "imul r9d, r8d, 26",
                "shl r8d, 20",
                "add r8d, eax",
                "lea r11, [rip + 6f]",
                "sub r11, r9",
                "jmp r11",
                ".p2align 6",
                lines!(
                    20 28 32, 21 29 31, 22 30 30, 20 31 29, 21 28 28, 22 29 27, 20 30 26, 21 31 25,
                    22 28 24, 20 29 23, 21 30 22, 22 31 21, 20 28 20, 21 29 19, 22 30 18, 20 31 17,
                    21 28 16, 22 29 15, 20 30 14, 21 31 13, 22 28 12, 20 29 11, 21 30 10, 22 31 9,
                    20 28 8, 21 29 7, 22 30 6, 20 31 5, 21 28 4, 22 29 3, 20 30 2, 21 31 1
                ),
                "6:",
                "vmovdqu64 [rdx - 128], zmm17",
                "vmovdqu64 [rdx - 64], zmm18",
                "vpaddd zmm20, zmm20, zmm21",
                "vpaddd zmm20, zmm20, zmm22",
                sum_of_lanes!("edx"),
                swap_if_shifted!("r10b", "edx"),
                return_with!("ecx");
                constants = sym CONSTANTS,
                edges = sym EDGES,
                one_after_the_other = sym one_after_the_other,
                many = sym $many,
                most = const MOST_BYTES,
                factors = const FACTORS,
                lanes_of_2 = const LANES_OF_2,
                lanes_of_4 = const LANES_OF_4,
                bias_of_64 = const BIAS_OF_64,
                bias_of_64_bytes = const BIAS_OF_64_BYTES,
            }
        }
    };
}

entry! {
    /// Selects the code by length.
    copy_and_sum, many
}

entry! {
    /// Selects the code by length; above [`MOST_BYTES`], by the loop of AVX2.
    copy_and_sum_prefer_256, many_by_avx2
}
