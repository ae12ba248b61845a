//! Inlined copies of 48 bytes, and `rep movsb` of any length.

use super::BYTES;
use std::arch::asm;
use std::hint::black_box;

/// # Safety
/// No requirements; it is unsafe so that it has the same type as the others.
#[inline(always)]
pub(super) unsafe fn nothing(dst: *mut u8, src: *const u8) {
    // SAFETY: emits no instruction.
    unsafe { asm!("/* {0} {1} */", in(reg) dst, in(reg) src, options(nostack, preserves_flags)) };
}

/// # Safety
/// `len` bytes are readable at `src` and writable at `dst`, not overlapping.
#[inline(always)]
pub(crate) unsafe fn movsb(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller gives `len` bytes on both sides, not overlapping; DF is clear by the ABI.
    unsafe {
        asm!("rep movsb", inout("rdi") dst => _, inout("rsi") src => _, inout("rcx") len => _, options(nostack, preserves_flags));
    }
}

/// # Safety
/// 48 bytes are readable at `src` and writable at `dst`, not overlapping.
#[inline(always)]
pub(super) unsafe fn movsb_48(dst: *mut u8, src: *const u8) {
    // SAFETY: BYTES is 48, and the caller gives that many bytes on both sides, not overlapping.
    unsafe { movsb(dst, src, BYTES) };
}

/// # Safety
/// 48 bytes are readable at `src` and writable at `dst`, not overlapping.
#[inline(always)]
pub(super) unsafe fn movsb_any_48(dst: *mut u8, src: *const u8) {
    // SAFETY: BYTES is 48, and the caller gives that many bytes on both sides, not overlapping.
    unsafe { movsb(dst, src, black_box(BYTES)) };
}

/// # Safety
/// 48 bytes are readable at `src` and writable at `dst`, not overlapping.
#[inline(always)]
pub(super) unsafe fn movsq_48(dst: *mut u8, src: *const u8) {
    // SAFETY: 6 words, the caller's 48 bytes on both sides, not overlapping; DF is clear by the ABI.
    unsafe {
        asm!("rep movsq", inout("rdi") dst => _, inout("rsi") src => _, inout("rcx") BYTES / 8 => _, options(nostack, preserves_flags));
    }
}

/// # Safety
/// 48 bytes are readable at `src` and writable at `dst`, not overlapping.
#[inline(always)]
pub(super) unsafe fn registers_32(dst: *mut u8, src: *const u8) {
    // SAFETY: 12 words of the caller's 48 bytes on both sides.
    unsafe {
        asm!(
            ".set carryline_at, 0",
            ".rept 6",
            "mov {a:e}, [{src} + carryline_at]",
            "mov {b:e}, [{src} + carryline_at + 4]",
            "mov [{dst} + carryline_at], {a:e}",
            "mov [{dst} + carryline_at + 4], {b:e}",
            ".set carryline_at, carryline_at + 8",
            ".endr",
            src = in(reg) src, dst = in(reg) dst, a = out(reg) _, b = out(reg) _,
            options(nostack, preserves_flags)
        );
    }
}

/// # Safety
/// 48 bytes are readable at `src` and writable at `dst`, not overlapping.
#[inline(always)]
pub(crate) unsafe fn registers_64(dst: *mut u8, src: *const u8) {
    // SAFETY: 6 words of the caller's 48 bytes on both sides.
    unsafe {
        asm!(
            ".set carryline_at, 0",
            ".rept 3",
            "mov {a}, [{src} + carryline_at]",
            "mov {b}, [{src} + carryline_at + 8]",
            "mov [{dst} + carryline_at], {a}",
            "mov [{dst} + carryline_at + 8], {b}",
            ".set carryline_at, carryline_at + 16",
            ".endr",
            src = in(reg) src, dst = in(reg) dst, a = out(reg) _, b = out(reg) _,
            options(nostack, preserves_flags)
        );
    }
}

/// # Safety
/// 48 bytes are readable at `src` and writable at `dst`, not overlapping.
#[inline(always)]
pub(super) unsafe fn sse(dst: *mut u8, src: *const u8) {
    // SAFETY: three times 16 of the caller's 48 bytes on both sides; SSE2 is part of x86-64.
    unsafe {
        asm!(
            "movups {a}, [{src}]",
            "movups {b}, [{src} + 16]",
            "movups {c}, [{src} + 32]",
            "movups [{dst}], {a}",
            "movups [{dst} + 16], {b}",
            "movups [{dst} + 32], {c}",
            src = in(reg) src, dst = in(reg) dst, a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _,
            options(nostack, preserves_flags)
        );
    }
}
