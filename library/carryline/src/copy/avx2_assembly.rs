//! [`avx2`](super::avx2) with assembly for up to 256 bytes, in which every branch leads to the start of a cache line
//! of code, and each path takes as few lines as it can. LLVM aligns no branch targets.
//!
//! On a Zen 3 whose cores are shared with other guests, 8, 20 and 100 bytes take 8 to 11, 7 to 10.5 and 8 to 11 ticks;
//! with LLVM's order of the same moves 9 to 12.5, 8 to 11 and 9 to 12.5 at the same moments. With the path of 20 bytes
//! in two lines, it was no faster than LLVM's.

use super::returning::{entries, loops_returning};
use crate::blocks::assembly_function;
use crate::dispatch::CopyCode;
use core::arch::x86_64::__m256i;

loops_returning!(
    #[target_feature(enable = "avx2")]
    avx2,
    __m256i
);

/// The code of this kernel.
pub(super) const CODE: CopyCode = CopyCode { copy, overlapping, ..super::avx2::CODE };

/// Copies the `rdx` bytes at `rsi`, 129 to 256, to `rdi`, and returns: all loads come before all stores.
macro_rules! four_at_each_end {
    () => {
        "
        vmovdqu ymm0, [rsi]
        vmovdqu ymm1, [rsi + 32]
        vmovdqu ymm2, [rsi + 64]
        vmovdqu ymm3, [rsi + 96]
        vmovdqu ymm4, [rsi + rdx - 128]
        vmovdqu ymm5, [rsi + rdx - 96]
        vmovdqu ymm6, [rsi + rdx - 64]
        vmovdqu ymm7, [rsi + rdx - 32]
        vmovdqu [rdi], ymm0
        vmovdqu [rdi + 32], ymm1
        vmovdqu [rdi + 64], ymm2
        vmovdqu [rdi + 96], ymm3
        vmovdqu [rdi + rdx - 128], ymm4
        vmovdqu [rdi + rdx - 96], ymm5
        vmovdqu [rdi + rdx - 64], ymm6
        vmovdqu [rdi + rdx - 32], ymm7
        vzeroupper
        ret
        "
    };
}
pub(super) use four_at_each_end;

/// Defines an entry point that copies up to 256 bytes, where all loads come before all stores, and jumps to
/// `$above_256` for more. The code is the same whether or not the declaration says that `dst` is returned.
macro_rules! entry {
    ($(#[$attribute:meta])* $visible:vis $entry:ident $(-> $returned:ty)?, $above_256:ident) => {
        assembly_function! {
            $(#[$attribute])*
            ///
            /// # Safety
            /// The CPU has AVX2; otherwise as the function for more than 256 bytes.
            $visible unsafe extern "C" fn $entry(dst: *mut u8, src: *const u8, len: usize) $(-> $returned)? {
                "cmp rdx, 64",
                "ja 4f",
                "sub edx, 16",
                "jb 2f",
                // 16 to 64: four moves of 16, the inner ones 16 further in if there are more than 32. rdx is len - 16.
                // The instructions are chosen for their length: this is exactly one line.
                "lea eax, [rdx + 15]",
                "shr eax",
                "and al, 16",
                "vmovdqu xmm0, [rsi]",
                "vmovdqu xmm1, [rsi + rax]",
                "vmovdqu xmm2, [rsi + rdx]",
                "mov ecx, edx",
                "sub ecx, eax",
                "vmovdqu xmm3, [rsi + rcx]",
                "vmovdqu [rdi], xmm0",
                "vmovdqu [rdi + rax], xmm1",
                "vmovdqu [rdi + rcx], xmm3",
                "vmovdqu [rdi + rdx], xmm2",
                "mov rax, rdi",
                "ret",
                ".p2align 6",
                // 4 to 15: the same by moves of 4. edx is len - 4, or carries if there are fewer.
                "2:",
                "add edx, 12",
                "jnc 3f",
                "lea eax, [rdx + 3]",
                "shr eax",
                "and al, 4",
                "mov ecx, edx",
                "sub ecx, eax",
                "mov r8d, [rsi]",
                "mov r9d, [rsi + rax]",
                "mov r10d, [rsi + rcx]",
                "mov esi, [rsi + rdx]",
                "mov [rdi], r8d",
                "mov [rdi + rax], r9d",
                "mov [rdi + rcx], r10d",
                "mov [rdi + rdx], esi",
                "mov rax, rdi",
                "ret",
                ".p2align 6",
                "4:",
                "cmp rdx, 128",
                "ja 5f",
                "vmovdqu ymm0, [rsi]",
                "vmovdqu ymm1, [rsi + 32]",
                "vmovdqu ymm2, [rsi + rdx - 64]",
                "vmovdqu ymm3, [rsi + rdx - 32]",
                "vmovdqu [rdi], ymm0",
                "vmovdqu [rdi + 32], ymm1",
                "vmovdqu [rdi + rdx - 64], ymm2",
                "vmovdqu [rdi + rdx - 32], ymm3",
                "mov rax, rdi",
                "vzeroupper",
                "ret",
                ".p2align 6",
                "5:",
                "cmp rdx, 256",
                "ja {above_256}",
                "mov rax, rdi",
                four_at_each_end!(),
                ".p2align 6",
                // 1 to 3: the first, the middle and the last.
                "3:",
                "mov rax, rdi",
                "add edx, 4",
                "jz 3f",
                "movzx r9d, byte ptr [rsi]",
                "movzx ecx, byte ptr [rsi + rdx - 1]",
                "lea r8, [rdi + rdx - 1]",
                "shr edx",
                "movzx esi, byte ptr [rsi + rdx]",
                "mov [rdi], r9b",
                "mov [rdi + rdx], sil",
                "mov [r8], cl",
                "3:",
                "ret";
                above_256 = sym $above_256,
            }
        }
    };
}

entries!(entry);
