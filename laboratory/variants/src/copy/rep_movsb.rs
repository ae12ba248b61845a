//! One `rep movsb` for the whole buffer: the CPU's own loop.
//!
//! Costs some tens of cycles to start, more with a misaligned destination, and then runs at the width that
//! the microcode likes; CPUs with ERMS promise that this is wide, those with FSRM that the start is short.

use crate::{Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "rep_movsb",
    routine: Routine::Copy(run),
    summary: "one rep movsb",
    provenance: "evans-2018: start-up and rate of rep movsb",
    ..Variant::PLAIN
};

/// # Safety
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: copies exactly the len bytes that the caller owns on both sides, upwards because the ABI has DF
    // clear.
    unsafe {
        core::arch::asm!(
            "rep movsb",
            inout("rcx") len => _,
            inout("rdi") dst => _,
            inout("rsi") src => _,
            options(nostack, preserves_flags)
        );
    }
}
