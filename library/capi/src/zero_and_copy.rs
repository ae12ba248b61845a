//! Zeroing and copying.

use carryline::{Intent, Next, copy, zero};
use core::ffi::c_void;

/// Unknown: [`Next::Unknown`].
pub const CARRYLINE_NEXT_UNKNOWN: u32 = 0;
/// This core reads or writes them soon: [`Next::ReadHere`].
pub const CARRYLINE_NEXT_READ_HERE: u32 = 1;
/// Another core reads them soon: [`Next::ReadElsewhere`].
pub const CARRYLINE_NEXT_READ_ELSEWHERE: u32 = 2;
/// Not read soon: [`Next::NotSoon`].
pub const CARRYLINE_NEXT_NOT_SOON: u32 = 3;
/// A device reads them: [`Next::Device`].
pub const CARRYLINE_NEXT_DEVICE: u32 = 4;

/// What the program does with the bytes after a call: [`Intent`].
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct carryline_intent {
    /// One of the constants above. Other numbers, from a newer header, count as unknown.
    next: u32,
    /// Not 0 if the source of a copy is not needed again.
    source_done: u32,
    /// The size of the whole job if the call is a part of one, else 0.
    job_bytes: usize,
}

impl From<carryline_intent> for Intent {
    #[inline]
    fn from(intent: carryline_intent) -> Intent {
        let next = match intent.next {
            CARRYLINE_NEXT_READ_HERE => Next::ReadHere,
            CARRYLINE_NEXT_READ_ELSEWHERE => Next::ReadElsewhere,
            CARRYLINE_NEXT_NOT_SOON => Next::NotSoon,
            CARRYLINE_NEXT_DEVICE => Next::Device,
            _ => Next::Unknown,
        };
        let of_part = Intent::new(next).part_of(intent.job_bytes);
        if intent.source_done == 0 { of_part } else { of_part.source_done() }
    }
}

/// Zeroes `len` bytes at `dst`: [`carryline::zero::fill`].
///
/// # Safety
/// `dst` must be valid for writes of `len` bytes; with `len` 0 it may be any pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_zero(dst: *mut c_void, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { zero::fill_raw(dst.cast(), len) }
}

/// [`carryline_zero`] for callers that know what happens next: [`carryline::zero::fill_with`].
///
/// # Safety
/// As [`carryline_zero`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_zero_with(dst: *mut c_void, len: usize, intent: carryline_intent) {
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { zero::fill_raw_with(dst.cast(), len, intent) }
}

/// Zeroes `len` bytes at `dst` even if they are not read again: [`carryline::zero::secret`].
///
/// # Safety
/// As [`carryline_zero`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_zero_secret(dst: *mut c_void, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { zero::secret_raw(dst.cast(), len) }
}

/// Writes only the lines that are not already zero, and returns the number of bytes in these:
/// [`carryline::zero::if_dirty`].
///
/// # Safety
/// `dst` must be valid for reads and writes of `len` initialised bytes; with `len` 0 it may be any pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_zero_if_dirty(dst: *mut c_void, len: usize) -> usize {
    // SAFETY: `dst` is valid for reads and writes of `len` initialised bytes by contract.
    unsafe { zero::if_dirty_raw(dst.cast(), len) }
}

/// Copies `len` bytes from `src` to `dst`, which do not overlap: [`carryline::copy::bytes()`].
///
/// # Safety
/// `src` must be valid for reads and `dst` for writes of `len` bytes, and they must not overlap; with `len` 0
/// they may be any pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_copy(dst: *mut c_void, src: *const c_void, len: usize) {
    // SAFETY: by contract, `src` is readable and `dst` writable for `len` bytes, and they do not overlap.
    unsafe { copy::bytes_raw(dst.cast(), src.cast(), len) }
}

/// [`carryline_copy`] for callers that know what happens next: [`carryline::copy::bytes_with`].
///
/// # Safety
/// As [`carryline_copy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_copy_with(
    dst: *mut c_void,
    src: *const c_void,
    len: usize,
    intent: carryline_intent,
) {
    // SAFETY: by contract, `src` is readable and `dst` writable for `len` bytes, and they do not overlap.
    unsafe { copy::bytes_raw_with(dst.cast(), src.cast(), len, intent) }
}

/// Copies `len` bytes from `src` to `dst`, which may overlap: [`carryline::copy::within`].
///
/// # Safety
/// `src` must be valid for reads and `dst` for writes of `len` bytes; with `len` 0 they may be any pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_move(dst: *mut c_void, src: *const c_void, len: usize) {
    // SAFETY: `src` is readable and `dst` writable for `len` bytes by contract.
    unsafe { copy::within_raw(dst.cast(), src.cast(), len) }
}

/// [`carryline_move`] for callers that know what happens next: [`carryline::copy::within_with`].
///
/// # Safety
/// As [`carryline_move`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_move_with(
    dst: *mut c_void,
    src: *const c_void,
    len: usize,
    intent: carryline_intent,
) {
    // SAFETY: `src` is readable and `dst` writable for `len` bytes by contract.
    unsafe { copy::within_raw_with(dst.cast(), src.cast(), len, intent) }
}
