//! Eight 32-bit stores per iteration of 32 bytes, after reading one word of them.
//!
//! The read brings the line into the cache before it is written, for CPUs whose stores do not. Where stores
//! allocate lines themselves, it is just another load to wait for.

use crate::{Role, Routine, Variant, unrolled::zero_by_32_bits};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "mov32_unroll_32_preallocate",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "32-bit stores, 32 bytes per iteration, the line read first",
    provenance: "evans-2003, row zero4 (unroll 32 preallocate)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: the caller owns len writable bytes, and whole steps of 32 of them are read from and stored to.
    unsafe { zero_by_32_bits!(dst, len, 32, reads [0], stores [0, 4, 8, 12, 16, 20, 24, 28]) }
}
