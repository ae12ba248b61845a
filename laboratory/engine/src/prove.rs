//! The full verification of many subjects, a worker process each, as many at a time as there are CPUs.

use super::progress::Progress;
use super::thresholds;
use crate::interrupt;
use crate::protocol::{ProveAnswer, ProveJob};
use crate::supervise::{End, SuperviseError, Supervisor};
use carryline_variants::c_library::Thresholds;
use carryline_variants::{Family, Variant};
use carryline_verification::status::Now;
use carryline_verification::subject::SubjectId;
use carryline_verification::{self as verify, Counterexample, Ending, Kind, ProofSummary};
use rayon::prelude::*;

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
    /// No verdict: no memory for verification, or a process that ended without one.
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

/// Verifies every subject; interrupted, it returns those that were done.
pub fn all(
    supervisor: &Supervisor,
    plugins: &[String],
    subjects: &[SubjectId],
    seed: u64,
    progress: &Progress,
) -> Result<Vec<Proof>, SuperviseError> {
    let prove = |(index, subject): (usize, &SubjectId)| -> Result<Option<Proof>, SuperviseError> {
        if interrupt::requested() {
            return Ok(None);
        }
        progress.say(format!("verifying {subject} ({} of {})", index + 1, subjects.len()));
        let verdict = one(supervisor, plugins, subject, seed)?;
        Ok(verdict.map(|verdict| Proof { subject: subject.clone(), verdict }))
    };
    let proofs: Vec<_> = subjects.par_iter().enumerate().map(prove).collect::<Result<_, _>>()?;
    Ok(proofs.into_iter().flatten().collect())
}

/// One subject's verdict; `None` if interrupted.
fn one(
    supervisor: &Supervisor,
    plugins: &[String],
    subject: &SubjectId,
    seed: u64,
) -> Result<Option<Verdict>, SuperviseError> {
    if let Some(verdict) = unsupported(subject) {
        return Ok(Some(verdict));
    }
    let job = ProveJob { plugins: plugins.to_vec(), subject: subject.clone(), seed };
    let mut verdict = None;
    let started = thresholds::of_variant(subject).unwrap_or(Thresholds::AsInstalled);
    let end = supervisor.run_with(started, job, 0, &interrupt::requested, &mut |answer| {
        verdict = Some(match answer {
            ProveAnswer::Proved(summary) => Verdict::Proved(summary),
            ProveAnswer::Disproved(counterexample) => failed(counterexample),
            ProveAnswer::Unproved { reason } => Verdict::NotProved(reason),
        });
    })?;
    Ok(match (&end, verdict) {
        (End::Stopped, _) => None,
        (End::Done, Some(verdict)) => Some(verdict),
        // A finding is valid, whatever happened to the process afterwards.
        (_, Some(verdict @ (Verdict::Wrong(_) | Verdict::Crashed(_) | Verdict::NotProved(_)))) => {
            Some(verdict)
        }
        (End::Exited { panic: Some(text), .. }, _) => {
            Some(Verdict::NotProved(format!("the worker process failed: {text}")))
        }
        (End::Done, None) => Some(Verdict::NotProved("the worker process gave no verdict".to_owned())),
        _ => loss(&end, subject.family, seed),
    })
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

/// The verdict on the subject at which a worker was lost.
pub fn loss(end: &End, family: Family, seed: u64) -> Option<Verdict> {
    let at = |now: &Now, ending: Ending| Box::new(verify::describe(now, family, seed, ending));
    Some(match end {
        End::Done | End::Stopped => return None,
        End::Crashed { signal, now } => Verdict::Crashed(at(now, Ending::Signal(*signal))),
        End::Exited { code, now, .. } => Verdict::Crashed(at(now, Ending::Exit(*code))),
        End::TimedOut { now } => Verdict::TimedOut(at(now, Ending::TimedOut)),
    })
}
