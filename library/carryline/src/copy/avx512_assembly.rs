//! [`avx512_branched`](super::avx512_branched) with assembly for up to 512 bytes, in which every branch leads to the start
//! of a cache line of code; see [`avx2_assembly`](super::avx2_assembly). It uses registers after which no `vzeroupper` is
//! needed.
//!
//! On Emerald Rapids LLVM's code, whose paths begin where the one before ends, took 9.8 ticks for 385 bytes at offset 0
//! and 10.5 after another path had become longer; 256 bytes at random offsets 7.5 and 7.8. Six blocks instead of eight
//! for 257 to 384 bytes take 10.7 instead of 13.9 ticks at random offsets, for one more branch, which is mispredicted in up
//! to 0.6 % of the calls of the fleet's sets, if a branch is predicted by how often it is taken.
//!
//! Of 385 to 512 bytes, most of the blocks would cross into a second line. With lines of the destination between those at
//! both ends, alternating builds on Granite Rapids take 9.7 instead of 12.8 ticks at random offsets, and 6.3 instead of 8.1 at
//! offset 0. The line that only some have is behind a branch: 500 bytes, of which half have it, take 12.0 at random offsets.
//! In a prototype that always had it, 512 bytes took 7.1 instead of 6.4 at offset 0. The fleet's sets do not differ.
//!
//! Alternating builds there, geometric means of the fleet's memcpy and memmove sets at random offsets: 7.9 ticks instead of 8.2
//! with the test for more than 64 bytes before the one for more than 128, and with branches on the length near the end of a page.
//! Prototypes: with one masked move of 64 bytes instead of two of 32, a size of up to 63 bytes takes 0.3 to 1.0 more.
//!
//! Where the moves begin is computed, not branched on, as [`back_from_page_end`](crate::blocks::back_from_page_end) explains: one
//! call in 33 has a buffer at the end of a page, for which the branch was mispredicted. The same means before and after: 8.0 and 7.4 at
//! random offsets, 7.0 and 6.95 at offset 0; one size of 8 to 63 bytes 4.3 and 3.9 to 4.1 (glibc 3.9), at offset 0 3.35, both. But
//! sizes and offsets that repeat after 4096 calls take 6.2 instead of 5.9, as the predictor learns the branch, and a copy whose
//! address depends on the one before 21 instead of 18 at offset 0, 24 to 25 instead of 23 to 24 at random offsets.
//!
//! Prototypes: the tests for null cost 0.15; before the mask, they cost memcpy-Q at offset 0 0.35 more. If copies of no bytes go to the
//! stack instead, they take 12, as each waits for the store of the one before.
//!
//! One path can come without a taken branch, which costs a core cycle. Here it is that of up to 63 bytes, most of the fleet's calls;
//! in glibc's routine for these CPUs, that of 64 to 128. So these take 3.4 ticks there at offset 0, and glibc's 2.8, as do they in a
//! prototype without the branch; at random offsets both take 4.6. 20 bytes take 3.3, and glibc's 4.5.
//!
//! For a caller who reads the copy at once, alternating builds there, copying and reading, by LLVM's code and by this, which needs no
//! `vzeroupper`: 33 to 64 bytes at offset 0 4.8 and 4.1, at random offsets 5.1, both; 100 5.5 and 4.9, 6.9 and 6.4; 256 8.3 and 7.6, 10.2
//! and 9.8; 300 13.0 and 9.8, 15.7 and 12.8; 400 at random offsets 25.0 and 20.6, but 512 16.8 and 17.8. With 64 bytes as one block,
//! they would take 5.8 at random offsets.

use super::avx512::unmasked;
use super::avx512_branched::large_read_here;
use super::returning::{entries, loops_returning};
use crate::blocks::{assembly_function, begin_on_a_line, copy_apart, returned};
use crate::dispatch::CopyCode;
use crate::intent::LOOPS_BELOW_BYTES;
use core::arch::x86_64::__m512i;

loops_returning!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    avx512_branched,
    __m512i
);

/// The code of this kernel.
pub(super) const CODE: CopyCode = CopyCode { copy, read_here, overlapping, ..super::avx512_branched::CODE };

/// The paths for 64 bytes and more, of the entry points below: label 2 is that for up to 128, and 3 that for more, which jumps to
/// `above_512` above 512. All loads come before all stores.
macro_rules! from_64 {
    ($($returned:ty)?) => {
        concat!(
            "
            .p2align 6
            /* 64 to 384: blocks at both ends, which overlap in the middle. 64 bytes are one block, stored twice: a load is not
               forwarded from a masked store. */
            2:
            ",
            returned!($($returned)?),
            "
            vmovdqu64 zmm16, [rsi]
            vmovdqu64 zmm17, [rsi + rdx - 64]
            vmovdqu64 [rdi], zmm16
            vmovdqu64 [rdi + rdx - 64], zmm17
            ret
            .p2align 6
            3:
            ",
            returned!($($returned)?),
            "
            cmp rdx, 512
            ja {above_512}
            cmp edx, 256
            ja 4f
            vmovdqu64 zmm16, [rsi]
            vmovdqu64 zmm17, [rsi + 64]
            vmovdqu64 zmm18, [rsi + rdx - 128]
            vmovdqu64 zmm19, [rsi + rdx - 64]
            vmovdqu64 [rdi], zmm16
            vmovdqu64 [rdi + 64], zmm17
            vmovdqu64 [rdi + rdx - 128], zmm18
            vmovdqu64 [rdi + rdx - 64], zmm19
            ret
            .p2align 6
            4:
            cmp edx, 384
            ja 5f
            vmovdqu64 zmm16, [rsi]
            vmovdqu64 zmm17, [rsi + 64]
            vmovdqu64 zmm18, [rsi + 128]
            vmovdqu64 zmm19, [rsi + rdx - 192]
            vmovdqu64 zmm20, [rsi + rdx - 128]
            vmovdqu64 zmm21, [rsi + rdx - 64]
            vmovdqu64 [rdi], zmm16
            vmovdqu64 [rdi + 64], zmm17
            vmovdqu64 [rdi + 128], zmm18
            vmovdqu64 [rdi + rdx - 192], zmm19
            vmovdqu64 [rdi + rdx - 128], zmm20
            vmovdqu64 [rdi + rdx - 64], zmm21
            ret
            .p2align 6
            /* 385 to 512: between the blocks at both ends, three lines of dst from the first on that begins in it, the third at
               offset rcx, and three up to the line in which it ends, at offset r8. Between these six is nothing, or the line at
               offset r9. */
            5:
            lea rcx, [rdi + 192]
            lea r8, [rdi + rdx - 1]
            and rcx, -64
            and r8, -64
            sub rcx, rdi
            sub r8, rdi
            lea r9, [r8 - 256]
            vmovdqu64 zmm16, [rsi]
            vmovdqu64 zmm17, [rsi + rcx - 128]
            vmovdqu64 zmm18, [rsi + rcx - 64]
            vmovdqu64 zmm19, [rsi + rcx]
            vmovdqu64 zmm20, [rsi + r8 - 192]
            vmovdqu64 zmm21, [rsi + r8 - 128]
            vmovdqu64 zmm22, [rsi + r8 - 64]
            vmovdqu64 zmm23, [rsi + rdx - 64]
            cmp r9, rcx
            jg 8f
            7:
            vmovdqu64 [rdi], zmm16
            vmovdqu64 [rdi + rcx - 128], zmm17
            vmovdqu64 [rdi + rcx - 64], zmm18
            vmovdqu64 [rdi + rcx], zmm19
            vmovdqu64 [rdi + r8 - 192], zmm20
            vmovdqu64 [rdi + r8 - 128], zmm21
            vmovdqu64 [rdi + r8 - 64], zmm22
            vmovdqu64 [rdi + rdx - 64], zmm23
            ret
            .p2align 6
            8:
            vmovdqu64 zmm24, [rsi + r9]
            vmovdqu64 [rdi + r9], zmm24
            jmp 7b
            ",
        )
    };
}

/// Defines an entry point that copies up to 512 bytes, where all loads come before all stores, and jumps to
/// `$above_512` for more.
macro_rules! entry {
    ($(#[$attribute:meta])* $visible:vis $entry:ident $(-> $returned:ty)?, $above_512:ident) => {
        assembly_function! {
            $(#[$attribute])*
            ///
            /// # Safety
            /// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as the function for more than 512
            /// bytes.
            $visible unsafe extern "C" fn $entry(dst: *mut u8, src: *const u8, len: usize) $(-> $returned)? {
                "cmp rdx, 128",
                "ja 3f",
                "cmp edx, 63",
                "ja 2f",
                // Two masked moves. They begin at offset r8 of the buffers: see `back_from_page_end`.
                "xor r11d, r11d",
                "mov r10d, 4096 - 64",
                "lea rcx, [r11 - 1]",
                "bzhi rcx, rcx, rdx",
                returned!($($returned)?),
                "cmp rdi, 64",
                "jb {unmasked}",
                "cmp rsi, 64",
                "jb {unmasked}",
                "lea r8, [rdx - 64]",
                "andn r9d, esi, r10d",
                "andn r9d, edi, r9d",
                "cmovnz r8, r11",
                "sub r11, r8",
                "shlx rcx, rcx, r11",
                "kmovq k1, rcx",
                "kshiftrq k2, k1, 32",
                "vmovdqu8 ymm16 {{k1}} {{z}}, [rsi + r8]",
                "vmovdqu8 ymm17 {{k2}} {{z}}, [rsi + r8 + 32]",
                "vmovdqu8 [rdi + r8] {{k1}}, ymm16",
                "vmovdqu8 [rdi + r8 + 32] {{k2}}, ymm17",
                "ret",
                from_64!($($returned)?);
                unmasked = sym unmasked_returning,
                above_512 = sym $above_512,
            }
        }
    };
}

entries!(entry);

assembly_function! {
    /// As `copy`, for a caller who reads the bytes immediately: a load is not forwarded from a masked store that is still in the
    /// store buffer, but waits for it.
    ///
    /// # Safety
    /// As `copy`.
    unsafe extern "C" fn read_here(dst: *mut u8, src: *const u8, len: usize) {
        "cmp rdx, 128",
        "ja 3f",
        "cmp edx, 64",
        "ja 2f",
        "cmp edx, 32",
        "jae 7f",
        "cmp edx, 16",
        "jb 8f",
        // 16 to 64: two moves of 16 or 32, which overlap.
        "vmovdqu64 xmm16, [rsi]",
        "vmovdqu64 xmm17, [rsi + rdx - 16]",
        "vmovdqu64 [rdi], xmm16",
        "vmovdqu64 [rdi + rdx - 16], xmm17",
        "ret",
        ".p2align 6",
        "7:",
        "vmovdqu64 ymm16, [rsi]",
        "vmovdqu64 ymm17, [rsi + rdx - 32]",
        "vmovdqu64 [rdi], ymm16",
        "vmovdqu64 [rdi + rdx - 32], ymm17",
        "ret",
        ".p2align 6",
        // The same by moves of 8, 4 and 2.
        "8:",
        "cmp edx, 4",
        "jb 9f",
        "cmp edx, 8",
        "jb 8f",
        "mov rax, [rsi]",
        "mov rcx, [rsi + rdx - 8]",
        "mov [rdi], rax",
        "mov [rdi + rdx - 8], rcx",
        "ret",
        "8:",
        "mov eax, [rsi]",
        "mov ecx, [rsi + rdx - 4]",
        "mov [rdi], eax",
        "mov [rdi + rdx - 4], ecx",
        "ret",
        "9:",
        "cmp edx, 1",
        "jbe 8f",
        "movzx eax, word ptr [rsi]",
        "movzx ecx, word ptr [rsi + rdx - 2]",
        "mov [rdi], ax",
        "mov [rdi + rdx - 2], cx",
        "ret",
        // One byte, or none: the flags are those of the comparison with 1.
        "8:",
        "jb 8f",
        "movzx eax, byte ptr [rsi]",
        "mov [rdi], al",
        "8:",
        "ret",
        from_64!();
        above_512 = sym loops_read_here,
    }
}

/// As `loops`, without non-temporal stores at any size.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len > 512`; otherwise as
/// [`bytes_raw`](super::bytes_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn loops_read_here(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the same contract; len is what each requires.
    unsafe {
        match len {
            ..BY_DISTANCE_FROM_BYTES => copy_apart::<__m512i>(dst, src, len),
            BY_DISTANCE_FROM_BYTES..LOOPS_BELOW_BYTES => {
                begin_on_a_line();
                by_distance(dst, src, len);
            }
            _ => large_read_here(dst, src, len),
        }
    }
}

/// Returns `dst`.
///
/// # Safety
/// As [`unmasked`].
#[cold]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) unsafe extern "C" fn unmasked_returning(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: the same contract.
    unsafe { unmasked(dst, src, len) };
    dst
}
