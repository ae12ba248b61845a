//! Buffers between two inaccessible pages, with known bytes beside them.
//!
//! carryline-verification has such memory too, for verification; but libFuzzer looks at the coverage counters of everything
//! that is linked after every input, and that crate would bring a database along.

use crate::input::{Input, MOST_BYTES};
use std::cell::RefCell;
use std::{ptr, slice};

/// The smallest page of the architectures that this runs on; larger pages are a multiple of it.
const PAGE_BYTES: usize = 64 << 10;

/// Accessible bytes: the longest buffer, and what offsets and canaries need.
const ACCESSIBLE_BYTES: usize = (MOST_BYTES + 1024).next_multiple_of(PAGE_BYTES);

/// Bytes on each side of a buffer that nobody may change.
const CANARY_BYTES: usize = 128;

/// A mapping with a guard before and behind it; what reads or writes past either dies of SIGSEGV.
struct Guarded {
    start: *mut u8,
}

thread_local! {
    static DESTINATION: RefCell<Guarded> = RefCell::new(Guarded::new());
    static SOURCE: RefCell<Guarded> = RefCell::new(Guarded::new());
}

/// A buffer somewhere in the memory.
pub(crate) struct Buffer<'a> {
    /// Of all accessible bytes.
    all: &'a mut [u8],
    from: usize,
    len: usize,
}

/// Calls `then` with a buffer of `len` bytes to read from, where the input places it.
pub(crate) fn with_source<T>(
    input: &mut Input<'_>,
    len: usize,
    then: impl FnOnce(&mut Buffer<'_>, &mut Input<'_>) -> T,
) -> T {
    SOURCE.with_borrow_mut(|memory| then(&mut memory.place(input, len), input))
}

/// Calls `then` with a buffer of `len` bytes to write to, where the input places it, its canaries set.
pub(crate) fn with_destination<T>(
    input: &mut Input<'_>,
    len: usize,
    then: impl FnOnce(&mut Buffer<'_>, &mut Input<'_>) -> T,
) -> T {
    DESTINATION.with_borrow_mut(|memory| then(&mut memory.place(input, len), input))
}

impl Buffer<'_> {
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.all[self.from..self.from + self.len]
    }

    /// A pointer from which the whole memory may be reached: what goes astray is caught, not undefined.
    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.all.as_mut_ptr().wrapping_add(self.from)
    }

    /// Where it lies, for messages.
    pub(crate) fn offset(&self) -> usize {
        (self.all.as_ptr().addr() + self.from) % 64
    }

    fn margins(&self) -> [std::ops::Range<usize>; 2] {
        let end = self.from + self.len;
        [self.from.saturating_sub(CANARY_BYTES)..self.from, end..(end + CANARY_BYTES).min(self.all.len())]
    }

    /// Puts other bytes into the buffer and known ones beside it.
    pub(crate) fn reset(&mut self) {
        for margin in self.margins() {
            for place in margin {
                self.all[place] = canary(place);
            }
        }
        self.bytes().fill(0x6b);
    }

    /// Panics where a byte beside the buffer has changed; `at` says in which call, `what` which buffer it is.
    pub(crate) fn is_undamaged(&self, at: &str, what: &str) {
        let mut places = self.margins().into_iter().flatten();
        if let Some(place) = places.find(|place| self.all[*place] != canary(*place)) {
            let distance = place as isize - self.from as isize;
            panic!("{at}: the byte at {distance} of the {what}, outside of it, changed");
        }
    }
}

/// Neither zero nor the same as its neighbour.
fn canary(place: usize) -> u8 {
    (place % 251) as u8 | 0x80
}

impl Guarded {
    fn new() -> Guarded {
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
        let mapping = unsafe {
            libc::mmap(
                ptr::null_mut(),
                ACCESSIBLE_BYTES + 2 * PAGE_BYTES,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(mapping, libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
        let start = mapping.cast::<u8>().wrapping_add(PAGE_BYTES);
        // SAFETY: the inner pages of the mapping that was just made, which nothing borrows yet.
        let result =
            unsafe { libc::mprotect(start.cast(), ACCESSIBLE_BYTES, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(result, 0, "mprotect: {}", std::io::Error::last_os_error());
        Guarded { start }
    }

    /// At the guard before or behind, or up to 63 bytes from it.
    fn place(&mut self, input: &mut Input<'_>, len: usize) -> Buffer<'_> {
        let choice = input.byte();
        let distance = if choice & 2 == 0 { 0 } else { usize::from(choice >> 2) };
        let from = if choice & 1 == 0 { distance } else { ACCESSIBLE_BYTES - len - distance };
        // SAFETY: accessible and initialised memory of this size that belongs to us; the borrow is exclusive.
        let all = unsafe { slice::from_raw_parts_mut(self.start, ACCESSIBLE_BYTES) };
        Buffer { all, from, len }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, guards included, which nothing borrows any more.
        unsafe {
            libc::munmap(self.start.wrapping_sub(PAGE_BYTES).cast(), ACCESSIBLE_BYTES + 2 * PAGE_BYTES)
        };
    }
}
