//! ORs the eight words of 32 bytes together, and writes them only if a bit is set; two such halves per
//! iteration.
//!
//! If the first half is nonzero, the second is written with it unchecked. On memory that is already zero it
//! only reads, so its figure in a benchmark that zeroes one buffer repeatedly is not the speed of its stores.

use crate::{Role, Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "i686_pagezero_or",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "OR 32 bytes together, write them only if they are not zero",
    provenance: "evans-2003, row zeroD (the i686_pagezero that the patch puts in)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    let whole = len & !63;
    // SAFETY: whole steps of 64 of the caller's bytes are read and written, and fewer than 64 remain.
    unsafe {
        if whole > 0 {
            core::arch::asm!(
                "2:",
                "mov {word:e}, dword ptr [{at}]",
                "or {word:e}, dword ptr [{at} + 4]",
                "or {word:e}, dword ptr [{at} + 8]",
                "or {word:e}, dword ptr [{at} + 12]",
                "or {word:e}, dword ptr [{at} + 16]",
                "or {word:e}, dword ptr [{at} + 20]",
                "or {word:e}, dword ptr [{at} + 24]",
                "or {word:e}, dword ptr [{at} + 28]",
                "jne 3f",
                "mov {word:e}, dword ptr [{at} + 32]",
                "or {word:e}, dword ptr [{at} + 36]",
                "or {word:e}, dword ptr [{at} + 40]",
                "or {word:e}, dword ptr [{at} + 44]",
                "or {word:e}, dword ptr [{at} + 48]",
                "or {word:e}, dword ptr [{at} + 52]",
                "or {word:e}, dword ptr [{at} + 56]",
                "or {word:e}, dword ptr [{at} + 60]",
                "jne 4f",
                "add {at}, 64",
                "sub {left}, 64",
                "jne 2b",
                "jmp 5f",
                "3:",
                "mov dword ptr [{at} + 0], {zero:e}",
                "mov dword ptr [{at} + 4], {zero:e}",
                "mov dword ptr [{at} + 8], {zero:e}",
                "mov dword ptr [{at} + 12], {zero:e}",
                "mov dword ptr [{at} + 16], {zero:e}",
                "mov dword ptr [{at} + 20], {zero:e}",
                "mov dword ptr [{at} + 24], {zero:e}",
                "mov dword ptr [{at} + 28], {zero:e}",
                "4:",
                "mov dword ptr [{at} + 32], {zero:e}",
                "mov dword ptr [{at} + 36], {zero:e}",
                "mov dword ptr [{at} + 40], {zero:e}",
                "mov dword ptr [{at} + 44], {zero:e}",
                "mov dword ptr [{at} + 48], {zero:e}",
                "mov dword ptr [{at} + 52], {zero:e}",
                "mov dword ptr [{at} + 56], {zero:e}",
                "mov dword ptr [{at} + 60], {zero:e}",
                "add {at}, 64",
                "sub {left}, 64",
                "jne 2b",
                "5:",
                at = inout(reg) dst => _,
                left = inout(reg) whole => _,
                zero = in(reg) 0_u32,
                word = out(reg) _,
                options(nostack)
            );
        }
        edges::zero_below_64(dst.add(whole), len - whole);
    }
}
