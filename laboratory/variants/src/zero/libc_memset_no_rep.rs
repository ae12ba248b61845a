//! The C library's `memset` with its threshold for `rep stosb` out of reach, as newer versions have it by
//! default on many CPUs. The name is valid only in a process that was started accordingly; see
//! [`c_library`](crate::c_library).

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
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    // SAFETY: the caller owns len writable bytes.
    unsafe { libc::memset(dst.cast(), 0, len) };
}
