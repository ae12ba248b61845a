//! [`avx512_branched`](super::avx512_branched) with assembly for sizes without string instructions, in which every
//! branch leads to the start of a cache line of code; see [`avx2_assembly`](super::avx2_assembly). It needs no
//! `vzeroupper`, because `vpxor` with 16-byte registers zeroes all 64 bytes.
//!
//! On Emerald Rapids LLVM's code, whose paths begin where the one before ends, took 6.3 ticks for 80 bytes at offset 0
//! and 7.0 after the path before it had become three bytes shorter; 640 bytes at random offsets 12.2 with the loop at
//! the start of a line, and 14.0 with it 48 bytes later. Without `vzeroupper`, up to 64 bytes take 5.7 instead of 6.3.
//!
//! The order of the branches is the one with the fewest mispredictions for the fleet's sizes, if a branch is predicted
//! by how often it is taken: 512 first 2.57 per six calls, one from each memset set, in ascending order 2.63. Six stores
//! instead of eight for 257 to 384 bytes took 10.5 instead of 13.8 ticks at random offsets, but one more branch, and the
//! set memset-D 1.05 times the C library's time.

use super::avx512::unmasked;
use super::avx512_branched::large_by_size;
use crate::dispatch::ZeroCode;
use crate::intent::LOOPS_BELOW_BYTES;
use core::arch::naked_asm;

/// The code of this kernel.
pub(super) const CODE: ZeroCode = ZeroCode { zero, ..super::avx512_branched::CODE };

/// Zeroes the `rsi` bytes at `rax` and `rdi`, more than 512, line by line, with zeros in `xmm0`. `lines` of
/// [`avx512`](super::avx512) explains the offsets.
macro_rules! line_by_line {
    () => {
        "
        mov ecx, edi
        and ecx, 63
        jz 6f
        /* The lanes from dst on in its line, and on to the next line. */
        mov rdx, -1
        shlx rdx, rdx, rcx
        kmovq k1, rdx
        sub rdi, rcx
        vmovdqu8 [rdi] {{k1}}, zmm0
        add rdi, 64
        6:
        /* The multiple of 256 below len - 256, and where the groups of the loop end. */
        lea ecx, [rsi - 257]
        xor cl, cl
        add rcx, rdi
        .p2align 6
        7:
        vmovdqa64 [rdi], zmm0
        vmovdqa64 [rdi + 64], zmm0
        vmovdqa64 [rdi + 128], zmm0
        vmovdqa64 [rdi + 192], zmm0
        add rdi, 256
        cmp rdi, rcx
        jb 7b
        /* The line in which the data ends, the group four lines before it, and three lines. */
        lea rdx, [rax + rsi - 1]
        mov r8, rdx
        and r8, -64
        lea rcx, [r8 - 256]
        cmp rdi, rcx
        cmova rdi, rcx
        vmovdqa64 [rdi], zmm0
        vmovdqa64 [rdi + 64], zmm0
        vmovdqa64 [rdi + 128], zmm0
        vmovdqa64 [rdi + 192], zmm0
        vmovdqa64 [r8 - 192], zmm0
        vmovdqa64 [r8 - 128], zmm0
        vmovdqa64 [r8 - 64], zmm0
        /* The lanes up to the last byte: all, shifted by 63 less its place in the line. */
        not edx
        mov rcx, -1
        shrx rcx, rcx, rdx
        kmovq k1, rcx
        vmovdqu8 [r8] {{k1}}, zmm0
        ret
        "
    };
}

/// Defines an entry point that zeroes less than [`LOOPS_BELOW_BYTES`], and jumps to `large` for more. The code is the
/// same whether or not the declaration says that `dst` is returned.
macro_rules! entry {
    ($(#[$attribute:meta])* $visible:vis $entry:ident $(-> $returned:ty)?) => {
        $(#[$attribute])*
        ///
        /// # Safety
        /// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as [`fill_raw`](super::fill_raw).
        #[unsafe(naked)]
        $visible unsafe extern "C" fn $entry(dst: *mut u8, len: usize) $(-> $returned)? {
            naked_asm!(
                // Otherwise a shared library that contains this one would export it.
                ".hidden {this}",
                ".p2align 6",
                "cmp rsi, 64",
                "ja 2f",
                // One masked store, unless it is slow: see `is_mask_slow`. This is exactly one line.
                "lea ecx, [rdi + 63]",
                "xor ecx, edi",
                "test ch, 16",
                "jnz {unmasked}",
                "cmp rdi, 64",
                "jb {unmasked}",
                "mov rcx, -1",
                "mov rax, rdi",
                "bzhi rcx, rcx, rsi",
                "kmovq k1, rcx",
                "vpxor xmm0, xmm0, xmm0",
                "vmovdqu8 [rdi] {{k1}}, zmm0",
                "ret",
                ".p2align 6",
                // 65 to 512: blocks at both ends, which overlap in the middle.
                "2:",
                "vpxor xmm0, xmm0, xmm0",
                "mov rax, rdi",
                "cmp rsi, 512",
                "ja 5f",
                "cmp esi, 128",
                "ja 3f",
                "vmovdqu64 [rdi], zmm0",
                "vmovdqu64 [rdi + rsi - 64], zmm0",
                "ret",
                ".p2align 6",
                "3:",
                "cmp esi, 256",
                "ja 4f",
                "vmovdqu64 [rdi], zmm0",
                "vmovdqu64 [rdi + 64], zmm0",
                "vmovdqu64 [rdi + rsi - 128], zmm0",
                "vmovdqu64 [rdi + rsi - 64], zmm0",
                "ret",
                ".p2align 6",
                "4:",
                "vmovdqu64 [rdi], zmm0",
                "vmovdqu64 [rdi + 64], zmm0",
                "vmovdqu64 [rdi + 128], zmm0",
                "vmovdqu64 [rdi + 192], zmm0",
                "vmovdqu64 [rdi + rsi - 256], zmm0",
                "vmovdqu64 [rdi + rsi - 192], zmm0",
                "vmovdqu64 [rdi + rsi - 128], zmm0",
                "vmovdqu64 [rdi + rsi - 64], zmm0",
                "ret",
                ".p2align 6",
                // Above, line by line.
                "5:",
                "cmp rsi, {loops_below}",
                "jae {large}",
                line_by_line!(),
                this = sym $entry,
                unmasked = sym unmasked_returning,
                loops_below = const LOOPS_BELOW_BYTES,
                large = sym large,
            )
        }
    };
}

entry! {
    /// Selects the code by length.
    zero
}

entry! {
    /// As `zero`; returns `dst`.
    pub zero_returning -> *mut u8
}

/// The part of `zero` for more than 512 bytes.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `512 < len < LOOPS_BELOW_BYTES`; otherwise as
/// [`fill_raw`](super::fill_raw).
#[unsafe(naked)]
pub(super) unsafe extern "C" fn lines(dst: *mut u8, len: usize) {
    naked_asm!(
        ".hidden {this}",
        ".p2align 6",
        "vpxor xmm0, xmm0, xmm0",
        "mov rax, rdi",
        line_by_line!(),
        this = sym lines,
    )
}

/// Returns `dst`.
///
/// # Safety
/// As [`unmasked`].
#[cold]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn unmasked_returning(dst: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: the same contract.
    unsafe { unmasked(dst, len) };
    dst
}

/// Returns `dst`.
///
/// # Safety
/// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); `len >= LOOPS_BELOW_BYTES`; otherwise as
/// [`fill_raw`](super::fill_raw).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe extern "C" fn large(dst: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: the same contract.
    unsafe { large_by_size(dst, len) };
    dst
}
