//! The C library's `memcpy` with its threshold for `rep movsb` out of reach, as newer versions have it by
//! default on many CPUs. The name is valid only in a process that was started accordingly; see
//! [`c_library`](crate::c_library).

use crate::c_library::CLibrary;
use crate::landing::Landing;
use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "libc_memcpy_no_rep",
    routine: Routine::Copy(run),
    role: Role::Baseline,
    summary: "the C library's memcpy, its threshold for rep movsb raised",
    provenance: "ISO C, string.h; GLIBC_TUNABLES, glibc.cpu.x86_rep_movsb_threshold (glibc 2.32)",
    call: Some("memcpy, with GLIBC_TUNABLES"),
    lands: Some(|| Landing::Move(libc::memcpy)),
    c_library: Some(CLibrary::Raised(&super::libc_memcpy::VARIANT)),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller owns len bytes on both sides, which do not overlap.
    unsafe { libc::memcpy(dst.cast(), src.cast(), len) };
}
