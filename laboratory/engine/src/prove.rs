//! The verification of many subjects, a worker process each, as many at a time as there are CPUs.
//!
//! A worker that dies says nothing yet: its subject is verified once more from the same seed, in another process. A subject
//! whose second worker dies too is blamed; one death is not enough, and a routine whose worker was lost to a lack of memory
//! or to a signal from outside is never blamed.

use super::progress::Progress;
use super::thresholds;
use crate::interrupt;
use crate::protocol::{ProveAnswer, ProveJob};
use crate::supervise::{End, SuperviseError, Supervisor};
use carryline_variants::c_library::Thresholds;
use carryline_variants::{Family, Variant};
use carryline_verification::status::Now;
use carryline_verification::subject::SubjectId;
use carryline_verification::{self as verify, Counterexample, Depth, Ending, Kind, ProofSummary};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a verification found.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Right on every input tried.
    Proved(ProofSummary),
    /// Wrong on this input.
    Wrong(Box<Counterexample>),
    /// The process died on this input.
    Crashed(Box<Counterexample>),
    /// It did not return from this input.
    TimedOut(Box<Counterexample>),
    /// The CPU or the C library lacks what it needs.
    Unsupported(String),
    /// No verdict, and why: no memory for verification, or a process that ended without one.
    NotProved(String),
}

/// A subject's verification.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Whose.
    pub subject: SubjectId,
    /// What was found.
    pub verdict: Verdict,
}

/// Verifies every subject in full; interrupted, it returns those that were done.
pub fn all(
    supervisor: &Supervisor,
    plugins: &[(String, SubjectId)],
    subjects: &[SubjectId],
    seed: u64,
    progress: &Progress,
) -> Result<Vec<Proof>, SuperviseError> {
    to_depth(supervisor, plugins, subjects, (seed, Depth::Full), progress)
}

/// Verifies every subject that thoroughly; interrupted, it returns those that were done.
pub fn to_depth(
    supervisor: &Supervisor,
    plugins: &[(String, SubjectId)],
    subjects: &[SubjectId],
    inputs: (u64, Depth),
    progress: &Progress,
) -> Result<Vec<Proof>, SuperviseError> {
    progress.verification_begins();
    let done = AtomicUsize::new(0);
    let runs = subjects.iter().filter(|subject| unsupported(subject).is_none()).count();
    let prove = |subject: &SubjectId| -> Result<Option<Proof>, SuperviseError> {
        if interrupt::requested() {
            return Ok(None);
        }
        let so_far = done.load(Ordering::Relaxed);
        progress.say(format!("verifying {subject} ({so_far} of {runs} done)"));
        let verdict = one(supervisor, plugins, subject, inputs, progress)?;
        // What cannot run here takes no time.
        if verdict.as_ref().is_some_and(|verdict| !matches!(verdict, Verdict::Unsupported(_))) {
            progress.verified(done.fetch_add(1, Ordering::Relaxed) + 1, runs);
        }
        Ok(verdict.map(|verdict| Proof { subject: subject.clone(), verdict }))
    };
    crate::parallel::prepare();
    let proofs: Vec<_> = subjects.par_iter().map(prove).collect::<Result<_, _>>()?;
    Ok(proofs.into_iter().flatten().collect())
}

/// One subject's verdict; `None` if interrupted.
fn one(
    supervisor: &Supervisor,
    plugins: &[(String, SubjectId)],
    subject: &SubjectId,
    (seed, depth): (u64, Depth),
    progress: &Progress,
) -> Result<Option<Verdict>, SuperviseError> {
    if let Some(verdict) = unsupported(subject) {
        return Ok(Some(verdict));
    }
    let job = ProveJob { plugins: plugins.to_vec(), subject: subject.clone(), seed, depth };
    let started = thresholds::of_variant(subject).unwrap_or(Thresholds::AsInstalled);
    let attempt = || -> Result<(End, Option<Verdict>), SuperviseError> {
        let mut verdict = None;
        let stop = || {
            progress.tick();
            interrupt::requested()
        };
        let end = supervisor.run_with(started, job.clone(), 0, &stop, &mut |answer| {
            verdict = Some(match answer {
                ProveAnswer::Proved(summary) => Verdict::Proved(summary),
                ProveAnswer::Disproved(counterexample) => failed(counterexample),
                ProveAnswer::Unproved { reason } => Verdict::NotProved(reason),
            });
        })?;
        Ok((end, verdict))
    };
    let (end, verdict) = attempt()?;
    let (first, found) = match judged(&end, verdict) {
        Judged::Interrupted => return Ok(None),
        Judged::Verdict(verdict) if is_reproduced(&verdict) => return Ok(Some(verdict)),
        Judged::Verdict(verdict) => (end, Some(verdict)),
        Judged::Died => (end, None),
    };
    let (end, verdict) = attempt()?;
    Ok(match (judged(&end, verdict), found) {
        (Judged::Interrupted, _) => None,
        (Judged::Verdict(Verdict::Proved(_)), Some(found)) => Some(found_once(&found)),
        (Judged::Verdict(verdict), Some(_)) => Some(verdict),
        (Judged::Died, Some(found)) => Some(found),
        (Judged::Verdict(verdict), None) => Some(after_a_death(&first, verdict)),
        (Judged::Died, None) => Some(blame(&first, &end, subject.family, seed)),
    })
}

/// False for a fault that did not recur when its call was repeated: then it must be seen in another process.
fn is_reproduced(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Wrong(found) | Verdict::Crashed(found) | Verdict::TimedOut(found) => found.every_time,
        Verdict::Proved(_) | Verdict::Unsupported(_) | Verdict::NotProved(_) => true,
    }
}

/// The verdict where one process found a fault and another one did not.
fn found_once(found: &Verdict) -> Verdict {
    let what = match found {
        Verdict::Wrong(found) | Verdict::Crashed(found) | Verdict::TimedOut(found) => found.to_string(),
        Verdict::Proved(_) | Verdict::Unsupported(_) | Verdict::NotProved(_) => String::new(),
    };
    Verdict::NotProved(format!("a fault was seen in one process, and not in another: {what}"))
}

/// What the end of a verification's worker amounts to.
enum Judged {
    Verdict(Verdict),
    /// It ended without a verdict.
    Died,
    Interrupted,
}

fn judged(end: &End, verdict: Option<Verdict>) -> Judged {
    match (end, verdict) {
        (End::Stopped, _) => Judged::Interrupted,
        (End::Done, Some(verdict)) => Judged::Verdict(verdict),
        // A finding is valid, whatever happened to the process afterwards.
        (_, Some(verdict @ (Verdict::Wrong(_) | Verdict::Crashed(_) | Verdict::NotProved(_)))) => {
            Judged::Verdict(verdict)
        }
        (End::Exited { panic: Some(text), .. }, _) => {
            Judged::Verdict(Verdict::NotProved(format!("the worker process failed: {text}")))
        }
        (End::Done, None) => {
            Judged::Verdict(Verdict::NotProved("the worker process gave no verdict".to_owned()))
        }
        _ => Judged::Died,
    }
}

/// The second verdict, where the first worker died.
fn after_a_death(first: &End, second: Verdict) -> Verdict {
    let note = format!("a first worker process ended {}", first.how());
    match (second, first) {
        (Verdict::Proved(mut summary), End::Lost { .. } | End::TimedOut { .. }) => {
            summary.notes.push(note);
            Verdict::Proved(summary)
        }
        // It crashed for an unknown reason.
        (Verdict::Proved(_), _) => {
            Verdict::NotProved(format!("{note}; a second one with the same seed found nothing wrong"))
        }
        (second, _) => second,
    }
}

/// The verdict on the subject at which two workers died one after the other.
pub fn blame(first: &End, second: &End, family: Family, seed: u64) -> Verdict {
    let twice = || {
        let (first, second) = (first.how(), second.how());
        match first == second {
            true => format!("two worker processes ended {second}"),
            false => format!("a first worker process ended {first}, a second one {second}"),
        }
    };
    match first {
        End::Lost { .. } => Verdict::NotProved(twice()),
        _ => loss(second, family, seed).unwrap_or_else(|| Verdict::NotProved(twice())),
    }
}

/// The verdict on a variant that this machine cannot run; `None` for all others.
pub fn unsupported(subject: &SubjectId) -> Option<Verdict> {
    let variant = carryline_variants::find(subject.family, &subject.name)?;
    lacking(variant).map(Verdict::Unsupported)
}

/// Why this machine cannot run a variant: what its CPU or its C library lacks; `None` where it can.
pub fn lacking(variant: &Variant) -> Option<String> {
    if variant.runs_here() {
        return thresholds::unsupported(variant).map(|reason| format!("the C library: {reason}"));
    }
    let missing = variant.needs.without(carryline::internals::cpu::features());
    let missing: Vec<&str> = missing.names().collect();
    Some(format!("this CPU lacks {}", missing.join(", ")))
}

/// The verdict that a counterexample is.
pub fn failed(counterexample: Box<Counterexample>) -> Verdict {
    match counterexample.kind {
        Kind::Crashed | Kind::Exited => Verdict::Crashed(counterexample),
        Kind::TimedOut => Verdict::TimedOut(counterexample),
        _ => Verdict::Wrong(counterexample),
    }
}

/// The same for a process whose subject another one found right.
pub fn failed_in_replicate(counterexample: Box<Counterexample>) -> Verdict {
    let verdict = failed(counterexample);
    if is_reproduced(&verdict) { verdict } else { found_once(&verdict) }
}

/// What a worker's end says about the subject that it was at, if it happens again.
fn loss(end: &End, family: Family, seed: u64) -> Option<Verdict> {
    let at = |now: &Now, ending: Ending| Box::new(verify::describe(now, family, seed, ending));
    Some(match end {
        End::Done | End::Stopped | End::Lost { .. } => return None,
        End::Crashed { signal, now } => Verdict::Crashed(at(now, Ending::Signal(*signal))),
        End::Exited { code, now, .. } => Verdict::Crashed(at(now, Ending::Exit(*code))),
        End::TimedOut { now } => Verdict::TimedOut(at(now, Ending::TimedOut)),
    })
}
