//! The s2n-quic stack's sum, `inet::checksum::checksum`: vectors on x86, found at run time by itself, so that
//! masking features for this project's kernels does not bind it.
//!
//! It answers 0xffff where the complement is 0, as UDP wants it, and so does not tell a sum of 0 from one of
//! 0xffff. The contract does: where the answer can be either, the wrapper looks for a byte that is not zero.
//! That costs nothing but for messages of zeros with seed 0.
//!
//! Its vector path is off by one from 65,556 bytes of ones on; it is made for datagrams.

use crate::{Lengths, Role, Routine, Variant, peer};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "s2n_quic",
    routine: Routine::Checksum(run),
    role: Role::Peer,
    lengths: Lengths::UpTo(65_535),
    summary: "s2n-quic's checksum, with its own dispatch to vectors",
    provenance: "crate s2n-quic-core 0.91",
    ..Variant::PLAIN
};

/// # Safety
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns len readable bytes.
    let data = unsafe { peer::bytes(data, len) };
    // The complement, as a number whose high byte comes first.
    let sum = u16::from_be(!::s2n_quic_core::inet::checksum::checksum(data));
    let sum = if sum == 0 && seed == 0 && data.iter().any(|byte| *byte != 0) { 0xffff } else { sum };
    peer::onto_seed(seed, sum)
}
