//! Two passes, with the C library's threshold for `rep movsb` out of reach. The name is valid only in a
//! process that was started accordingly; see [`c_library`](crate::c_library).

use super::memcpy_then_sum;
use crate::c_library::CLibrary;
use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "memcpy_then_sum_no_rep",
    routine: Routine::CopyChecksum(memcpy_then_sum::run),
    role: Role::Baseline,
    summary: "the C library's memcpy, its threshold for rep movsb raised, then one add-with-carry chain",
    provenance: "as memcpy_then_sum; GLIBC_TUNABLES, glibc.cpu.x86_rep_movsb_threshold (glibc 2.32)",
    call: Some("memcpy, then a sum, with GLIBC_TUNABLES"),
    c_library: Some(CLibrary::Raised(&memcpy_then_sum::VARIANT)),
    ..Variant::PLAIN
};
