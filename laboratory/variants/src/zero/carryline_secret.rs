//! The `carryline` crate's zeroing of secrets, which the compiler cannot remove.

use crate::{Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline_secret",
    routine: Routine::Zero(run),
    summary: "this project's library, in the form that no compiler removes",
    provenance: "library/carryline",
    call: Some("carryline::zero::secret"),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes, as `secret_raw` requires.
    unsafe { carryline::zero::secret_raw(dst, len) }
}
