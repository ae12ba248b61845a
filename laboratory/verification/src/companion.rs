//! A second thread whose calls happen exactly when a stopped call lets them.
//!
//! Two threads that merely run at the same time meet inside a routine by luck. Here one thread is stopped between two
//! instructions and waits, in the handler, until the other has made a few whole calls: a schedule that two
//! cores might produce any day, made certain.

use super::bench::Mismatch;
use super::counterexample::{Kind, Stage};
use super::ground::{Field, Stop};
use super::images::Album;
use super::signals::SignalStack;
use super::sweep::Proof;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Scope, yield_now};
use std::time::{Duration, Instant};

/// Where a stopped call lets another thread's calls happen.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// See the constants.
    turn: AtomicU32,
    met: AtomicBool,
    /// How often the other thread was let in, and whether it ever failed to come back.
    visits: AtomicU32,
    lost: AtomicBool,
    failure: Mutex<Option<Mismatch>>,
}

const NOBODY: u32 = 0;
const ASKED: u32 = 1;
const DONE: u32 = 2;
const OVER: u32 = 3;
const MOST_VISITS: u32 = 150;
const PATIENCE: Duration = Duration::from_millis(50);

impl Meeting {
    /// Called in a signal handler: waits until the other thread has made a few calls. A routine that holds a lock would keep it
    /// from that for ever, so the patience ends, and then it is not asked again.
    pub fn let_the_other_run(&self) {
        let asked = self.turn.compare_exchange(NOBODY, ASKED, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !asked
            || self.lost.load(Ordering::Relaxed)
            || self.visits.fetch_add(1, Ordering::Relaxed) >= MOST_VISITS
        {
            return;
        }
        let start = Instant::now();
        while self.turn.load(Ordering::Acquire) == ASKED {
            if start.elapsed() > PATIENCE {
                self.lost.store(true, Ordering::Relaxed);
                return;
            }
            yield_now();
        }
        self.met.store(true, Ordering::Relaxed);
        let _ = self.turn.compare_exchange(DONE, NOBODY, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// True if the other thread ran since this was last asked.
    pub fn met(&self) -> bool {
        self.met.swap(false, Ordering::Relaxed)
    }

    fn fail(&self, mismatch: Mismatch) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(mismatch);
    }
}

/// A thread that calls the same routine on its own buffers whenever it is allowed to run.
#[derive(Debug)]
pub(super) struct Companion<'m>(&'m Meeting);

impl<'m> Companion<'m> {
    /// Starts the thread, which makes the calls of another `proof` on fields of its `own`; it ends when the
    /// companion is dropped.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        meeting: &'m Meeting,
        mut proof: Proof<'m>,
        album: &'m Album,
        own: &'m [Field<'m>],
    ) -> Companion<'m>
    where
        'm: 'scope,
    {
        scope.spawn(move || {
            let _stack = SignalStack::install(64 << 10);
            loop {
                match meeting.turn.load(Ordering::Acquire) {
                    OVER => return,
                    ASKED => {
                        for _ in 0..2 {
                            let len = proof.some_length(300);
                            if let Err(Stop::Caught(caught)) = proof.drawn(Stage::Threads, album, own, len) {
                                meeting.fail(caught.mismatch);
                            }
                        }
                        let _ =
                            meeting.turn.compare_exchange(ASKED, DONE, Ordering::AcqRel, Ordering::Relaxed);
                    }
                    _ => yield_now(),
                }
            }
        });
        Companion(meeting)
    }

    pub fn meeting(&self) -> &'m Meeting {
        self.0
    }

    /// What the companion's own calls came to.
    pub fn verdict(&self) -> Result<(), Mismatch> {
        match self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(mismatch) => Err(Mismatch {
                kind: Kind::Threads,
                about: format!(
                    "a call on another thread goes wrong while this one is stopped: {}",
                    mismatch.what()
                ),
                ..mismatch
            }),
        }
    }
}

impl Drop for Companion<'_> {
    fn drop(&mut self) {
        self.0.turn.store(OVER, Ordering::Release);
    }
}
