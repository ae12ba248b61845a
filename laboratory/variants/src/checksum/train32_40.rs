//! The article's sixth step: ten 32-bit words in four short trains, so that nothing is left to fold.
//!
//! Each of three trains of three words adds its own carry back; the seed, the tenth word and the three sums
//! form the last train.

use crate::{Lengths, Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "train32_40",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    lengths: Lengths::Only(40),
    summary: "ten 32-bit words in four trains, nothing to fold",
    provenance: "vandeven-2021, 32 bit only",
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
    let mut sum = seed;
    // SAFETY: reads ten 32-bit words from data on.
    unsafe {
        core::arch::asm!(
            "mov {a:e}, dword ptr [{data}]",
            "mov {b:e}, dword ptr [{data} + 4]",
            "mov {c:e}, dword ptr [{data} + 8]",
            "add {a:e}, dword ptr [{data} + 12]",
            "adc {a:e}, dword ptr [{data} + 16]",
            "adc {a:e}, 0",
            "add {b:e}, dword ptr [{data} + 20]",
            "adc {b:e}, dword ptr [{data} + 24]",
            "adc {b:e}, 0",
            "add {c:e}, dword ptr [{data} + 28]",
            "adc {c:e}, dword ptr [{data} + 32]",
            "adc {c:e}, 0",
            "add {sum:e}, dword ptr [{data} + 36]",
            "adc {sum:e}, {a:e}",
            "adc {sum:e}, {b:e}",
            "adc {sum:e}, {c:e}",
            "adc {sum:e}, 0",
            a = out(reg) _,
            b = out(reg) _,
            c = out(reg) _,
            sum = inout(reg) sum,
            data = in(reg) data,
            options(pure, readonly, nostack)
        );
    }
    sum
}
