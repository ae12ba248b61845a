//! The article's third step: one chain over all five words, one end-around carry.
//!
//! Five adds, one for the carry, and three to fold 64 bits to 32: nine instructions, each waiting for the
//! previous one.

use crate::{
    Lengths, Role, Routine, Variant,
    ones_complement::{self, adc_chain},
};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "dead_code_40",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    lengths: Lengths::Only(40),
    summary: "one add-with-carry chain over five words",
    provenance: "vandeven-2021, dead code removed",
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
    let mut sum = u64::from(seed);
    // SAFETY: reads five words from data on.
    unsafe {
        adc_chain!(sum, data, 0, 8, 16, 24, 32);
    }
    ones_complement::reduce(sum)
}
