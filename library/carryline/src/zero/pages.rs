//! Whole pages.

use super::fill_raw_with;
use crate::intent::{Intent, Next};

/// A page of 4096 bytes, aligned to 4096, as used by allocators, kernels and virtual machine monitors.
///
/// ```
/// use carryline::zero::Page;
/// assert_eq!((size_of::<Page>(), align_of::<Page>()), (4096, 4096));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(4096))]
pub struct Page(pub [u8; Page::BYTES]);

impl Page {
    /// The number of bytes in a page.
    pub const BYTES: usize = 4096;

    /// The bytes as pages: `None` if they do not start at a multiple of 4096 or end within a page.
    ///
    /// ```
    /// use carryline::zero::{Page, pages};
    /// let mut memory = vec![1; 3 * 4096];
    /// let start = memory.as_ptr().align_offset(4096);
    /// let memory = &mut memory[start..];
    /// assert!(Page::of_bytes(&mut memory[1..4097]).is_none());
    /// assert!(Page::of_bytes(&mut memory[..4095]).is_none());
    /// pages(Page::of_bytes(&mut memory[..8192]).unwrap());
    /// assert_eq!((memory[0], memory[8191], memory[8192]), (0, 0, 1));
    /// ```
    #[must_use]
    pub fn of_bytes(bytes: &mut [u8]) -> Option<&mut [Page]> {
        if !bytes.as_ptr().cast::<Page>().is_aligned() || !bytes.len().is_multiple_of(Page::BYTES) {
            return None;
        }
        // SAFETY: aligned, and a whole number of pages; any bytes are a valid page, which has no padding. The
        // result takes over the borrow.
        Some(unsafe { core::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len() / Page::BYTES) })
    }
}

/// Zeroes whole pages in one call: non-temporal stores are fenced once.
///
/// ```
/// use carryline::zero::{Page, pages};
/// let mut memory = vec![Page([1; 4096]); 3];
/// pages(&mut memory[1..]);
/// assert!(memory[0].0 == [1; 4096] && memory[1].0 == [0; 4096] && memory[2].0 == [0; 4096]);
/// ```
#[inline]
pub fn pages(dst: &mut [Page]) {
    pages_with(dst, Next::Unknown);
}

/// Zeroes whole pages; the caller's intent decides whether they are left in the cache.
///
/// ```
/// use carryline::{Intent, Next, zero::{Page, pages_with}};
/// // One page of the 512 MiB of a guest's memory.
/// let mut page = [Page([1; 4096])];
/// pages_with(&mut page, Intent::new(Next::NotSoon).part_of(512 << 20));
/// assert_eq!(page[0].0, [0; 4096]);
/// ```
#[inline]
pub fn pages_with(dst: &mut [Page], intent: impl Into<Intent>) {
    // SAFETY: a slice is valid for writes of its bytes.
    unsafe { fill_raw_with(dst.as_mut_ptr().cast(), size_of_val(dst), intent) }
}
