//! The C library's `memmove` with its threshold for `rep movsb` out of reach, as newer versions have it by
//! default on many CPUs. The name is valid only in a process that was started accordingly; see
//! [`c_library`](crate::c_library).

use crate::c_library::CLibrary;
use crate::landing::Landing;
use crate::{Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "libc_memmove_no_rep",
    routine: Routine::Copy(run),
    summary: "the C library's memmove, its threshold for rep movsb raised",
    provenance: "ISO C, string.h; GLIBC_TUNABLES, glibc.cpu.x86_rep_movsb_threshold (glibc 2.32)",
    call: Some("memmove, with GLIBC_TUNABLES"),
    lands: Some(|| Landing::Move(libc::memmove)),
    c_library: Some(CLibrary::Raised(&super::libc_memmove::VARIANT)),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller owns len bytes on both sides.
    unsafe { libc::memmove(dst.cast(), src.cast(), len) };
}
