//! Writes to a pipe that nobody reads, without the signal that would end the program.

use core::mem::MaybeUninit;
use core::ptr::null_mut;
use libc::{SIG_BLOCK, SIG_SETMASK, SIGPIPE, c_int, sigset_t, timespec};

/// Calls `write` while SIGPIPE is blocked in this thread. `write` returns true if a write failed because of a broken
/// pipe; the signal is then taken, unless one was pending before.
pub(crate) fn without_signal(write: impl FnOnce() -> bool) {
    let pipe = only_sigpipe();
    let Some(before) = set_mask(SIG_BLOCK, &pipe) else { return };
    // An unblocked signal cannot be pending.
    let was_pending = contains(&before, SIGPIPE) && is_pending();
    if write() && !was_pending {
        let now = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the set and the time are initialised, and a null pointer means that nothing is returned.
        unsafe { libc::sigtimedwait(&raw const pipe, null_mut(), &raw const now) };
    }
    set_mask(SIG_SETMASK, &before);
}

fn only_sigpipe() -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises the set, and SIGPIPE is a signal.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), SIGPIPE);
        set.assume_init()
    }
}

/// Changes the mask of this thread: on Linux, `sigprocmask` is about one thread. Returns the mask before; `None` if it
/// is unchanged.
fn set_mask(how: c_int, set: &sigset_t) -> Option<sigset_t> {
    let mut before = MaybeUninit::uninit();
    // SAFETY: the set is initialised, and there is room for the former mask.
    let result = unsafe { libc::sigprocmask(how, set, before.as_mut_ptr()) };
    // SAFETY: a successful call has stored the former mask.
    (result == 0).then(|| unsafe { before.assume_init() })
}

fn contains(set: &sigset_t, signal: c_int) -> bool {
    // SAFETY: the set is initialised.
    unsafe { libc::sigismember(set, signal) == 1 }
}

fn is_pending() -> bool {
    let mut pending = MaybeUninit::uninit();
    // SAFETY: there is room for the set.
    let result = unsafe { libc::sigpending(pending.as_mut_ptr()) };
    // SAFETY: a successful call has stored the set.
    result == 0 && contains(unsafe { pending.assume_init_ref() }, SIGPIPE)
}
