//! `rep movsw`: 16-bit words by one string instruction, an odd last byte separately.

use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "rep_movsw",
    routine: Routine::Copy(run),
    role: Role::Historical,
    summary: "one rep movsw, an odd last byte separately",
    provenance: "evans-2018: the widths of rep movs",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len / 2 words, and the last byte if the length is odd: the caller's on both sides, upwards
    // because the ABI has DF clear.
    unsafe {
        core::arch::asm!(
            "rep movsw",
            inout("rcx") len / 2 => _,
            inout("rdi") dst => _,
            inout("rsi") src => _,
            options(nostack, preserves_flags)
        );
        if len & 1 != 0 {
            dst.add(len - 1).write(src.add(len - 1).read());
        }
    }
}
