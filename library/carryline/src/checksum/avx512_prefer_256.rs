//! [`avx512_merged`](super::avx512_merged) with less code for up to 64 bytes: two cache lines of it instead of three.
//!
//! Zen 4 takes a core cycle for each line of code that a call runs through, whatever is in it: the same instructions with nine bytes
//! of padding, which reach into a third line, take as long as those of `avx512_merged`. A jump to another page of code takes a cycle
//! too, so this is a copy of that kernel, and not an entrance to it from elsewhere.
//!
//! One vector of 64 bytes is shorter here than two of 32. Constants are loaded from a register, not relative to the instruction, and
//! additions across 16 bytes are in `xmm0` and `xmm1`, which takes a byte or two less. No `vzeroupper` is needed: an instruction that
//! writes 16 bytes zeroes the rest.
//!
//! Both in one process on Zen 4, through the C interface, gross ticks per call by `avx512_merged` and by this: 1, 24 and 64 bytes at
//! offset 0 8.4, 8.6 and 8.7, 7.6, 7.9 and 7.9; at random offsets 8.5, 8.6 and 8.9, 7.8, 7.9 and 8.2; at the end of a page 8.6, 9.0 and
//! 8.4, 8.5, 8.7 and 7.7; from 65 bytes on no difference.

use super::avx512::{BLOCK_BYTES, blocks};
use super::avx512_copy::EDGES;
use super::avx512_merged::{
    jump_into_lines, kernel, lines, load_constants, sum_of_lanes, sum_of_positive_lanes,
};
use super::signed_words::{
    CONSTANTS, FACTORS, LANES_OF_1, LANES_OF_2, LANES_OF_4, return_with, swap_if_shifted,
};
use crate::blocks::assembly_function;

kernel!(
    "cmp rsi, 65",
    "jae 2f",
    // The carry of the comparison, in every bit.
    "sbb rcx, rcx",
    // The 64 bytes reach into the next page if the last of them has another page number.
    "lea eax, [rdi + 63]",
    "xor eax, edi",
    "shr eax, 12",
    "jnz 9f",
    // No data may have any address, and even a masked load is slow where there is no memory.
    "bzhi rcx, rcx, rsi",
    "jz 8f",
    "kmovq k1, rcx",
    "lea r9, [rip + {constants}]",
    "vpbroadcastd zmm16, [r9]",
    "vpbroadcastd zmm20, [r9 + {lanes_of_1}]",
    "vpaddb zmm16 {{k1}}, zmm16, [rdi]",
    "vpdpwssd zmm20, zmm16, dword ptr [r9 + {factors}]{{1to16}}",
    "vextracti64x4 ymm16, zmm20, 1",
    "vpaddq ymm20, ymm20, ymm16",
    "vextracti32x4 xmm0, ymm20, 1",
    "vpaddq xmm0, xmm0, xmm20",
    "vpshufd xmm1, xmm0, 0xee",
    "vpaddq xmm0, xmm0, xmm1",
    "vmovq rax, xmm0",
    "mov esi, eax",
    "shr rax, 32",
    "add eax, esi",
    return_with!("edx"),
    "8:",
    "mov eax, edx",
    "ret";
);
