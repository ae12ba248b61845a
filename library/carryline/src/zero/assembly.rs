//! What the kernels in assembly share: the code for small sizes, and the entry points.

/// Zeroes the `rsi` bytes at `rdi`, at most 64, and returns; if there are more, jumps to label 4, which must follow. The arguments
/// are the instruction that clears `xmm0` and the one that stores it, unaligned.
macro_rules! up_to_64 {
    ($clear:literal, $store:literal) => {
        concat!(
            "
            cmp rsi, 64
            ja 4f
            cmp esi, 16
            jb 2f
            /* 16 to 64: four stores of 16, the inner ones 16 further in if there are more than 32. They go upwards: with
               the last two exchanged, 49 to 63 bytes take 8.3 ticks instead of 6.8 at offset 0 on Zen 3, except
               multiples of 4. */
            lea ecx, [rsi - 1]
            and ecx, 32
            shr ecx, 1
            mov rax, rdi
            ",
            $clear,
            "\n",
            $store,
            " [rdi], xmm0
            mov edx, esi
            sub edx, ecx
            ",
            $store,
            " [rdi + rcx], xmm0\n",
            $store,
            " [rdi + rdx - 16], xmm0\n",
            $store,
            " [rdi + rsi - 16], xmm0
            ret
            .p2align 6
            /* 4 to 15: the same by stores of 4. */
            2:
            xor edx, edx
            mov rax, rdi
            cmp esi, 4
            jb 3f
            lea ecx, [rsi - 1]
            and ecx, 8
            shr ecx, 1
            mov [rdi], edx
            mov [rdi + rcx], edx
            mov [rdi + rsi - 4], edx
            sub rsi, rcx
            mov [rdi + rsi - 4], edx
            ret
            /* 1 to 3: the first, the middle and the last. */
            3:
            test esi, esi
            jz 3f
            mov [rdi + rsi - 1], dl
            mov [rdi], dl
            shr esi
            mov [rdi + rsi], dl
            3:
            ret
            .p2align 6
            "
        )
    };
}

/// Seven aligned stores, from three blocks before the address in `rcx` on, and the last one, which ends with the buffer.
#[rustfmt::skip]
macro_rules! aligned_seven_and_last {
    ($store:literal, $aligned:literal, $block:literal, $clean:literal) => {
        concat!(
            $aligned, " [rcx - 3 * {block}], ", $block, "\n",
            $aligned, " [rcx - 2 * {block}], ", $block, "\n",
            $aligned, " [rcx - {block}], ", $block, "\n",
            $aligned, " [rcx], ", $block, "\n",
            $aligned, " [rcx + {block}], ", $block, "\n",
            $aligned, " [rcx + 2 * {block}], ", $block, "\n",
            $aligned, " [rcx + 3 * {block}], ", $block, "\n",
            $store, " [rdi + rsi - {block}], ", $block, "\n",
            $clean,
            "
            ret
            ",
        )
    };
}

/// Zeroes the `rsi` bytes at `rdi`, more than 8 blocks and at most 16, and returns: four stores from the start on, 7 or 11 aligned ones
/// up to the last multiple of the block before the end, and one that ends with the buffer. A store between the first four and the
/// aligned ones is only made if they do not meet.
///
/// The arguments are the instruction that clears the block, those that store it unaligned and aligned, its register, and the
/// instruction before the return; the operand `block` is its size.
#[rustfmt::skip]
macro_rules! up_to_16_blocks {
    ($clear:literal, $store:literal, $aligned:literal, $block:literal, $clean:literal) => {
        concat!(
            $clear,
            "
            lea rcx, [rdi + rsi - 4 * {block} - 1]
            mov rax, rdi
            and rcx, -{block}
            ",
            $store, " [rdi], ", $block, "\n",
            $store, " [rdi + {block}], ", $block, "\n",
            $store, " [rdi + 2 * {block}], ", $block, "\n",
            $store, " [rdi + 3 * {block}], ", $block,
            "
            cmp esi, 12 * {block}
            ja 7f
            lea rdx, [rdi + 7 * {block}]
            cmp rcx, rdx
            ja 8f
            6:
            ",
            $crate::zero::assembly::aligned_seven_and_last!($store, $aligned, $block, $clean),
            "
            .p2align 6
            7:
            lea rdx, [rdi + 11 * {block}]
            cmp rcx, rdx
            ja 9f
            7:
            ",
            $aligned, " [rcx - 7 * {block}], ", $block, "\n",
            $aligned, " [rcx - 6 * {block}], ", $block, "\n",
            $aligned, " [rcx - 5 * {block}], ", $block, "\n",
            $aligned, " [rcx - 4 * {block}], ", $block, "\n",
            $crate::zero::assembly::aligned_seven_and_last!($store, $aligned, $block, $clean),
            "
            .p2align 6
            8:
            ",
            $store, " [rdi + 4 * {block}], ", $block,
            "
            jmp 6b
            .p2align 6
            9:
            ",
            $store, " [rdi + 4 * {block}], ", $block,
            "
            jmp 7b
            ",
        )
    };
}

/// Defines the entry points of a kernel in assembly by its macro `$entry`, which takes the attributes, the name, and the result if there
/// is one.
macro_rules! entries {
    ($entry:ident) => {
        $entry! {
            /// Selects the code by length.
            zero
        }

        $entry! {
            /// As `zero`; returns `dst`.
            pub zero_returning -> *mut u8
        }
    };
}

pub(super) use {aligned_seven_and_last, entries, up_to_16_blocks, up_to_64};
