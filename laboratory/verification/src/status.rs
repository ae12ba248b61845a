//! The page through which a worker tells its supervisor what it is doing.
//!
//! A routine under test may crash, hang or overwrite its own process. The arguments of its call are then
//! known only from outside. So a worker writes them here before each call of a verification (a few plain
//! stores) and increments a counter, and the parent reads the page when the worker is dead or silent.

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// A worker's current activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Now {
    /// Incremented with every step: no change for long means a hang.
    pub beat: u64,
    /// The index of the subject in the worker's job; `u64::MAX` for none.
    pub subject: u64,
    /// One of the [`Phase`] numbers.
    pub phase: u64,
    /// The call's length in bytes.
    pub len: u64,
    /// The destination's address modulo 4096.
    pub dst_offset: u64,
    /// The source's address modulo 4096.
    pub src_offset: u64,
    /// The checksum's seed.
    pub seed: u64,
    /// Further information, by phase: the data pattern's index in a verification; in a timing, the bytes that
    /// are processed before the next beat.
    pub detail: u64,
    /// More information: the placement in a verification.
    pub placement: u64,
}

impl Now {
    /// The bytes that are processed before the next beat, as stated on the page; 0 in a verification, which
    /// beats with every call.
    #[must_use]
    pub fn work(&self) -> u64 {
        if self.phase == Phase::Time as u64 { self.detail } else { 0 }
    }
}

/// A worker's activity with the current subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Phase {
    /// Nothing yet.
    Idle = 0,
    /// Loading a plug-in.
    Load = 1,
    /// Verifying.
    Prove = 2,
    /// Timing.
    Time = 3,
    /// Measuring the machine's limits.
    Limits = 4,
    /// An experiment's probe.
    Probe = 5,
}

const FIELDS: usize = 10;
/// The field that reports a failed allocation.
const OUT_OF_MEMORY: usize = 9;

/// The shared page, mapped.
#[derive(Debug)]
pub struct StatusPage {
    map: *mut AtomicU64,
    fd: OwnedFd,
}

// SAFETY: the page is accessed only through atomics.
unsafe impl Send for StatusPage {}
// SAFETY: concurrent accesses go through atomics.
unsafe impl Sync for StatusPage {}

impl StatusPage {
    /// A new page, all zero, whose descriptor a child can inherit.
    ///
    /// # Errors
    /// If the kernel has no memory or no descriptor left.
    pub fn create() -> std::io::Result<StatusPage> {
        let fd = memfd_create("carryline-status", MemfdFlags::CLOEXEC)?;
        ftruncate(&fd, 4096)?;
        StatusPage::open(fd)
    }

    /// The page of a descriptor inherited from the parent.
    ///
    /// # Errors
    /// If the descriptor is not a status page.
    pub fn open(fd: OwnedFd) -> std::io::Result<StatusPage> {
        if rustix::fs::fstat(&fd)?.st_size < 4096 {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a status page"));
        }
        // SAFETY: a new shared mapping at an address chosen by the kernel, of a file that is long enough.
        let map = unsafe {
            mmap(
                std::ptr::null_mut(),
                4096,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                fd.as_fd(),
                0,
            )?
        };
        Ok(StatusPage { map: map.cast(), fd })
    }

    /// The descriptor, for inheritance.
    #[must_use]
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    fn field(&self, index: usize) -> &AtomicU64 {
        debug_assert!(index < FIELDS);
        // SAFETY: index < FIELDS <= 512 words of a page that lives as long as self and is accessed only
        // atomically.
        unsafe { &*self.map.add(index) }
    }

    /// Announces the next call and beats.
    pub fn set(&self, now: Now) {
        let values = [
            now.subject,
            now.phase,
            now.len,
            now.dst_offset,
            now.src_offset,
            now.seed,
            now.detail,
            now.placement,
        ];
        for (index, value) in values.into_iter().enumerate() {
            self.field(index + 1).store(value, Ordering::Relaxed);
        }
        self.beat();
    }

    /// Increments the progress counter.
    pub fn beat(&self) {
        let beat = self.field(0);
        beat.store(beat.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Records that this process requested memory and got none.
    pub fn note_out_of_memory(&self) {
        self.field(OUT_OF_MEMORY).store(1, Ordering::Relaxed);
    }

    /// Whether [`note_out_of_memory`](StatusPage::note_out_of_memory) was called.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.field(OUT_OF_MEMORY).load(Ordering::Relaxed) != 0
    }

    /// The current contents of the page.
    #[must_use]
    pub fn now(&self) -> Now {
        let beat = self.field(0).load(Ordering::Acquire);
        let read = |index| self.field(index).load(Ordering::Relaxed);
        Now {
            beat,
            subject: read(1),
            phase: read(2),
            len: read(3),
            dst_offset: read(4),
            src_offset: read(5),
            seed: read(6),
            detail: read(7),
            placement: read(8),
        }
    }
}

impl Drop for StatusPage {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `open` made.
        let _ = unsafe { munmap(self.map.cast(), 4096) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_share_the_page() {
        let parent = StatusPage::create().expect("a page");
        let child = StatusPage::open(parent.fd().try_clone().expect("a descriptor")).expect("the same page");
        let now =
            Now { subject: 3, phase: Phase::Prove as u64, len: 33, seed: 0xffff_ffff, ..Now::default() };
        child.set(now);
        assert_eq!(parent.now(), Now { beat: 1, ..now });
        child.beat();
        assert_eq!(parent.now().beat, 2);
        assert!(!parent.is_out_of_memory());
        child.note_out_of_memory();
        assert!(parent.is_out_of_memory() && parent.now().beat == 2);
    }
}
