//! `rep stosl` (Intel's `stosd`): whole 32-bit words by one string instruction.
//!
//! Bytes after the last whole word are covered by one more word that ends with the buffer and may overlap the
//! previous words, instead of a second string instruction that nearly always has nothing to do.

use crate::{Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "rep_stosl",
    routine: Routine::Zero(run),
    summary: "one rep stosl, the last bytes by an overlapping word",
    provenance: "torvalds-2000: 4 KB by rep stosl; evans-2003, row zero0",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    if len < 4 {
        // SAFETY: the caller owns len writable bytes, fewer than 16.
        return unsafe { edges::zero_below_16(dst, len) };
    }
    // SAFETY: the string instruction writes len / 4 words, upwards, because DF is clear by the ABI; the word
    // written after it ends where the caller's bytes end and begins inside them, because len >= 4.
    unsafe {
        core::arch::asm!(
            "rep stosd",
            inout("rcx") len / 4 => _,
            inout("rdi") dst => _,
            in("eax") 0_u32,
            options(nostack, preserves_flags)
        );
        dst.add(len - 4).cast::<u32>().write_unaligned(0);
    }
}
