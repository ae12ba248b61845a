//! Buffers between two inaccessible pages, with known bytes on both sides.
//!
//! carryline-verification has such memory too. But libFuzzer reads the coverage counters of all linked code
//! after every input, and that crate would link a database.

use crate::input::{Input, MOST_BYTES};
use std::cell::RefCell;
use std::{ptr, slice};

/// A multiple of the page size of every architecture that this runs on.
const PAGE_BYTES: usize = 64 << 10;

/// Accessible bytes: the longest buffer, with room for offsets and canaries.
const ACCESSIBLE_BYTES: usize = (MOST_BYTES + 1024).next_multiple_of(PAGE_BYTES);

/// The number of bytes on each side of a buffer that must not change.
const CANARY_BYTES: usize = 128;

/// A mapping with an inaccessible page on both sides; accesses beyond it cause SIGSEGV.
struct Guarded {
    start: *mut u8,
}

thread_local! {
    static DESTINATION: RefCell<Guarded> = RefCell::new(Guarded::new());
    static SOURCE: RefCell<Guarded> = RefCell::new(Guarded::new());
}

/// A buffer within the memory.
pub(crate) struct Buffer<'a> {
    /// All accessible bytes.
    all: &'a mut [u8],
    from: usize,
    len: usize,
}

/// Calls `then` with a buffer of `len` bytes to read from, at a place decoded from the input.
pub(crate) fn with_source<T>(
    input: &mut Input<'_>,
    len: usize,
    then: impl FnOnce(&mut Buffer<'_>, &mut Input<'_>) -> T,
) -> T {
    SOURCE.with_borrow_mut(|memory| then(&mut memory.place(input, len), input))
}

/// Calls `then` with a buffer of `len` bytes to write to, at a place decoded from the input.
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

    /// A pointer to the buffer that may access all of the memory, so that wrong accesses are detected, not
    /// undefined.
    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.all.as_mut_ptr().wrapping_add(self.from)
    }

    /// Its offset modulo 64, for messages.
    pub(crate) fn offset(&self) -> usize {
        (self.all.as_ptr().addr() + self.from) % 64
    }

    fn margins(&self) -> [std::ops::Range<usize>; 2] {
        let end = self.from + self.len;
        [self.from.saturating_sub(CANARY_BYTES)..self.from, end..(end + CANARY_BYTES).min(self.all.len())]
    }

    /// Fills the buffer with other bytes, and the canaries on both sides.
    pub(crate) fn reset(&mut self) {
        for margin in self.margins() {
            for place in margin {
                self.all[place] = canary(place);
            }
        }
        self.bytes().fill(0x6b);
    }

    /// Panics if a canary has changed; `at` describes the call and `what` the buffer.
    pub(crate) fn check_canaries(&self, at: &str, what: &str) {
        let mut places = self.margins().into_iter().flatten();
        if let Some(place) = places.find(|place| self.all[*place] != canary(*place)) {
            let distance = place as isize - self.from as isize;
            panic!("{at}: the byte at offset {distance} of the {what}, outside the buffer, changed");
        }
    }
}

/// A canary: not zero, and different from its neighbours.
fn canary(place: usize) -> u8 {
    (place % 251) as u8 | 0x80
}

impl Guarded {
    fn new() -> Guarded {
        // SAFETY: creates a new anonymous mapping at an address chosen by the kernel.
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
        // SAFETY: changes the inner pages of the mapping above, which nothing borrows yet.
        let result =
            unsafe { libc::mprotect(start.cast(), ACCESSIBLE_BYTES, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(result, 0, "mprotect: {}", std::io::Error::last_os_error());
        Guarded { start }
    }

    /// Places a buffer next to one of the guards, or up to 63 bytes away from it.
    fn place(&mut self, input: &mut Input<'_>, len: usize) -> Buffer<'_> {
        let choice = input.byte();
        let distance = if choice & 2 == 0 { 0 } else { usize::from(choice >> 2) };
        let from = if choice & 1 == 0 { distance } else { ACCESSIBLE_BYTES - len - distance };
        // SAFETY: the memory is accessible, initialised, of this size and owned by `self`, which is borrowed
        // exclusively.
        let all = unsafe { slice::from_raw_parts_mut(self.start, ACCESSIBLE_BYTES) };
        Buffer { all, from, len }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: unmaps the mapping made in `new` with its guards; nothing borrows it any more.
        unsafe {
            libc::munmap(self.start.wrapping_sub(PAGE_BYTES).cast(), ACCESSIBLE_BYTES + 2 * PAGE_BYTES)
        };
    }
}
