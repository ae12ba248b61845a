//! The `carryline` crate's zeroing for callers who do not read the result soon: above a size that depends on
//! the CPU it uses non-temporal stores, with one fence at the end.

use crate::{Routine, Variant};
use carryline::Next;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline_not_soon",
    routine: Routine::Zero(run),
    summary: "this project's library, with the result declared not read soon",
    provenance: "library/carryline",
    call: Some("carryline::zero::fill_with(.., Next::NotSoon)"),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes, as `fill_raw_with` requires.
    unsafe { carryline::zero::fill_raw_with(dst, len, Next::NotSoon) }
}
