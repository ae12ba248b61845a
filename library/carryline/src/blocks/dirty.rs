//! Reading before writing: stores only to lines with a nonzero byte.

use super::{Block, LINE_BYTES, bytes_to_multiple, load, store, zero_up_to_64};
use core::sync::atomic::{Ordering, compiler_fence};

/// Zeroes the lines of `dst` that are not already zero, and the partial lines at both ends likewise, and
/// returns the number of bytes written. Lines are stored as blocks of `B`.
///
/// # Safety
/// `dst` is valid for reads and writes of `len` initialised bytes.
#[inline(always)]
pub(crate) unsafe fn zero_if_dirty<B: Block>(dst: *mut u8, len: usize) -> usize {
    let head = bytes_to_multiple(dst, LINE_BYTES).min(len);
    // SAFETY: the head is at most len and less than a line. Lines end at or before len; less than a line is
    // left after them.
    unsafe {
        let mut written = part(dst, head);
        let mut at = head;
        while len - at >= LINE_BYTES {
            let line = dst.add(at);
            if is_dirty_line(line) {
                for block in 0..LINE_BYTES / B::BYTES {
                    store(line.add(block * B::BYTES), B::zeroed());
                }
                written += LINE_BYTES;
            }
            at += LINE_BYTES;
            compiler_fence(Ordering::SeqCst);
        }
        written + part(dst.add(at), len - at)
    }
}

/// Less than a line: stores all of it or nothing.
///
/// # Safety
/// `len < 64`; `dst` is valid for reads and writes of `len` initialised bytes.
#[inline(always)]
unsafe fn part(dst: *mut u8, len: usize) -> usize {
    // SAFETY: fewer than 64 bytes, readable and writable, by contract.
    unsafe {
        if !is_dirty_part(dst, len) {
            return 0;
        }
        zero_up_to_64(dst, len);
    }
    len
}

/// Whether one of 64 bytes is not zero. The words are combined as integers; the compiler turns them into the
/// vectors of the calling kernel.
///
/// # Safety
/// `from` is valid for reads of 64 initialised bytes.
#[inline(always)]
unsafe fn is_dirty_line(from: *const u8) -> bool {
    let mut any = 0;
    for word in 0..LINE_BYTES / 8 {
        // SAFETY: a word of the line.
        any |= unsafe { load::<u64>(from.add(word * 8)) };
    }
    any != 0
}

/// Whether one of fewer than 64 bytes is not zero: words from both ends, which overlap.
///
/// # Safety
/// `from` is valid for reads of `len` initialised bytes.
#[inline(always)]
unsafe fn is_dirty_part(from: *const u8, len: usize) -> bool {
    // SAFETY: each branch has at least as many bytes as the words on one side.
    unsafe {
        match len {
            32.. => any_of_ends::<4>(from, len),
            16.. => any_of_ends::<2>(from, len),
            8.. => any_of_ends::<1>(from, len),
            4.. => load::<u32>(from) | load::<u32>(from.add(len - 4)) != 0,
            2.. => load::<u16>(from) | load::<u16>(from.add(len - 2)) != 0,
            1 => from.read() != 0,
            0 => false,
        }
    }
}

/// Whether one of the first or the last `N` words is not zero.
///
/// # Safety
/// `from` is valid for reads of `len` initialised bytes, at least 8 * `N`.
#[inline(always)]
unsafe fn any_of_ends<const N: usize>(from: *const u8, len: usize) -> bool {
    let mut any = 0;
    for word in 0..N {
        // SAFETY: 8 * N bytes exist on either side.
        any |= unsafe { load::<u64>(from.add(word * 8)) | load::<u64>(from.add(len - (word + 1) * 8)) };
    }
    any != 0
}
