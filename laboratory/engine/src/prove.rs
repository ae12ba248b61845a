//! The verification of many subjects, each in a worker process of its own, on all CPUs.
//!
//! One death of a worker proves nothing: the subject is verified again in another process, with the same
//! seed. It is blamed only if the second worker dies too, and never if a worker was lost to a lack of memory
//! or to a signal from another process.

use super::progress::Progress;
use super::thresholds;
use crate::interrupt;
use crate::protocol::{ProveAnswer, ProveJob};
use crate::supervise::{End, SuperviseError, Supervisor};
use carryline_variants::c_library::Thresholds;
use carryline_variants::{Family, Variant};
use carryline_verification::status::Now;
use carryline_verification::subject::SubjectId;
use carryline_verification::{self as verify, Counterexample, Depth, Ending, FaultKind, ProofSummary};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The result of a verification.
#[derive(Clone, Debug)]
pub enum ProofVerdict {
    /// Right on every input tried.
    Proved(ProofSummary),
    /// Wrong on this input.
    Wrong(Box<Counterexample>),
    /// The process died on this input.
    Crashed(Box<Counterexample>),
    /// The call with this input did not return.
    TimedOut(Box<Counterexample>),
    /// Right when it was verified, and wrong when it was called again after it was timed, in words with the situation.
    WrongLater(String),
    /// The CPU or the C library lacks what it needs.
    Unsupported(String),
    /// No verdict, with the reason: no memory for verification, or a process that ended without one.
    NotProved(String),
}

/// A subject's verification.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The subject.
    pub subject: SubjectId,
    /// The result.
    pub verdict: ProofVerdict,
}

/// Verifies every subject in full; if interrupted, returns the results so far.
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
        progress.say(format!("verifying {so_far} of {runs}: {subject}"));
        let verdict = one(supervisor, plugins, subject, inputs, progress)?;
        // A subject that cannot run here takes no time.
        if verdict.as_ref().is_some_and(|verdict| !matches!(verdict, ProofVerdict::Unsupported(_))) {
            progress.verified(done.fetch_add(1, Ordering::Relaxed) + 1, runs);
        }
        Ok(verdict.map(|verdict| Proof { subject: subject.clone(), verdict }))
    };
    crate::parallel::prepare();
    let proofs: Vec<_> = subjects.par_iter().map(prove).collect::<Result<_, _>>()?;
    Ok(proofs.into_iter().flatten().collect())
}

/// The environment variable by which tests of a debug build, where verification is not what is tested, do with the depth that
/// every worker repeats in its own process before it times anything.
const SHORT_VARIABLE: &str = "CARRYLINE_SHORT_VERIFICATION";

fn shortened(depth: Depth) -> Depth {
    match cfg!(debug_assertions) && std::env::var_os(SHORT_VARIABLE).is_some() {
        true => Depth::Replicate,
        false => depth,
    }
}

/// One subject's verdict; `None` if interrupted.
fn one(
    supervisor: &Supervisor,
    plugins: &[(String, SubjectId)],
    subject: &SubjectId,
    (seed, depth): (u64, Depth),
    progress: &Progress,
) -> Result<Option<ProofVerdict>, SuperviseError> {
    if let Some(verdict) = unsupported(subject) {
        return Ok(Some(verdict));
    }
    let job = ProveJob { plugins: plugins.to_vec(), subject: subject.clone(), seed, depth: shortened(depth) };
    let started = thresholds::of_variant(subject).unwrap_or(Thresholds::AsInstalled);
    let attempt = || -> Result<(End, Option<ProofVerdict>), SuperviseError> {
        let mut verdict = None;
        let stop = || {
            progress.tick();
            interrupt::requested()
        };
        let end = supervisor.run_with(started, job.clone(), 0, &stop, &mut |answer| {
            verdict = Some(match answer {
                ProveAnswer::Proved(summary) => ProofVerdict::Proved(summary),
                ProveAnswer::Disproved(counterexample) => failed(counterexample),
                ProveAnswer::Unproved { reason } => ProofVerdict::NotProved(reason),
            });
        })?;
        Ok((end, verdict))
    };
    let (end, verdict) = attempt()?;
    let (first, found) = match classified(&end, verdict) {
        Attempt::Interrupted => return Ok(None),
        Attempt::Verdict(verdict) if is_reproduced(&verdict) => return Ok(Some(verdict)),
        Attempt::Verdict(verdict) => (end, Some(verdict)),
        Attempt::Died => (end, None),
    };
    let (end, verdict) = attempt()?;
    Ok(match (classified(&end, verdict), found) {
        (Attempt::Interrupted, _) => None,
        (Attempt::Verdict(ProofVerdict::Proved(_)), Some(found)) => Some(found_once(&found)),
        (Attempt::Verdict(verdict), Some(_)) => Some(verdict),
        (Attempt::Died, Some(found)) => Some(found),
        (Attempt::Verdict(verdict), None) => Some(after_a_death(&first, verdict)),
        (Attempt::Died, None) => Some(blame(&first, &end, subject.family, seed)),
    })
}

/// False for a fault that did not recur when the call was repeated: it must be seen in another process.
fn is_reproduced(verdict: &ProofVerdict) -> bool {
    match verdict {
        ProofVerdict::Wrong(found) | ProofVerdict::Crashed(found) | ProofVerdict::TimedOut(found) => {
            found.every_time
        }
        ProofVerdict::Proved(_)
        | ProofVerdict::WrongLater(_)
        | ProofVerdict::Unsupported(_)
        | ProofVerdict::NotProved(_) => true,
    }
}

/// The verdict if one process found a fault and another did not.
fn found_once(found: &ProofVerdict) -> ProofVerdict {
    let what = match found {
        ProofVerdict::Wrong(found) | ProofVerdict::Crashed(found) | ProofVerdict::TimedOut(found) => {
            found.to_string()
        }
        ProofVerdict::Proved(_)
        | ProofVerdict::WrongLater(_)
        | ProofVerdict::Unsupported(_)
        | ProofVerdict::NotProved(_) => String::new(),
    };
    ProofVerdict::NotProved(format!("one process found a fault that another did not: {what}"))
}

/// The result of one worker.
enum Attempt {
    Verdict(ProofVerdict),
    /// The worker ended without a verdict.
    Died,
    Interrupted,
}

fn classified(end: &End, verdict: Option<ProofVerdict>) -> Attempt {
    match (end, verdict) {
        (End::Stopped, _) => Attempt::Interrupted,
        (End::Done, Some(verdict)) => Attempt::Verdict(verdict),
        // A verdict is valid whatever happened to the process afterwards.
        (
            _,
            Some(verdict @ (ProofVerdict::Wrong(_) | ProofVerdict::Crashed(_) | ProofVerdict::NotProved(_))),
        ) => Attempt::Verdict(verdict),
        (End::Exited { panic: Some(text), .. }, _) => {
            Attempt::Verdict(ProofVerdict::NotProved(format!("the worker process panicked: {text}")))
        }
        (End::Done, None) => {
            Attempt::Verdict(ProofVerdict::NotProved("the worker process gave no verdict".to_owned()))
        }
        _ => Attempt::Died,
    }
}

/// The verdict of the second worker if the first one died.
fn after_a_death(first: &End, second: ProofVerdict) -> ProofVerdict {
    let note = format!("a first worker process ended {}", first.how());
    match (second, first) {
        (ProofVerdict::Proved(mut summary), End::Lost { .. } | End::TimedOut { .. }) => {
            summary.notes.push(note);
            ProofVerdict::Proved(summary)
        }
        // The cause of the crash is unknown.
        (ProofVerdict::Proved(_), _) => {
            ProofVerdict::NotProved(format!("{note}; a second one with the same seed found no fault"))
        }
        (second, _) => second,
    }
}

/// The verdict on a subject whose worker died twice.
pub fn blame(first: &End, second: &End, family: Family, seed: u64) -> ProofVerdict {
    let twice = || {
        let (first, second) = (first.how(), second.how());
        match first == second {
            true => format!("two worker processes ended {second}"),
            false => format!("a first worker process ended {first}, a second one {second}"),
        }
    };
    match first {
        End::Lost { .. } => ProofVerdict::NotProved(twice()),
        _ => loss(second, family, seed).unwrap_or_else(|| ProofVerdict::NotProved(twice())),
    }
}

/// The verdict on a variant that this machine cannot run; `None` for all others.
pub fn unsupported(subject: &SubjectId) -> Option<ProofVerdict> {
    let variant = carryline_variants::find(subject.family, &subject.name)?;
    lacking(variant).map(ProofVerdict::Unsupported)
}

/// Why this machine cannot run a variant: what its CPU or C library lacks; `None` if it can.
pub fn lacking(variant: &Variant) -> Option<String> {
    if variant.runs_here() {
        return thresholds::unsupported(variant).map(|reason| format!("the C library: {reason}"));
    }
    let missing = variant.needs.without(carryline::internals::cpu::features());
    let missing: Vec<&str> = missing.names().collect();
    Some(format!("this CPU lacks {}", missing.join(", ")))
}

/// The verdict for a counterexample.
pub fn failed(counterexample: Box<Counterexample>) -> ProofVerdict {
    match counterexample.kind {
        FaultKind::Crashed | FaultKind::Exited => ProofVerdict::Crashed(counterexample),
        FaultKind::TimedOut => ProofVerdict::TimedOut(counterexample),
        _ => ProofVerdict::Wrong(counterexample),
    }
}

/// The verdict for a counterexample found in a replicate, after another process found no fault.
pub fn failed_in_replicate(counterexample: Box<Counterexample>) -> ProofVerdict {
    let verdict = failed(counterexample);
    if is_reproduced(&verdict) { verdict } else { found_once(&verdict) }
}

/// The verdict for the end of a worker that ended the same way again.
fn loss(end: &End, family: Family, seed: u64) -> Option<ProofVerdict> {
    let at = |now: &Now, ending: Ending| Box::new(verify::describe(now, family, seed, ending));
    Some(match end {
        End::Done | End::Stopped | End::Lost { .. } => return None,
        End::Crashed { signal, now } => ProofVerdict::Crashed(at(now, Ending::Signal(*signal))),
        End::Exited { code, now, .. } => ProofVerdict::Crashed(at(now, Ending::Exit(*code))),
        End::TimedOut { now } => ProofVerdict::TimedOut(at(now, Ending::TimedOut)),
    })
}
