//! The article's last step: no seed at all. Two chains of three and two words, and a fold.
//!
//! It ignores its seed, so it is correct only if the seed is zero ([`Lengths::OnlyUnseeded`]). In a chain of
//! calls that feed each sum into the next it waits for nothing, and this, more than the saved add, is what
//! the article measured.

use crate::{Lengths, Role, Routine, Variant, ones_complement};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "zero_sum_40",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    lengths: Lengths::OnlyUnseeded(40),
    summary: "three words and two in separate chains; the seed must be 0",
    provenance: "vandeven-2021, assume zero input",
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
    let _ignored = seed;
    let sum: u64;
    // SAFETY: reads five words from data on.
    unsafe {
        core::arch::asm!(
            "mov {other}, qword ptr [{data}]",
            "add {other}, qword ptr [{data} + 8]",
            "adc {other}, qword ptr [{data} + 16]",
            "adc {other}, 0",
            "mov {sum}, qword ptr [{data} + 24]",
            "add {sum}, qword ptr [{data} + 32]",
            "adc {sum}, {other}",
            "adc {sum}, 0",
            other = out(reg) _,
            sum = out(reg) sum,
            data = in(reg) data,
            options(pure, readonly, nostack)
        );
    }
    ones_complement::reduce(sum)
}
