//! The public function of the `carryline` crate, including its dispatch.

use crate::landing::{self, Landing};
use crate::{Role, Routine, Variant};
use carryline::internals::dispatch::Function;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline",
    routine: Routine::CopyChecksum(run),
    role: Role::Ours,
    summary: "this project's library, through its run-time dispatch",
    provenance: "library/carryline",
    call: Some("carryline::checksum::copy_and_sum"),
    lands: Some(landing),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: valid for `len` bytes, the source's initialised, and no overlap, as `copy_and_sum_raw`
    // requires.
    unsafe { carryline::checksum::copy_and_sum_raw(dst, src, len, seed) }
}

/// The code that a call reaches; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::CopyAndSum, carryline::internals::kernels::COPY_AND_SUM);
    Landing::Routine(kernel.map_or(VARIANT.routine, Routine::CopyChecksum))
}
