//! The `carryline` crate's zeroing of secrets, which the compiler cannot remove.

use crate::{Lengths, Role, Routine, Variant};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline_secret",
    routine: Routine::Zero(run),
    role: Role::Technique,
    needs: Features::NONE,
    lengths: Lengths::Any,
    summary: "this project's library, in the form that no compiler removes",
    provenance: "library/carryline",
    ..Variant::PLAIN
};

unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: the family's contract is this function's obligation.
    unsafe { carryline::zero::secret_raw(dst, len) }
}
