//! The full proof of many subjects, a worker process each, as many at a time as there are CPUs.

use super::progress::Progress;
use crate::interrupt;
use carryline_measure::protocol::{Job, Message};
use carryline_measure::status::Now;
use carryline_measure::subject::SubjectId;
use carryline_measure::supervise::{End, SpawnError, Supervisor};
use carryline_measure::verify::{self, Counterexample, ProofSummary};
use carryline_variants::Family;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a proof found.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Right on every input tried.
    Proved(ProofSummary),
    /// Wrong on this input.
    Wrong(Box<Counterexample>),
    /// The process died in it.
    Crashed {
        /// What happened, in one sentence.
        reason: String,
        /// The input it died on.
        counterexample: Box<Counterexample>,
    },
    /// It did not return.
    TimedOut {
        /// What happened, in one sentence.
        reason: String,
        /// The input it hung on.
        counterexample: Box<Counterexample>,
    },
    /// The CPU lacks what it needs.
    Unsupported(String),
    /// No verdict: no memory for the proof, or a process that ended without one.
    NotProved(String),
}

/// A subject's proof.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Whose.
    pub subject: SubjectId,
    /// What was found.
    pub verdict: Verdict,
}

/// Proves every subject; interrupted, it returns those that were done.
pub fn all(
    supervisor: &Supervisor,
    plugins: &[String],
    subjects: &[SubjectId],
    seed: u64,
    progress: &Progress,
) -> Result<Vec<Proof>, SpawnError> {
    let next = AtomicUsize::new(0);
    let proofs = Mutex::new(Vec::new());
    let failure = Mutex::new(None);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(subjects.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while !interrupt::requested() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(subject) = subjects.get(index) else { break };
                    progress.say(format!("proving {subject} ({} of {})", index + 1, subjects.len()));
                    match one(supervisor, plugins, subject, seed) {
                        Ok(Some(verdict)) => {
                            let proof = Proof { subject: subject.clone(), verdict };
                            lock(&proofs).push((index, proof));
                        }
                        Ok(None) => break,
                        Err(error) => {
                            *lock(&failure) = Some(error);
                            break;
                        }
                    }
                }
            });
        }
    });
    if let Some(error) = lock(&failure).take() {
        return Err(error);
    }
    let mut proofs = std::mem::take(&mut *lock(&proofs));
    proofs.sort_by_key(|(index, _)| *index);
    Ok(proofs.into_iter().map(|(_, proof)| proof).collect())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// One subject's verdict; `None` if interrupted.
fn one(supervisor: &Supervisor, plugins: &[String], subject: &SubjectId, seed: u64) -> Result<Option<Verdict>, SpawnError> {
    let family = Family::from_name(&subject.family);
    if let Some(variant) = family.and_then(|family| carryline_variants::find(family, &subject.name))
        && !variant.runs_here()
    {
        let missing = variant.needs.without(carryline::cpu::features());
        let missing: Vec<&str> = missing.names().collect();
        return Ok(Some(Verdict::Unsupported(format!("this CPU lacks {}", missing.join(", ")))));
    }
    let job = Job::Prove { plugins: plugins.to_vec(), subject: subject.clone(), seed };
    let mut verdict = None;
    let mut said = String::new();
    let end = supervisor.run(&job, 0, &interrupt::requested, &mut |message| match message {
        Message::Proved { summary, .. } => verdict = Some(Verdict::Proved(summary)),
        Message::Disproved { counterexample, .. } => verdict = Some(Verdict::Wrong(counterexample)),
        Message::LoadFailed { reason, .. } | Message::Unproved { reason, .. } => verdict = Some(Verdict::NotProved(reason)),
        Message::Panicked(text) => said = text,
        _ => {}
    })?;
    let at = |now: &Now| Box::new(verify::describe(now, family.unwrap_or(Family::Zero)));
    Ok(match end {
        End::Stopped => None,
        End::Done => verdict.or_else(|| Some(Verdict::NotProved("the worker process gave no verdict".to_owned()))),
        // A verdict before the end of the process stands, unless the process was to go on.
        End::Crashed { signal, now } => Some(match verdict {
            Some(wrong @ Verdict::Wrong(_)) => wrong,
            _ => Verdict::Crashed { reason: signal_name(signal), counterexample: at(&now) },
        }),
        End::TimedOut { now } => Some(Verdict::TimedOut {
            reason: format!("no call returned for {} s", supervisor.patience.as_secs()),
            counterexample: at(&now),
        }),
        End::Exited { code, now } => Some(match verdict {
            Some(verdict @ (Verdict::Wrong(_) | Verdict::NotProved(_))) => verdict,
            _ if !said.is_empty() => Verdict::NotProved(format!("the worker process gave up: {said}")),
            _ => Verdict::Crashed {
                reason: format!("the process ended by itself with status {code}"),
                counterexample: at(&now),
            },
        }),
    })
}

/// What a signal is called.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV (touched memory that is not its own)",
        libc::SIGBUS => "SIGBUS (touched memory that is not there)",
        libc::SIGILL => "SIGILL (an instruction that this CPU does not have)",
        libc::SIGFPE => "SIGFPE",
        libc::SIGABRT => "SIGABRT (it gave up itself: a panic or an assertion)",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGKILL => "SIGKILL (killed from outside, or out of memory)",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}
