//! The smoltcp network stack's sum, `wire::checksum::data`.
//!
//! Its 32-bit accumulator overflows from 131,075 bytes of 0xff on; it is made for IP packets.

use crate::{Lengths, Role, Routine, Variant, peer};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "smoltcp",
    routine: Routine::Checksum(run),
    role: Role::Peer,
    lengths: Lengths::UpTo(65_535),
    summary: "smoltcp's portable loop, as the compiler vectorises it",
    provenance: "crate smoltcp 0.14",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns len readable bytes.
    let data = unsafe { peer::bytes(data, len) };
    // Not complemented, in network byte order.
    peer::onto_seed(seed, u16::from_be(::smoltcp::wire::checksum::data(data)))
}
