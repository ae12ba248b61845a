//! OpenBSD's routine of 1996: 32-bit add-with-carry, sixteen words per iteration, at any address.
//!
//! Nothing is aligned, and no line is read in advance.

use crate::{
    Role, Routine, Variant,
    chain32::{self, adc32_chain},
};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "dr1",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    summary: "32-bit add-with-carry, 64 bytes per iteration",
    provenance: "hannum-1996, implementation dr1 (OpenBSD)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    let (mut sum, mut at, mut left) = (seed, data, len);
    // SAFETY: steps of 64, then at most one of 32, then fewer than 32 of the caller's bytes.
    unsafe {
        while left >= 64 {
            adc32_chain!(sum, at, touch [], 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
            at = at.add(64);
            left -= 64;
        }
        if left >= 32 {
            adc32_chain!(sum, at, touch [], 0, 4, 8, 12, 16, 20, 24, 28);
            at = at.add(32);
            left -= 32;
        }
        chain32::add_tail(sum, at, left)
    }
}
