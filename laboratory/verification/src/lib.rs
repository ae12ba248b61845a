//! The proof: what has not been shown to be right is not timed.
//!
//! [`prove`] calls a routine some hundred thousand times and compares everything that can be seen: results, every
//! byte of the destination and around it, the source, guard pages on both sides, the registers and flags that
//! belong to the caller. It tries what goes wrong in practice (lengths, addresses, carries, overflows, stale
//! state, other threads, signals) rather than what is likely at random. Only it makes a [`Verified`], and only a
//! `Verified` can be timed.
//!
//! A routine under test may crash, hang or overwrite its own process. Crashes in a call are caught and reported
//! with their input; for all else the proof belongs into a worker process, notes each call on the [`StatusPage`]
//! before it makes it, and [`describe`] turns the page of a dead worker into a counterexample.
//!
//! What it cannot see: reads outside a buffer that stay within its first or last page, as long as the result does not
//! depend on them (an aligned word that contains the buffer's last byte never crosses a page, and is harmless);
//! dependence on more state than one process has; and malice that recognises the proof.
//!
//! One proof runs at a time in a process, since signal handlers belong to all of it; a second one waits.

mod bench;
mod beyond;
mod bounds;
mod call;
#[cfg(target_arch = "x86_64")]
mod companion;
mod counterexample;
pub mod forked;
mod ground;
mod history;
mod images;
mod memory;
mod patterns;
mod places;
pub mod plugin;
mod races;
mod reduce;
mod signals;
pub mod status;
#[cfg(target_arch = "x86_64")]
mod stepping;
pub mod subject;
mod sweep;
pub mod trace;
#[cfg(target_arch = "x86_64")]
mod trampoline;

pub use counterexample::{Counterexample, Ending, Failure, Kind, describe};

use crate::forked::Watch;
use crate::status::StatusPage;
use crate::subject::Subject;
use bench::Bench;
use carryline_variants::Lengths;
use ground::Stop;
use images::Album;
use patterns::{PATTERNS, index};
use serde::{Deserialize, Serialize};
use signals::Handlers;
use std::time::{Duration, Instant};
use sweep::{Proof, fields};

/// How thorough a proof is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Everything, for `carryline verify`: about half a second.
    Full,
    /// Before timing, in each worker process: every length and every offset, kinds of data, seeds and places drawn
    /// by the seed; no threads, no signals. Some milliseconds.
    Replicate,
}

/// A subject that has been proved, and may therefore be timed. Only [`prove`] makes one.
#[derive(Clone, Copy, Debug)]
pub struct Verified<'s> {
    subject: &'s Subject,
}

impl<'s> Verified<'s> {
    /// What was proved.
    #[must_use]
    pub const fn subject(&self) -> &'s Subject {
        self.subject
    }
}

/// What a proof did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProofSummary {
    /// How thorough it was.
    pub depth: Depth,
    /// How many calls it made, those of other threads aside.
    pub calls: u64,
    /// How long it took.
    pub elapsed_ns: u64,
    /// What was seen that is no fault, and what could not be tried on this machine and why.
    pub notes: Vec<String>,
}

/// A proof that takes longer fails, with [`Kind::TimedOut`].
const PATIENCE: Duration = Duration::from_secs(60);

/// Proves that the subject does its family's job, within the lengths that its authors support.
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
    let start = Instant::now();
    let watch = Watch::begin();
    let bench = Bench::new(subject.routine, Some(status), subject_index);
    let mut proof = Proof::new(bench, subject.lengths, depth, seed);
    proof.bench.caller.deadline = start.checked_add(patience);
    match stages(&mut proof, subject).and_then(|()| proof.quiet()) {
        Ok(()) => {}
        Err(Stop::Memory(error)) => return Err(Failure::NoMemory(error)),
        Err(Stop::Caught(caught)) => {
            let example = reduce::reduce(&mut proof.bench, subject.lengths, *caught);
            watch.settle();
            return Err(Failure::Wrong(Box::new(example)));
        }
    }
    if proof.bench.caller.dirty_upper {
        proof.notes.push("leaves the upper halves of vector registers in use (no vzeroupper)".to_owned());
    }
    let summary = ProofSummary {
        depth,
        calls: proof.bench.caller.calls,
        elapsed_ns: start.elapsed().as_nanos() as u64,
        notes: proof.notes,
    };
    Ok((Verified { subject }, summary))
}

/// The stages in order: plain before strange and short before long, so that a failure is a simple one.
fn stages(proof: &mut Proof<'_>, subject: &Subject) -> Result<(), Stop> {
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
    let most = match subject.lengths {
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

    let few = [index::RANDOM, index::ONES, index::BOUNDARIES, 2, 22];
    let large = Album::new((1 << 20) + 8192, few.into_iter().take(if full { 5 } else { 2 }), false, seed)?;
    let large_fields = fields(family, &large, 2)?;
    proof.large(&large, &large_fields)?;
    if most > sweep::MIDDLING {
        proof.declared(&large, &large_fields)?;
    }
    proof.overflows()?;
    if !full {
        return Ok(());
    }
    let outcome = proof.beyond_caches();
    proof.unless_memory_lacks("a write of 33 MiB", outcome)?;

    #[cfg(target_arch = "x86_64")]
    {
        let others = fields(family, &middling, 4)?;
        let meeting = companion::Meeting::default();
        std::thread::scope(|scope| {
            // What the companion is at is not what the watcher should read.
            let bench = Bench::new(subject.routine, None, 0);
            let mut other = Proof::new(bench, subject.lengths, Depth::Replicate, !seed);
            other.bench.caller.deadline = proof.bench.caller.deadline;
            let companion = companion::Companion::start(scope, &meeting, other, &middling, &others);
            proof.stepped(&middling, &middling_fields, &companion)
        })?;
    }
    proof.neighbour_race(&middling, &middling_fields)?;
    proof.threads(&middling, &middling_fields, subject.routine)?;
    proof.signal_storm(&large, &large_fields)?;
    proof.beyond_memory(subject.routine)
}

#[cfg(test)]
mod tests;
