//! Page-aligned buffers, prefaulted, between inaccessible guard pages.

use crate::words::{UnknownWord, unknown};
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ptr::NonNull;
use std::str::FromStr;

/// The requested page kind of buffers; results also contain what the kernel provided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// Base pages; transparent huge pages are disabled.
    Base,
    /// Transparent huge pages are requested.
    Huge,
}

impl Pages {
    /// The words on the command line with their descriptions.
    pub const WORDS: &'static [(&'static str, &'static str)] =
        &[("4k", "base pages; transparent huge pages refused"), ("huge", "transparent huge pages requested")];
}

impl FromStr for Pages {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "4k" | "base" => Ok(Pages::Base),
            "huge" => Ok(Pages::Huge),
            _ => unknown("page kind", word, Pages::WORDS),
        }
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Pages::Base => "4k",
            Pages::Huge => "huge",
        })
    }
}

/// A failure to map a buffer.
#[derive(Debug, thiserror::Error)]
#[error("cannot map {bytes} bytes: {source}")]
pub struct MapError {
    /// The requested size, including guard pages.
    pub bytes: usize,
    /// The kernel's error.
    pub source: rustix::io::Errno,
}

/// Private, page-aligned memory with an inaccessible page before and after it. It is accessed only through
/// raw pointers, because routines under test write to it without the compiler's knowledge.
#[derive(Debug)]
pub struct Arena {
    map: NonNull<u8>,
    mapped_bytes: usize,
    lead_bytes: usize,
    len: usize,
}

// SAFETY: an Arena owns its mapping, which is bound to no thread and accessed only through raw pointers;
// unsafe code that uses them from several threads must order its accesses.
unsafe impl Send for Arena {}

/// The size of a base page in bytes.
#[must_use]
pub fn page_bytes() -> usize {
    rustix::param::page_size()
}

const HUGE_BYTES: usize = 2 << 20;

/// The bytes between two reports of progress.
const PROGRESS_BYTES: usize = 16 << 20;

impl Arena {
    /// Maps at least `len` bytes (rounded up to whole pages, at least one), accessible and untouched.
    ///
    /// With [`Pages::Huge`] the memory starts at a multiple of 2 MiB and transparent huge pages are
    /// requested; with [`Pages::Base`] they are disabled. The kernel may ignore the request; see
    /// [`Arena::huge_bytes`].
    ///
    /// # Errors
    /// If the kernel refuses the mapping.
    pub fn new(len: usize, pages: Pages) -> Result<Arena, MapError> {
        let page = page_bytes();
        let align = if pages == Pages::Huge { HUGE_BYTES } else { page };
        let too_large = || MapError { bytes: usize::MAX, source: rustix::io::Errno::NOMEM };
        let len = len.max(1).checked_next_multiple_of(page).ok_or_else(too_large)?;
        let mapped_bytes = len.checked_add(2 * page + align).ok_or_else(too_large)?;
        let failed = |source| MapError { bytes: mapped_bytes, source };
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no existing memory.
        let map = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                mapped_bytes,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }
        .map_err(failed)?;
        let map = NonNull::new(map.cast::<u8>()).ok_or_else(|| failed(rustix::io::Errno::NOMEM))?;
        let lead_bytes = (map.as_ptr() as usize + page).next_multiple_of(align) - map.as_ptr() as usize;
        let arena = Arena { map, mapped_bytes, lead_bytes, len };
        // SAFETY: lead_bytes + len <= mapped_bytes - page, so the range lies inside the mapping just made.
        unsafe { mprotect(arena.start().cast(), len, MprotectFlags::READ | MprotectFlags::WRITE) }
            .map_err(failed)?;
        let advice = if pages == Pages::Huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        // A kernel without transparent huge pages refuses the advice; `huge_bytes` then shows that there are
        // none.
        // SAFETY: the range is ours, and this advice does not change its contents.
        let _refused = unsafe { madvise(arena.start().cast(), len, advice) };
        Ok(arena)
    }

    /// The first accessible byte.
    #[must_use]
    pub fn start(&self) -> *mut u8 {
        self.map.as_ptr().wrapping_add(self.lead_bytes)
    }

    /// The number of accessible bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Always false: an arena has at least one page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes to every page, so that later accesses do not fault and no two pages share the kernel's zero
    /// page. The data is a multiplicative sequence, neither zero nor constant.
    pub fn prefault(&mut self) {
        self.prefault_telling(&mut || {});
    }

    /// [`Arena::prefault`] with a call of `progress` after every 16 MiB.
    pub fn prefault_telling(&mut self, progress: &mut dyn FnMut()) {
        let mut word = 0x9e37_79b9_7f4a_7c15_u64;
        for at in (0..self.len).step_by(8) {
            if at % PROGRESS_BYTES == 0 && at > 0 {
                progress();
            }
            word = word.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(0x1405_7b7e_f767_814f);
            // SAFETY: len is a multiple of 8, so at + 8 <= len; &mut self, so nothing else writes.
            unsafe { self.start().add(at).cast::<u64>().write_volatile(word) };
        }
    }

    /// Accesses every page, with a call of `progress` after every 16 MiB. A virtual machine's host may have taken pages
    /// back since they were last used, and returns each at its next access, after a tenth of a millisecond or more.
    pub fn bring_back(&mut self, progress: &mut dyn FnMut()) {
        for at in (0..self.len).step_by(page_bytes()) {
            if at % PROGRESS_BYTES == 0 && at > 0 {
                progress();
            }
            let word = self.start().wrapping_add(at).cast::<u64>();
            // SAFETY: the first word of a page of the arena; &mut self, so nothing else writes. Volatile, to keep both.
            unsafe { word.write_volatile(word.read_volatile()) };
        }
    }

    /// Makes the memory read-only, or writable again.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_read_only(&mut self, read_only: bool) -> Result<(), MapError> {
        let access = if read_only { MprotectFlags::READ } else { MprotectFlags::READ | MprotectFlags::WRITE };
        // SAFETY: the accessible range of this arena, which &mut self owns.
        unsafe { mprotect(self.start().cast(), self.len, access) }
            .map_err(|source| MapError { bytes: self.len, source })
    }

    /// The number of bytes that are currently mapped with huge pages; `None` if the kernel does not report
    /// it.
    #[must_use]
    pub fn huge_bytes(&self) -> Option<usize> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let start = self.start() as usize;
        let mut inside = false;
        for line in maps.lines() {
            if let Some((range, _)) = line.split_once(' ')
                && let Some((low, high)) = range.split_once('-')
                && let (Ok(low), Ok(high)) = (usize::from_str_radix(low, 16), usize::from_str_radix(high, 16))
            {
                inside = (low..high).contains(&start);
            } else if inside && let Some(size) = line.strip_prefix("AnonHugePages:") {
                return size.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kib| kib * 1024);
            }
        }
        None
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`; by contract, no pointer into it is used after the arena.
        let _ = unsafe { munmap(self.map.as_ptr().cast(), self.mapped_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefault_leaves_no_zero_page_and_no_constant() {
        let mut arena = Arena::new(3 * page_bytes() - 5, Pages::Base).expect("three pages");
        arena.prefault();
        assert_eq!(arena.len(), 3 * page_bytes());
        // SAFETY: len accessible bytes, written by prefault, and nothing else accesses the arena.
        let bytes = unsafe { std::slice::from_raw_parts(arena.start(), arena.len()) };
        for page in bytes.chunks(page_bytes()) {
            assert!(page.iter().any(|b| *b != page[0]));
        }
        assert_ne!(bytes[..page_bytes()], bytes[page_bytes()..2 * page_bytes()]);
    }

    #[test]
    fn prefaulting_reports_progress() {
        let mut arena = Arena::new(33 << 20, Pages::Base).expect("33 MiB");
        let mut told = 0;
        arena.prefault_telling(&mut || told += 1);
        assert_eq!(told, 2);
    }

    #[test]
    fn huge_memory_is_aligned_to_huge_pages() {
        let arena = Arena::new(5 << 20, Pages::Huge).expect("5 MiB");
        assert_eq!(arena.start() as usize % HUGE_BYTES, 0);
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        assert!(Arena::new(usize::MAX - 4096, Pages::Base).is_err());
        assert!(Arena::new(1 << 60, Pages::Base).is_err());
    }
}
