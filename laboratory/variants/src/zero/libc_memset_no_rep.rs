//! The C library's `memset` where its threshold for `rep stosb` is out of reach: what newer versions do by themselves on many
//! CPUs. It is that only in a process that was started so; see [`c_library`](crate::c_library).

use crate::c_library::CLibrary;
use crate::landing::Landing;
use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "libc_memset_no_rep",
    routine: Routine::Zero(run),
    role: Role::Baseline,
    summary: "the C library's memset, its threshold for rep stosb raised",
    provenance: "ISO C, string.h; GLIBC_TUNABLES, glibc.cpu.x86_rep_stosb_threshold (glibc 2.32)",
    call: Some("memset, with GLIBC_TUNABLES"),
    lands: Some(|| Landing::Set(libc::memset)),
    c_library: Some(CLibrary::Raised(&super::libc_memset::VARIANT)),
    ..Variant::PLAIN
};

/// # Safety
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: the caller owns len writable bytes.
    unsafe { libc::memset(dst.cast(), 0, len) };
}
