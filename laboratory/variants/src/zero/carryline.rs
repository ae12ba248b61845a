//! The `carryline` crate's own public function, dispatch included.

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
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes, which is all that `fill_raw` asks.
    unsafe { carryline::zero::fill_raw(dst, len) }
}

/// Where a program's call lands; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::Zero, carryline::internals::kernels::ZERO);
    Landing::Routine(kernel.map_or(VARIANT.routine, |code| Routine::Zero(code.zero)))
}
