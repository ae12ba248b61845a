//! Ends a process that a routine under test has split off, before it goes on with its parent's work.
//!
//! A routine that forks and returns in both processes would leave two verifications, and each of them would fork again.
//! So every caller of routines calls [`exit_if_child`] after them: a page that the kernel wipes in a child tells
//! which process this is, without a system call. A child says that it was there, in memory that both share, and ends.
//! Verification takes that, or a child that is still there, for a fault (`Watch`), so that no routine which does it
//! is timed.
//!
//! What it cannot see: a child that shares its parent's memory (`vfork`, `clone` with `CLONE_VM`) and one that goes its
//! own way and is gone before it can be observed.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

struct Guard {
    /// Zero in a child; `None` where the kernel does not wipe pages.
    wiped: Option<&'static AtomicU32>,
    process: AtomicU32,
    /// The latest verification of which a child was seen.
    latest: &'static AtomicU64,
}

static GUARD: OnceLock<Guard> = OnceLock::new();
/// Counts verifications. Private memory: a child keeps the number of the verification in which it was forked.
static PROOF: AtomicU64 = AtomicU64::new(1);

fn page<T>(flags: MapFlags) -> Option<*mut T> {
    let bytes = carryline_machine::arena::page_bytes();
    // SAFETY: the kernel chooses the address; no existing mapping changes.
    let map = unsafe { mmap_anonymous(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags) };
    map.ok().map(<*mut _>::cast)
}

fn guard() -> &'static Guard {
    GUARD.get_or_init(|| Guard {
        wiped: page::<AtomicU32>(MapFlags::PRIVATE).and_then(|page| {
            // SAFETY: advice on the page that was just mapped; its content here stays.
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

/// Declares this process, with all its threads, to be the one that goes on. To be called before routines are, and
/// never between a routine and [`exit_if_child`].
pub fn arm() {
    let guard = guard();
    if let Some(mark) = guard.wiped {
        mark.store(1, Ordering::Relaxed);
    }
    guard.process.store(std::process::id(), Ordering::Relaxed);
}

/// Returns in the process that called [`arm`]; ends one that a routine has split off from it.
#[inline]
pub fn exit_if_child() {
    if is_child() {
        // SAFETY: ends this process immediately, without handlers that belong to its parent.
        unsafe { libc::_exit(0) };
    }
}

/// The same within a verification: the child tells it before it ends.
#[inline]
pub(crate) fn tell_and_exit_if_child() {
    if is_child() {
        guard().latest.fetch_max(PROOF.load(Ordering::Relaxed), Ordering::Relaxed);
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

/// Looks for processes that the routines of one verification have split off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    proof: u64,
    /// False if this thread had children before, so that another one would tell nothing.
    alone: bool,
}

impl Watch {
    /// For the routines of a new verification; one runs at a time.
    pub fn begin() -> Watch {
        arm();
        PROOF.fetch_add(1, Ordering::Relaxed);
        Watch::current()
    }

    /// For the routines of the current verification.
    pub fn current() -> Watch {
        Watch { proof: PROOF.load(Ordering::Relaxed), alone: !thread_has_children() }
    }

    /// True if a child of this verification has ended in [`tell_and_exit_if_child`].
    #[inline]
    pub fn came_back(&self) -> bool {
        guard().latest.load(Ordering::Relaxed) == self.proof
    }

    /// True if there is a child of this thread, running or not: a system call.
    pub fn left_behind(&self) -> bool {
        self.alone && thread_has_children()
    }

    /// Waits a moment for the children to end, so that the next verification does not meet them.
    pub fn settle(&self) {
        let start = Instant::now();
        let flags = libc::WNOHANG | libc::__WNOTHREAD | libc::__WALL;
        // SAFETY: asks for children of this thread alone, all of which the routines have made; no status is wanted.
        let take_one = || unsafe { libc::waitpid(-1, null_mut(), flags) };
        while self.alone && take_one() >= 0 && start.elapsed() < Duration::from_millis(300) {
            std::thread::yield_now();
        }
    }
}

/// Children of other threads are ignored: a program that embeds verification may start processes meanwhile.
fn thread_has_children() -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WNOTHREAD | libc::__WALL;
    // SAFETY: a structure of the kernel's for which all-zero is valid; nothing is waited for or taken.
    unsafe {
        let mut about: libc::siginfo_t = zeroed();
        libc::waitid(libc::P_ALL, 0, &raw mut about, flags) == 0
    }
}
