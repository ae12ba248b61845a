//! The routines as pointers, which spares callers a jump.

use carryline::internals::dispatch::{self, Routines};
use core::ffi::c_void;
use core::mem::offset_of;

/// The routines to which the functions of the same names jump.
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct carryline_routines {
    /// [`carryline_zero`](crate::zero_and_copy::carryline_zero).
    zero: unsafe extern "C" fn(dst: *mut c_void, len: usize),
    /// [`carryline_copy`](crate::zero_and_copy::carryline_copy).
    copy: unsafe extern "C" fn(dst: *mut c_void, src: *const c_void, len: usize),
    /// [`carryline_move`](crate::zero_and_copy::carryline_move).
    r#move: unsafe extern "C" fn(dst: *mut c_void, src: *const c_void, len: usize),
    /// [`carryline_checksum_partial`](crate::carryline_checksum_partial).
    checksum_partial: unsafe extern "C" fn(data: *const c_void, len: usize, seed: u32) -> u32,
    /// [`carryline_copy_and_sum`](crate::carryline_copy_and_sum).
    copy_and_sum: unsafe extern "C" fn(dst: *mut c_void, src: *const c_void, len: usize, seed: u32) -> u32,
}

// The same pointers, but for the type that they point to.
const _: () = {
    assert!(offset_of!(carryline_routines, zero) == offset_of!(Routines, zero));
    assert!(offset_of!(carryline_routines, copy) == offset_of!(Routines, copy));
    assert!(offset_of!(carryline_routines, r#move) == offset_of!(Routines, overlapping));
    assert!(offset_of!(carryline_routines, checksum_partial) == offset_of!(Routines, checksum));
    assert!(offset_of!(carryline_routines, copy_and_sum) == offset_of!(Routines, copy_and_sum));
};

/// The routines in force: never null, and valid as long as the library is loaded. `carryline_tuning_load` may replace
/// each pointer, by one atomic store.
#[unsafe(no_mangle)]
pub extern "C" fn carryline_routines_in_force() -> *const carryline_routines {
    dispatch::routines().cast()
}
