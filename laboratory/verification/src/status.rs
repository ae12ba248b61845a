//! The page that a worker shares with the process that watches it: what it is doing right now.
//!
//! A routine under test may crash, hang or overwrite its own process. What it was called with at that moment
//! is then known only from outside, so a worker notes it here before each call of a verification (a few plain stores)
//! and beats a counter, and the parent reads the page when the worker is dead or silent.

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a worker is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Now {
    /// Counts up with everything that is done: no change for long means a hang.
    pub beat: u64,
    /// Index of the subject in the worker's job; `u64::MAX` when at none.
    pub subject: u64,
    /// What is being done with it: one of the [`Phase`] numbers.
    pub phase: u64,
    /// The call's length in bytes.
    pub len: u64,
    /// The destination's address modulo 4096.
    pub dst_offset: u64,
    /// The source's address modulo 4096.
    pub src_offset: u64,
    /// The checksum's seed.
    pub seed: u64,
    /// A number that says more, by phase: in a verification the data pattern's index; in a timing the bytes that are
    /// processed before the next beat.
    pub detail: u64,
    /// A second such number: in a verification the placement's index.
    pub placement: u64,
}

impl Now {
    /// The bytes that are processed before the next beat, as far as the page says; 0 in a verification, which beats with
    /// every call.
    #[must_use]
    pub fn work(&self) -> u64 {
        if self.phase == Phase::Time as u64 { self.detail } else { 0 }
    }
}

/// What a worker does with the subject it is at.
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
/// The field that says that an allocation failed.
const OUT_OF_MEMORY: usize = 9;

/// The shared page, mapped.
#[derive(Debug)]
pub struct StatusPage {
    map: *mut AtomicU64,
    fd: OwnedFd,
}

// SAFETY: the page is only reached through atomics.
unsafe impl Send for StatusPage {}
// SAFETY: every access of several threads goes through atomics.
unsafe impl Sync for StatusPage {}

impl StatusPage {
    /// A fresh page, all zero, whose descriptor a child can inherit.
    ///
    /// # Errors
    /// When the kernel has no memory or no descriptor left.
    pub fn create() -> std::io::Result<StatusPage> {
        let fd = memfd_create("carryline-status", MemfdFlags::CLOEXEC)?;
        ftruncate(&fd, 4096)?;
        StatusPage::open(fd)
    }

    /// The page of a descriptor inherited from the parent.
    ///
    /// # Errors
    /// If the descriptor is not such a page.
    pub fn open(fd: OwnedFd) -> std::io::Result<StatusPage> {
        if rustix::fs::fstat(&fd)?.st_size < 4096 {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a status page"));
        }
        // SAFETY: a new shared mapping at an address of the kernel's choice, of a file that is long enough.
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

    /// The descriptor, to hand down.
    #[must_use]
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    fn field(&self, index: usize) -> &AtomicU64 {
        debug_assert!(index < FIELDS);
        // SAFETY: index < FIELDS <= 512 words of a page that lives as long as self and is only used atomically.
        unsafe { &*self.map.add(index) }
    }

    /// Notes what is about to be called and beats the counter.
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

    /// Notes progress alone.
    pub fn beat(&self) {
        let beat = self.field(0);
        beat.store(beat.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Notes that this process asked for memory and got none.
    pub fn note_out_of_memory(&self) {
        self.field(OUT_OF_MEMORY).store(1, Ordering::Relaxed);
    }

    /// Whether that was noted.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.field(OUT_OF_MEMORY).load(Ordering::Relaxed) != 0
    }

    /// What the page says.
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
    fn what_one_side_sets_the_other_reads() {
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
