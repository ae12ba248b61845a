//! The s2n-quic stack's sum, `inet::checksum::checksum`. On x86 it selects vector code at run time by itself,
//! so masking features for this project's kernels has no effect on it.
//!
//! It returns 0xffff if the complement is 0, as UDP requires, and so does not distinguish a sum of 0 from one
//! of 0xffff. The contract does: in this case the wrapper looks for a nonzero byte, which costs time only for
//! messages of zeros with seed 0.
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
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns len readable bytes.
    let data = unsafe { peer::bytes(data, len) };
    // The complement, as a number whose high byte comes first.
    let sum = u16::from_be(!::s2n_quic_core::inet::checksum::checksum(data));
    let sum = if sum == 0 && seed == 0 && data.iter().any(|byte| *byte != 0) { 0xffff } else { sum };
    peer::onto_seed(seed, sum)
}
