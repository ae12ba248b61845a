//! A second thread that makes its calls exactly when a stopped call allows it.
//!
//! Two threads that merely run concurrently meet inside a routine by chance. Here, one thread is stopped
//! between two instructions and waits in the handler until the other has made a few complete calls: a
//! schedule that two cores might produce, made deterministic. It needs no second CPU, and load on the machine
//! only affects the duration.

use super::checker::Mismatch;
use super::counterexample::FaultKind;
use super::ground::{Ground, Stop};
use super::note::Stage;
use super::other_thread::{Seen, look, this_thread};
use super::signals::SignalStack;
use super::sweep::{MIDDLING, Verification};
use rustix::thread::futex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;

/// Synchronises a stopped call with the calls of another thread.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// One of the constants below.
    turn: AtomicU32,
    /// The other thread's id.
    thread: AtomicI32,
    /// The length of the stopped call.
    len: AtomicUsize,
    met: AtomicBool,
    /// The number of times the other thread may still run.
    visits: AtomicU32,
    /// The other thread has not finished: it waits for something that the stopped call holds.
    waits: AtomicBool,
    waited: AtomicU32,
    failure: Mutex<Option<Mismatch>>,
}

const IDLE: u32 = 0;
const REQUESTED: u32 = 1;
const DONE: u32 = 2;
const ENDED: u32 = 3;
/// A call that uses this much CPU time while another one is stopped is waiting for it in a loop.
const MOST_SPINNING: Duration = Duration::from_millis(100);
/// The maximum number of waits: a routine that uses locks reveals this within them.
const MOST_WAITS: u32 = 6;

impl Meeting {
    /// Allows the other thread to run up to `visits` times from now on, during a stopped call of `len` bytes.
    pub fn begin(&self, visits: u32, len: usize) {
        self.visits.store(visits, Ordering::Relaxed);
        self.len.store(len, Ordering::Relaxed);
    }

    /// Called in a signal handler: waits until the other thread has made a few calls. A routine that holds a
    /// lock blocks it while its own call is stopped, so the call continues once the other thread sleeps or
    /// spins.
    pub fn let_other_run(&self) {
        if self.waits.load(Ordering::Relaxed)
            || self.waited.load(Ordering::Relaxed) >= MOST_WAITS
            || self.visits.load(Ordering::Relaxed) == 0
            || self.turn.compare_exchange(IDLE, REQUESTED, Ordering::AcqRel, Ordering::Relaxed).is_err()
        {
            return;
        }
        self.visits.fetch_sub(1, Ordering::Relaxed);
        self.wake();
        if self.other_is_done() {
            self.met.store(true, Ordering::Relaxed);
            let _ = self.turn.compare_exchange(DONE, IDLE, Ordering::AcqRel, Ordering::Relaxed);
        } else {
            self.waits.store(true, Ordering::Relaxed);
            self.waited.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// After a stopped call: waits for the other thread to finish calls that were blocked. False if it does
    /// not.
    pub fn settle(&self) -> bool {
        if !self.waits.load(Ordering::Relaxed) {
            return true;
        }
        // The lock is free again; waking takes a moment.
        let back = (0..1000).any(|_| self.other_is_done());
        if back {
            let _ = self.turn.compare_exchange(DONE, IDLE, Ordering::AcqRel, Ordering::Relaxed);
            self.waits.store(false, Ordering::Relaxed);
        }
        back
    }

    /// Waits for the other thread; false once it is asleep, or has used too much CPU time.
    fn other_is_done(&self) -> bool {
        let thread = self.thread.load(Ordering::Relaxed);
        let begin = look(thread);
        let mut asleep = 0;
        while self.turn.load(Ordering::Acquire) == REQUESTED {
            let moment = futex::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            let woken = futex::wait(&self.turn, futex::Flags::PRIVATE, REQUESTED, Some(&moment));
            if woken.is_ok() {
                continue;
            }
            match (begin, look(thread)) {
                (Some(begin), Some(now)) => {
                    asleep = if now.asleep { asleep + 1 } else { 0 };
                    if asleep >= 2 || used(begin, now) > MOST_SPINNING {
                        return self.turn.load(Ordering::Acquire) != REQUESTED;
                    }
                }
                // Nothing is known about it, for example without /proc.
                _ => return false,
            }
        }
        true
    }

    fn wake(&self) {
        // Errors do not matter: no thread waits, or the value has changed.
        let _ = futex::wake(&self.turn, futex::Flags::PRIVATE, 1);
    }

    /// Whether the other thread has run since the last query.
    pub fn met(&self) -> bool {
        self.met.swap(false, Ordering::Relaxed)
    }

    fn fail(&self, mismatch: Mismatch) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(mismatch);
    }
}

fn used(begin: Seen, now: Seen) -> Duration {
    now.cpu.saturating_sub(begin.cpu)
}

/// A thread that calls the same routine on its own buffers whenever it is allowed to run.
#[derive(Debug)]
pub(super) struct Companion<'m>(&'m Meeting);

impl<'m> Companion<'m> {
    /// Starts the thread, which makes the calls of another verification, `verification`, on `small` or
    /// `large` ground; it ends when the companion is dropped.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        meeting: &'m Meeting,
        mut verification: Verification<'m>,
        small: Ground<'m>,
        large: Ground<'m>,
    ) -> Companion<'m>
    where
        'm: 'scope,
    {
        scope.spawn(move || {
            let _stack = SignalStack::install(64 << 10);
            meeting.thread.store(this_thread(), Ordering::Relaxed);
            loop {
                match meeting.turn.load(Ordering::Acquire) {
                    ENDED => return,
                    REQUESTED => {
                        let len = meeting.len.load(Ordering::Relaxed);
                        for len in [len, verification.some_length(len.max(300))] {
                            let ground = if len <= MIDDLING { small } else { large };
                            let outcome = verification.drawn(Stage::Threads, ground, len);
                            if let Err(Stop::Caught(caught)) = outcome {
                                meeting.fail(caught.mismatch);
                            }
                        }
                        let _ = meeting.turn.compare_exchange(
                            REQUESTED,
                            DONE,
                            Ordering::AcqRel,
                            Ordering::Relaxed,
                        );
                        meeting.wake();
                    }
                    idle => {
                        // Returns immediately if the turn has changed.
                        let _ = futex::wait(&meeting.turn, futex::Flags::PRIVATE, idle, None);
                    }
                }
            }
        });
        // The stopped call observes the thread by its id.
        while meeting.thread.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        Companion(meeting)
    }

    pub fn meeting(&self) -> &'m Meeting {
        self.0
    }

    /// The result of the companion's own calls.
    pub fn verdict(&self) -> Result<(), Mismatch> {
        match self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(mismatch) => Err(Mismatch {
                kind: FaultKind::Threads,
                about: format!(
                    "a call on another thread fails while this one is stopped: {}",
                    mismatch.what()
                ),
                ..mismatch
            }),
        }
    }
}

impl Drop for Companion<'_> {
    fn drop(&mut self) {
        self.0.turn.store(ENDED, Ordering::Release);
        self.0.wake();
    }
}
