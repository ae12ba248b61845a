//! The C library's `memcpy`, which programs use by default.

use crate::c_library::CLibrary;
use crate::landing::Landing;
use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "libc_memcpy",
    routine: Routine::Copy(run),
    role: Role::Baseline,
    summary: "the C library's memcpy",
    provenance: "ISO C, string.h",
    call: Some("memcpy"),
    lands: Some(|| Landing::Move(libc::memcpy)),
    c_library: Some(CLibrary::AsInstalled),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller owns len bytes on both sides, which do not overlap.
    unsafe { libc::memcpy(dst.cast(), src.cast(), len) };
}
