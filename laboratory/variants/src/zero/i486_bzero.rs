//! Blocks of 64 bytes by sixteen 32-bit stores, then of 16 by four, then the remaining bytes.
//!
//! The i486 had no fast string instructions.

use crate::{Role, Routine, Variant, unrolled::zero_by_32_bits};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "i486_bzero",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "32-bit stores in blocks of 64, then of 16 bytes",
    provenance: "evans-2003, row zeroB (i486_bzero)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    let chunks = len & !63;
    // SAFETY: the blocks of 64, then those of 16 in fewer than 64, then fewer than 16 bytes: the caller's.
    unsafe {
        zero_by_32_bits!(dst, chunks, 64, reads [], stores [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60]);
        zero_by_32_bits!(dst.add(chunks), len - chunks, 16, reads [], stores [0, 4, 8, 12]);
    }
}
