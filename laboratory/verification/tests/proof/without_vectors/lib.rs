//! The library's routines under names for plug-ins. Compiled by the test beside this folder for a target without vectors.
#![no_std]

use carryline::{Next, checksum, copy, zero};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// # Safety
/// As [`zero::fill_raw`].
#[unsafe(no_mangle)]
unsafe extern "C" fn nv_zero(dst: *mut u8, len: usize) {
    // SAFETY: the same contract.
    unsafe { zero::fill_raw(dst, len) }
}

/// # Safety
/// As [`zero::fill_raw_with`].
#[unsafe(no_mangle)]
unsafe extern "C" fn nv_zero_not_soon(dst: *mut u8, len: usize) {
    // SAFETY: the same contract.
    unsafe { zero::fill_raw_with(dst, len, Next::NotSoon) }
}

/// # Safety
/// As [`copy::bytes_raw`].
#[unsafe(no_mangle)]
unsafe extern "C" fn nv_copy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: the same contract.
    unsafe { copy::bytes_raw(dst, src, len) };
    dst
}

/// # Safety
/// As [`copy::within_raw`].
#[unsafe(no_mangle)]
unsafe extern "C" fn nv_move(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: the same contract.
    unsafe { copy::within_raw(dst, src, len) };
    dst
}

/// # Safety
/// As [`checksum::partial_raw`].
#[unsafe(no_mangle)]
unsafe extern "C" fn nv_sum(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract.
    unsafe { checksum::partial_raw(data, len, seed) }
}

/// # Safety
/// As [`checksum::copy_and_sum_raw`].
#[unsafe(no_mangle)]
unsafe extern "C" fn nv_copy_and_sum(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract.
    unsafe { checksum::copy_and_sum_raw(dst, src, len, seed) }
}
