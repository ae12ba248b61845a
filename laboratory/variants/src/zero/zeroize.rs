//! The zeroize crate: volatile stores, which the compiler may neither remove nor widen.

use crate::{Role, Routine, Variant, peer};
use ::zeroize::Zeroize;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "zeroize",
    routine: Routine::Zero(run),
    role: Role::Peer,
    summary: "zeroize's zeroing of a slice, which the compiler cannot remove",
    provenance: "crate zeroize 1.9",
    call: Some("zeroize"),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: the caller owns len bytes, which are initialised if a program has a secret in them.
    unsafe { peer::bytes_mut(dst, len) }.zeroize();
}
