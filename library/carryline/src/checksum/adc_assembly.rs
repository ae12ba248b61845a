//! [`adc`](super::adc) with fewer jumps and fewer lines of code on the way of a short sum: up to 127 bytes take a jump only
//! for digits of the length that are set, and each leads to the start of a cache line of code. LLVM aligns no branch targets. Sums of 4 to
//! 7 bytes need no branch on their digits.
//!
//! Alternating builds on Zen 4, gross ticks per call at offset 0, by `adc` and by this: 1 byte 7.6 and 6.6, 5 7.2 and 6.4, 8 8.9 and 6.8, 16 8.7
//! and 6.0, 24 7.7 and 6.6, 40 7.7 and 6.4, 64 7.1 and 6.5, 96 9.0 and 7.2; at random offsets 8 bytes 9.2 and 7.1, 64 7.6 and 7.3; lengths from 1
//! to 8 23.6 and 15.0, from 1 to 64 26.5 and 25.0.
//!
//! After whole steps comes a jump into unrolled additions, as many as there are words left, which is mispredicted once where branches
//! on the digits of the length are up to four times. From 512 bytes on there are four sums instead of two, so that a step of 256 bytes
//! takes about as long as one of 128. The seed is added at the end: it is the result of the call before where a sum is made in pieces.
//!
//! Without these three and with them, in one process on Zen 4, gross ticks per call in the quieter of two runs: at offset 0 200 bytes
//! 11.0 and 10.5, 385 17.6 and 17.6, 576 24.9 and 26.0, 994 46.7 and 38.3, 1500 70.3 and 53.8, 4096 197 and 140, 16 KiB 804 and 539; at
//! random offsets 96 bytes 8.2 and 8.7, 200 13.6 and 11.9, 257 14.7 and 15.3, 385 20.3 and 20.1, 994 50.1 and 42.8, 1500 74.9 and 61.0, 4096
//! 198 and 153, 16 KiB 811 and 603; lengths from 1 to 64 25.0 and 25.7, from 1 to 256 40.2 and 35.4, from 1 to 1500 67.9 and 61.5. Calls
//! whose seed is the result of the call before: 200 bytes 17.3 and 10.8, 320 23.9 and 15.5, 1500 83 and 59.
//!
//! The same in one process on Granite Rapids, in the first of two runs: at offset 0 64 bytes 8.3 and 8.3, 128 8.4 and 9.1, 576 31.7 and 32.6,
//! 994 53.6 and 50.6, 1500 82.3 and 73.5, 4096 230 and 190, 16 KiB 927 and 742; lengths from 1 to 64 25.2 and 24.9, from 1 to 256 39.8 and
//! 35.4, from 1 to 1500 67.0 and 67.2. One chain, and no jump but a loop, takes less there for short multiples of 8: 64 bytes 6.3, 96 7.9
//! instead of 10.1, but lengths from 1 to 64 42.2.
//!
//! In prototypes there, the order of the words, the register that they are added to, and where a line of code begins shifted gains and
//! losses of up to a tenth between sizes. Four sums from 256 bytes on took 257 bytes at offset 0 14.1 instead of 12.7, and lengths from 1
//! to 1500 59.9. Two sums for all lengths took 1500 bytes 67.5, and lengths from 1 to 1500 58.6. With the jump from 8 bytes on, lengths
//! from 1 to 64 took 20.5 instead of 25.3, but 20 bytes at random offsets 9.2 instead of 6.8 if the jump had had other targets before.
//!
//! Prototypes and what is not ELF were not measured on other CPUs than Zen 4.

use super::FOUR_SUMS_FROM;
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

/// As [`last_bytes`], of the word that begins `$back` bytes before `rdi + rsi`.
macro_rules! last_bytes_of_rest {
    ($back:literal) => {
        concat!(
            "mov r8, [rdi + rsi - ",
            $back,
            "]
            lea ecx, [8*rsi + 7]
            not ecx
            shr r8, 8
            shr r8, cl
            "
        )
    };
}

/// Jumps to the last `rsi` bytes of the additions before the next [`end_of_words`]; the subtraction leaves no carry. After the jump, at
/// label 7, returns the sum of whole steps. The additions begin in the middle of a line of code.
macro_rules! jump_to_words {
    () => {
        concat!(
            "
            lea r9, [rip + 22f]
            sub r9, rsi
            jmp r9
            .p2align 6
            7:
            add rax, r10
            ",
            return_folded!(),
            ".p2align 5\n"
        )
    };
}

/// Adds the words at the given distances from `rdi`, and the carry, to `$sum`. Each takes four bytes of code.
macro_rules! words {
    ($sum:literal, $($at:literal),+) => {
        concat!($("{{disp8}} adc ", $sum, ", [rdi + ", $at, "]\n",)+)
    };
}

/// Adds the last bytes in `r8` and the second sum to the first, in the chain of the words before, and returns. There was no carry at
/// its start, so that after a carry at most 2^64 - 2 is left: the last carry has room.
macro_rules! end_of_words {
    () => {
        concat!("22:\nadc rax, r8\nadc rax, r10\n", return_folded!())
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
        // 128 and more: in steps of 128, with two sums.
        "6:",
        "cmp rsi, {four_sums_from} - 1",
        "ja 20f",
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
        last_bytes_of_rest!("8"),
        "and esi, 0x78",
        "shr esi",
        jump_to_words!(),
        // Those of the first eight words, with the end, are a line of code. The sixteenth is never reached.
        words!("rax", "120", "112", "104", "96", "88", "80", "72", "64", "56", "48", "40", "32", "24", "16", "8", "0"),
        end_of_words!(),
        ".p2align 6",
        // In steps of 256, with four sums. What is read begins 128 bytes before rdi, so that distances are a byte of code.
        "20:",
        "sub rdi, -128",
        "xor r8d, r8d",
        "xor r11d, r11d",
        ".p2align 6",
        "21:",
        add_words!("rax", "-128", "-120", "-112", "-104", "-96", "-88", "-80", "-72"),
        add_words!("r10", "-64", "-56", "-48", "-40", "-32", "-24", "-16", "-8"),
        add_words!("r8", "0", "8", "16", "24", "32", "40", "48", "56"),
        add_words!("r11", "64", "72", "80", "88", "96", "104", "112", "120"),
        "add rdi, 256",
        "add rsi, -256",
        "cmp rsi, 255",
        "ja 21b",
        // There was no carry before these, so that after a carry at most 2^64 - 2 is left: the last carry has room.
        "add r10, r8",
        "adc r10, r11",
        "adc r10, 0",
        "test esi, esi",
        "jz 7f",
        last_bytes_of_rest!("136"),
        // From the 17th word on they are in the second sum, whose end is as long as a word.
        "shr esi, 3",
        "cmp esi, 17",
        "sbb esi, -1",
        "shl esi, 2",
        jump_to_words!(),
        words!("r10", "112", "104", "96", "88", "80", "72", "64", "56", "48", "40", "32", "24", "16", "8", "0"),
        "adc r10, 0",
        "add rax, [rdi - 8]",
        words!(
            "rax", "-16", "-24", "-32", "-40", "-48", "-56", "-64", "-72", "-80", "-88", "-96", "-104", "-112", "-120", "-128"
        ),
        end_of_words!(),
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
        four_sums_from = const FOUR_SUMS_FROM,
    }
}
