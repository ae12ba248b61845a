//! The `carryline` crate's copy for callers who do not read the result soon: above a size that depends on the
//! CPU it uses non-temporal stores, with one fence at the end.

use crate::{Routine, Variant};
use carryline::Next;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline_not_soon",
    routine: Routine::Copy(run),
    summary: "this project's library, with the copy declared not read soon",
    provenance: "library/carryline",
    call: Some("carryline::copy::bytes_with(.., Next::NotSoon)"),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: both are valid for `len` bytes and do not overlap, as `bytes_raw_with` requires.
    unsafe { carryline::copy::bytes_raw_with(dst, src, len, Next::NotSoon) }
}
