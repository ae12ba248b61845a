//! The `carryline` crate's zeroing for callers who read the bytes immediately: without masked stores, because
//! a load would wait for them.

use crate::landing::{self, Landing};
use crate::{Routine, Variant};
use carryline::Next;
use carryline::internals::dispatch::Function;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline_read_here",
    routine: Routine::Zero(run),
    summary: "this project's library, with the bytes declared read immediately",
    provenance: "library/carryline",
    call: Some("carryline::zero::fill_with(.., Next::ReadHere)"),
    lands: Some(landing),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes, as `fill_raw_with` requires.
    unsafe { carryline::zero::fill_raw_with(dst, len, Next::ReadHere) }
}

/// The code that a call reaches; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::Zero, carryline::internals::kernels::ZERO);
    Landing::Routine(kernel.map_or(VARIANT.routine, |code| Routine::Zero(code.read_here)))
}
