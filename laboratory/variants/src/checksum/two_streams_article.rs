//! Known to be wrong: the article's two streams for 40 bytes, which lose a carry.
//!
//! The fourth word of the first stream is added by `add`, which discards the carry out of the third.
//! [`adc_2_streams`](super::adc_2_streams) is the correct form.

use crate::{Lengths, Routine, Variant, ones_complement};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "two_streams_article",
    routine: Routine::Checksum(run),
    lengths: Lengths::Only(40),
    summary: "two chains over 40 bytes, with an add where an add-with-carry is needed",
    provenance: "vandeven-2021, listing of two streams without ADX",
    known_bad: Some("the carry out of the third word is dropped: 24 bytes of 0xff and 16 of 0 lose one"),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, _len: usize, seed: u32) -> u32 {
    let mut sum = u64::from(seed);
    // SAFETY: reads the 40 bytes that this length-40 variant is given.
    unsafe {
        core::arch::asm!(
            "mov {other}, qword ptr [{data}]",
            "add {other}, qword ptr [{data} + 8]",
            "adc {other}, qword ptr [{data} + 16]",
            "add {other}, qword ptr [{data} + 24]",
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
