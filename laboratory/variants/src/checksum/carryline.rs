//! The public function of the `carryline` crate, including its dispatch.

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
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: `data` is valid for reads of `len` initialised bytes, as `partial_raw` requires.
    unsafe { carryline::checksum::partial_raw(data, len, seed) }
}

/// The code that a call reaches; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::Checksum, carryline::internals::kernels::CHECKSUM);
    Landing::Routine(kernel.map_or(VARIANT.routine, Routine::Checksum))
}
