//! Ends child processes forked by a routine under test before they continue the parent's work.
//!
//! A routine that forks and returns in both processes would leave two verifications, each of which would fork
//! again. So every caller of routines calls [`exit_if_child`] afterwards: a page that the kernel wipes in a
//! child identifies the process without a system call. A child records its existence in shared memory and
//! exits. Verification counts this, or a child that still exists, as a fault (`Watch`), so that no such
//! routine is timed.
//!
//! Two kinds of child are not detected: one that shares its parent's memory (`vfork`, `clone` with
//! `CLONE_VM`), and one that does not return from the routine and ends before it can be observed.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

struct Guard {
    /// Zero in a child; `None` if the kernel does not wipe pages.
    wiped: Option<&'static AtomicU32>,
    process: AtomicU32,
    /// The latest verification in which a child was seen.
    latest: &'static AtomicU64,
}

static GUARD: OnceLock<Guard> = OnceLock::new();
/// Counts verifications. Private memory: a child keeps the number of the verification in which it was forked.
static VERIFICATION: AtomicU64 = AtomicU64::new(1);

fn page<T>(flags: MapFlags) -> Option<*mut T> {
    let bytes = carryline_machine::arena::page_bytes();
    // SAFETY: the kernel chooses the address; no existing mapping changes.
    let map = unsafe { mmap_anonymous(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags) };
    map.ok().map(<*mut _>::cast)
}

fn guard() -> &'static Guard {
    GUARD.get_or_init(|| Guard {
        wiped: page::<AtomicU32>(MapFlags::PRIVATE).and_then(|page| {
            // SAFETY: advice about the page just mapped; its contents in this process are unaffected.
            let wipes = unsafe {
                libc::madvise(page.cast(), carryline_machine::arena::page_bytes(), libc::MADV_WIPEONFORK) == 0
            };
            // SAFETY: zeroed memory of a page that is never unmapped, which is a valid atomic.
            wipes.then(|| unsafe { &*page })
        }),
        process: AtomicU32::new(0),
        latest: match page::<AtomicU64>(MapFlags::SHARED) {
            // SAFETY: zeroed memory of a page that is never unmapped, which is a valid atomic.
            Some(page) => unsafe { &*page },
            None => Box::leak(Box::default()),
        },
    })
}

/// Declares this process, with all its threads, the one that continues. Call it before any routine, and never
/// between a routine and [`exit_if_child`].
pub fn arm() {
    let guard = guard();
    if let Some(mark) = guard.wiped {
        mark.store(1, Ordering::Relaxed);
    }
    guard.process.store(std::process::id(), Ordering::Relaxed);
}

/// Returns in the process that called [`arm`]; ends a child forked by a routine.
#[inline]
pub fn exit_if_child() {
    if is_child() {
        // SAFETY: ends this process immediately, without handlers that belong to its parent.
        unsafe { libc::_exit(0) };
    }
}

/// As [`exit_if_child`], within a verification: the child records its existence first.
#[inline]
pub(crate) fn record_and_exit_if_child() {
    if is_child() {
        guard().latest.fetch_max(VERIFICATION.load(Ordering::Relaxed), Ordering::Relaxed);
        exit_if_child();
    }
}

#[inline]
fn is_child() -> bool {
    let guard = guard();
    match guard.wiped {
        Some(mark) => mark.load(Ordering::Relaxed) == 0,
        None => guard.process.load(Ordering::Relaxed) != std::process::id(),
    }
}

/// Looks for child processes forked by the routines of one verification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    verification: u64,
    /// False if this thread already had children, so that another one would not be noticed.
    alone: bool,
}

impl Watch {
    /// For the routines of a new verification; only one runs at a time.
    pub fn begin() -> Watch {
        arm();
        VERIFICATION.fetch_add(1, Ordering::Relaxed);
        Watch::current()
    }

    /// For the routines of the current verification.
    pub fn current() -> Watch {
        Watch { verification: VERIFICATION.load(Ordering::Relaxed), alone: !thread_has_children() }
    }

    /// Whether a child of this verification has ended in [`record_and_exit_if_child`].
    #[inline]
    pub fn came_back(&self) -> bool {
        guard().latest.load(Ordering::Relaxed) == self.verification
    }

    /// Whether this thread has a child, running or not. Makes a system call.
    pub fn left_behind(&self) -> bool {
        self.alone && thread_has_children()
    }

    /// Waits briefly for the children to end, so that the next verification does not see them.
    pub fn settle(&self) {
        let start = Instant::now();
        let flags = libc::WNOHANG | libc::__WNOTHREAD | libc::__WALL;
        // SAFETY: waits only for children of this thread, all made by the routines; the status is not needed.
        let take_one = || unsafe { libc::waitpid(-1, null_mut(), flags) };
        while self.alone && take_one() >= 0 && start.elapsed() < Duration::from_millis(300) {
            std::thread::yield_now();
        }
    }
}

/// Children of other threads are ignored: a program that embeds verification may start processes
/// concurrently.
fn thread_has_children() -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WNOTHREAD | libc::__WALL;
    // SAFETY: a kernel structure for which all-zero is valid; nothing is waited for or reaped.
    unsafe {
        let mut about: libc::siginfo_t = zeroed();
        libc::waitid(libc::P_ALL, 0, &raw mut about, flags) == 0
    }
}
