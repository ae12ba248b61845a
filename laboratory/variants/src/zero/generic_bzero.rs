//! `rep stosl` for the whole words, then `rep stosb` for the rest, even if there is none.
//!
//! The second string instruction nearly always has nothing to do; compare [`rep_stosl`](super::rep_stosl).

use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "generic_bzero",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "rep stosl, then rep stosb for the rest",
    provenance: "evans-2003, row zeroA (generic_bzero)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: len / 4 words, then len & 3 bytes after them: the caller's, upwards, because DF is clear by the
    // ABI.
    unsafe {
        core::arch::asm!(
            "rep stosd",
            "mov rcx, {rest}",
            "rep stosb",
            rest = in(reg) len & 3,
            inout("rcx") len / 4 => _,
            inout("rdi") dst => _,
            in("eax") 0_u32,
            options(nostack, preserves_flags)
        );
    }
}
