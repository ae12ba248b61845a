//! The pnet_packet crate's sum, `util::checksum`: big-endian words, one at a time.
//!
//! It can skip the word of a packet's own checksum field; here none is skipped. For an empty message it
//! returns 0 instead of the complement of 0, which the wrapper corrects. Its 32-bit accumulator overflows
//! from 131,075 bytes of 0xff on; it is made for IP packets.

use crate::{Lengths, Role, Routine, Variant, peer};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "pnet",
    routine: Routine::Checksum(run),
    role: Role::Peer,
    lengths: Lengths::UpTo(65_535),
    summary: "pnet's big-endian words, one at a time",
    provenance: "crate pnet_packet 0.35",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    if len == 0 {
        return seed;
    }
    // SAFETY: the caller owns len readable bytes.
    let data = unsafe { peer::bytes(data, len) };
    // A word index beyond any slice skips nothing. The result is a number whose high byte comes first.
    peer::onto_seed(seed, u16::from_be(!::pnet_packet::util::checksum(data, usize::MAX)))
}
