//! The routine while other threads run.
//!
//! Effects between two instructions of a call are detected with certainty by stopping calls there. What
//! remains to chance needs two CPUs: a byte that is read and written back by a single instruction. The effort
//! is counted in calls and writes rather than in time, so a busy machine tries as much and takes longer.

use super::Depth;
use super::checker::{Checker, Mismatch, Prefill};
use super::counterexample::FaultKind;
use super::ground::{Caught, Destination, Ground, Pick, Source, Stop};
use super::note::{Place, Spot, Stage};
use super::signals::SignalStack;
use super::sweep::{SMALL, Verification, fields};
use carryline_variants::landing::Landing;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// How long to wait for the counting thread if it gets no CPU.
const TIMEOUT: Duration = Duration::from_secs(10);

fn two_cpus() -> bool {
    std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1)
}

/// The work of the thread that writes next to a destination.
#[derive(Default)]
struct Neighbour {
    before: AtomicPtr<u8>,
    after: AtomicPtr<u8>,
    running: AtomicBool,
    idle: AtomicBool,
    over: AtomicBool,
    written: AtomicU32,
}

impl Neighbour {
    fn work(&self) {
        while !self.over.load(Ordering::Acquire) {
            if !self.running.load(Ordering::SeqCst) {
                self.idle.store(true, Ordering::SeqCst);
                yield_now();
                continue;
            }
            self.idle.store(false, Ordering::SeqCst);
            for side in [&self.before, &self.after] {
                // SAFETY: bytes of a field on either side of its destination, accessed here only by atomics;
                // the routine under test must not access them.
                unsafe { AtomicU8::from_ptr(side.load(Ordering::Relaxed)) }.fetch_add(1, Ordering::Relaxed);
            }
            self.written.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Verification<'_> {
    /// Another thread increments the bytes next to the destination; no increment may be lost.
    pub fn neighbour_race(&mut self, ground: Ground<'_>) -> Result<(), Stop> {
        if !self.family.writes() {
            return Ok(());
        }
        if !two_cpus() {
            self.note("not tried: a thread that writes next to the destination, since there is only one CPU");
            return Ok(());
        }
        let neighbour = Neighbour::default();
        let mut lengths = self.supported([1, 5, 13, 31, 64, 100, 255, 17]);
        lengths.extend(self.length_of_each_class(66, SMALL + 1, 3));
        std::thread::scope(|scope| {
            scope.spawn(|| neighbour.work());
            let outcome = lengths
                .into_iter()
                .enumerate()
                .try_for_each(|(turn, len)| self.race_at(&neighbour, ground, turn, len));
            neighbour.over.store(true, Ordering::Release);
            outcome
        })
    }

    fn race_at(
        &mut self,
        neighbour: &Neighbour,
        ground: Ground<'_>,
        turn: usize,
        len: usize,
    ) -> Result<(), Stop> {
        let Ground { album, fields } = ground;
        let src = self.family.reads().then(|| {
            Source::in_album(album, album.patterns()[0], false, Place::in_line(Spot::Middle, 9), len)
        });
        let offset = self.random.below(64);
        let place = self.place_in_turn(turn, len, offset);
        let dst = Some(Destination::in_field(&fields[0], Prefill::Plain, place, len));
        let seed = self.argument();
        let trial = Pick { stage: Stage::NeighbourRace, len, seed, src, dst }.trial(self.family);
        let (before, after) = (trial.call.dst.wrapping_sub(1), trial.call.dst.wrapping_add(len));
        neighbour.before.store(before, Ordering::Relaxed);
        neighbour.after.store(after, Ordering::Relaxed);
        neighbour.written.store(0, Ordering::Relaxed);
        // SAFETY: two bytes of the field, next to the destination; the other thread is idle.
        let initial = unsafe { [before, after].map(|byte| byte.read()) };
        neighbour.running.store(true, Ordering::SeqCst);
        let mut failure = None;
        let start = Instant::now();
        let mut calls = 0;
        while calls < 400 || neighbour.written.load(Ordering::Relaxed) < 2000 {
            if start.elapsed() > TIMEOUT {
                self.note("not tried fully: a thread that writes next to the destination, which got no CPU");
                break;
            }
            calls += 1;
            if calls > 400 && calls % 64 == 0 {
                // The other thread may be waiting for this CPU.
                yield_now();
            }
            if let Err(found) = self.checker.call(&trial.call, trial.note, false) {
                failure = Some(super::checker::mismatch_of_error(found, &trial.call, self.family));
                break;
            }
        }
        neighbour.running.store(false, Ordering::SeqCst);
        neighbour.idle.store(false, Ordering::SeqCst);
        while !neighbour.idle.load(Ordering::SeqCst) {
            yield_now();
        }
        let written = neighbour.written.load(Ordering::Relaxed) as u8;
        // SAFETY: the bytes next to the destination are within the field, and the neighbour is idle.
        let finally = unsafe { [before, after].map(|byte| byte.read()) };
        if let Some(window) = trial.window {
            // SAFETY: see `Checker::check`.
            unsafe { window.base.copy_from_nonoverlapping(window.shadow, window.size) };
        }
        for ((initial, finally), first) in initial.into_iter().zip(finally).zip([-1, len as i64]) {
            let expected = initial.wrapping_add(written);
            if finally != expected && failure.is_none() {
                failure = Some(Mismatch {
                    kind: FaultKind::NeighbourRace,
                    expected: format!("{expected:#04x}"),
                    got: format!("{finally:#04x}"),
                    first_difference: Some(first),
                    about: format!(
                        "writes by another thread to byte {first}, outside the destination, are lost"
                    ),
                });
            }
        }
        match failure {
            None => Ok(()),
            Some(mismatch) => Err(self.caught(mismatch, &trial)),
        }
    }

    fn caught(&self, mismatch: Mismatch, trial: &super::checker::Trial) -> Stop {
        let mut caught = Caught::new(mismatch, trial, self.family, true);
        caught.reducible = false;
        Stop::Caught(Box::new(caught))
    }

    /// Two threads call the routine concurrently.
    pub fn threads(&mut self, own: Ground<'_>, routine: Landing) -> Result<(), Stop> {
        const CALLS: u32 = 1500;
        if !two_cpus() {
            self.note("not tried: two concurrent threads, since there is only one CPU");
            return Ok(());
        }
        let (lengths, seed, standard) = (self.lengths, self.seed, self.standard);
        let deadline = self.checker.caller.deadline;
        let others = fields(self.family, own.album, 4)?;
        let others = Ground { fields: &others, ..own };
        let ready = Barrier::new(2);
        let run = |verification: &mut Verification<'_>, ground: Ground<'_>| {
            ready.wait();
            (0..CALLS).try_for_each(|_| {
                let len = verification.some_length(3000);
                verification.drawn(Stage::Threads, ground, len)
            })
        };
        let (here, there) = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _stack = SignalStack::install(64 << 10);
                // This thread does not announce its calls.
                let mut verification =
                    Verification::new(Checker::new(routine, None, 0), lengths, Depth::Replicate, !seed)
                        .of_standard(standard);
                verification.checker.caller.deadline = deadline;
                run(&mut verification, others)
            });
            (run(self, own), other.join())
        });
        let blame = |stop: Stop| match stop {
            Stop::Caught(mut caught) => {
                caught.reducible = false;
                caught.mismatch.about =
                    format!("with another thread in the routine: {}", caught.mismatch.what());
                if matches!(
                    caught.mismatch.kind,
                    FaultKind::WrongResult | FaultKind::WrongBytes | FaultKind::LeftBytesUnwritten
                ) {
                    caught.mismatch.kind = FaultKind::Threads;
                }
                Stop::Caught(caught)
            }
            memory => memory,
        };
        here.map_err(blame)?;
        there.unwrap_or(Ok(())).map_err(blame)
    }
}
