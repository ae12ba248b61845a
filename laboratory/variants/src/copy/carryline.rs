//! The `carryline` crate's own public function, dispatch included.

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
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: both are valid for `len` bytes and do not overlap, which is all that `bytes_raw` asks.
    unsafe { carryline::copy::bytes_raw(dst, src, len) }
}

/// Where a program's call lands; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::Copy, carryline::internals::kernels::COPY);
    Landing::Routine(kernel.map_or(VARIANT.routine, |code| Routine::Copy(code.copy)))
}
