//! One `rep movsb` for the whole buffer: the CPU's own loop.
//!
//! It takes some tens of cycles to start, more with a misaligned destination, and then runs at a width chosen
//! by the microcode; ERMS promises that this is wide, FSRM that the start-up is short.

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
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: copies exactly the len bytes that the caller owns on both sides; upwards, because DF is clear
    // by the ABI.
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
