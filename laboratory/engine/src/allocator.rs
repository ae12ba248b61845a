//! The command's global allocator: the system's, which records a failed allocation on the status page.
//!
//! Rust aborts a process whose allocation fails (SIGABRT), and a routine may call abort as well. The parent
//! must distinguish the two, because only the second is the routine's fault.

use carryline_verification::status::StatusPage;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;

/// The system's allocator; the command installs it as the global one.
pub struct Allocator;

static PAGE: OnceLock<&'static StatusPage> = OnceLock::new();

/// Records failed allocations on this page from now on.
pub(crate) fn record_failures_on(page: &'static StatusPage) {
    // Set once: a process is a worker at most once.
    let _first = PAGE.set(page);
}

fn checked(memory: *mut u8) -> *mut u8 {
    if memory.is_null()
        && let Some(page) = PAGE.get()
    {
        page.note_out_of_memory();
    }
    memory
}

// SAFETY: every request is passed to the system's allocator unchanged, and so is its result; recording a
// failure stores to a page that is never unmapped, and does not allocate.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps this function's contract, which is that of `System`.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps this function's contract, which is that of `System`.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps this function's contract, which is that of `System`; the memory came from
        // `System`.
        checked(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps this function's contract, which is that of `System`; the memory came from
        // `System`.
        unsafe { System.dealloc(memory, layout) }
    }
}
