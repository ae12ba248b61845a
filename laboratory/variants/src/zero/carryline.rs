//! The public function of the `carryline` crate, including its dispatch.

use crate::landing::{self, Landing};
use crate::{Role, Routine, Variant};
use carryline::internals::dispatch::Function;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline",
    routine: Routine::Zero(run),
    role: Role::Ours,
    summary: "this project's library, through its run-time dispatch",
    provenance: "library/carryline",
    call: Some("carryline::zero::fill"),
    lands: Some(landing),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes, as `fill_raw` requires.
    unsafe { carryline::zero::fill_raw(dst, len) }
}

/// The code that a call reaches; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::Zero, carryline::internals::kernels::ZERO);
    Landing::Routine(kernel.map_or(VARIANT.routine, |code| Routine::Zero(code.zero)))
}
