//! [`avx2`](super::avx2) with assembly for up to 256 bytes: its own code, but every branch leads to the start of a cache
//! line of code, and sizes above 256 are told apart first. LLVM aligns no branch targets.
//!
//! By the exported function of the C library on a quiet Zen 3, 80, 160 and 256 bytes at offset 0 take 11.4, 13.0 and
//! 13.7 ticks; with LLVM's order of the same instructions 12.2, 14.2 and 14.8 in the same run.
//!
//! Prototypes on Granite Rapids with AVX-512 masked, gross ticks: with words multiplied by one (`vpmaddwd`) instead of halves,
//! 65 to 128 bytes take 0.2 to 0.4 less at offset 0 and as long at random offsets, but 4 to 64 bytes up to 0.5 more there. With
//! AVX-VNNI (`vpdpwssd`), 4 to 64 bytes take 0.5 to 0.9 less at offset 0 and 0.2 to 0.4 less at random offsets, 65 to 128 bytes 0.8
//! to 1.0 and 0.5 to 0.7 less, lengths from 1 to 256 3 to 5 % less; from 300 bytes on it is no faster than means of words.

use super::adc;
use super::avx2::{LANES, above_512, from_257_to_512};
use super::avx2_vectors::SELECTED;
use core::arch::naked_asm;

/// Rounds up a quotient by 2^16 of each lane.
static HALF: [u64; 4] = [1 << 15; 4];

/// The sum of the halves of each lane of a vector, below 2^33, in that vector. Needs zeros in `ymm0`; uses another one.
macro_rules! halves {
    ($vector:literal, $other:literal) => {
        concat!(
            "vpblendd ",
            $other,
            ", ",
            $vector,
            ", ymm0, 0xaa\n",
            "vpsrlq ",
            $vector,
            ", ",
            $vector,
            ", 32\n",
            "vpaddq ",
            $vector,
            ", ",
            $vector,
            ", ",
            $other,
            "\n",
        )
    };
}

/// Returns the sum of the lanes of `ymm1` and of `rdx`, folded to 32 bits; see [`fold_64`](super::fold_64). Uses `ymm2`.
macro_rules! finish {
    () => {
        "
        vextracti128 xmm2, ymm1, 1
        vpaddq xmm1, xmm1, xmm2
        vpshufd xmm2, xmm1, 0xee
        vpaddq xmm1, xmm1, xmm2
        vmovq rax, xmm1
        add rax, rdx
        mov rcx, rax
        rol rax, 32
        add rax, rcx
        shr rax, 32
        vzeroupper
        ret
        "
    };
}

/// Adds the last byte of an odd length to the seed in `rdx`. Uses `rax` and `rcx`.
macro_rules! add_odd_byte {
    () => {
        "
        mov edx, edx
        movzx eax, byte ptr [rdi + rsi - 1]
        xor ecx, ecx
        test sil, 1
        cmovnz ecx, eax
        add rdx, rcx
        "
    };
}

/// Selects the code by length.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`partial_raw`](super::partial_raw).
#[unsafe(naked)]
pub(super) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
    naked_asm!(
        // Otherwise a shared library that contains this one would export it.
        ".hidden {this}",
        ".p2align 6",
        "lea rax, [rsi - 4]",
        "cmp rax, 60",
        "ja 2f",
        // 4 to 64: masked loads, which are slow if they reach into the next page; see `up_to_64`.
        "lea eax, [rdi + 63]",
        "xor eax, edi",
        "test ah, 16",
        "jnz {at_page_end}",
        "mov eax, esi",
        "and eax, 124",
        "lea rcx, [rip + {lanes} + 64]",
        "sub rcx, rax",
        "vmovdqu ymm1, [rcx]",
        "vmovdqu ymm2, [rcx + 32]",
        "vpmaskmovd ymm1, ymm1, [rdi]",
        "vpmaskmovd ymm2, ymm2, [rdi + 32]",
        "vpxor xmm0, xmm0, xmm0",
        // The last 0 to 3 bytes, from a load that ends with the data.
        "mov edx, edx",
        "mov eax, [rdi + rsi - 4]",
        "lea ecx, [rsi * 8]",
        "and cl, 24",
        "shl rax, cl",
        "shr rax, 32",
        "add rdx, rax",
        halves!("ymm1", "ymm3"),
        halves!("ymm2", "ymm4"),
        "vpaddq ymm1, ymm1, ymm2",
        finish!(),
        ".p2align 6",
        "2:",
        "cmp rsi, 512",
        "ja {above_512}",
        "cmp esi, 256",
        "ja {from_257_to_512}",
        "cmp esi, 128",
        "ja 3f",
        "cmp esi, 64",
        "jbe 4f",
        // 65 to 128: two vectors, and two that end with the data, of which the new bytes are selected.
        "mov r8d, esi",
        "and r8d, 254",
        "lea r9, [rip + {selected}]",
        "vmovdqu ymm1, [rdi]",
        "vmovdqu ymm2, [rdi + 32]",
        "vmovdqu ymm3, [r8 + r9 + 128]",
        "vmovdqu ymm4, [r8 + r9 + 160]",
        "vpand ymm3, ymm3, [rdi + r8 - 64]",
        "vpand ymm4, ymm4, [rdi + r8 - 32]",
        "vpxor xmm0, xmm0, xmm0",
        add_odd_byte!(),
        halves!("ymm1", "ymm5"),
        halves!("ymm2", "ymm6"),
        halves!("ymm3", "ymm7"),
        halves!("ymm4", "ymm5"),
        "vpaddq ymm1, ymm1, ymm2",
        "vpaddq ymm3, ymm3, ymm4",
        "vpaddq ymm1, ymm1, ymm3",
        finish!(),
        ".p2align 6",
        // 129 to 256: four vectors, and four that end with the data. Sums in ymm1, means of words in ymm4.
        "3:",
        "mov r8d, esi",
        "and r8d, 510",
        "lea r9, [rip + {selected}]",
        "vmovdqu ymm4, [rdi]",
        "vmovdqu ymm2, [rdi + 32]",
        "vpaddq ymm1, ymm4, ymm2",
        "vpavgw ymm4, ymm4, ymm2",
        "vmovdqu ymm3, [rdi + 64]",
        "vmovdqu ymm2, [rdi + 96]",
        "vpaddq ymm5, ymm3, ymm2",
        "vpavgw ymm3, ymm3, ymm2",
        "vpavgw ymm4, ymm4, ymm3",
        "vpaddq ymm1, ymm1, ymm5",
        "vmovdqu ymm2, [r8 + r9]",
        "vmovdqu ymm3, [r8 + r9 + 32]",
        "vpand ymm2, ymm2, [rdi + r8 - 128]",
        "vpand ymm3, ymm3, [rdi + r8 - 96]",
        "vpaddq ymm5, ymm2, ymm3",
        "vpavgw ymm2, ymm2, ymm3",
        "vmovdqu ymm6, [r8 + r9 + 64]",
        "vmovdqu ymm7, [r8 + r9 + 96]",
        "vpand ymm6, ymm6, [rdi + r8 - 64]",
        "vpand ymm7, ymm7, [rdi + r8 - 32]",
        "vpaddq ymm1, ymm1, ymm5",
        "vpaddq ymm3, ymm6, ymm7",
        "vpavgw ymm6, ymm6, ymm7",
        "vpavgw ymm2, ymm2, ymm6",
        "vpavgw ymm4, ymm4, ymm2",
        "vpaddq ymm1, ymm1, ymm3",
        add_odd_byte!(),
        // The carries; see `Sums::lanes`.
        "vpsrlq ymm4, ymm4, 48",
        "vpsllq ymm4, ymm4, 3",
        "vpsrlq ymm2, ymm1, 48",
        "vpsubq ymm4, ymm4, ymm2",
        "vpaddq ymm4, ymm4, [rip + {half}]",
        "vpsrlq ymm4, ymm4, 16",
        "vpxor xmm0, xmm0, xmm0",
        halves!("ymm1", "ymm2"),
        "vpaddq ymm1, ymm1, ymm4",
        finish!(),
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
        "ret",
        this = sym partial,
        at_page_end = sym adc::partial,
        lanes = sym LANES,
        selected = sym SELECTED,
        half = sym HALF,
        from_257_to_512 = sym from_257_to_512,
        above_512 = sym above_512,
    )
}
