//! Finds the first nonzero word by `repe scasl`, and zeroes from there on by `rep stosl`.
//!
//! The older of two routines that leave zeroed memory unchanged. If most pages are zero, it saves all writes;
//! if not, the scan stops early.

use crate::{Role, Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "i686_pagezero_scan",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "scan for a word that is not zero, rep stosl from there",
    provenance: "evans-2003, the i686_pagezero that the patch takes out",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    let words = len / 4;
    // SAFETY: reads words of the caller's bytes until one is nonzero, then writes from there to the last
    // whole word; fewer than 4 bytes remain. Upwards, because DF is clear by the ABI.
    unsafe {
        if words > 0 {
            core::arch::asm!(
                "repe scasd",
                "je 2f",
                // One word too far: goes back to the nonzero one.
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
