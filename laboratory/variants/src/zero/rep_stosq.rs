//! `rep stosq`: whole 64-bit words by one string instruction.
//!
//! Bytes after the last whole word are covered by one more word that ends with the buffer and may overlap the
//! previous words, instead of a second string instruction that nearly always has nothing to do.

use crate::{Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "rep_stosq",
    routine: Routine::Zero(run),
    summary: "one rep stosq, the last bytes by an overlapping word",
    provenance: "the 64-bit form of evans-2003's rep stosl",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    if len < 8 {
        // SAFETY: the caller owns len writable bytes, fewer than 16.
        return unsafe { edges::zero_below_16(dst, len) };
    }
    // SAFETY: the string instruction writes len / 8 words, upwards, because DF is clear by the ABI; the word
    // written after it ends where the caller's bytes end and begins inside them, because len >= 8.
    unsafe {
        core::arch::asm!(
            "rep stosq",
            inout("rcx") len / 8 => _,
            inout("rdi") dst => _,
            in("rax") 0_u64,
            options(nostack, preserves_flags)
        );
        dst.add(len - 8).cast::<u64>().write_unaligned(0);
    }
}
