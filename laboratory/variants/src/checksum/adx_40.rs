//! The article's fourth step: two chains, one by adcx in CF and one by adox in OF.
//!
//! The first four words form their own chain; the seed is added to the fifth word and then to that chain's
//! sum.

use crate::{Lengths, Role, Routine, Variant, ones_complement};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "adx_40",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    needs: Features::ADX,
    lengths: Lengths::Only(40),
    summary: "four words by adcx, the seed and the fifth by adox",
    provenance: "vandeven-2021, using ADX",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, _len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns the 40 bytes, and the CPU has ADX.
    unsafe { sum(data, seed) }
}

/// The same, for callers that inline it.
///
/// # Safety
/// `data` is valid for reads of 40 bytes, and the CPU has ADX.
#[inline(always)]
pub unsafe fn sum(data: *const u8, seed: u32) -> u32 {
    let mut sum = u64::from(seed);
    // SAFETY: reads five words from data on.
    unsafe {
        core::arch::asm!(
            // Clears both flags.
            "xor {zero:e}, {zero:e}",
            "mov {other}, qword ptr [{data}]",
            "adcx {other}, qword ptr [{data} + 8]",
            "adcx {other}, qword ptr [{data} + 16]",
            "adcx {other}, qword ptr [{data} + 24]",
            "adcx {other}, {zero}",
            "adox {sum}, qword ptr [{data} + 32]",
            "adox {sum}, {other}",
            "adox {sum}, {zero}",
            zero = out(reg) _,
            other = out(reg) _,
            sum = inout(reg) sum,
            data = in(reg) data,
            options(pure, readonly, nostack)
        );
    }
    ones_complement::reduce(sum)
}
