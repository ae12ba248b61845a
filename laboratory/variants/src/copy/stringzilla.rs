//! The StringZilla library's `sz_copy`, through its Rust interface.
//!
//! It detects the CPU's features itself when the program starts. [`peer::restrict_to`] removes those that are
//! masked for this project.

use crate::{Role, Routine, Variant, peer};
use carryline::internals::cpu::Features;
use core::ffi::c_uint;

/// The CPU features required by each bit of StringZilla's `sz_capability_t` (types.h, 5.3), for x86.
const CAPABILITIES: [(c_uint, Features); 3] = [
    // sz_cap_haswell_k
    (1 << 5, Features::AVX2),
    // sz_cap_skylake_k
    (1 << 6, Features::AVX512F.union(Features::AVX512BW).union(Features::AVX512VL)),
    // sz_cap_icelake_k
    (1 << 7, Features::AVX512F.union(Features::AVX512BW).union(Features::AVX512VL)),
];

unsafe extern "C" {
    safe fn sz_capabilities() -> c_uint;
    fn sz_dispatch_table_update(capabilities: c_uint);
}

/// Restricts StringZilla's dispatch to the features that are not masked.
///
/// # Safety
/// No other thread is calling StringZilla.
pub(crate) unsafe fn restrict_to(usable: Features) {
    let missing = CAPABILITIES.iter().filter(|(_, needs)| !usable.contains(*needs));
    let masked = missing.fold(0, |masked, (capability, _)| masked | capability);
    // SAFETY: it writes StringZilla's table of functions, which by contract nobody reads meanwhile.
    // Capabilities of the CPU are only removed, never added.
    unsafe { sz_dispatch_table_update(sz_capabilities() & !masked) };
}

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
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller owns len bytes on both sides, which do not overlap.
    let (target, source) = unsafe { (peer::bytes_mut(dst, len), peer::bytes(src, len)) };
    ::stringzilla::sz::copy(target, source);
}
