//! One `rep stosb` for the whole buffer: the CPU's own loop.
//!
//! It takes some tens of cycles to start, then runs at a width chosen by the microcode; ERMS promises that
//! this is wide. Not for small sizes.

use crate::{Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "rep_stosb",
    routine: Routine::Zero(run),
    summary: "one rep stosb",
    provenance: "torvalds-2000: rep stosb against rep stosl over 4 KB",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: writes al to exactly the len bytes that the caller owns, upwards, because DF is clear by the
    // ABI.
    unsafe {
        core::arch::asm!(
            "rep stosb",
            inout("rcx") len => _,
            inout("rdi") dst => _,
            in("al") 0_u8,
            options(nostack, preserves_flags)
        );
    }
}
