//! One `rep stosb` for the whole buffer: the CPU's own loop.
//!
//! Costs some tens of cycles to start, then runs at the width that the microcode likes; CPUs with ERMS
//! promise that this is wide. Not for small sizes.

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
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: writes al to exactly the len bytes that the caller owns, upwards because the ABI has DF clear.
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
