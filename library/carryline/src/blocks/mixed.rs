//! Small moves for mixed sizes: few branches on the length, because a mispredicted one costs more than the
//! moves.
//!
//! Four moves of one width for every length: two at the start and two that end with the buffer. They overlap
//! as needed; if two suffice, the inner ones repeat the outer ones.
//!
//! ```text
//! len 23: [ 0 .. 16 ]          len 50: [ 0 .. 16 ][ 16 .. 32 ]
//!            [ 7 .. 23 ]                    [ 18 .. 34 ][ 34 .. 50 ]
//! ```
//!
//! An immediate load of 8 bytes that were stored as two times 4 waits until both have left the store buffer:
//! callers who read the bytes immediately use `copy_up_to_32` and its kin, which branch.

use super::{Block, Block16, load, store};
use core::mem::MaybeUninit;

/// The offsets of the four moves of `bytes` each, a power of two: `len` is at least that and at most four times as much.
#[inline(always)]
pub(crate) fn places(len: usize, bytes: usize) -> [usize; 4] {
    let last = len - bytes;
    // One block further in if two would leave a gap: from 2 * bytes + 1 to 4 * bytes, this bit of (len - 1) / 2 is set.
    // A comparison takes four bytes of code more, with which the moves of 16 bytes do not fit into a line.
    let inner = ((len - 1) / 2) & bytes;
    [0, inner, last - inner, last]
}

/// # Safety
/// `B::BYTES <= len <= 4 * B::BYTES`, and `BYTES` is `B::BYTES`; `src` is valid for reads and `dst` for
/// writes of `len` bytes.
#[inline(always)]
unsafe fn copy_four<B: Block, const BYTES: usize>(dst: *mut u8, src: *const u8, len: usize) {
    let places = places(len, BYTES);
    // SAFETY: no offset exceeds len - BYTES: `inner` is at most `last`, since it is BYTES only if len is more
    // than twice that.
    unsafe {
        let blocks: [MaybeUninit<B>; 4] = places.map(|at| load(src.add(at)));
        store(dst.add(places[0]), blocks[0]);
        store(dst.add(places[1]), blocks[1]);
        store(dst.add(places[2]), blocks[2]);
        store(dst.add(places[3]), blocks[3]);
    }
}

/// # Safety
/// As [`copy_four`], without a source.
#[inline(always)]
unsafe fn zero_four<B: Block, const BYTES: usize>(dst: *mut u8, len: usize) {
    let places = places(len, BYTES);
    // SAFETY: no offset exceeds len - BYTES: `inner` is at most `last`, since it is BYTES only if len is more
    // than twice that.
    unsafe {
        store(dst.add(places[0]), B::zeroed());
        store(dst.add(places[1]), B::zeroed());
        store(dst.add(places[2]), B::zeroed());
        store(dst.add(places[3]), B::zeroed());
    }
}

/// Copies up to 64 bytes. All loads come before all stores.
///
/// # Safety
/// `len <= 64`; `src` is valid for reads and `dst` for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn copy_mixed_up_to_64(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has len between one and four of its blocks; 1 to 3 bytes are the first, the middle
    // and the last.
    unsafe {
        match len {
            16.. => copy_four::<Block16, 16>(dst, src, len),
            4.. => copy_four::<u32, 4>(dst, src, len),
            1.. => {
                let first: MaybeUninit<u8> = load(src);
                let middle: MaybeUninit<u8> = load(src.add(len / 2));
                let last: MaybeUninit<u8> = load(src.add(len - 1));
                store(dst, first);
                store(dst.add(len / 2), middle);
                store(dst.add(len - 1), last);
            }
            0 => {}
        }
    }
}

/// Zeroes up to 64 bytes.
///
/// # Safety
/// `len <= 64`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn zero_mixed_up_to_64(dst: *mut u8, len: usize) {
    // SAFETY: each branch has len between one and four of its blocks; 1 to 3 bytes are the first, the middle
    // and the last.
    unsafe {
        match len {
            16.. => zero_four::<Block16, 16>(dst, len),
            4.. => zero_four::<u32, 4>(dst, len),
            1.. => {
                dst.write(0);
                dst.add(len / 2).write(0);
                dst.add(len - 1).write(0);
            }
            0 => {}
        }
    }
}
