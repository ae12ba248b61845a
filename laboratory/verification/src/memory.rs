//! Memory for verifications: mapped where a trial needs it, with inaccessible pages before and after.
//!
//! The guards are wide, so that a routine that overruns by a whole block still hits one.

use carryline_machine::arena::MapError;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect,
    mremap_fixed, munmap,
};
use std::os::fd::AsFd;
use std::ptr::null_mut;

/// The bytes of inaccessible memory on either side of a region.
pub(super) const GUARD_BYTES: usize = 64 << 10;

/// A mapping between two guards, accessed only through raw pointers.
#[derive(Debug)]
pub(super) struct Region {
    map: *mut u8,
    mapped_bytes: usize,
    len: usize,
}

fn whole_pages(len: usize) -> Result<usize, MapError> {
    let page = carryline_machine::arena::page_bytes();
    len.max(1).checked_next_multiple_of(page).ok_or(MapError { bytes: len, source: Errno::NOMEM })
}

impl Region {
    /// Reserves inaccessible address space, at an address chosen by the kernel or exactly at `at`.
    fn reserve(len: usize, at: Option<usize>) -> Result<Region, MapError> {
        let len = whole_pages(len)?;
        let mapped_bytes = len + 2 * GUARD_BYTES;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let (address, flags) = match at {
            Some(at) => {
                (std::ptr::with_exposed_provenance_mut(at - GUARD_BYTES), flags | MapFlags::FIXED_NOREPLACE)
            }
            None => (null_mut(), flags),
        };
        // SAFETY: the kernel chooses the address, or rejects one that is in use: no existing mapping changes.
        let map = unsafe { mmap_anonymous(address, mapped_bytes, ProtFlags::empty(), flags) }
            .map_err(|source| MapError { bytes: mapped_bytes, source })?;
        let region = Region { map: map.cast(), mapped_bytes, len };
        // Kernels before 4.17 take the address for a hint.
        if at.is_some_and(|at| at != region.start() as usize) {
            return Err(MapError { bytes: mapped_bytes, source: Errno::EXIST });
        }
        Ok(region)
    }

    fn protect(&self, from: usize, len: usize, access: MprotectFlags) -> Result<(), MapError> {
        assert!(from + len <= self.len, "a range between the guards");
        // SAFETY: the range is within this region's own mapping, by the assertion.
        unsafe { mprotect(self.start().add(from).cast(), len, access) }
            .map_err(|source| MapError { bytes: len, source })
    }

    /// Private memory of at least `len` bytes.
    pub fn new(len: usize) -> Result<Region, MapError> {
        let region = Region::reserve(len, None)?;
        region.protect(0, region.len, MprotectFlags::READ | MprotectFlags::WRITE)?;
        Ok(region)
    }

    /// Replaces this region's memory by new, zeroed private memory.
    pub fn renew(&mut self) -> Result<(), MapError> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: replaces pages of this region's own mapping; `&mut self`, so its bytes are not borrowed.
        unsafe { mmap_anonymous(self.start().cast(), self.len, access, MapFlags::PRIVATE | MapFlags::FIXED) }
            .map(drop)
            .map_err(|source| MapError { bytes: self.len, source })
    }

    /// Private memory whose first byte is at `address`.
    pub fn at(address: usize, len: usize) -> Result<Region, MapError> {
        let region = Region::reserve(len, Some(address))?;
        region.protect(0, region.len, MprotectFlags::READ | MprotectFlags::WRITE)?;
        Ok(region)
    }

    /// Memory shared through a file: `repeats` mappings of the same `unit` bytes (a multiple of the page
    /// size), one after the other. A large buffer that needs little memory.
    pub fn shared(unit: usize, repeats: usize) -> Result<Region, MapError> {
        let unit = whole_pages(unit)?;
        let failed = |source| MapError { bytes: unit, source };
        let region = Region::reserve(unit * repeats, None)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        let part = |repeat: usize| region.start().wrapping_add(repeat * unit).cast();
        let file = memfd_create("carryline-verification", MemfdFlags::CLOEXEC)
            .and_then(|file| ftruncate(&file, unit as u64).map(|()| file));
        if let Ok(file) = file {
            for repeat in 0..repeats {
                // SAFETY: replaces pages of this region's own reservation: repeat < repeats.
                unsafe { mmap(part(repeat), unit, access, flags, file.as_fd(), 0) }.map_err(failed)?;
            }
            return Ok(region);
        }
        // A limit on file sizes applies to this file too. Shared memory without a file can also be mapped
        // repeatedly: moving 0 bytes of it duplicates the mapping.
        // SAFETY: replaces pages of this region's own reservation, as repeat < repeats; the first mapping
        // exists when the others are made from it.
        unsafe {
            mmap_anonymous(part(0), unit, access, flags).map_err(failed)?;
            for repeat in 1..repeats {
                mremap_fixed(part(0), 0, unit, MremapFlags::MAYMOVE, part(repeat)).map_err(failed)?;
            }
        }
        Ok(region)
    }

    /// `len` bytes, of which only the first and the last `edge` are accessible.
    pub fn hollow(len: usize, edge: usize) -> Result<Region, MapError> {
        let region = Region::reserve(len, None)?;
        let edge = whole_pages(edge)?;
        region.protect(0, edge, MprotectFlags::READ | MprotectFlags::WRITE)?;
        region.protect(region.len - edge, edge, MprotectFlags::READ | MprotectFlags::WRITE)?;
        Ok(region)
    }

    /// The first byte; the one before it is inaccessible.
    pub fn start(&self) -> *mut u8 {
        self.map.wrapping_add(GUARD_BYTES)
    }

    /// The number of accessible bytes; the byte after them is inaccessible.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The contents, while no routine accesses them.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: len readable bytes of a mapping that lives as long as self; verification borrows them only
        // between calls of the routine under test.
        unsafe { std::slice::from_raw_parts(self.start(), self.len) }
    }

    /// The contents for writing, while no routine accesses them.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: see `bytes`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.len) }
    }

    /// Makes `len` bytes at `from` inaccessible, until access is set again.
    #[cfg(target_arch = "x86_64")]
    pub fn close(&self, from: usize, len: usize) -> Result<(), MapError> {
        self.protect(from, len, MprotectFlags::empty())
    }

    /// Forbids writing or allows it again.
    pub fn set_read_only(&self, read_only: bool) -> Result<(), MapError> {
        let access = if read_only { MprotectFlags::READ } else { MprotectFlags::READ | MprotectFlags::WRITE };
        self.protect(0, self.len, access)
    }

    /// Requests huge pages; the kernel may refuse.
    pub fn ask_huge(&self) {
        // SAFETY: our own range, and this advice does not change its contents.
        let _refused = unsafe { madvise(self.start().cast(), self.len, Advice::LinuxHugepage) };
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `reserve` made; its pointers are not used after the region.
        let _ = unsafe { munmap(self.map.cast(), self.mapped_bytes) };
    }
}

// SAFETY: plain memory accessed only through raw pointers; a trial belongs to one thread at a time.
unsafe impl Send for Region {}
// SAFETY: a shared region only gives out its address; dereferencing it needs unsafe code of its own.
unsafe impl Sync for Region {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_regions_share_their_memory() {
        let page = carryline_machine::arena::page_bytes();
        let mut region = Region::shared(page, 3).expect("three views of a page");
        region.bytes_mut()[5] = 77;
        assert_eq!((region.bytes()[page + 5], region.bytes()[2 * page + 5]), (77, 77));
    }

    #[test]
    fn addresses_in_use_are_errors() {
        let region = Region::new(1).expect("a page");
        assert!(Region::at(region.start() as usize, 1).is_err());
    }
}
