//! The `carryline` crate's copy between buffers that may overlap, on buffers that do not: the cost of a
//! `memmove` built on it.

use crate::landing::{self, Landing};
use crate::{Routine, Variant};
use carryline::internals::dispatch::Function;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline_overlapping",
    routine: Routine::Copy(run),
    summary: "this project's library, in the form that allows overlap",
    provenance: "library/carryline",
    lands: Some(landing),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: both are valid for `len` bytes, as `within_raw` requires.
    unsafe { carryline::copy::within_raw(dst, src, len) }
}

/// The code that a call reaches; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::Copy, carryline::internals::kernels::COPY);
    Landing::Routine(kernel.map_or(VARIANT.routine, |code| Routine::Copy(code.overlapping)))
}
