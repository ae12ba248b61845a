//! One byte at a time: the form that verification compares with. It never changes.

use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "reference",
    routine: Routine::CopyChecksum(run),
    role: Role::Reference,
    summary: "one byte at a time",
    provenance: "the definition, and RFC 1071, section 1",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: both callees require no more than this family's contract gives.
    unsafe {
        let (Routine::Copy(copy), Routine::Checksum(sum)) =
            (crate::copy::reference::VARIANT.routine, crate::checksum::reference::VARIANT.routine)
        else {
            unreachable!("the reference of each family has the signature of its family")
        };
        copy(dst, src, len);
        sum(src, len, seed)
    }
}
