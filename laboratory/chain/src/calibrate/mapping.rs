//! Memory for code: first written, then made executable, never writable and executable at once.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

/// Pages of code.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

impl Mapping {
    /// Maps an executable copy of the code.
    ///
    /// # Errors
    /// The kernel's error if there is no memory, or if executable memory is forbidden.
    pub fn new(code: &[u8]) -> Result<Mapping, rustix::io::Errno> {
        let len = code.len().max(1).next_multiple_of(rustix::param::page_size());
        // SAFETY: a fresh private mapping at an address of the kernel's choice touches no existing memory.
        let map = unsafe {
            mmap_anonymous(null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        let start = NonNull::new(map.cast::<u8>()).ok_or(rustix::io::Errno::NOMEM)?;
        let mapping = Mapping { start, len };
        // SAFETY: the mapping is writable, at least as long as the code, and new, so the two do not overlap.
        unsafe { start.copy_from_nonoverlapping(NonNull::from(code).cast(), code.len()) };
        // SAFETY: this is the whole new mapping, to which there is no other pointer and no later write.
        unsafe { mprotect(start.as_ptr().cast::<c_void>(), len, MprotectFlags::READ | MprotectFlags::EXEC) }?;
        Ok(mapping)
    }

    /// The address of the byte of code at `offset`.
    pub fn at(&self, offset: usize) -> *const u8 {
        debug_assert!(offset < self.len);
        self.start.as_ptr().wrapping_add(offset)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `new` made; code in it is only run while a Mapping is borrowed.
        let _ = unsafe { munmap(self.start.as_ptr().cast::<c_void>(), self.len) };
    }
}
