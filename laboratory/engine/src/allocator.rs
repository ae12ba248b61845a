//! The command's allocator: the system's, with a note on the status page when an allocation fails.
//!
//! Rust ends a process whose allocation fails with SIGABRT, and a routine may call abort as well. The parent has to tell
//! the two apart, because only one of them is the routine's fault.

use carryline_verification::status::StatusPage;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;

/// The command makes it its global allocator.
pub struct Allocator;

static PAGE: OnceLock<&'static StatusPage> = OnceLock::new();

/// From here on failed allocations are noted on this page.
pub(crate) fn tell(page: &'static StatusPage) {
    // A process is a worker once.
    let _first = PAGE.set(page);
}

fn told(memory: *mut u8) -> *mut u8 {
    if memory.is_null()
        && let Some(page) = PAGE.get()
    {
        page.note_out_of_memory();
    }
    memory
}

// SAFETY: every request goes to the system's allocator unchanged, and its answer back; noting a failure stores to a page
// that is never unmapped, and allocates nothing.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        told(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        told(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same; the memory is the system's.
        told(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same; the memory is the system's.
        unsafe { System.dealloc(memory, layout) }
    }
}
