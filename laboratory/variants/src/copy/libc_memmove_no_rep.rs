//! The C library's `memmove` where its threshold for `rep movsb` is out of reach: what newer versions do by themselves on many
//! CPUs. It is that only in a process that was started so; see [`c_library`](crate::c_library).

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
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller owns len bytes on both sides.
    unsafe { libc::memmove(dst.cast(), src.cast(), len) };
}
