//! Copying in programs for x86-64 without vectors, such as operating systems: by 8-byte moves, and by `rep movsb` where the profile
//! says so.
//!
//! The buffers do not overlap, so each block is stored before the next is loaded. With all loads first, as in
//! [`portable`](super::portable), there would be more words than registers: every call would save and load six of them, and those
//! of 65 to 128 bytes words besides. Loops and string instructions are functions of their own, because what they save costs short
//! calls time, and what is loaded after a string instruction waits until it has stored all bytes.
//!
//! Plug-ins in one process on Granite Rapids, twice, gross ticks per call at offset 0 and at random offsets, by `portable` with
//! `rep movsb` from the same size on, and by this: 40 bytes 7.1 and 7.7, 8.0 and 7.7; 100 11.4 and 12.3, 9.2 and 9.1; 1500 44.9 and
//! 52.1, 40.9 and 48.0; the fleet's memcpy-A 26.7 and 27.2, 25.8 and 26.2, memcpy-D 29.3 and 33.0, 28.5 and 31.7.
//!
//! `rep movsb` for all sizes, as Linux has it for CPUs that announce it to be fast when short, takes 16.8 and 19.9 for these two sets
//! there, and 7.2 for one size of up to 128 bytes, but 20.5 for 129 to 256, by this up to 19; and if the copy is read next, 8 to 40
//! bytes take 15 instead of 9 to 10, uncached 64 bytes 156 instead of 123, and calls that wait for each other 17 instead of 10.

use crate::blocks::{Block, Block16, READ_KEPT, copy_forward, load, places, rep_movsb, store};
use crate::intent::Plan;
use core::mem::MaybeUninit;

/// Selects the code by length.
///
/// # Safety
/// As [`bytes_raw`](super::bytes_raw).
pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len is within the bounds that each requires.
    unsafe {
        match len {
            65.. => above_64(dst, src, len),
            16.. => four::<Block16>(dst, src, len),
            4.. => four::<u32>(dst, src, len),
            1.. => {
                one::<u8>(dst, src, 0);
                one::<u8>(dst, src, len / 2);
                one::<u8>(dst, src, len - 1);
            }
            0 => {}
        }
    }
}

/// # Safety
/// `len > 64`; otherwise as [`bytes_raw`](super::bytes_raw).
#[inline(never)]
unsafe extern "C" fn above_64(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: len is within the bounds that each requires.
    unsafe {
        match len {
            ..=128 => eight(dst, src, len),
            _ if Plan::is_short_copy_by_string::<Block16>(dst, src, len) => by_string(dst, src, len),
            _ => by_loop(dst, src, len),
        }
    }
}

/// # Safety
/// `src` is valid for reads and `dst` for writes of a `T` at byte `at`.
#[inline(always)]
unsafe fn one<T: Block>(dst: *mut u8, src: *const u8, at: usize) {
    // SAFETY: both are valid there by contract.
    unsafe {
        let bytes: MaybeUninit<T> = load(src.add(at));
        store(dst.add(at), bytes);
    }
}

/// Four moves for every length, as in [`copy_mixed_up_to_64`](crate::blocks::copy_mixed_up_to_64).
///
/// # Safety
/// `size_of::<T>() <= len <= 4 * size_of::<T>()`; otherwise as [`bytes_raw`](super::bytes_raw).
#[inline(always)]
unsafe fn four<T: Block>(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: `places` gives offsets up to `len - size_of::<T>()`.
    unsafe {
        for at in places(len, size_of::<T>()) {
            one::<T>(dst, src, at);
        }
    }
}

/// Four blocks from either end, which overlap in the middle.
///
/// # Safety
/// `64 <= len <= 128`; otherwise as [`bytes_raw`](super::bytes_raw).
#[inline(always)]
unsafe fn eight(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: 64 bytes from the start and 64 up to the end lie within len.
    unsafe {
        for at in [0, 16, 32, 48, len - 64, len - 48, len - 32, len - 16] {
            one::<Block16>(dst, src, at);
        }
    }
}

/// `rep movsb`, after 64 bytes if the destination does not begin at a line, as in
/// [`copy_rep_movsb`](crate::blocks::copy_rep_movsb).
///
/// # Safety
/// `len >= 64`; otherwise as [`bytes_raw`](super::bytes_raw).
#[inline(never)]
unsafe extern "C" fn by_string(dst: *mut u8, src: *const u8, len: usize) {
    let skip = dst.addr().wrapping_neg() & 63;
    // SAFETY: `rep movsb` begins up to 63 bytes in and ends at len.
    unsafe {
        if skip != 0 {
            for at in [0, 16, 32, 48] {
                one::<Block16>(dst, src, at);
            }
        }
        rep_movsb(dst.add(skip), src.add(skip), len - skip);
    }
}

/// # Safety
/// `len > 128`; otherwise as [`bytes_raw`](super::bytes_raw).
#[inline(never)]
unsafe extern "C" fn by_loop(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the same contract; len is at least what the loop requires.
    unsafe { copy_forward::<Block16, READ_KEPT>(dst, src, len) }
}
