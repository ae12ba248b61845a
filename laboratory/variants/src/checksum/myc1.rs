//! 32-bit add-with-carry that adds the last word of every 16 bytes first, so that its line is fetched early.
//!
//! If the message begins at an odd address, the running sum is rotated by eight bits; there is no second loop
//! for odd parity. Messages of 64 bytes or more are first aligned to 16; shorter ones are not aligned.

use crate::{
    Role, Routine, Variant,
    chain32::{self, Rest, adc32_chain},
};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "myc1",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    summary: "32-bit add-with-carry, the last word of each 16 bytes first",
    provenance: "hannum-1996, implementation myc1",
    ..Variant::PLAIN
};

/// Shorter messages are not aligned.
const LEAST: usize = 64;

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: a head up to a multiple of 16, then blocks of 128 and of 32 bytes, then fewer than 32: the
    // caller's.
    unsafe {
        let Rest { mut sum, mut at, mut left, rotated } = match len {
            LEAST.. => chain32::add_head(seed, data, len, 16),
            _ => Rest { sum: seed, at: data, left: len, rotated: false },
        };
        while left >= 128 {
            adc32_chain!(sum, at, touch [], 12, 0, 4, 8, 28, 16, 20, 24, 44, 32, 36, 40, 60, 48, 52, 56, 76, 64, 68, 72, 92, 80, 84, 88, 108, 96, 100, 104, 124, 112, 116, 120);
            at = at.add(128);
            left -= 128;
        }
        while left >= 32 {
            adc32_chain!(sum, at, touch [], 12, 0, 4, 8, 28, 16, 20, 24);
            at = at.add(32);
            left -= 32;
        }
        let sum = chain32::add_tail(sum, at, left);
        if rotated { sum.rotate_left(8) } else { sum }
    }
}
