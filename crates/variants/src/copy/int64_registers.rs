//! 64-bit integer registers, four loads and stores to a loop step: a copy that leaves the vector registers alone.
//!
//! A kernel or an interrupt handler copies so, because vector state that it does not touch need not be saved.
//! No access may move across [`edges::keep_loop`], or the compiler would join the words into vectors.

use crate::{Lengths, Role, Routine, Variant, edges};
use carryline::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "int64_registers",
    routine: Routine::Copy(run),
    role: Role::Technique,
    needs: Features::NONE,
    lengths: Lengths::Any,
    summary: "64-bit integer registers, 32 bytes to a loop step",
    provenance: "evans-2018: 48 bytes of system call arguments through integer registers",
    known_bad: None,
};

unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    if len < 8 {
        // SAFETY: the caller owns len bytes on both sides, fewer than 16.
        return unsafe { edges::copy_below_16(dst, src, len) };
    }
    // SAFETY: each step has its 32 or 8 bytes left on both sides; the last word ends where the caller's bytes end
    // and begins inside them, because len >= 8.
    unsafe {
        let mut at = 0;
        while len - at >= 32 {
            copy_word(dst.add(at), src.add(at));
            copy_word(dst.add(at + 8), src.add(at + 8));
            copy_word(dst.add(at + 16), src.add(at + 16));
            copy_word(dst.add(at + 24), src.add(at + 24));
            at += 32;
        }
        while len - at >= 8 {
            copy_word(dst.add(at), src.add(at));
            at += 8;
        }
        copy_word(dst.add(len - 8), src.add(len - 8));
    }
}

/// # Safety
/// 8 bytes are readable at `src` and writable at `dst`.
#[inline(always)]
unsafe fn copy_word(dst: *mut u8, src: *const u8) {
    // SAFETY: the caller's obligation.
    unsafe { dst.cast::<u64>().write_unaligned(src.cast::<u64>().read_unaligned()) };
    edges::keep_loop();
}
