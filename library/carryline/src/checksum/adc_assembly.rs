//! [`adc`](super::adc) with fewer jumps and fewer lines of code on the way of a short sum: up to 127 bytes take a jump only
//! for digits of the length that are set, and each leads to the start of a cache line of code. LLVM aligns no branch targets. Sums of 4 to
//! 7 bytes need no branch on their digits.
//!
//! Alternating builds on Zen 4, gross ticks per call at offset 0, before (`adc`) and now: 1 byte 7.6 and 6.6, 5 7.2 and 6.4, 8 8.9 and 6.8, 16
//! 8.7 and 6.0, 24 7.7 and 6.6, 40 7.7 and 6.4, 64 7.1 and 6.5, 96 9.0 and 7.2, 160 9.6 and 9.3, 576 24.6 and 24.9, 1500 70.7 and 70.3; at random
//! offsets 8 bytes 9.2 and 7.1, 64 7.6 and 7.3, 192 12.6 and 10.9, 576 27.6 and 26.7; lengths from 1 to 8 23.6 and 15.0, from 1 to 64 26.5 and
//! 25.0, from 1 to 256 39.1 and 39.5. After whole steps of 128 bytes, jumps to the digits that are set took 576 bytes 26.2 and 1500 72.4.
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

/// The last 0 to 7 bytes, as `rcx` modulo 8 says, of the word that ends with them in `rsi`, moved to its start; the others are shifted
/// out. The word begins `$back` bytes before the multiple of 8 that precedes them. The first shift is by 8 bits, because one by 64 does
/// nothing.
macro_rules! last_bytes {
    ($back:literal) => {
        concat!(
            "and ecx, 7\nmov rsi, [rdi + rcx - ",
            $back,
            "]
            shl ecx, 3
            shr rsi, 8
            xor ecx, 56
            shr rsi, cl
            "
        )
    };
}

/// Returns the one's-complement sum of the 64 bits in `rax` and of their carry, folded to 32 bits.
macro_rules! return_folded {
    () => {
        "
        adc rax, 0
        mov rdx, rax
        shr rdx, 32
        add eax, edx
        adc eax, 0
        ret
        "
    };
}

/// Adds what is left of a word and both sums, and returns. If the sum of both carries, at most 2^64 - 2 is left of it. Whether or not it
/// did, at most 2^64 - 2 is left if the next addition carries, so that the last carry has room.
macro_rules! return_with_last_bytes {
    () => {
        concat!(last_bytes!("8"), "add rax, rdx\nadc rax, rsi\n", return_folded!())
    };
}

assembly_function! {
    /// Selects the code by length.
    ///
    /// # Safety
    /// As [`partial_raw`](super::partial_raw).
    pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
        // Two sums, which run in parallel.
        "mov eax, edx",
        "xor edx, edx",
        "cmp rsi, 128",
        "jae 6f",
        "mov ecx, esi",
        "cmp esi, 8",
        "jb 8f",
        "test cl, 64",
        "jnz 5f",
        "test cl, 32",
        "jnz 4f",
        "test cl, 16",
        "jnz 3f",
        // 8 to 15.
        last_bytes!("0"),
        "add rax, [rdi]",
        "adc rax, rsi",
        return_folded!(),
        ".p2align 6",
        // The digits of the length: eight bytes.
        "2:",
        add_words!("rdx", "0"),
        "add rdi, 8",
        return_with_last_bytes!(),
        ".p2align 6",
        // 16.
        "3:",
        add_words!("rax", "0", "8"),
        "add rdi, 16",
        "test cl, 8",
        "jnz 2b",
        return_with_last_bytes!(),
        ".p2align 6",
        // 32.
        "4:",
        add_words!("rdx", "0", "8", "16", "24"),
        "add rdi, 32",
        "test cl, 16",
        "jnz 3b",
        "test cl, 8",
        "jnz 2b",
        return_with_last_bytes!(),
        ".p2align 6",
        // 64.
        "5:",
        add_words!("rax", "0", "8", "16", "24", "32", "40", "48", "56"),
        "add rdi, 64",
        "test cl, 32",
        "jnz 4b",
        "test cl, 16",
        "jnz 3b",
        "test cl, 8",
        "jnz 2b",
        return_with_last_bytes!(),
        ".p2align 6",
        // 128 and more, in steps of 128.
        "6:",
        add_words!("rax", "0", "8", "16", "24", "32", "40", "48", "56"),
        add_words!("rdx", "64", "72", "80", "88", "96", "104", "112", "120"),
        "sub rdi, -128",
        "add rsi, -128",
        "cmp rsi, 127",
        "ja 6b",
        // A whole number of steps is frequent: powers of two.
        "test esi, esi",
        "jz 7f",
        // Otherwise most digits are set, so that jumps skip those that are not.
        "mov ecx, esi",
        "test cl, 64",
        "jz 22f",
        add_words!("rax", "0", "8", "16", "24", "32", "40", "48", "56"),
        "add rdi, 64",
        "test cl, 56",
        "jz 25f",
        "22:",
        "test cl, 32",
        "jz 23f",
        add_words!("rdx", "0", "8", "16", "24"),
        "add rdi, 32",
        "23:",
        "test cl, 16",
        "jz 24f",
        add_words!("rax", "0", "8"),
        "add rdi, 16",
        "24:",
        "test cl, 8",
        "jz 25f",
        add_words!("rdx", "0"),
        "add rdi, 8",
        "25:",
        return_with_last_bytes!(),
        "7:",
        "add rax, rdx",
        return_folded!(),
        ".p2align 6",
        // Fewer than 8, of which no load goes beyond: a word of four bytes, and the last 0 to 3 as in `last_bytes`.
        "8:",
        "test cl, 4",
        "jnz 9f",
        "test cl, 2",
        "jnz 7f",
        "test cl, 1",
        "jz 2f",
        "movzx edx, byte ptr [rdi]",
        "add eax, edx",
        "adc eax, 0",
        "2:",
        "ret",
        // Two bytes, and a third, or zero.
        "7:",
        "movzx edx, word ptr [rdi]",
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
        "shr esi, 8",
        "xor ecx, 24",
        "shr esi, cl",
        "add eax, [rdi]",
        "adc eax, esi",
        "adc eax, 0",
        "ret";
    }
}
