//! Four 32-bit stores per iteration of 16 bytes.

use crate::{Role, Routine, Variant, unrolled::zero_by_32_bits};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "mov32_unroll_16",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "32-bit stores, 16 bytes per iteration",
    provenance: "evans-2003, row zero1 (unroll 16)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: the caller owns len writable bytes, and whole steps of 16 of them are stored to.
    unsafe { zero_by_32_bits!(dst, len, 16, reads [], stores [0, 4, 8, 12]) }
}
