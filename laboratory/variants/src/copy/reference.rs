//! One byte at a time: the form that verification compares with. It never changes.

use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "reference",
    routine: Routine::Copy(run),
    role: Role::Reference,
    summary: "one byte at a time",
    provenance: "the definition",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    for i in 0..len {
        // SAFETY: i < len, and the caller owns len bytes on both sides. Volatile, so that the loop does not
        // become a call of memcpy.
        unsafe { dst.add(i).write_volatile(src.add(i).read()) };
    }
}
