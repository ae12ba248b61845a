//! Copying between buffers that may overlap.

use super::bytes_raw_with;
use crate::dispatch::TABLE;
use crate::intent::Intent;
use core::ops::{Bound, Range, RangeBounds};

/// Copies the range `src` of a buffer to offset `dst` of the same buffer; the ranges may overlap. The
/// equivalent of [`copy_within`](slice::copy_within).
///
/// # Panics
/// If source or destination is not entirely within the buffer; the message gives both.
///
/// ```
/// let mut line = *b"to be or not";
/// carryline::copy::within(&mut line, 3..8, 0);
/// assert_eq!(&line, b"be or or not");
/// carryline::copy::within(&mut line, ..9, 3);
/// assert_eq!(&line, b"be be or or ");
/// ```
#[inline]
#[track_caller]
pub fn within(buffer: &mut [u8], src: impl RangeBounds<usize>, dst: usize) {
    let src = checked(buffer.len(), &src, dst);
    let start = buffer.as_mut_ptr();
    // SAFETY: both ranges are in the slice, which is valid for reads and writes.
    unsafe { within_raw(start.add(dst), start.add(src.start), src.len()) }
}

/// [`within`] with an intent, as in [`bytes_with`](super::bytes_with). The intent applies if the ranges do
/// not overlap; otherwise source and copy share lines, which stay in the cache.
///
/// # Panics
/// As [`within`].
///
/// ```
/// use carryline::{Next, copy};
/// let mut buffer = vec![0; 1 << 20];
/// buffer[..9000].fill(7);
/// copy::within_with(&mut buffer, ..9000, 500_000, Next::NotSoon);
/// assert_eq!((buffer[499_999], buffer[500_000], buffer[508_999], buffer[509_000]), (0, 7, 7, 0));
/// ```
#[inline]
#[track_caller]
pub fn within_with(buffer: &mut [u8], src: impl RangeBounds<usize>, dst: usize, intent: impl Into<Intent>) {
    let src = checked(buffer.len(), &src, dst);
    let start = buffer.as_mut_ptr();
    // SAFETY: both ranges are in the slice, which is valid for reads and writes.
    unsafe { within_raw_with(start.add(dst), start.add(src.start), src.len(), intent) }
}

/// The resolved range, if it and its copy are within a buffer of `bytes`.
#[inline]
#[track_caller]
fn checked(bytes: usize, src: &impl RangeBounds<usize>, dst: usize) -> Range<usize> {
    let start = match src.start_bound() {
        Bound::Included(start) => Some(*start),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match src.end_bound() {
        Bound::Included(last) => last.checked_add(1),
        Bound::Excluded(end) => Some(*end),
        Bound::Unbounded => Some(bytes),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= bytes && dst <= bytes - (end - start) => {
            start..end
        }
        _ => outside(bytes, start.unwrap_or(usize::MAX), end.unwrap_or(usize::MAX), dst),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(bytes: usize, start: usize, end: usize, dst: usize) -> ! {
    panic!("bytes {start}..{end} cannot be copied to byte {dst} on in a buffer of {bytes} bytes")
}

/// Copies `len` bytes from `src` to `dst`, which may overlap. Bytes may be uninitialised or parts of pointers, and are so in the
/// copy.
///
/// # Safety
/// `src` must be valid for reads and `dst` for writes of `len` bytes; with `len` 0 they may be any pointers.
///
/// ```
/// let mut words = [1_u32, 2, 3];
/// let start = words.as_mut_ptr();
/// // SAFETY: two words starting at the first, and two starting at the second.
/// unsafe { carryline::copy::within_raw(start.add(1).cast(), start.cast(), 8) };
/// assert_eq!(words, [1, 1, 2]);
/// ```
#[inline]
pub unsafe fn within_raw(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: both are valid for `len` bytes, by contract; the kernel was chosen for this CPU.
    unsafe { TABLE.overlapping()(dst, src, len) }
}

/// [`within_raw`] with an intent, as in [`within_with`].
///
/// # Safety
/// As [`within_raw`].
///
/// ```
/// use carryline::{Next, copy};
/// let mut words = [1_u32, 2, 3];
/// let start = words.as_mut_ptr();
/// // SAFETY: two words starting at the first, and two starting at the second.
/// unsafe { copy::within_raw_with(start.add(1).cast(), start.cast(), 8, Next::ReadHere) };
/// assert_eq!(words, [1, 1, 2]);
/// ```
#[inline]
pub unsafe fn within_raw_with(dst: *mut u8, src: *const u8, len: usize, intent: impl Into<Intent>) {
    // SAFETY: both are valid for `len` bytes by contract; `bytes_raw_with` gets buffers that do not overlap.
    unsafe {
        if dst.addr().abs_diff(src.addr()) >= len {
            bytes_raw_with(dst, src, len, intent);
        } else {
            within_raw(dst, src, len);
        }
    }
}
