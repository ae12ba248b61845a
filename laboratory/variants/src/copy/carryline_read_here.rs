//! The `carryline` crate's copy for callers who read the copy immediately: without masked stores, because a
//! load would wait for them.

use crate::landing::{self, Landing};
use crate::{Routine, Variant};
use carryline::Next;
use carryline::internals::dispatch::Function;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline_read_here",
    routine: Routine::Copy(run),
    summary: "this project's library, with the copy declared read immediately",
    provenance: "library/carryline",
    call: Some("carryline::copy::bytes_with(.., Next::ReadHere)"),
    lands: Some(landing),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: both are valid for `len` bytes and do not overlap, as `bytes_raw_with` requires.
    unsafe { carryline::copy::bytes_raw_with(dst, src, len, Next::ReadHere) }
}

/// The code that a call reaches; see [`landing`](crate::landing).
fn landing() -> Landing {
    let kernel = landing::kernel(Function::Copy, carryline::internals::kernels::COPY);
    Landing::Routine(kernel.map_or(VARIANT.routine, |code| Routine::Copy(code.read_here)))
}
