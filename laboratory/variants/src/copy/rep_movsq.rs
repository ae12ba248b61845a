//! `rep movsq`: whole 64-bit words by one string instruction.
//!
//! Bytes after the last whole word are covered by one more word that ends with the buffer and may overlap the
//! previous words, instead of a second string instruction that nearly always has nothing to do.

use crate::{Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "rep_movsq",
    routine: Routine::Copy(run),
    summary: "one rep movsq, the last bytes by an overlapping word",
    provenance: "evans-2018: the kernel's bcopy by words, without its second rep movs",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    if len < 8 {
        // SAFETY: the caller owns len bytes on both sides, fewer than 16.
        return unsafe { edges::copy_below_16(dst, src, len) };
    }
    // SAFETY: the string instruction copies len / 8 words, upwards, because DF is clear by the ABI; the word
    // copied after it ends where the caller's bytes end and begins inside them, because len >= 8.
    unsafe {
        core::arch::asm!(
            "rep movsq",
            inout("rcx") len / 8 => _,
            inout("rdi") dst => _,
            inout("rsi") src => _,
            options(nostack, preserves_flags)
        );
        let last = src.add(len - 8).cast::<u64>().read_unaligned();
        dst.add(len - 8).cast::<u64>().write_unaligned(last);
    }
}
