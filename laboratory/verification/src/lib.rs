//! Verification: what has not been shown to be right is not timed.
//!
//! [`prove`] calls a routine some hundred thousand times and compares everything that can be seen: results, every
//! byte of the destination and around it, the source, guard pages on both sides, the registers and flags that
//! belong to the caller. It tries what goes wrong in practice (lengths, addresses, carries, overflows, stale
//! state, other threads, signals) rather than what is likely at random. Only it makes a [`Verified`], and only a
//! `Verified` can be timed.
//!
//! A routine under test may crash, hang or overwrite its own process. Crashes in a call are caught and reported
//! with their input; otherwise verification belongs in a worker process, notes each call on the [`StatusPage`] before
//! it makes it, and [`describe`] turns the page of a dead worker into a counterexample.
//!
//! What was tried is counted ([`tally`]), and what verification cannot see is in [`tally::CANNOT_SEE`]. First of all that
//! is reads outside a buffer that stay within its first or last page, as long as the result does not depend on them: an
//! aligned word that contains the buffer's last byte never crosses a page, and is harmless.
//!
//! One verification runs at a time in a process, since signal handlers belong to all of it; a second one waits.

pub mod adversarial;
mod beyond;
#[cfg(target_arch = "x86_64")]
mod blame;
mod bounds;
mod call;
mod checker;
#[cfg(target_arch = "x86_64")]
mod companion;
mod counterexample;
mod desk;
pub mod forked;
pub mod forms;
mod fresh;
mod ground;
mod history;
mod images;
#[cfg(target_arch = "x86_64")]
mod interrupted;
mod large;
mod memory;
mod note;
mod other_thread;
mod patterns;
mod places;
pub mod plugin;
mod races;
mod reduce;
mod replay;
mod reported;
mod signals;
pub mod standard;
pub mod status;
#[cfg(target_arch = "x86_64")]
mod stepping;
#[cfg(target_arch = "x86_64")]
mod stops;
pub mod subject;
mod sweep;
pub mod tally;
pub mod trace;
#[cfg(target_arch = "x86_64")]
mod trampoline;

pub use counterexample::{Counterexample, Ending, Failure, Kind, describe, signal_name};
pub use note::Stage;
pub use replay::{Change, Earlier};

use crate::forked::Watch;
use crate::fresh::Fresh;
use crate::status::StatusPage;
use crate::subject::Subject;
use carryline_variants::landing::Landing;
use carryline_variants::{CopyFn, Lengths, Routine, ZeroFn};
use checker::Checker;
use ground::Stop;
use images::Album;
use patterns::{PATTERNS, index};
use serde::{Deserialize, Serialize};
use signals::Handlers;
use std::time::{Duration, Instant};
use sweep::{Proof, fields};
use tally::Tried;

/// How thorough a verification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Everything, for `carryline verify`: about a second.
    Full,
    /// Before timing, in each worker process: every length and every offset, kinds of data, seeds and places drawn
    /// by the seed; no threads, no stopped calls. Some milliseconds.
    Replicate,
}

/// A subject that has been verified, and may therefore be timed. Only [`prove`] makes one:
///
/// ```compile_fail,E0451
/// use carryline_variants::{Family, find};
/// use carryline_verification::{Verified, subject::Subject};
/// let subject = Subject::of_variant(find(Family::Zero, "carryline").unwrap());
/// let verified = Verified { subject: &subject };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Verified<'s> {
    subject: &'s Subject,
}

impl<'s> Verified<'s> {
    /// What was verified.
    #[must_use]
    pub const fn subject(&self) -> &'s Subject {
        self.subject
    }

    /// What a timed loop calls; see [`carryline_variants::landing`].
    #[must_use]
    pub const fn landing(&self) -> Landing {
        self.subject.landing
    }

    /// The routine, if it zeroes.
    #[must_use]
    pub const fn zeroing(&self) -> Option<Zeroing> {
        match self.subject.routine {
            Landing::Routine(Routine::Zero(routine)) => Some(Zeroing(routine)),
            _ => None,
        }
    }

    /// The routine, if it copies.
    #[must_use]
    pub const fn copying(&self) -> Option<Copying> {
        match self.subject.routine {
            Landing::Routine(Routine::Copy(routine)) => Some(Copying(routine)),
            _ => None,
        }
    }
}

/// A verified routine that zeroes, from [`Verified::zeroing`], for loops that an experiment writes itself.
///
/// ```compile_fail,E0423
/// unsafe extern "C" fn unverified(_dst: *mut u8, _len: usize) {}
/// let zeroing = carryline_verification::Zeroing(unverified);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Zeroing(ZeroFn);

impl Zeroing {
    /// Zeroes `len` bytes from `dst`.
    ///
    /// # Safety
    /// `len` bytes must be writable from `dst`, and `len` one of the subject's lengths.
    #[inline(always)]
    pub unsafe fn call(self, dst: *mut u8, len: usize) {
        // SAFETY: the caller passes `len` writable bytes and a length of the subject's, which is the whole contract of
        // the family; the routine was verified in this process, so the CPU has what it needs.
        unsafe { (self.0)(dst, len) };
    }
}

/// A verified routine that copies, from [`Verified::copying`], for loops that an experiment writes itself.
#[derive(Clone, Copy, Debug)]
pub struct Copying(CopyFn);

impl Copying {
    /// Copies `len` bytes from `src` to `dst`.
    ///
    /// # Safety
    /// `len` bytes must be readable from `src` and writable from `dst`, the two must not overlap, and `len` must be one
    /// of the subject's lengths.
    #[inline(always)]
    pub unsafe fn call(self, dst: *mut u8, src: *const u8, len: usize) {
        // SAFETY: the caller passes two buffers of `len` bytes that do not overlap and a length of the subject's, which is
        // the whole contract of the family; the routine was verified in this process, so the CPU has what it needs.
        unsafe { (self.0)(dst, src, len) };
    }
}

/// What a verification did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProofSummary {
    /// How thorough it was.
    pub depth: Depth,
    /// How many calls it made, those of other threads aside.
    pub calls: u64,
    /// The same by check, length, offsets and placement.
    pub tried: Vec<Tried>,
    /// How long it took.
    pub elapsed_ns: u64,
    /// Observations that are not faults, and what could not be tried on this machine and why.
    pub notes: Vec<String>,
}

/// A verification that takes longer fails, with [`Kind::TimedOut`].
const PATIENCE: Duration = Duration::from_secs(60);

/// Verifies that the subject does its family's job, within the lengths that its authors support.
///
/// `seed` decides everything that is drawn; `subject_index` is what the status page calls the subject.
///
/// # Errors
/// [`Failure::Wrong`] with the smallest failing input that was found; the other failures say why nothing is known.
pub fn prove<'s>(
    subject: &'s Subject,
    depth: Depth,
    seed: u64,
    status: &StatusPage,
    subject_index: u64,
) -> Result<(Verified<'s>, ProofSummary), Failure> {
    prove_within(PATIENCE, subject, depth, seed, status, subject_index)
}

fn prove_within<'s>(
    patience: Duration,
    subject: &'s Subject,
    depth: Depth,
    seed: u64,
    status: &StatusPage,
    subject_index: u64,
) -> Result<(Verified<'s>, ProofSummary), Failure> {
    if !subject.runs_here() {
        let missing = subject.needs.without(carryline::internals::cpu::features());
        return Err(Failure::Unsupported(missing.names().collect::<Vec<_>>().join(", ")));
    }
    let _handlers = Handlers::install();
    let deadline = Instant::now().checked_add(patience);
    let of = |code: Landing, depth: Depth| {
        // Before the first call.
        let fresh = (depth == Depth::Full).then(|| Fresh::split(code));
        let checker = Checker::new(code, Some(status), subject_index);
        let mut proof = Proof::new(checker, subject.lengths, depth, seed);
        proof.checker.caller.deadline = deadline;
        proof.standard = subject.standard;
        prove_code(proof, code, fresh.as_ref())
    };
    let mut summary = of(subject.routine, depth)?;
    // A timed loop enters the code that the routine hands on to: that is verified as it is called there.
    if subject.landing.address() != subject.routine.address() {
        let landing = of(subject.landing, Depth::Replicate)?;
        summary.calls += landing.calls;
        tally::add(&mut summary.tried, &landing.tried);
        summary.elapsed_ns += landing.elapsed_ns;
        let new = landing.notes.into_iter().filter(|note| !summary.notes.contains(note)).collect::<Vec<_>>();
        summary.notes.extend(new);
    }
    Ok((Verified { subject }, summary))
}

fn prove_code(mut proof: Proof<'_>, code: Landing, fresh: Option<&Fresh>) -> Result<ProofSummary, Failure> {
    let start = Instant::now();
    let watch = Watch::begin();
    match stages(&mut proof, code).and_then(|()| proof.quiet()) {
        Ok(()) => {}
        Err(Stop::Memory(error)) => return Err(Failure::NoMemory(error)),
        Err(Stop::Caught(caught)) => {
            let example = reduce::reduce(&mut proof.checker, proof.lengths, *caught, fresh);
            watch.settle();
            return Err(Failure::Wrong(Box::new(example)));
        }
    }
    if proof.checker.caller.dirty_upper {
        proof.notes.push("leaves the upper halves of vector registers in use (no vzeroupper)".to_owned());
    }
    Ok(ProofSummary {
        depth: proof.depth,
        calls: proof.checker.caller.calls,
        tried: proof.checker.tally.cells(),
        elapsed_ns: start.elapsed().as_nanos() as u64,
        notes: proof.notes,
    })
}

/// The stages in order: plain before strange and short before long, so that a failure is a simple one.
fn stages(proof: &mut Proof<'_>, code: Landing) -> Result<(), Stop> {
    let full = proof.depth == Depth::Full;
    let family = proof.family;
    let seed = proof.seed;
    let small = Album::new(4096, 0..PATTERNS.len(), true, seed)?;
    let small_fields = fields(family, &small, usize::MAX)?;
    proof.small(&small, &small_fields)?;
    proof.empty_buffers()?;
    proof.repeated()?;

    let few = [index::RANDOM, index::ONES, index::BOUNDARIES, index::PARTLY_ZERO, index::CONSTANT];
    let middling: Vec<usize> = if full { (0..PATTERNS.len()).collect() } else { few.to_vec() };
    let middling = Album::new(3 * 4096, middling, full, seed)?;
    let middling_fields = fields(family, &middling, usize::MAX)?;
    proof.middling(&middling, &middling_fields)?;
    let most = match proof.lengths {
        Lengths::Any => 0,
        Lengths::UpTo(most) | Lengths::Only(most) | Lengths::OnlyUnseeded(most) => most,
    };
    if most <= sweep::MIDDLING {
        proof.declared(&middling, &middling_fields)?;
    }
    let picture = images::Image::new(16 << 10, index::RANDOM, 0, seed)?;
    proof.one_mapping(&picture)?;
    if full {
        proof.address_lines(&picture)?;
        let outcome = proof.shared_memory(&picture);
        proof.unless_memory_lacks("memory shared through a file", outcome)?;
    }

    let patterns = large::patterns(family, full);
    let large = Album::new(large::LARGE_ROOM, patterns.iter().copied(), false, seed)?;
    let large_fields = fields(family, &large, 5)?;
    proof.large(&large, &large_fields, 0..=large::LARGE)?;
    if most > sweep::MIDDLING {
        proof.declared(&large, &large_fields)?;
    }
    if full {
        let outcome = proof.repeated_at_large();
        proof.unless_memory_lacks("sequences of calls at sizes up to 1 MiB", outcome)?;
    }
    proof.overflows()?;
    if !full {
        return Ok(());
    }
    let outcome = proof.largest();
    proof.unless_memory_lacks("buffers of 2 and 4 MiB", outcome)?;
    let outcome = proof.beyond_caches();
    proof.unless_memory_lacks("a write of 33 MiB", outcome)?;

    #[cfg(target_arch = "x86_64")]
    stopped_stages(proof, code, &middling, &large)?;
    #[cfg(not(target_arch = "x86_64"))]
    proof.note("not tried: stopped calls, which need x86-64");
    if let Some(standard) = proof.standard {
        proof.standard(standard)?;
    }
    proof.neighbour_race(&middling, &middling_fields)?;
    proof.threads(&middling, &middling_fields, code)?;
    proof.beyond_memory(code)
}

/// The stages in which calls are stopped and another thread makes calls meanwhile.
#[cfg(target_arch = "x86_64")]
fn stopped_stages(proof: &mut Proof<'_>, code: Landing, small: &Album, large: &Album) -> Result<(), Stop> {
    let Some(_stopping) = stops::Stopping::install() else {
        proof.note("not tried: calls stopped between two instructions, which this machine does not offer");
        return Ok(());
    };
    let (own, others) = (fields(proof.family, small, 4)?, fields(proof.family, small, 4)?);
    let large_others = fields(proof.family, large, 1)?;
    let meeting = companion::Meeting::default();
    std::thread::scope(|scope| {
        // The companion's calls are not what the watcher should read.
        let checker = Checker::new(code, None, 0);
        let mut other = Proof::new(checker, proof.lengths, Depth::Replicate, !proof.seed);
        other.checker.caller.deadline = proof.checker.caller.deadline;
        let ground = |album, fields| companion::Ground { album, fields };
        let (on_small, on_large) = (ground(small, &others), ground(large, &large_others));
        let companion = companion::Companion::start(scope, &meeting, other, on_small, on_large);
        proof.stepped(small, &own, &companion)?;
        let outcome = proof.interrupted(&companion);
        proof.unless_memory_lacks("large calls stopped at chosen pages", outcome)
    })
}

#[cfg(test)]
mod tests;
