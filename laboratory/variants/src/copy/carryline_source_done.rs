//! The `carryline` crate's copy for callers who do not need the source again: above a size that depends on
//! the CPU the source is prefetched so that it evicts nothing else.

use crate::{Routine, Variant};
use carryline::{Intent, Next};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "carryline_source_done",
    routine: Routine::Copy(run),
    summary: "this project's library, with the source declared not needed again",
    provenance: "library/carryline",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    let intent = Intent::new(Next::Unknown).source_done();
    // SAFETY: both are valid for `len` bytes and do not overlap, as `bytes_raw_with` requires.
    unsafe { carryline::copy::bytes_raw_with(dst, src, len, intent) }
}
