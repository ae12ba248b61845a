//! The C library's `memmove`: the cost, if any, of a copy that also supports overlap.

use crate::c_library::CLibrary;
use crate::landing::Landing;
use crate::{Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "libc_memmove",
    routine: Routine::Copy(run),
    summary: "the C library's memmove",
    provenance: "ISO C, string.h; evans-2018",
    call: Some("memmove"),
    lands: Some(|| Landing::Move(libc::memmove)),
    c_library: Some(CLibrary::AsInstalled),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller owns len bytes on both sides.
    unsafe { libc::memmove(dst.cast(), src.cast(), len) };
}
