//! The etherparse crate's sum, `checksum::Sum16BitWords`, which takes a seed itself and works in native byte
//! order.

use crate::{Role, Routine, Variant, peer};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "etherparse",
    routine: Routine::Checksum(run),
    role: Role::Peer,
    summary: "etherparse's Sum16BitWords",
    provenance: "crate etherparse 0.21",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns len readable bytes.
    let data = unsafe { peer::bytes(data, len) };
    let sum = ::etherparse::checksum::Sum16BitWords::new().add_4bytes(seed.to_ne_bytes()).add_slice(data);
    u32::from(!sum.ones_complement())
}
