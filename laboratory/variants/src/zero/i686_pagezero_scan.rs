//! Looks for the first word that is not zero by `repe scasl`, and zeroes from there on by `rep stosl`.
//!
//! The older of two routines that leave alone what is zero already. Where most pages are, it saves all writes; where
//! they are not, the scan stops at once.

use crate::{Role, Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "i686_pagezero_scan",
    routine: Routine::Zero(run),
    role: Role::Seed,
    summary: "scan for a word that is not zero, rep stosl from there",
    provenance: "evans-2003, the i686_pagezero that the patch takes out",
    ..Variant::PLAIN
};

/// # Safety
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    let words = len / 4;
    // SAFETY: reads words of the caller's bytes until one is not zero, then writes from there to the last whole word;
    // fewer than 4 bytes remain. Upwards, because the ABI has DF clear.
    unsafe {
        if words > 0 {
            core::arch::asm!(
                "repe scasd",
                "je 2f",
                // One word too far: back to the one that is not zero.
                "inc rcx",
                "sub rdi, 4",
                "rep stosd",
                "2:",
                inout("rcx") words => _,
                inout("rdi") dst => _,
                in("eax") 0_u32,
                options(nostack)
            );
        }
        edges::zero_below_16(dst.add(4 * words), len & 3);
    }
}
