//! The C library's bzero of 2003: bytes up to a word boundary, whole words, then the remaining bytes, by
//! three string instructions; fewer than 16 bytes by one.

use crate::{Role, Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "bzero_stosl",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "rep stosb to a word boundary, rep stosl, rep stosb",
    provenance: "evans-2003, row zeroE (the C library's bzero by stosl)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    let head = if len < 16 { len } else { edges::bytes_to_boundary(dst, 4, len) };
    let rest = len - head;
    // SAFETY: head bytes, rest / 4 words and rest & 3 bytes are consecutive and together the caller's len
    // bytes; upwards, because DF is clear by the ABI.
    unsafe {
        core::arch::asm!(
            "rep stosb",
            "mov rcx, {words}",
            "rep stosd",
            "mov rcx, {tail}",
            "rep stosb",
            words = in(reg) rest / 4,
            tail = in(reg) rest & 3,
            inout("rcx") head => _,
            inout("rdi") dst => _,
            in("eax") 0_u32,
            options(nostack, preserves_flags)
        );
    }
}
