//! `rep movsl` (Intel's `movsd`), then `rep movsb` for the rest, even if there is none: the 32-bit kernel's
//! bcopy.
//!
//! The second string instruction nearly always has nothing to do; compare [`rep_movsq`](super::rep_movsq).

use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "rep_movsl",
    routine: Routine::Copy(run),
    role: Role::Historical,
    summary: "rep movsl, then rep movsb for the rest",
    provenance: "evans-2018: the kernel's bcopy with its second rep movs",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len / 4 words, then len & 3 bytes after them: the caller's on both sides, upwards because the
    // ABI has DF clear.
    unsafe {
        core::arch::asm!(
            "rep movsd",
            "mov rcx, {rest}",
            "rep movsb",
            rest = in(reg) len & 3,
            inout("rcx") len / 4 => _,
            inout("rdi") dst => _,
            inout("rsi") src => _,
            options(nostack, preserves_flags)
        );
    }
}
