//! Four sums, each with its own add-with-carry chain: twice [`adc_2_streams`], in steps of 256 bytes.
//!
//! A chain adds one word per cycle. Two do not keep a CPU busy that can add more than two words with carry in a cycle. What is left
//! after the steps is added by two.

use super::adc_2_streams;
use crate::{
    Routine, Variant,
    ones_complement::{self, adc_chain},
};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "adc_4_streams",
    routine: Routine::Checksum(run),
    summary: "four add-with-carry chains, 256 bytes per iteration",
    provenance: "vandeven-2021, two streams without ADX, doubled, as in the kernel adc of library/carryline",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    let (mut first, mut second, mut third, mut fourth) = (u64::from(seed), 0_u64, 0_u64, 0_u64);
    let mut at = data;
    let mut left = len;
    // SAFETY: at least 256 bytes are left of what the caller owns in the loop, and `left` after it.
    unsafe {
        while left >= 256 {
            adc_chain!(first, at, 0, 8, 16, 24, 32, 40, 48, 56);
            adc_chain!(second, at, 64, 72, 80, 88, 96, 104, 112, 120);
            adc_chain!(third, at, 128, 136, 144, 152, 160, 168, 176, 184);
            adc_chain!(fourth, at, 192, 200, 208, 216, 224, 232, 240, 248);
            at = at.add(256);
            left -= 256;
        }
        first = ones_complement::add(first, third);
        second = ones_complement::add(second, fourth);
        ones_complement::reduce(adc_2_streams::chains(first, second, at, left))
    }
}
