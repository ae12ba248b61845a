//! The routine while other threads run and signals arrive.

use super::Depth;
use super::bench::{Bench, Mismatch, Prefill};
use super::counterexample::{Kind, Spot, Stage};
use super::ground::{Caught, Destination, Field, Pick, Source, Stop};
use super::images::Album;
use super::signals::{Saved, SignalStack};
use super::stepping::scribble;
use super::sweep::{Proof, fields};
use crate::status::StatusPage;
use carryline_variants::{Lengths, Routine};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};
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

/// A thread that calls the same routine on buffers of its own whenever it is let.
#[derive(Debug)]
pub(super) struct Companion<'m>(&'m Meeting);

impl<'m> Companion<'m> {
    /// Starts the thread; it ends when the companion is dropped.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        meeting: &'m Meeting,
        routine: Routine,
        lengths: Lengths,
        album: &'m Album,
        page: &'m StatusPage,
    ) -> Companion<'m>
    where
        'm: 'scope,
    {
        scope.spawn(move || {
            let _stack = SignalStack::install(64 << 10);
            let mut proof = Proof::new(Bench::new(routine, page, 0), lengths, Depth::Replicate, 77);
            let own = fields(proof.family, album, 4);
            loop {
                match meeting.turn.load(Ordering::Acquire) {
                    OVER => return,
                    ASKED => {
                        if let Ok(own) = &own {
                            for _ in 0..2 {
                                let len = proof.random.below(301);
                                if let Err(Stop::Caught(caught)) =
                                    proof.drawn(Stage::Threads, album, own, len)
                                {
                                    meeting.fail(caught.mismatch);
                                }
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
                    mismatch.about
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

/// What the thread that writes next to a destination is to do.
#[derive(Default)]
struct Neighbour {
    before: AtomicPtr<u8>,
    after: AtomicPtr<u8>,
    running: AtomicBool,
    idle: AtomicBool,
    over: AtomicBool,
    written: AtomicU8,
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
                // SAFETY: bytes of a field on either side of its destination, reached by atomics alone here;
                // the routine under test has no business there.
                unsafe { AtomicU8::from_ptr(side.load(Ordering::Relaxed)) }.fetch_add(1, Ordering::Relaxed);
            }
            self.written.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Proof<'_> {
    /// Another thread counts in the bytes next to the destination; none of its counts may be lost.
    pub fn neighbour_race(&mut self, album: &Album, fields: &[Field<'_>]) -> Result<(), Stop> {
        if !self.family.writes() || std::thread::available_parallelism().map_or(1, |n| n.get()) < 2 {
            return Ok(());
        }
        let neighbour = Neighbour::default();
        std::thread::scope(|scope| {
            scope.spawn(|| neighbour.work());
            let lengths = [1, 5, 13, 31, 64, 100, 255, 17];
            let outcome = lengths.into_iter().try_for_each(|len| self.heat(&neighbour, album, fields, len));
            neighbour.over.store(true, Ordering::Release);
            outcome
        })
    }

    fn heat(
        &mut self,
        neighbour: &Neighbour,
        album: &Album,
        fields: &[Field<'_>],
        len: usize,
    ) -> Result<(), Stop> {
        if !self.lengths.contains(len) {
            return Ok(());
        }
        let src = self
            .family
            .reads()
            .then(|| Source::in_album(album, album.patterns()[0], false, Spot::Middle, len, 9));
        let offset = self.random.below(64);
        let dst = Some(Destination::in_field(&fields[0], Prefill::Plain, Spot::Middle, len, offset));
        let seed = self.checksum_seed();
        let trial = Pick { stage: Stage::NeighbourRace, len, seed, src, dst }.trial(self.family);
        let (before, after) = (trial.call.dst.wrapping_sub(1), trial.call.dst.wrapping_add(len));
        neighbour.before.store(before, Ordering::Relaxed);
        neighbour.after.store(after, Ordering::Relaxed);
        neighbour.written.store(0, Ordering::Relaxed);
        // SAFETY: two bytes of the field, next to the destination; the other thread is idle.
        let initial = unsafe { [before, after].map(|byte| byte.read()) };
        neighbour.running.store(true, Ordering::SeqCst);
        let mut ill = None;
        for _ in 0..400 {
            if let Err(found) = self.bench.call(&trial.call, trial.note, false) {
                ill = Some(super::bench::ill_mismatch(found, &trial.call, self.family));
                break;
            }
        }
        neighbour.running.store(false, Ordering::SeqCst);
        neighbour.idle.store(false, Ordering::SeqCst);
        while !neighbour.idle.load(Ordering::SeqCst) {
            yield_now();
        }
        let written = neighbour.written.load(Ordering::Relaxed);
        // SAFETY: as above.
        let finally = unsafe { [before, after].map(|byte| byte.read()) };
        if let Some(window) = trial.window {
            // SAFETY: as in `Bench::check`.
            unsafe { window.base.copy_from_nonoverlapping(window.shadow, window.size) };
        }
        for ((initial, finally), first) in initial.into_iter().zip(finally).zip([-1, len as i64]) {
            let expected = initial.wrapping_add(written);
            if finally != expected && ill.is_none() {
                ill = Some(Mismatch {
                    kind: Kind::NeighbourRace,
                    expected: format!("{expected:#04x}"),
                    got: format!("{finally:#04x}"),
                    first_difference: Some(first),
                    about: format!(
                        "what another thread writes to byte {first}, outside the destination, is lost"
                    ),
                });
            }
        }
        match ill {
            None => Ok(()),
            Some(mismatch) => Err(self.caught(mismatch, &trial)),
        }
    }

    fn caught(&self, mismatch: Mismatch, trial: &super::bench::Trial) -> Stop {
        let mut caught = Caught::new(mismatch, trial, self.family, true);
        caught.reducible = false;
        Stop::Caught(Box::new(caught))
    }

    /// Two threads call the routine at once.
    pub fn threads(
        &mut self,
        album: &Album,
        own: &[Field<'_>],
        page: &StatusPage,
        routine: Routine,
    ) -> Result<(), Stop> {
        let (lengths, seed) = (self.lengths, self.seed);
        let run = |proof: &mut Proof<'_>, own: &[Field<'_>]| {
            (0..1500).try_for_each(|_| {
                let len = proof.random.below(3000);
                proof.drawn(Stage::Threads, album, own, len)
            })
        };
        let (here, there) = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _stack = SignalStack::install(64 << 10);
                let mut proof = Proof::new(Bench::new(routine, page, 0), lengths, Depth::Replicate, !seed);
                let own = fields(proof.family, album, 4)?;
                run(&mut proof, &own)
            });
            (run(self, own), other.join())
        });
        let blame = |stop: Stop| match stop {
            Stop::Caught(mut caught) => {
                caught.reducible = false;
                caught.mismatch.about =
                    format!("with another thread in the routine: {}", caught.mismatch.about);
                if matches!(
                    caught.mismatch.kind,
                    Kind::WrongResult | Kind::WrongBytes | Kind::LeftBytesUnwritten
                ) {
                    caught.mismatch.kind = Kind::Threads;
                }
                Stop::Caught(caught)
            }
            memory => memory,
        };
        here.map_err(blame)?;
        there.unwrap_or(Ok(())).map_err(blame)
    }

    /// Signals in quick succession, whose handler overwrites the stack below; then on a small stack of its own.
    pub fn signal_storm(&mut self, album: &Album, fields: &[Field<'_>]) -> Result<(), Stop> {
        extern "C" fn handler(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
            scribble::<40_000>();
        }
        extern "C" fn small_handler(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
            scribble::<256>();
        }
        // SAFETY: no preconditions.
        let me = unsafe { libc::pthread_self() };
        for own_stack in [false, true] {
            let _stack = own_stack.then(|| SignalStack::install(0));
            let (handler, flags): (super::signals::Handler, i32) =
                if own_stack { (small_handler, libc::SA_ONSTACK) } else { (handler, 0) };
            // Ignored by default: one that arrives late does no harm.
            let _saved = Saved::install(libc::SIGURG, handler, flags);
            let over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !over.load(Ordering::Acquire) {
                        // SAFETY: the thread that it names waits for this one.
                        unsafe { libc::pthread_kill(me, libc::SIGURG) };
                        std::thread::sleep(Duration::from_micros(20));
                    }
                });
                let largest =
                    fields.first().map_or_else(|| album.of(album.patterns()[0]).len(), |field| field.len());
                let outcome = (0..10).try_for_each(|turn| {
                    let len = largest - 4200 - turn * 64 - self.random.below(64);
                    self.drawn(Stage::Signals, album, fields, len)?;
                    (0..40).try_for_each(|_| {
                        let len = self.random.below(4000);
                        self.drawn(Stage::Signals, album, fields, len)
                    })
                });
                over.store(true, Ordering::Release);
                outcome
            })
            .map_err(|stop| match stop {
                Stop::Caught(mut caught) => {
                    caught.reducible = false;
                    if matches!(
                        caught.mismatch.kind,
                        Kind::WrongResult | Kind::WrongBytes | Kind::LeftBytesUnwritten
                    ) {
                        caught.mismatch.kind = Kind::Signals;
                    }
                    Stop::Caught(caught)
                }
                memory => memory,
            })?;
        }
        Ok(())
    }
}
