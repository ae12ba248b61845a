//! One pass through 64-bit registers: each word is loaded once, stored, and added to one of two sums.
//!
//! A move does not change the carry, so it fits between the adds of a chain. Steps of 64 bytes, 32 for each
//! of the two chains; then at most one step of 32 bytes, then the remaining bytes.

use crate::{Routine, Variant, edges, ones_complement};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "fused",
    routine: Routine::CopyChecksum(run),
    summary: "one pass: 64-bit load, store, add with carry in two chains",
    provenance: "Linux csum_partial_copy, as an idea; vandeven-2021, two streams",
    ..Variant::PLAIN
};

/// Copies four words and adds them to `$sum`.
macro_rules! copy_adc_chain {
    ($sum:ident, $dst:expr, $src:expr, $first:literal $(, $next:literal)*) => {
        core::arch::asm!(
            concat!("mov {word}, qword ptr [{src} + ", $first, "]"),
            concat!("mov qword ptr [{dst} + ", $first, "], {word}"),
            "add {sum}, {word}",
            $(
                concat!("mov {word}, qword ptr [{src} + ", $next, "]"),
                concat!("mov qword ptr [{dst} + ", $next, "], {word}"),
                "adc {sum}, {word}",
            )*
            "adc {sum}, 0",
            word = out(reg) _,
            sum = inout(reg) $sum,
            dst = in(reg) $dst,
            src = in(reg) $src,
            options(nostack)
        )
    };
}

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    let mut first = u64::from(seed);
    let mut second = 0_u64;
    let mut to = dst;
    let mut from = src;
    let mut left = len;
    // SAFETY: each step has 64 or 32 bytes left on both sides; fewer than 32 remain, and are read again after
    // they were copied, from a source that the copy did not change.
    unsafe {
        while left >= 64 {
            copy_adc_chain!(first, to, from, 0, 8, 16, 24);
            copy_adc_chain!(second, to, from, 32, 40, 48, 56);
            to = to.add(64);
            from = from.add(64);
            left -= 64;
        }
        if left >= 32 {
            copy_adc_chain!(first, to, from, 0, 8, 16, 24);
            to = to.add(32);
            from = from.add(32);
            left -= 32;
        }
        edges::copy_below_32(to, from, left);
        let first = ones_complement::add_rest(first, from, left);
        ones_complement::reduce(ones_complement::add(first, second))
    }
}
