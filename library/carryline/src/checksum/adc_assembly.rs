//! [`adc`](super::adc) with fewer jumps and fewer lines of code on the way of a short sum: up to 127 bytes take a jump only
//! for digits of the length that are set, and each leads to the start of a cache line of code. LLVM aligns no branch targets. Sums of 4 to
//! 7 bytes need no branch on their digits.
//!
//! Alternating builds on Zen 4, gross ticks per call at offset 0, before (`adc`) and now: 1 byte 7.6 and 6.6, 5 7.2 and 6.4, 8 8.9 and 6.8, 16
//! 8.7 and 6.0, 24 7.7 and 6.6, 40 7.7 and 6.4, 64 7.1 and 6.5, 96 9.0 and 7.2, 160 9.6 and 9.3, 576 24.6 and 24.9, 1500 70.7 and 70.3; at random
//! offsets 8 bytes 9.2 and 7.1, 64 7.6 and 7.3, 192 12.6 and 10.9, 576 27.6 and 26.7; lengths from 1 to 8 23.6 and 15.0, from 1 to 64 26.5 and
//! 25.0, from 1 to 256 39.1 and 39.5. After whole steps of 128 bytes, jumps to the digits that are set took 576 bytes 26.2 and 1500 72.4.
//!
//! After whole steps of 128 bytes comes a jump into unrolled additions, as many as there are words left, which is mispredicted once where
//! the digits are up to four times. In one process on Zen 4, with the digits and with this: lengths from 1 to 256 39.8 and 34.9, from 1
//! to 1500 67.7 and 58.6; at random offsets 200 bytes 13.6 and 11.8, 994 50.0 and 47.9, 1421 72.7 and 69.1, 1500 74.8 and 70.6, but 320
//! 16.2 and 17.2. The order of the words, the register that they are added to, and where a line of code begins exchange such gains and
//! losses between sizes. With the jump from 8 bytes on, lengths from 1 to 64 take 20.5 instead of 24.3, and from 1 to 256 29.6, but 20
//! bytes at random offsets 9.2 instead of 6.8, if the jump has had other targets before.
//!
//! The seed is added at the end: it is the result of the call before where a sum is made in pieces. Such calls of 200, 320 and 1500 bytes
//! take 10.1, 14.8 and 69.6 ticks; with sums that begin with the seed, 16.9, 22.6 and 81.5. Independent ones take 1 % more in the mean.
//!
//! Not measured on other CPUs.

use crate::blocks::assembly_function;

/// Adds the words at the given distances from `rdi` to `$sum`, with the carry out of the last.
macro_rules! add_words {
    ($sum:literal, $first:literal $(, $next:literal)*) => {
        concat!(
            "add ", $sum, ", [rdi + ", $first, "]\n",
            $("adc ", $sum, ", [rdi + ", $next, "]\n",)*
            "adc ", $sum, ", 0\n"
        )
    };
}

/// The last 0 to 7 bytes, as `rsi` modulo 8 says, of the word that ends at the address in `r9`, in `r8`; the others are shifted out. The
/// first shift is by 8 bits, because one by 64 does nothing; the second, whose distance counts modulo 64, by 56 less 8 for each byte.
macro_rules! last_bytes {
    () => {
        "
        lea ecx, [rsi + 1]
        mov r8, [r9 - 8]
        imul ecx, ecx, -8
        shr r8, 8
        shr r8, cl
        "
    };
}

/// Returns the one's-complement sum of the 64 bits in `rax`, of their carry, and of the seed in `edx`, folded to 32 bits. After the first
/// addition of 32 bits carries, at most 2^32 - 2 is left, so that the last carry has room.
macro_rules! return_folded {
    () => {
        "
        adc rax, 0
        mov rcx, rax
        shr rcx, 32
        add eax, ecx
        adc eax, edx
        adc eax, 0
        ret
        "
    };
}

/// Adds what is left of a word and both sums, and returns. If the sum of both carries, at most 2^64 - 2 is left of it. Whether or not it
/// did, at most 2^64 - 2 is left if the next addition carries, so that the last carry has room.
macro_rules! return_with_last_bytes {
    () => {
        concat!(last_bytes!(), "add rax, r10\nadc rax, r8\n", return_folded!())
    };
}

assembly_function! {
    /// Selects the code by length.
    ///
    /// # Safety
    /// As [`partial_raw`](super::partial_raw).
    pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
        // Two sums, which run in parallel.
        "xor eax, eax",
        "xor r10d, r10d",
        "cmp rsi, 127",
        "ja 6f",
        "lea r9, [rdi + rsi]",
        "cmp esi, 8",
        "jb 8f",
        "test sil, 64",
        "jnz 5f",
        "test sil, 32",
        "jnz 4f",
        "test sil, 16",
        "jnz 3f",
        // 8 to 15.
        last_bytes!(),
        "add rax, [rdi]",
        "adc rax, r8",
        return_folded!(),
        ".p2align 6",
        // The digits of the length: eight bytes.
        "2:",
        add_words!("r10", "0"),
        "add rdi, 8",
        return_with_last_bytes!(),
        ".p2align 6",
        // 16.
        "3:",
        add_words!("rax", "0", "8"),
        "add rdi, 16",
        "test sil, 8",
        "jnz 2b",
        return_with_last_bytes!(),
        ".p2align 6",
        // 32.
        "4:",
        add_words!("r10", "0", "8", "16", "24"),
        "add rdi, 32",
        "test sil, 16",
        "jnz 3b",
        "test sil, 8",
        "jnz 2b",
        return_with_last_bytes!(),
        ".p2align 6",
        // 64.
        "5:",
        add_words!("rax", "0", "8", "16", "24", "32", "40", "48", "56"),
        "add rdi, 64",
        "test sil, 32",
        "jnz 4b",
        "test sil, 16",
        "jnz 3b",
        "test sil, 8",
        "jnz 2b",
        return_with_last_bytes!(),
        ".p2align 6",
        // 128 and more, in steps of 128.
        "6:",
        add_words!("rax", "0", "8", "16", "24", "32", "40", "48", "56"),
        add_words!("r10", "64", "72", "80", "88", "96", "104", "112", "120"),
        "sub rdi, -128",
        "add rsi, -128",
        "cmp rsi, 127",
        "ja 6b",
        // A whole number of steps is frequent: powers of two.
        "test esi, esi",
        "jz 7f",
        // The last 0 to 7 bytes as in `last_bytes`, and the words before them. A word is four bytes of code, and those of the first eight,
        // with the end, are a line of it. The subtraction leaves no carry.
        "mov r8, [rdi + rsi - 8]",
        "lea ecx, [8*rsi + 7]",
        "and esi, 0x78",
        "not ecx",
        "shr r8, 8",
        "lea r9, [rip + 22f]",
        "shr esi",
        "shr r8, cl",
        "sub r9, rsi",
        "jmp r9",
        ".p2align 6",
        ".skip 64 - 7*4, 0x90",
        "adc rax, [rdi + 112]",
        "adc rax, [rdi + 104]",
        "adc rax, [rdi + 96]",
        "adc rax, [rdi + 88]",
        "adc rax, [rdi + 80]",
        "adc rax, [rdi + 72]",
        "adc rax, [rdi + 64]",
        "adc rax, [rdi + 56]",
        "adc rax, [rdi + 48]",
        "adc rax, [rdi + 40]",
        "adc rax, [rdi + 32]",
        "adc rax, [rdi + 24]",
        "adc rax, [rdi + 16]",
        "adc rax, [rdi + 8]",
        "{{disp8}} adc rax, [rdi]",
        "22:",
        // One chain, at whose start there was no carry, so that after a carry at most 2^64 - 2 is left: the last carry has room.
        "adc rax, r8",
        "adc rax, r10",
        return_folded!(),
        "7:",
        "add rax, r10",
        return_folded!(),
        ".p2align 6",
        // Fewer than 8, of which no load goes beyond: a word of four bytes, and the last 0 to 3 as in `last_bytes`.
        "8:",
        "mov ecx, esi",
        "test sil, 4",
        "jnz 9f",
        "test sil, 2",
        "jnz 7f",
        "test sil, 1",
        "jz 2f",
        "movzx eax, byte ptr [rdi]",
        "2:",
        "add eax, edx",
        "adc eax, 0",
        "ret",
        // Two bytes, and a third, or zero.
        "7:",
        "movzx eax, word ptr [rdi]",
        "movzx esi, byte ptr [rdi + rcx - 1]",
        "and ecx, 1",
        "neg ecx",
        "and ecx, esi",
        "add eax, edx",
        "adc eax, ecx",
        "adc eax, 0",
        "ret",
        ".p2align 6",
        "9:",
        "and ecx, 3",
        "mov esi, [rdi + rcx]",
        "shl ecx, 3",
        "mov eax, [rdi]",
        "shr esi, 8",
        "xor ecx, 24",
        "shr esi, cl",
        "add eax, edx",
        "adc eax, esi",
        "adc eax, 0",
        "ret";
    }
}
