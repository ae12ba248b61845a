//! Memory between two inaccessible pages: a read or write beyond either end causes SIGSEGV.

use std::{ptr, slice};

/// The largest page of the architectures that the tests run on, a multiple of the smaller ones.
const PAGE_BYTES: usize = 64 << 10;

/// A mapping between two guards.
pub(super) struct Guarded {
    mapping: *mut u8,
    bytes: usize,
}

impl Guarded {
    /// At least `bytes` bytes of accessible memory, filled with a fixed random-looking pattern.
    pub(super) fn new(bytes: usize) -> Guarded {
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
        let mapping = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes + 2 * PAGE_BYTES,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(mapping, libc::MAP_FAILED, "mmap of {bytes} bytes: {}", std::io::Error::last_os_error());
        let mut guarded = Guarded { mapping: mapping.cast(), bytes };
        guarded.protect(libc::PROT_READ | libc::PROT_WRITE);
        super::patterns::fill_random(guarded.all(), 0x5eed);
        guarded
    }

    /// Makes writes cause SIGSEGV too.
    pub(super) fn make_read_only(&mut self) {
        self.protect(libc::PROT_READ);
    }

    fn protect(&mut self, protection: libc::c_int) {
        // SAFETY: the inner pages of our own mapping.
        let result = unsafe { libc::mprotect(self.start().cast(), self.bytes, protection) };
        assert_eq!(result, 0, "mprotect: {}", std::io::Error::last_os_error());
    }

    /// The first accessible byte.
    pub(super) fn start(&self) -> *mut u8 {
        self.mapping.wrapping_add(PAGE_BYTES)
    }

    /// The address of `len` bytes that end `distance` bytes before the guard.
    pub(super) fn ending(&self, len: usize, distance: usize) -> *mut u8 {
        assert!(len + distance <= self.bytes);
        self.start().wrapping_add(self.bytes - distance - len)
    }

    /// The offset of a pointer into the memory.
    pub(super) fn index_of(&self, pointer: *const u8) -> usize {
        pointer.addr() - self.start().addr()
    }

    /// All accessible bytes.
    pub(super) fn all(&mut self) -> &mut [u8] {
        // SAFETY: accessible memory of this size that we own; the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.start(), self.bytes) }
    }

    /// Restores the bytes around `target` from the image, acts, and compares: the bytes at `target` must be
    /// those expected, the bytes next to them those of the image. Returns the first wrong byte, relative to
    /// `target`.
    pub(super) fn wrong_after(
        &mut self,
        image: &[u8],
        target: *const u8,
        expected: &[u8],
        act: impl FnOnce(),
    ) -> Option<isize> {
        const MARGIN_BYTES: usize = 256;
        let (index, end) = (self.index_of(target), self.index_of(target) + expected.len());
        let window = index.saturating_sub(MARGIN_BYTES)..(end + MARGIN_BYTES).min(image.len());
        self.all()[window.clone()].copy_from_slice(&image[window.clone()]);
        act();
        let all = self.all();
        let right = all[index..end] == *expected
            && all[window.start..index] == image[window.start..index]
            && all[end..window.end] == image[end..window.end];
        if right {
            return None;
        }
        let wanted = |at: usize| at.checked_sub(index).and_then(|i| expected.get(i)).unwrap_or(&image[at]);
        let wrong = window.clone().find(|at| all[*at] != *wanted(*at));
        wrong.map(|at| at as isize - index as isize)
    }

    /// The `len` bytes at a pointer into the memory.
    pub(super) fn at(&mut self, pointer: *mut u8, len: usize) -> &mut [u8] {
        let index = self.index_of(pointer);
        &mut self.all()[index..index + len]
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, no longer borrowed.
        unsafe { libc::munmap(self.mapping.cast(), self.bytes + 2 * PAGE_BYTES) };
    }
}
