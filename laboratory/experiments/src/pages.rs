//! Pages in a known state (never touched, released hot or cold, resident in a file), and the kernel's counts
//! of them.
//!
//! An [`Arena`](carryline_machine::arena::Arena) begins untouched. [`release`] makes it so again: the frames
//! go to the kernel's free lists, from which the next fault on this CPU takes them, so their lines stay as
//! hot or as cold as they were. [`Resident`] is memory whose pages exist and hold data but are not mapped:
//! touching one costs the kernel entry and no clearing.

use carryline_engine::probe::Impossible;
use carryline_machine::arena::{MapError, page_bytes};
use carryline_sampler::loops::Call;
use carryline_sampler::{flush, touch};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

/// The bit of a page map entry that says that the page is mapped.
const PRESENT: u64 = 1 << 63;

/// This thread's minor faults so far; 0 if the kernel does not count them.
pub(crate) fn minor_faults() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is large enough, and zero is a value of each of its fields.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_minflt).unwrap_or(0)
}

/// The number of mapped pages among the `pages` from `base` on; `None` if the kernel does not report it.
pub(crate) fn mapped(base: *const u8, pages: usize) -> Option<usize> {
    Some(entries(base, pages).ok()?.iter().filter(|entry| *entry & PRESENT != 0).count())
}

/// The frame of a page; `None` if the kernel does not report it, which it does only to the administrator.
pub(crate) fn frame(base: *const u8) -> Option<u64> {
    entries(base, 1).ok()?.first().copied().and_then(frame_of)
}

/// The kernel's page map of the `pages` from `base` on.
pub(crate) fn entries(base: *const u8, pages: usize) -> std::io::Result<Vec<u64>> {
    let file = std::fs::File::open("/proc/self/pagemap")?;
    let mut bytes = vec![0; pages * 8];
    file.read_exact_at(&mut bytes, (base.addr() / page_bytes() * 8) as u64)?;
    let entry = |bytes: &[u8]| bytes.try_into().map(u64::from_ne_bytes).unwrap_or(0);
    Ok(bytes.chunks_exact(8).map(entry).collect())
}

/// The frame number in an entry of the page map; `None` if the page is not mapped or its frame is hidden.
pub(crate) fn frame_of(entry: u64) -> Option<u64> {
    Some(entry & ((1 << 55) - 1)).filter(|frame| entry & PRESENT != 0 && *frame != 0)
}

/// Whether lines are left in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Just read and written.
    Hot,
    /// Flushed to memory.
    Cold,
}

/// Leaves the lines of `len` bytes hot or cold.
///
/// # Safety
/// `base` must be valid for reads and writes of `len` bytes (below 4 GiB) that nothing else uses meanwhile.
pub(crate) unsafe fn leave(base: *mut u8, len: usize, left: Lines) {
    // SAFETY: the caller gives `len` bytes to read and write, below 4 GiB, that nothing else uses meanwhile.
    unsafe {
        match left {
            Lines::Hot => touch(base, len, true),
            Lines::Cold => flush(base, &[Call { len: len as u64, dst: 0, src: 0 }], |call| call.dst),
        }
    }
}

/// Waits until every earlier store is in the cache, or in memory if it bypasses the cache.
#[inline(always)]
pub(crate) fn drain() {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

/// Leaves the lines of pages hot or cold and returns the pages to the kernel: private memory loses its
/// contents, shared memory only its mapping. The next access faults.
///
/// # Safety
/// As for [`leave`]; `base` to `base + len` must be whole pages of a mapping whose contents are not needed.
pub(crate) unsafe fn release(base: *mut u8, len: usize, left: Lines) -> Result<(), Impossible> {
    // SAFETY: the caller gives whole pages, below 4 GiB, that nothing else uses meanwhile and whose contents
    // are not needed.
    unsafe {
        leave(base, len, left);
        madvise(base.cast(), len, Advice::LinuxDontNeed)
    }
    .map_err(|error| Impossible(format!("the kernel does not release pages: {error}")))
}

/// Where writes to a mapping of a [`Resident`] file go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// To the file: a write maps the existing page.
    Shared,
    /// To a copy of the page.
    Private,
}

/// Pages of an anonymous file, all of them present and filled.
#[derive(Debug)]
pub(crate) struct Resident {
    map: *mut u8,
    len: usize,
    _file: OwnedFd,
}

impl Resident {
    /// A filled file of `len` bytes (whole pages), mapped without any of its pages in the page table.
    ///
    /// # Errors
    /// If the kernel has no memory or does not support such files.
    pub(crate) fn new(len: usize, writes: Writes) -> Result<Resident, MapError> {
        let failed = |source| MapError { bytes: len, source };
        let file = memfd_create("carryline-resident", MemfdFlags::CLOEXEC).map_err(failed)?;
        ftruncate(&file, len as u64).map_err(failed)?;
        let filled: Vec<u8> = (0..len).map(|at| (at % 251) as u8 + 1).collect();
        let mut at = 0;
        while at < len {
            at += rustix::io::pwrite(&file, &filled[at..], at as u64).map_err(failed)?;
        }
        let flags = if writes == Writes::Shared { MapFlags::SHARED } else { MapFlags::PRIVATE };
        // SAFETY: a new mapping at an address of the kernel's choice, of a file that is long enough.
        let map = unsafe {
            mmap(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags, file.as_fd(), 0)
        };
        Ok(Resident { map: map.map_err(failed)?.cast(), len, _file: file })
    }

    /// The first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.map
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `new` made; its pointers are not used after it.
        let _ = unsafe { munmap(self.map.cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_machine::arena::{Arena, Pages};

    const COUNT: usize = 8;

    #[test]
    fn frames_are_read_from_page_map_entries() {
        assert_eq!(frame_of(1 << 63 | 0x1234), Some(0x1234));
        assert_eq!(frame_of(0x1234), None, "not present");
        assert_eq!(frame_of(1 << 63), None, "hidden");
        assert_eq!(frame_of(1 << 63 | 1 << 61 | 1 << 55 | 7), Some(7));
    }

    #[test]
    fn released_pages_are_unmapped_and_zero_and_fault_again() {
        let page = page_bytes();
        let arena = Arena::new(COUNT * page, Pages::Base).expect("eight pages");
        for left in [Lines::Hot, Lines::Cold] {
            let before = minor_faults();
            for at in 0..COUNT {
                // SAFETY: inside the arena, which this thread alone has.
                let byte = unsafe { arena.start().add(at * page) };
                // SAFETY: inside the arena, which this thread alone has.
                assert_eq!(unsafe { byte.read_volatile() }, 0);
                // SAFETY: inside the arena, which this thread alone has.
                unsafe { byte.write_volatile(7) };
            }
            // Kernels that do not count faults report 0.
            let faults = minor_faults() - before;
            assert!(faults == 0 || faults >= COUNT as u64, "{faults}");
            assert!(mapped(arena.start(), COUNT).is_none_or(|pages| pages == COUNT));
            // SAFETY: the arena's own pages, whose contents are not needed.
            unsafe {
                release(arena.start(), COUNT * page, left).expect("private memory");
            }
            assert!(mapped(arena.start(), COUNT).is_none_or(|pages| pages == 0));
        }
    }

    #[test]
    fn resident_pages_keep_their_data_and_copies_are_private() {
        let page = page_bytes();
        for (writes, kept) in [(Writes::Shared, 9), (Writes::Private, 1)] {
            let resident = Resident::new(COUNT * page, writes).expect("a memory file");
            assert!(mapped(resident.start(), COUNT).is_none_or(|pages| pages == 0));
            // SAFETY: the file's own pages.
            unsafe {
                assert_eq!(resident.start().read_volatile(), 1);
                resident.start().write_volatile(9);
                release(resident.start(), COUNT * page, Lines::Cold).expect("a mapping");
            }
            assert!(mapped(resident.start(), COUNT).is_none_or(|pages| pages == 0));
            // SAFETY: the first byte of the file's pages, which stay mapped.
            assert_eq!(unsafe { resident.start().read_volatile() }, kept, "{writes:?}");
        }
    }
}
