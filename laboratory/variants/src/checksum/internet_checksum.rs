//! Known to be wrong: Fuchsia's internet-checksum, which carries through a 128-bit accumulator and loses a
//! carry when adding the last one overflows.
//!
//! Built with overflow checks it panics there instead, and the panic ends the process, since this is called
//! from C.

use crate::{Role, Routine, Variant, peer};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "internet_checksum",
    routine: Routine::Checksum(run),
    role: Role::Peer,
    summary: "Fuchsia's crate: 128-bit adds with carry from 64 bytes on",
    provenance: "crate internet-checksum 0.2.1",
    known_bad: Some(
        "drops a carry: 32 bytes of 0xff, a little-endian 128-bit 1 and 16 zero bytes give ff ff where fe ff is \
         right; with overflow checks it panics there",
    ),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns len readable bytes.
    let data = unsafe { peer::bytes(data, len) };
    // The two bytes are the complement in memory order, so native order.
    peer::onto_seed(seed, !u16::from_ne_bytes(::internet_checksum::checksum(data)))
}
