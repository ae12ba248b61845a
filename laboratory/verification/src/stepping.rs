//! One instruction at a time: what a routine does between its first and its last instruction.
//!
//! With the trap flag set, the processor stops after every instruction and the kernel delivers a signal on the
//! routine's own stack. That makes certain what a race only makes likely. At each stop the handler
//!
//! - has, by being there, overwritten the stack below the red zone;
//! - looks at the bytes next to the destination: a routine that writes there, if only to restore them, is seen
//!   in the act, and one that reads them and writes them back later loses what the handler wrote meanwhile, as it would
//!   lose what another thread writes;
//! - now and then lets another thread make whole calls of the same routine on buffers of its own, so that state
//!   that calls share is overwritten in the middle of one.

use super::bench::{Mismatch, Prefill, Trial, ill_mismatch};
use super::companion::{Companion, Meeting};
use super::counterexample::{Kind, Spot, Stage};
use super::ground::{Caught, Destination, Field, Pick, Source, Stop};
use super::images::Album;
use super::signals::{Saved, scribble};
use super::sweep::Proof;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// How many bytes on either side of a destination change while it is written.
const NEIGHBOURS: usize = 64;
/// Stops in one proof; each costs a signal.
const MOST_STEPS: u64 = 9000;
const MOST_STEPS_OF_A_CALL: u64 = 3000;

#[derive(Debug)]
struct Steps {
    count: u64,
    tick: u8,
    sides: [(*mut u8, usize); 2],
    /// Where a neighbour was found changed, and what it was.
    found: Option<(usize, u8, u8)>,
    meet_every: u64,
    meeting: *const Meeting,
}

static STEPS: AtomicPtr<Steps> = AtomicPtr::new(null_mut());

impl Steps {
    /// Compares the neighbours with what was last written there.
    fn look(&mut self) {
        for (start, len) in self.sides {
            for i in 0..len {
                // SAFETY: bytes of the field that the trial writes to, next to its destination.
                let got = unsafe { start.add(i).read_volatile() };
                if got != self.tick && self.found.is_none() {
                    self.found = Some((start as usize + i, self.tick, got));
                }
            }
        }
    }

    fn write(&mut self) {
        for (start, len) in self.sides {
            for i in 0..len {
                // SAFETY: as in `look`.
                unsafe { start.add(i).write_volatile(self.tick) };
            }
        }
    }
}

extern "C" fn on_step(_signal: i32, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    use super::call::x86_64::CURRENT;
    use super::trampoline::{carryline_proof_after, carryline_proof_call, carryline_proof_end};
    const TRAP: i64 = 1 << 8;
    // SAFETY: the kernel passes it to a handler installed with SA_SIGINFO.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let steps = STEPS.load(Ordering::Relaxed);
    let at = registers[libc::REG_RIP as usize] as usize;
    let (call, after) =
        (carryline_proof_call as *const () as usize, (&raw const carryline_proof_after) as usize);
    let end = (&raw const carryline_proof_end) as usize;
    if steps.is_null() || CURRENT.get().is_null() || (after..end).contains(&at) {
        registers[libc::REG_EFL as usize] &= !TRAP;
        return;
    }
    if (call..after).contains(&at) {
        return;
    }
    // SAFETY: set by the thread that is being stepped, which is this one, for the time of the call.
    let steps = unsafe { &mut *steps };
    steps.count += 1;
    steps.look();
    steps.tick = steps.tick.wrapping_add(1);
    steps.write();
    if steps.count.is_multiple_of(16) {
        scribble::<40_000>();
    } else {
        scribble::<2_000>();
    }
    if steps.meet_every != 0 && steps.count % steps.meet_every == 1 && !steps.meeting.is_null() {
        // SAFETY: the meeting outlives the stepped calls.
        unsafe { (*steps.meeting).let_the_other_run() };
    }
    if steps.count >= MOST_STEPS_OF_A_CALL {
        registers[libc::REG_EFL as usize] &= !TRAP;
    }
}

/// True if the trap flag stops this thread, as it should: an emulator may not.
fn stops_here() -> bool {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    extern "C" fn count(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: as in `on_step`.
        let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        if COUNT.fetch_add(1, Ordering::Relaxed) >= 1 {
            registers[libc::REG_EFL as usize] &= !(1 << 8);
        }
    }
    COUNT.store(0, Ordering::Relaxed);
    let _saved = Saved::install(libc::SIGTRAP, count, 0);
    // SAFETY: the trap flag stops after each of the following instructions until the handler clears it; the
    // red zone is left alone.
    unsafe {
        std::arch::asm!(
            "pushfq",
            "or qword ptr [rsp], 0x100",
            "popfq",
            "nop",
            "nop",
            "nop",
            "nop",
            "pushfq",
            "and qword ptr [rsp], -257",
            "popfq"
        );
    }
    COUNT.load(Ordering::Relaxed) == 2
}

impl Proof<'_> {
    /// Calls of small buffers, stopped after each instruction.
    pub fn stepped(
        &mut self,
        album: &Album,
        fields: &[Field<'_>],
        companion: &Companion,
    ) -> Result<(), Stop> {
        if !stops_here() {
            self.notes
                .push("not tried: one instruction at a time, which this machine does not offer".to_owned());
            return Ok(());
        }
        let _saved = Saved::install(libc::SIGTRAP, on_step, 0);
        let lengths = self.supported([
            1, 16, 7, 33, 64, 3, 15, 8, 40, 100, 31, 63, 2, 5, 9, 17, 23, 32, 47, 65, 12, 96, 127, 129, 13,
            4, 200, 255, 300,
        ]);
        let mut steps = 0;
        for round in 0..4 {
            for (turn, len) in lengths.iter().copied().enumerate() {
                // A routine that takes its time leaves less for the others.
                if steps >= MOST_STEPS {
                    return Ok(());
                }
                let offset = if round == 0 { 1 + turn % 7 } else { self.random.below(64) };
                let meet_every = if len <= 16 && round == 0 { 3 } else { 29 };
                steps += self.step(album, fields, companion, len, offset, meet_every)?;
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        album: &Album,
        fields: &[Field<'_>],
        companion: &Companion,
        len: usize,
        offset: usize,
        meet_every: u64,
    ) -> Result<u64, Stop> {
        let pattern = album.patterns()[self.random.below(album.patterns().len())];
        let src = self
            .family
            .reads()
            .then(|| Source::in_album(album, pattern, true, Spot::Middle, len, self.random.below(64)));
        let turn = self.random.below(fields.len());
        let dst = self
            .family
            .writes()
            .then(|| Destination::in_field(&fields[turn], Prefill::Plain, Spot::Middle, len, offset));
        let seed = self.checksum_seed();
        let trial = Pick { stage: Stage::Stepped, len, seed, src, dst }.trial(self.family);
        let outcome = self.step_through(&trial, companion.meeting(), meet_every);
        let met = companion.meeting().met();
        let family = self.family;
        let caught = |mismatch: Mismatch| {
            let mut caught = Caught::new(mismatch, &trial, family, true);
            caught.reducible = false;
            Stop::Caught(Box::new(caught))
        };
        companion.verdict().map_err(caught)?;
        let (kind, mismatch) = match outcome {
            Ok(steps) => return Ok(steps),
            Err(mismatch) if !is_data(mismatch.kind) => return Err(caught(mismatch)),
            // Who is to blame: the other thread's calls, or the signals alone?
            Err(mismatch) if met && self.step_through(&trial, companion.meeting(), 0).is_ok() => {
                (Kind::Threads, mismatch)
            }
            Err(mismatch) => (Kind::Signals, mismatch),
        };
        let who = match kind {
            Kind::Threads => "a call on another thread in the middle of this one changes what this one does",
            _ => "a signal in the middle of the call changes what it does (the stack below the red zone?)",
        };
        let about = format!("{who}: {}", mismatch.what());
        Err(caught(Mismatch { kind, about, ..mismatch }))
    }

    /// The call with a stop after each instruction; how many there were, or what is wrong.
    fn step_through(&mut self, trial: &Trial, meeting: &Meeting, meet_every: u64) -> Result<u64, Mismatch> {
        let to = trial.call.dst;
        let sides = match trial.window {
            Some(_) => {
                [(to.wrapping_sub(NEIGHBOURS), NEIGHBOURS), (to.wrapping_add(trial.call.len), NEIGHBOURS)]
            }
            None => [(null_mut(), 0); 2],
        };
        let mut steps = Steps { count: 0, tick: 0x5a, sides, found: None, meet_every, meeting };
        steps.write();
        STEPS.store(&raw mut steps, Ordering::Relaxed);
        let outcome = self.bench.call(&trial.call, trial.note, true);
        STEPS.store(null_mut(), Ordering::Relaxed);
        steps.look();
        for (start, len) in sides {
            if let Some(window) = trial.window {
                let from = start as usize - window.base as usize;
                // SAFETY: the neighbours lie in the window, as `Spot::Middle` leaves room for them.
                unsafe { start.copy_from_nonoverlapping(window.shadow.add(from), len) };
            }
        }
        let compared = match outcome {
            Err(ill) => Err(ill_mismatch(ill, &trial.call, self.family)),
            Ok(sum) => self.bench.compare(trial, sum).map_err(|mismatch| *mismatch),
        };
        if let Some(window) = trial.window {
            // SAFETY: as in `Bench::check`.
            unsafe { window.base.copy_from_nonoverlapping(window.shadow, window.size) };
        }
        if let Some((address, expected, got)) = steps.found {
            let first = address as i64 - to as i64;
            return Err(Mismatch {
                first_difference: Some(first),
                about: format!(
                    "byte {first} from the destination's start, outside it, is written during the call: what \
                     another thread writes there meanwhile is lost"
                ),
                ..Mismatch::new(Kind::NeighbourRace, format!("{expected:#04x}"), format!("{got:#04x}"))
            });
        }
        compared.map(|()| steps.count)
    }
}

/// True where the bytes or the sum are wrong, rather than something around the call.
fn is_data(kind: Kind) -> bool {
    matches!(kind, Kind::WrongResult | Kind::WrongBytes | Kind::LeftBytesUnwritten | Kind::WroteOutside)
}
