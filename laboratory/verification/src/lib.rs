//! Verification of routines. A routine that is not verified is not timed.
//!
//! [`prove`] calls a routine some hundred thousand times and compares everything observable: results, every
//! byte of and around the destination, the source, guard pages on both sides, and the registers and flags
//! that must be preserved. It tries what goes wrong in practice (lengths, addresses, carries, overflows,
//! stale state, other threads, signals) rather than what is likely at random. Only [`prove`] makes a
//! [`Verified`], and only a `Verified` can be timed.
//!
//! A routine under test may crash, hang or overwrite its own process. Crashes in a call are caught and
//! reported with their input. Otherwise, verification runs in a worker process and announces each call on the
//! [`StatusPage`] before making it; [`describe`] turns the page of a dead worker into a counterexample.
//!
//! All calls are counted by class ([`tally`]), and [`tally::CANNOT_SEE`] lists what verification cannot
//! detect: above all, reads outside a buffer that stay within its first or last page, as long as the result
//! does not depend on them. An aligned word that contains the buffer's last byte never crosses a page and is
//! harmless.
//!
//! One verification runs at a time in a process, since signal handlers are process-wide; a second one waits.

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
mod crossing;
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
mod overlaps;
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
#[cfg(target_arch = "x86_64")]
mod weak_stores;

pub use counterexample::{Counterexample, Ending, Failure, FaultKind, describe, signal_name};
pub use note::Stage;
pub use replay::{Change, Earlier};

use crate::forked::Watch;
use crate::fresh::Fresh;
use crate::status::StatusPage;
use crate::subject::Subject;
use carryline_variants::landing::Landing;
use carryline_variants::{CopyFn, Lengths, Routine, ZeroFn};
use checker::Checker;
use ground::{Ground, Stop};
use images::Album;
use patterns::{PATTERNS, index};
use serde::{Deserialize, Serialize};
use signals::{Actions, Handlers};
use std::time::{Duration, Instant};
use sweep::{Verification, fields};
use tally::Tried;

/// The thoroughness of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// All checks, for `carryline verify`: about a second.
    Full,
    /// Before timing, in each worker process: every length and every offset, with random kinds of data, seeds
    /// and places; no threads, no stopped calls. Some milliseconds.
    Replicate,
}

/// A verified subject, which may therefore be timed. Only [`prove`] makes one:
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
    /// The subject that was verified.
    #[must_use]
    pub const fn subject(&self) -> &'s Subject {
        self.subject
    }

    /// The code that a timed loop calls; see [`carryline_variants::landing`].
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

/// A verified zero routine, from [`Verified::zeroing`], for loops that an experiment writes itself.
///
/// ```compile_fail,E0423
/// unsafe extern "C" fn unverified(_dst: *mut u8, _len: usize) {}
/// let zeroing = carryline_verification::Zeroing(unverified);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Zeroing(ZeroFn);

impl Zeroing {
    /// Zeroes `len` bytes at `dst`.
    ///
    /// # Safety
    /// `len` bytes must be writable at `dst`, and `len` must be one of the subject's lengths.
    #[inline(always)]
    pub unsafe fn call(self, dst: *mut u8, len: usize) {
        // SAFETY: the caller passes `len` writable bytes and a length that the subject supports, which is the
        // whole contract of the family; the routine was verified in this process, so the CPU has what it
        // needs.
        unsafe { (self.0)(dst, len) };
    }
}

/// A verified copy routine, from [`Verified::copying`], for loops that an experiment writes itself.
#[derive(Clone, Copy, Debug)]
pub struct Copying(CopyFn);

impl Copying {
    /// Copies `len` bytes from `src` to `dst`.
    ///
    /// # Safety
    /// `len` bytes must be readable at `src` and writable at `dst` without overlap, and `len` must be one of
    /// the subject's lengths.
    #[inline(always)]
    pub unsafe fn call(self, dst: *mut u8, src: *const u8, len: usize) {
        // SAFETY: the caller passes two buffers of `len` bytes that do not overlap and a length that the
        // subject supports, which is the whole contract of the family; the routine was verified in this
        // process, so the CPU has what it needs.
        unsafe { (self.0)(dst, src, len) };
    }
}

/// A summary of a verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProofSummary {
    /// Its thoroughness.
    pub depth: Depth,
    /// The number of calls, without those of other threads.
    pub calls: u64,
    /// The calls by check, length, offsets and placement.
    pub tried: Vec<Tried>,
    /// Its duration.
    pub elapsed_ns: u64,
    /// Observations that are not faults, and checks that were not possible on this machine, with the reason.
    pub notes: Vec<String>,
}

/// A verification that takes longer fails with [`FaultKind::TimedOut`].
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Verifies that the subject does its family's job, within the lengths that its authors support.
///
/// `seed` determines all random choices; `subject_index` identifies the subject on the status page.
///
/// # Errors
/// [`Failure::Wrong`] with the smallest failing input found; the other failures state why nothing is known.
pub fn prove<'s>(
    subject: &'s Subject,
    depth: Depth,
    seed: u64,
    status: &StatusPage,
    subject_index: u64,
) -> Result<(Verified<'s>, ProofSummary), Failure> {
    prove_within(TIME_LIMIT, subject, depth, seed, status, subject_index)
}

fn prove_within<'s>(
    time_limit: Duration,
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
    let deadline = Instant::now().checked_add(time_limit);
    let of = |code: Landing, depth: Depth| {
        // Must precede the first call.
        let fresh = (depth == Depth::Full).then(|| Fresh::split(code, subject.standard));
        let checker = Checker::new(code, Some(status), subject_index);
        let mut verification =
            Verification::new(checker, subject.lengths, depth, seed).of_standard(subject.standard);
        verification.checker.caller.deadline = deadline;
        prove_code(verification, code, fresh.as_ref())
    };
    let mut summary = of(subject.routine, depth)?;
    // If a timed loop calls the code that the routine forwards to, that code is verified too.
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

fn prove_code(
    mut verification: Verification<'_>,
    code: Landing,
    fresh: Option<&Fresh>,
) -> Result<ProofSummary, Failure> {
    let start = Instant::now();
    let watch = Watch::begin();
    let actions = (verification.depth == Depth::Full).then(Actions::now);
    let outcome = stages(&mut verification, code).and_then(|()| verification.quiet(actions.as_ref()));
    match outcome {
        Ok(()) => {}
        Err(Stop::Memory(error)) => return Err(Failure::NoMemory(error)),
        Err(Stop::Caught(caught)) => {
            let example = reduce::reduce(&mut verification.checker, verification.lengths, *caught, fresh);
            watch.settle();
            return Err(Failure::Wrong(Box::new(example)));
        }
    }
    if verification.checker.caller.dirty_upper {
        verification
            .notes
            .push("leaves the upper halves of vector registers in use (no vzeroupper)".to_owned());
    }
    Ok(ProofSummary {
        depth: verification.depth,
        calls: verification.checker.caller.calls,
        tried: verification.checker.tally.cells(),
        elapsed_ns: start.elapsed().as_nanos() as u64,
        notes: verification.notes,
    })
}

/// Runs the stages in order: plain before unusual and short before long, so that failures are simple.
fn stages(verification: &mut Verification<'_>, code: Landing) -> Result<(), Stop> {
    let full = verification.depth == Depth::Full;
    let family = verification.family;
    let seed = verification.seed;
    let small = Album::new(4096, 0..PATTERNS.len(), true, seed)?;
    let small_fields = fields(family, &small, usize::MAX)?;
    verification.small(Ground { album: &small, fields: &small_fields })?;
    verification.empty_buffers()?;
    verification.repeated()?;

    let few = [index::RANDOM, index::ONES, index::BOUNDARIES, index::PARTLY_ZERO, index::CONSTANT];
    let middling: Vec<usize> = if full { (0..PATTERNS.len()).collect() } else { few.to_vec() };
    let middling = Album::new(3 * 4096, middling, full, seed)?;
    let middling_fields = fields(family, &middling, usize::MAX)?;
    let middling = Ground { album: &middling, fields: &middling_fields };
    verification.crossing(middling)?;
    verification.middling(middling)?;
    let most = match verification.lengths {
        Lengths::Any => 0,
        Lengths::UpTo(most) | Lengths::Only(most) | Lengths::OnlyUnseeded(most) => most,
    };
    if most <= sweep::MIDDLING {
        verification.declared(middling)?;
    }
    let picture = images::Image::new(16 << 10, index::RANDOM, 0, seed)?;
    verification.one_mapping(&picture)?;
    if full {
        verification.address_lines(&picture)?;
        let outcome = verification.shared_memory(&picture);
        verification.note_if_out_of_memory("memory shared through a file", outcome)?;
    }

    let patterns = large::patterns(family, full);
    let large = Album::new(large::LARGE_ROOM, patterns.iter().copied(), false, seed)?;
    let large_fields = fields(family, &large, 5)?;
    let large = Ground { album: &large, fields: &large_fields };
    verification.large(large, 0..=large::LARGE)?;
    if most > sweep::MIDDLING {
        verification.declared(large)?;
    }
    if full {
        let outcome = verification.repeated_at_large();
        verification.note_if_out_of_memory("sequences of calls at sizes up to 1 MiB", outcome)?;
    }
    verification.overflows()?;
    if !full {
        return Ok(());
    }
    let outcome = verification.largest();
    verification.note_if_out_of_memory("buffers of 2 and 4 MiB", outcome)?;
    let outcome = verification.beyond_caches();
    verification.note_if_out_of_memory("a write of 33 MiB", outcome)?;

    #[cfg(target_arch = "x86_64")]
    stopped_stages(verification, code, middling.album, large.album)?;
    #[cfg(not(target_arch = "x86_64"))]
    verification.note("not tried: stopped calls, which need x86-64");
    if let Some(standard) = verification.standard {
        verification.standard(standard)?;
    }
    verification.neighbour_race(middling)?;
    verification.threads(middling, code)?;
    verification.beyond_memory(code)
}

/// The stages in which calls are stopped while another thread makes calls.
#[cfg(target_arch = "x86_64")]
fn stopped_stages(
    verification: &mut Verification<'_>,
    code: Landing,
    small: &Album,
    large: &Album,
) -> Result<(), Stop> {
    let Some(_stopping) = stops::Stopping::install() else {
        verification
            .note("not tried: calls stopped between two instructions, which this machine does not support");
        return Ok(());
    };
    let (own, others) = (fields(verification.family, small, 4)?, fields(verification.family, small, 4)?);
    let large_others = fields(verification.family, large, 1)?;
    let meeting = companion::Meeting::default();
    std::thread::scope(|scope| {
        // The companion does not announce its calls.
        let checker = Checker::new(code, None, 0);
        let mut other =
            Verification::new(checker, verification.lengths, Depth::Replicate, !verification.seed)
                .of_standard(verification.standard);
        other.checker.caller.deadline = verification.checker.caller.deadline;
        let on_small = Ground { album: small, fields: &others };
        let on_large = Ground { album: large, fields: &large_others };
        let companion = companion::Companion::start(scope, &meeting, other, on_small, on_large);
        verification.stepped(Ground { album: small, fields: &own }, &companion)?;
        let outcome = verification.interrupted(&companion);
        verification.note_if_out_of_memory("large calls stopped at chosen pages", outcome)
    })
}

#[cfg(test)]
mod tests;
