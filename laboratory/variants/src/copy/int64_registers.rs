//! 64-bit integer registers, four loads and stores to a loop step: a copy that leaves the vector registers
//! alone.
//!
//! A kernel or an interrupt handler copies so, because vector state that it does not touch need not be saved.
//! No access may move across the compiler fences, which are not instructions, or the compiler would join the
//! words into vectors.

use crate::{Routine, Variant, edges};
use core::sync::atomic::{Ordering, compiler_fence};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "int64_registers",
    routine: Routine::Copy(run),
    summary: "64-bit integer registers, 32 bytes to a loop step",
    provenance: "evans-2018: 48 bytes of system call arguments through integer registers",
    ..Variant::PLAIN
};

/// # Safety
/// What [the family](super) asks of a caller.
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    if len < 8 {
        // SAFETY: the caller owns len bytes on both sides, fewer than 16.
        return unsafe { edges::copy_below_16(dst, src, len) };
    }
    // SAFETY: each step has its 32 or 8 bytes left on both sides; the last word ends where the caller's bytes
    // end and begins inside them, because len >= 8.
    unsafe {
        let mut to = dst;
        let mut from = src;
        let mut left = len;
        while left >= 32 {
            copy_word(to, from);
            copy_word(to.add(8), from.add(8));
            copy_word(to.add(16), from.add(16));
            copy_word(to.add(24), from.add(24));
            to = to.add(32);
            from = from.add(32);
            left = edges::keep_loop(left - 32);
        }
        while left >= 8 {
            copy_word(to, from);
            to = to.add(8);
            from = from.add(8);
            left = edges::keep_loop(left - 8);
        }
        copy_word(dst.add(len - 8), src.add(len - 8));
    }
}

/// # Safety
/// 8 bytes are readable at `src` and writable at `dst`.
#[inline(always)]
unsafe fn copy_word(dst: *mut u8, src: *const u8) {
    // SAFETY: 8 bytes are readable and writable by contract, at any alignment; any bytes are a u64.
    unsafe { dst.cast::<u64>().write_unaligned(src.cast::<u64>().read_unaligned()) };
    compiler_fence(Ordering::SeqCst);
}
