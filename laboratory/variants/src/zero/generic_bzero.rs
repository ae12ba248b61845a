//! `rep stosl` for the whole words, then `rep stosb` for what is left, even where nothing is.
//!
//! Two string instructions, of which the second nearly always starts for nothing; compare
//! [`rep_stosl`](super::rep_stosl).

use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "generic_bzero",
    routine: Routine::Zero(run),
    role: Role::Seed,
    summary: "rep stosl, then rep stosb for the rest",
    provenance: "evans-2003, row zeroA (generic_bzero)",
    ..Variant::PLAIN
};

/// # Safety
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: len / 4 words, then len & 3 bytes behind them: the caller's, upwards because the ABI has DF clear.
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
