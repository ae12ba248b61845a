//! The article's second step: 40 bytes as 32 and 8, without the handling of odd addresses.
//!
//! Two blocks, with an end-around carry after each.

use crate::{Lengths, Role, Routine, Variant, checksum::adc_1_stream, ones_complement};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "no_odd_40",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    lengths: Lengths::Only(40),
    summary: "one chain over 32 and 8 bytes, two end-around carries",
    provenance: "vandeven-2021, unaligned handling removed",
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
    ones_complement::reduce(unsafe { adc_1_stream::chain(u64::from(seed), data, 40) })
}
