//! One byte at a time: the frozen form that every verification compares with.

use crate::{Role, Routine, Variant};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "reference",
    routine: Routine::Zero(run),
    role: Role::Reference,
    summary: "one byte at a time",
    provenance: "the definition",
    ..Variant::PLAIN
};

/// # Safety
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    for i in 0..len {
        // SAFETY: i < len, and the caller owns len writable bytes. Volatile, or the loop becomes a call of memset.
        unsafe { dst.add(i).write_volatile(0) };
    }
}
