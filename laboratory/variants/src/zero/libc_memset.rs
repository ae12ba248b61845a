//! The C library's `memset`, which programs use by default.

use crate::c_library::CLibrary;
use crate::landing::Landing;
use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "libc_memset",
    routine: Routine::Zero(run),
    role: Role::Baseline,
    summary: "the C library's memset",
    provenance: "ISO C, string.h; torvalds-2000 times libc's bzero",
    call: Some("memset"),
    lands: Some(|| Landing::Set(libc::memset)),
    c_library: Some(CLibrary::AsInstalled),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: the caller owns len writable bytes.
    unsafe { libc::memset(dst.cast(), 0, len) };
}
