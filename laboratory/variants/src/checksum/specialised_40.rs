//! The article's first step: the baseline for exactly 40 bytes, so that the compiler removes the loops.
//!
//! Odd addresses are still handled separately; see [`odd_address_swap`].

use crate::{Lengths, Role, Routine, Variant, checksum::odd_address_swap};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "specialised_40",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    lengths: Lengths::Only(40),
    summary: "the baseline with the length fixed at 40, odd addresses handled separately",
    provenance: "vandeven-2021, specialised for 40 bytes, with the seed's byte order fixed",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, _len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns the 40 bytes.
    unsafe { sum(data, seed) }
}

/// The same, for callers that inline it.
///
/// # Safety
/// `data` is valid for reads of 40 bytes.
#[inline(always)]
pub unsafe fn sum(data: *const u8, seed: u32) -> u32 {
    // SAFETY: 40 bytes are readable by contract.
    unsafe { odd_address_swap::sum(data, 40, seed) }
}
