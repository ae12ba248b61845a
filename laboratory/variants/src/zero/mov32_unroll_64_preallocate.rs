//! Sixteen 32-bit stores per iteration of 64 bytes, after reading one word of them.
//!
//! The read brings the line into the cache before it is written, for CPUs whose stores do not. Where stores
//! allocate lines themselves, it is just another load to wait for.

use crate::{Role, Routine, Variant, unrolled::zero_by_32_bits};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "mov32_unroll_64_preallocate",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "32-bit stores, 64 bytes per iteration, the line read first",
    provenance: "evans-2003, row zero6 (unroll 64 preallocate)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: the caller owns len writable bytes, and whole steps of 64 of them are read from and stored to.
    unsafe {
        zero_by_32_bits!(dst, len, 64, reads [0], stores [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60])
    }
}
