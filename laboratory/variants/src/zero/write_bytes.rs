//! Rust's `ptr::write_bytes`, which Rust programs use.
//!
//! With a length that the compiler does not know it becomes a call of the C library's memset, so the two
//! should tie; a difference between them is a difference of the calls, or noise.

use crate::c_library::CLibrary;
use crate::{Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "write_bytes",
    routine: Routine::Zero(run),
    summary: "Rust's ptr::write_bytes, a call of memset at unknown lengths",
    provenance: "Rust's core library",
    call: Some("ptr::write_bytes"),
    c_library: Some(CLibrary::AsInstalled),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: the caller owns len writable bytes; a null pointer is allowed if len is 0.
    unsafe { dst.write_bytes(0, len) };
}
