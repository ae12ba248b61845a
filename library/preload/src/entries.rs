//! The functions that programs call.
//!
//! Each looks at the table and jumps: all routines for copying support overlap. Everything else is in functions for the
//! slow path. Only this file has exported symbols; a test reads the list from the built library.

use crate::abort::buffer_overflow;
use crate::kernels::{are_apart, fill_portable, move_portable, zero_portable};
use crate::table::{CHOSEN, FAST, record};
use carryline_served::Function;
use core::ffi::c_int;

/// Copies, and returns `dst`.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes.
#[inline(always)]
unsafe fn copy(dst: *mut u8, src: *const u8, len: usize, function: Function) -> *mut u8 {
    // SAFETY: both are valid for `len` bytes by contract; the routine was chosen for this CPU.
    unsafe {
        match FAST.copy() {
            Some(routine) => routine(dst, src, len),
            None => copy_slowly(dst, src, len, function),
        }
    }
}

/// Copies on the slow path: counted calls, and calls before the constructor has run.
///
/// # Safety
/// As [`copy`].
#[inline(never)]
unsafe fn copy_slowly(dst: *mut u8, src: *const u8, len: usize, function: Function) -> *mut u8 {
    if let Some(page) = record() {
        page.count(function, len, !are_apart(dst, src, len) && !core::ptr::eq(dst, src));
    }
    // SAFETY: both are valid for `len` bytes by contract; the routine was chosen for this CPU. Early calls do not use a
    // pointer, which may not be relocated yet.
    unsafe {
        match CHOSEN.copy() {
            Some(routine) => routine(dst, src, len),
            None => move_portable(dst, src, len),
        }
    }
}

/// Zeroes, and returns `dst`.
///
/// # Safety
/// `dst` is valid for writes of `len` bytes.
#[inline(always)]
unsafe fn zero(dst: *mut u8, len: usize, function: Function) -> *mut u8 {
    // SAFETY: `dst` is valid for writes of `len` bytes by contract; the routine was chosen for this CPU.
    unsafe {
        match FAST.zero() {
            Some(routine) => routine(dst, len),
            None => zero_slowly(dst, len, function),
        }
    }
}

/// Zeroes on the slow path.
///
/// # Safety
/// As [`zero`].
#[inline(never)]
unsafe fn zero_slowly(dst: *mut u8, len: usize, function: Function) -> *mut u8 {
    if let Some(page) = record() {
        page.count(function, len, false);
    }
    // SAFETY: `dst` is valid for writes of `len` bytes by contract; the routine was chosen for this CPU.
    unsafe {
        match CHOSEN.zero() {
            Some(routine) => routine(dst, len),
            None => zero_portable(dst, len),
        }
    }
}

/// Called in a branch, lets the other one begin without a jump.
#[cold]
const fn unlikely() {}

/// # Safety
/// As [`zero`].
#[inline(always)]
unsafe fn set(dst: *mut u8, byte: c_int, len: usize) -> *mut u8 {
    // ISO C: the value is converted to an unsigned char.
    let byte = byte as u8;
    // SAFETY: `dst` is valid for writes of `len` bytes by contract; the routine was chosen for this CPU.
    unsafe {
        if byte != 0 {
            unlikely();
            return match FAST.fill() {
                Some(routine) => routine(dst, byte, len),
                None => fill_slowly(dst, byte, len),
            };
        }
        zero(dst, len, Function::MemsetZero)
    }
}

/// # Safety
/// As [`zero`].
#[inline(never)]
unsafe fn fill_slowly(dst: *mut u8, byte: u8, len: usize) -> *mut u8 {
    if let Some(page) = record() {
        page.count(Function::MemsetOther, len, false);
    }
    // SAFETY: `dst` is valid for writes of `len` bytes by contract; the routine was chosen for this CPU.
    unsafe {
        match CHOSEN.fill() {
            Some(routine) => routine(dst, byte, len),
            None => fill_portable(dst, byte, len),
        }
    }
}

/// The check of the checked forms: the compiler determined that the destination has `room` bytes.
#[inline(always)]
fn check(len: usize, room: usize) {
    if len > room {
        buffer_overflow();
    }
}

/// # Safety
/// As in ISO C, except that the buffers may overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcpy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: both are valid for `len` bytes by contract, and may overlap.
    unsafe { copy(dst, src, len, Function::Memcpy) }
}

/// # Safety
/// As in ISO C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memmove(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: both are valid for `len` bytes by contract, and may overlap.
    unsafe { copy(dst, src, len, Function::Memmove) }
}

/// # Safety
/// As [`memcpy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mempcpy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: both are valid for `len` bytes by contract, so one past the end of `dst` is in bounds.
    unsafe { copy(dst, src, len, Function::Mempcpy).add(len) }
}

/// # Safety
/// As [`memcpy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __mempcpy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: both are valid for `len` bytes by contract, and may overlap.
    unsafe { mempcpy(dst, src, len) }
}

/// The source comes before the destination, as in 4.2BSD.
///
/// # Safety
/// As [`memmove`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcopy(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: both are valid for `len` bytes by contract, and may overlap.
    unsafe { copy(dst, src, len, Function::Bcopy) };
}

/// # Safety
/// As in ISO C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memset(dst: *mut u8, byte: c_int, len: usize) -> *mut u8 {
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { set(dst, byte, len) }
}

/// # Safety
/// `dst` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bzero(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { zero(dst, len, Function::Bzero) };
}

/// # Safety
/// As [`bzero`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __bzero(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { bzero(dst, len) }
}

/// Zeroes secrets. A call into another library is never optimised away.
///
/// # Safety
/// As [`bzero`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn explicit_bzero(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { zero(dst, len, Function::ExplicitBzero) };
}

/// # Safety
/// As [`memcpy`], if `room` is correct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __memcpy_chk(dst: *mut u8, src: *const u8, len: usize, room: usize) -> *mut u8 {
    check(len, room);
    // SAFETY: both are valid for `len` bytes by contract, and may overlap.
    unsafe { memcpy(dst, src, len) }
}

/// # Safety
/// As [`memmove`], if `room` is correct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __memmove_chk(dst: *mut u8, src: *const u8, len: usize, room: usize) -> *mut u8 {
    check(len, room);
    // SAFETY: both are valid for `len` bytes by contract, and may overlap.
    unsafe { memmove(dst, src, len) }
}

/// # Safety
/// As [`mempcpy`], if `room` is correct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __mempcpy_chk(dst: *mut u8, src: *const u8, len: usize, room: usize) -> *mut u8 {
    check(len, room);
    // SAFETY: both are valid for `len` bytes by contract, and may overlap.
    unsafe { mempcpy(dst, src, len) }
}

/// # Safety
/// As [`memset`], if `room` is correct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __memset_chk(dst: *mut u8, byte: c_int, len: usize, room: usize) -> *mut u8 {
    check(len, room);
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { memset(dst, byte, len) }
}

/// # Safety
/// As [`explicit_bzero`], if `room` is correct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __explicit_bzero_chk(dst: *mut u8, len: usize, room: usize) {
    check(len, room);
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { explicit_bzero(dst, len) }
}
