//! 32-bit add-with-carry from a line boundary on; a byte of each line is read before its words are added.
//!
//! The Pentium's lines were 32 bytes long, and an add that missed stalled the next one, while a plain load
//! did not. The message is aligned to a word first, then to a line; short messages never reach a line
//! boundary.

use crate::{
    Role, Routine, Variant,
    chain32::{self, Rest, adc32_chain},
};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "bde1",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    summary: "32-bit add-with-carry by lines, each touched before it is added",
    provenance: "hannum-1996, implementation bde1",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: a head up to a line boundary, then lines of 32 bytes, then fewer than 32: the caller's bytes.
    unsafe {
        let Rest { mut sum, mut at, mut left, rotated } = chain32::add_head(seed, data, len, 32);
        while left >= 128 {
            adc32_chain!(sum, at, touch [31, 63, 95, 127], 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124);
            at = at.add(128);
            left -= 128;
        }
        while left >= 32 {
            adc32_chain!(sum, at, touch[31], 0, 4, 8, 12, 16, 20, 24, 28);
            at = at.add(32);
            left -= 32;
        }
        let sum = chain32::add_tail(sum, at, left);
        if rotated { sum.rotate_left(8) } else { sum }
    }
}
