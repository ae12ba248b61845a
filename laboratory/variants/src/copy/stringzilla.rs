//! The StringZilla library's `sz_copy`, through its Rust interface.
//!
//! It finds the CPU's features itself, so that masking features for this project's kernels does not bind it.

use crate::{Role, Routine, Variant, peer};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "stringzilla",
    routine: Routine::Copy(run),
    role: Role::Peer,
    summary: "StringZilla's copy, with its own dispatch",
    provenance: "crate stringzilla 5.3",
    ..Variant::PLAIN
};

/// # Safety
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller owns len bytes on both sides, which do not overlap.
    let (target, source) = unsafe { (peer::bytes_mut(dst, len), peer::bytes(src, len)) };
    ::stringzilla::sz::copy(target, source);
}
