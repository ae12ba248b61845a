//! The C interface of carryline: zeroing, copying and Internet checksums for C and C++.
//!
//! `include/carryline.h` is what C programs see. It is maintained by hand; a test compares its prototypes
//! with these. Every function calls the Rust library's `_raw` form, which jumps to the kernel chosen for the
//! CPU.
//!
//! `cargo xtask install --prefix P` builds the library for installation: without the crate feature `std`, and
//! with `panic = "abort"`. That library needs only libc. It does not read the environment, so
//! `CARRYLINE_FORCE`, `CARRYLINE_MASK` and `CARRYLINE_TUNING` have no effect on it. Rust programs should use
//! the crate `carryline`.
//!
//! Names follow the Rust library: `carryline::checksum::partial` is `carryline_checksum_partial`, methods of
//! `Sum` are `carryline_sum_...`, those of `Checksum` are `carryline_csum_...`. Both types are passed by
//! value and have a stable layout. Where an argument would make the Rust function panic, the C function
//! returns an error.
//!
//! Nothing here unwinds. A pointer may be null if its length is 0.
#![cfg_attr(not(feature = "std"), no_std)]

use core::ffi::{c_char, c_void};

pub mod memory;
#[cfg(not(feature = "std"))]
mod panic;
pub mod protocols;
pub mod routines;
pub mod sum;
pub mod transport;
pub mod tuning;
pub mod update;
pub mod zero_and_copy;

/// The one's-complement sum of `len` bytes and `seed`: [`carryline::checksum::partial`].
///
/// # Safety
/// `data` must be valid for reads of `len` initialised bytes; with `len` 0 it may be any pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_partial(data: *const c_void, len: usize, seed: u32) -> u32 {
    // SAFETY: `data` is valid for reads of `len` initialised bytes by contract.
    unsafe { carryline::checksum::partial_raw(data.cast(), len, seed) }
}

/// A sum reduced to 16 bits, not complemented: [`carryline::checksum::fold`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_checksum_fold(sum: u32) -> u16 {
    carryline::checksum::fold(sum)
}

/// The finished checksum of `len` bytes, as a number whose bytes in memory are the field's bytes on the wire:
/// [`carryline::checksum::internet`].
///
/// # Safety
/// `data` must be valid for reads of `len` initialised bytes; with `len` 0 it may be any pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_internet(data: *const c_void, len: usize) -> u16 {
    // SAFETY: `data` is valid for reads of `len` initialised bytes by contract.
    !carryline::checksum::fold(unsafe { carryline::checksum::partial_raw(data.cast(), len, 0) })
}

/// Copies `len` bytes from `src` to `dst`, which do not overlap, and returns the sum of the bytes and `seed`:
/// [`carryline::checksum::copy_and_sum`].
///
/// # Safety
/// `src` must be valid for reads of `len` initialised bytes and `dst` for writes of `len` bytes, and they
/// must not overlap; with `len` 0 they may be any pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_copy_and_sum(
    dst: *mut c_void,
    src: *const c_void,
    len: usize,
    seed: u32,
) -> u32 {
    // SAFETY: by contract, `src` is readable and initialised and `dst` is writable for `len` bytes, and they
    // do not overlap.
    unsafe { carryline::checksum::copy_and_sum_raw(dst.cast(), src.cast(), len, seed) }
}

/// The version of the library, such as `0.1.0`: a string that is valid as long as the library is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn carryline_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
