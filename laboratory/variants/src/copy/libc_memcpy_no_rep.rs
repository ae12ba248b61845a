//! The C library's `memcpy` where its threshold for `rep movsb` is out of reach: what newer versions do by themselves on many
//! CPUs. It is that only in a process that was started so; see [`c_library`](crate::c_library).

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
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller owns len bytes on both sides, which do not overlap.
    unsafe { libc::memcpy(dst.cast(), src.cast(), len) };
}
