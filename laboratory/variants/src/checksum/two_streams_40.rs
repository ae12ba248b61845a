//! The article's fifth step: the same two chains by plain add-with-carry, consecutive in the code and
//! parallel in the core.
//!
//! The article's listing has an add in place of one add-with-carry, but its program does not:
//! [`two_streams_article`](super::two_streams_article).

use crate::{Lengths, Role, Routine, Variant, ones_complement};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "two_streams_40",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    lengths: Lengths::Only(40),
    summary: "four words in one chain, the seed and the fifth in another",
    provenance: "vandeven-2021, two streams without ADX",
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
        core::arch::asm!(
            "mov {other}, qword ptr [{data}]",
            "add {other}, qword ptr [{data} + 8]",
            "adc {other}, qword ptr [{data} + 16]",
            "adc {other}, qword ptr [{data} + 24]",
            "adc {other}, 0",
            "add {sum}, qword ptr [{data} + 32]",
            "adc {sum}, {other}",
            "adc {sum}, 0",
            other = out(reg) _,
            sum = inout(reg) sum,
            data = in(reg) data,
            options(pure, readonly, nostack)
        );
    }
    ones_complement::reduce(sum)
}
