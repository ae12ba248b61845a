//! The public function of the `carryline` crate, including its dispatch.

use crate::landing::{self, Landing};
use crate::{Role, Routine, Variant};
use carryline::internals::dispatch::Function;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline",
    routine: Routine::Copy(run),
    role: Role::Ours,
    summary: "this project's library, through its run-time dispatch",
    provenance: "library/carryline",
    call: Some("carryline::copy::bytes"),
    lands: Some(landing),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: both are valid for `len` bytes and do not overlap, as `bytes_raw` requires.
    unsafe { carryline::copy::bytes_raw(dst, src, len) }
}

/// The code that a call reaches; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::Copy, carryline::internals::kernels::COPY);
    Landing::Routine(kernel.map_or(VARIANT.routine, |code| Routine::Copy(code.copy)))
}
