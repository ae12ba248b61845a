//! 64-bit integer registers, four loads and stores per iteration: a copy that leaves the vector registers
//! alone.
//!
//! Kernels and interrupt handlers copy this way, because vector state that is not used need not be saved.
//! Compiler fences, which emit no instruction, keep accesses from moving across them; otherwise the compiler
//! would combine the words into vectors.
//! words into vectors.

use crate::{Routine, Variant, edges};
use core::sync::atomic::{Ordering, compiler_fence};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "int64_registers",
    routine: Routine::Copy(run),
    summary: "64-bit integer registers, 32 bytes per iteration",
    provenance: "evans-2018: 48 bytes of system call arguments through integer registers",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    if len < 8 {
        // SAFETY: the caller owns len bytes on both sides, fewer than 16.
        return unsafe { edges::copy_below_16(dst, src, len) };
    }
    // SAFETY: each step has 32 or 8 bytes left on both sides; the last word ends at the end of the caller's
    // bytes and begins inside them, because len >= 8.
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
