//! [`avx512_branched`](super::avx512_branched) with assembly for sizes without string instructions, in which every
//! branch leads to the start of a cache line of code; see [`avx2_assembly`](super::avx2_assembly). It needs no
//! `vzeroupper`, because `vpxor` with 16-byte registers zeroes all 64 bytes.
//!
//! On Emerald Rapids LLVM's code, whose paths begin where the one before ends, took 6.3 ticks for 80 bytes at offset 0
//! and 7.0 after the path before it had become three bytes shorter; 640 bytes at random offsets 12.2 with the loop at
//! the start of a line, and 14.0 with it 48 bytes later. Without `vzeroupper`, up to 64 bytes take 5.7 instead of 6.3.
//!
//! The tests for more than 512 and for more than 128 bytes come before that for 64 or more. Most sizes of the fleet's sets are
//! small, so the first two are nearly always predicted, and the third has fewer exceptions left. If a branch is predicted by how
//! often it is taken, the memset sets have 0.34 mispredictions a call in the mean, and 0.45 with 64 first and then 512, 128 and
//! 256. Alternating builds on Granite Rapids, geometric means of the sets at random offsets: 10.2 instead of 11.1 ticks, with
//! learned sizes 4.9 instead of 5.15. One size of up to 63 bytes takes 3.7 instead of 3.3 to 3.5, at offset 0 3.2 instead of 2.5,
//! both as the C library's. Prototypes: with the short path in two lines of code it takes 0.3 more, and with a test for more than
//! 256 besides 0.1 more, for sets that take 0.5 % less.
//!
//! With lines between the blocks at both ends, 257 to 512 bytes at random offsets take 7.9 ticks there; with eight blocks from
//! both ends, most of which cross into a second line, 12.5, as in the C library. At offset 0 they take 7.0 instead of 8.3, but
//! 320, 384 and 512 bytes 6.4 instead of 5.7. Without the ninth store, for a branch that is rarely taken, all these would
//! be 0.7 less in prototypes, but the set memset-D 4 % more. On Emerald Rapids six blocks from both ends for 257 to 384 bytes
//! took 10.5 instead of 13.8, for one more branch on the length.
//!
//! As in copies, 64 to 128 bytes take a branch, and a core cycle more than glibc's routine, where it is shorter sizes that take one: at
//! offset 0 3.5 and 2.8 ticks there, at random offsets 4.0, both. With 32-byte stores for them, random offsets take 5.1 in a prototype.
//! With four masked 32-byte stores for up to 128 bytes, of which no length is mispredicted, the sets memset-D, -L and -Q take 14 % less
//! in a prototype and the other three as much, but one size of up to 64 bytes at random offsets 5.2 instead of 3.9 to 4.0.
//! With two masked 64-byte stores, the second with all lanes or none, the sets at random offsets take 3 to 22 % less, but learned
//! sizes 7 to 13 % more except memset-D, and 64 to 128 bytes at random offsets 4.8 instead of 3.8. With two of 32 bytes and no branch
//! for the end of a page, as in copies, the sets take up to 3 % less at random offsets, learned 2 to 5 % more, and one size of up to 63
//! bytes 3.6 instead of 3.8, but 3.4 instead of 3.1 at offset 0.
//!
//! For a caller who reads the bytes at once, alternating builds there, zeroing and reading, by LLVM's code and by this, which needs no
//! `vzeroupper`: 33 to 64 bytes at offset 0 4.5 and 3.8 to 3.9; 100 5.9 and 4.6, at random offsets 6.2 and 5.4; 256 8.9 and 6.8, 9.3 and
//! 8.1; 400 21.6 and 20.4, 24.0 and 20.2; from 512 on the same.

use super::assembly::entries;
use super::avx512::unmasked;
use super::avx512_branched::{large_by_size, large_read_here};
use crate::blocks::{assembly_function, returned};
use crate::dispatch::ZeroCode;
use crate::intent::LOOPS_BELOW_BYTES;

/// The code of this kernel.
pub(super) const CODE: ZeroCode = ZeroCode { zero, read_here, ..super::avx512_branched::CODE };

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

/// The paths for 64 bytes and more, of the entry points below: label 2 is that for up to 128, 3 that for more, and 8 that for more than
/// 512, which jumps to `large` from `loops_below` on. The argument follows the first of them.
macro_rules! from_64 {
    ($after_first:literal) => {
        concat!(
            "
            .p2align 6
            /* Up to 256: blocks at both ends, which overlap in the middle. 64 bytes are one block, stored twice: a load is
               not forwarded from a masked store. */
            2:
            vpxor xmm0, xmm0, xmm0
            mov rax, rdi
            vmovdqu64 [rdi], zmm0
            vmovdqu64 [rdi + rsi - 64], zmm0
            ret
            ",
            $after_first,
            "
            8:
            vpxor xmm0, xmm0, xmm0
            mov rax, rdi
            jmp 5f
            .p2align 6
            3:
            vpxor xmm0, xmm0, xmm0
            mov rax, rdi
            cmp esi, 256
            ja 4f
            vmovdqu64 [rdi], zmm0
            vmovdqu64 [rdi + 64], zmm0
            vmovdqu64 [rdi + rsi - 128], zmm0
            vmovdqu64 [rdi + rsi - 64], zmm0
            ret
            .p2align 6
            /* 257 to 512: between the blocks at both ends, three lines from the first on that begins in the buffer (rcx),
               and three up to the one in which it ends (rdx). Between these is nothing, or the line at r8. */
            4:
            lea rcx, [rdi + 64]
            lea rdx, [rdi + rsi - 1]
            and rcx, -64
            and rdx, -64
            vmovdqu64 [rdi], zmm0
            lea r8, [rdx - 256]
            vmovdqa64 [rcx], zmm0
            cmp r8, rcx
            vmovdqa64 [rcx + 64], zmm0
            /* Signed: rdx - 256 may be below the start of the address space. */
            cmovl r8, rcx
            vmovdqa64 [rcx + 128], zmm0
            vmovdqa64 [r8], zmm0
            vmovdqa64 [rdx - 192], zmm0
            vmovdqa64 [rdx - 128], zmm0
            vmovdqa64 [rdx - 64], zmm0
            vmovdqu64 [rdi + rsi - 64], zmm0
            ret
            .p2align 6
            /* Above, line by line. */
            5:
            cmp rsi, {loops_below}
            jae {large}
            ",
            line_by_line!(),
        )
    };
}

/// Defines an entry point that zeroes less than [`LOOPS_BELOW_BYTES`], and jumps to `large` for more. Most paths are the same
/// whether or not the declaration says that `dst` is returned.
macro_rules! entry {
    ($(#[$attribute:meta])* $visible:vis $entry:ident $(-> $returned:ty)?) => {
        assembly_function! {
            $(#[$attribute])*
            ///
            /// # Safety
            /// The CPU has [`Features::AVX512`](crate::cpu::Features::AVX512); otherwise as [`fill_raw`](super::fill_raw).
            $visible unsafe extern "C" fn $entry(dst: *mut u8, len: usize) $(-> $returned)? {
                // Up to 63 is exactly one line.
                "cmp rsi, 512",
                "ja 8f",
                "cmp esi, 128",
                "ja 3f",
                "cmp esi, 64",
                "jae 2f",
                // The carry of the comparison, in every bit.
                "sbb rcx, rcx",
                // One masked store, unless it is slow: see `is_mask_slow`.
                "lea edx, [rdi + 63]",
                "xor edx, edi",
                "test dh, 16",
                "jnz 6f",
                "cmp rdi, 64",
                "jb 7f",
                returned!($($returned)?),
                "bzhi rcx, rcx, rsi",
                "kmovq k1, rcx",
                "vpxor xmm0, xmm0, xmm0",
                "vmovdqu8 [rdi] {{k1}}, zmm0",
                "ret",
                // Short jumps from the first line.
                from_64!("6:\njmp 9f\n7:\njmp {unmasked}\n"),
                ".p2align 6",
                // Near the end of a page: the 64 bytes end with the buffer, and the last lanes are active.
                "9:",
                "mov edx, 64",
                "bzhi rcx, rcx, rsi",
                "sub edx, esi",
                "mov rax, rdi",
                "shlx rcx, rcx, rdx",
                "sub rdi, rdx",
                "kmovq k1, rcx",
                "vpxor xmm0, xmm0, xmm0",
                "vmovdqu8 [rdi] {{k1}}, zmm0",
                "ret";
                unmasked = sym unmasked_returning,
                loops_below = const LOOPS_BELOW_BYTES,
                large = sym large,
            }
        }
    };
}

entries!(entry);

assembly_function! {
    /// As `zero`, for a caller who reads the bytes immediately: a load is not forwarded from a masked store that is still in the
    /// store buffer, but waits for it.
    ///
    /// # Safety
    /// As `zero`.
    unsafe extern "C" fn read_here(dst: *mut u8, len: usize) {
        "cmp rsi, 512",
        "ja 8f",
        "cmp esi, 128",
        "ja 3f",
        "cmp esi, 64",
        "ja 2f",
        "vpxor xmm0, xmm0, xmm0",
        "cmp esi, 32",
        "jae 7f",
        "cmp esi, 16",
        "jb 9f",
        // 16 to 64: two stores of 16 or 32, which overlap.
        "vmovdqu [rdi], xmm0",
        "vmovdqu [rdi + rsi - 16], xmm0",
        "ret",
        ".p2align 6",
        "7:",
        "vmovdqu [rdi], ymm0",
        "vmovdqu [rdi + rsi - 32], ymm0",
        "ret",
        ".p2align 6",
        // The same by stores of 8, 4 and 2.
        "9:",
        "xor eax, eax",
        "cmp esi, 8",
        "jb 9f",
        "mov [rdi], rax",
        "mov [rdi + rsi - 8], rax",
        "ret",
        "9:",
        "cmp esi, 4",
        "jb 9f",
        "mov [rdi], eax",
        "mov [rdi + rsi - 4], eax",
        "ret",
        "9:",
        "cmp esi, 1",
        "jbe 9f",
        "mov [rdi], ax",
        "mov [rdi + rsi - 2], ax",
        "ret",
        // One byte, or none: the flags are those of the comparison with 1.
        "9:",
        "jb 9f",
        "mov [rdi], al",
        "9:",
        "ret",
        from_64!("");
        loops_below = const LOOPS_BELOW_BYTES,
        large = sym large_read_here,
    }
}

/// Returns `dst`.
///
/// # Safety
/// As [`unmasked`].
#[cold]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) unsafe extern "C" fn unmasked_returning(dst: *mut u8, len: usize) -> *mut u8 {
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
