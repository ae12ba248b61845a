//! `rep stosw`: 16-bit words by one string instruction, an odd last byte separately.

use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "rep_stosw",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "one rep stosw, an odd last byte separately",
    provenance: "the 16-bit form of evans-2003's rep stosl",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: len / 2 words, and the last byte if the length is odd: the caller's, upwards because the ABI
    // has DF clear.
    unsafe {
        core::arch::asm!(
            "rep stosw",
            inout("rcx") len / 2 => _,
            inout("rdi") dst => _,
            in("ax") 0_u16,
            options(nostack, preserves_flags)
        );
        if len & 1 != 0 {
            dst.add(len - 1).write(0);
        }
    }
}
