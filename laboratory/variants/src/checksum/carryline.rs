//! The `carryline` crate's own public function, dispatch included.

use crate::landing::{self, Landing};
use crate::{Role, Routine, Variant};
use carryline::internals::dispatch::Function;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline",
    routine: Routine::Checksum(run),
    role: Role::Ours,
    summary: "this project's library, through its run-time dispatch",
    provenance: "library/carryline",
    call: Some("carryline::checksum::internet"),
    lands: Some(landing),
    ..Variant::PLAIN
};

/// # Safety
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: `data` is valid for reads of `len` initialised bytes, which is all that `partial_raw` asks.
    unsafe { carryline::checksum::partial_raw(data, len, seed) }
}

/// Where a program's call lands; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::Checksum, carryline::internals::kernels::CHECKSUM);
    Landing::Routine(kernel.map_or(VARIANT.routine, Routine::Checksum))
}
