//! A plain loop of 32-bit stores, as compiled before vector instructions.
//!
//! The stores are volatile so that the compiler does not replace the loop by a call of memset.

use crate::{Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "mov32_loop",
    routine: Routine::Zero(run),
    summary: "32-bit stores in a plain loop",
    provenance: "evans-2003, row zero8 (movl)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    let head = edges::bytes_to_boundary(dst, 4, len);
    // SAFETY: head <= len; then the stores go to the multiples of 4 that have 4 bytes left before the end;
    // fewer than 4 bytes remain. All of them are the caller's.
    unsafe {
        edges::zero_below_16(dst, head);
        let mut word = dst.add(head);
        let mut left = len - head;
        while left >= 4 {
            word.cast::<u32>().write_volatile(0);
            word = word.add(4);
            left = edges::keep_loop(left - 4);
        }
        edges::zero_below_16(word, left);
    }
}
