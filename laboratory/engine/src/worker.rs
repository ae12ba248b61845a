//! The worker process: loads, verifies and times routines, so that one that crashes, hangs or overwrites
//! memory costs one row of a table.

mod replicate;

use self::replicate::{LEAST_ROUNDS, disturbed, measure};
use crate::probe::{Impossible, Probe, Setup};
use crate::protocol::{
    CHANNEL_VARIABLE, Job, LastLevelAnswer, LastLevelJob, LoadAnswer, LoadJob, LoopsAnswer, Message,
    ProbeAnswer, ProbeJob, ProcessSetup, ProveAnswer, ProveJob, STATUS_VARIABLE, TOKEN_VARIABLE, Task,
    TraceAnswer, TraceJob,
};
use crate::{allocator, planted, supervise};
use carryline_machine::disturbance::Disturbance;
use carryline_machine::{clock, process};
use carryline_results::round::Round;
use carryline_sampler::{Buffers, last_level, object_loops};
use carryline_verification::status::{Now, Phase, StatusPage};
use carryline_verification::subject::{Subject, SubjectId};
use carryline_verification::{self as verify, Failure, plugin};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The worker cannot start.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The process was not started by the command.
    #[error("'worker' is internal to the command: {0}")]
    NotAWorker(String),
    /// The job cannot be parsed.
    #[error("unreadable job: {0}")]
    Job(String),
}

/// The descriptor for messages. Sending allocates, so it happens only between rounds.
struct Channel {
    file: Mutex<File>,
    token: String,
    pid: u32,
}

impl Channel {
    /// The sender of answers to a job.
    fn answers<'c, T: Task>(&'c self, _to: &T) -> Answers<'c, T> {
        Answers { channel: self, task: PhantomData }
    }

    fn send<A: Serialize>(&self, message: &Message<A>) {
        if std::process::id() != self.pid {
            // A routine under test forked, and its child returned to this code.
            // SAFETY: ends this process immediately.
            unsafe { libc::_exit(0) };
        }
        let json = serde_json::to_string(message).expect("messages are structures of plain data");
        let line = format!("{} {json}\n", self.token);
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if file.write_all(line.as_bytes()).is_err() {
            // The parent closed the pipe.
            std::process::exit(1);
        }
    }
}

/// Sends answers to one job, and only to that job.
struct Answers<'c, T> {
    channel: &'c Channel,
    task: PhantomData<T>,
}

impl<T: Task> Answers<'_, T> {
    fn send(&self, answer: T::Answer) {
        self.channel.send(&Message::Answer(answer));
    }
}

/// Runs the job on standard input and returns the process's exit status. `probes` are all that a job may
/// name.
///
/// # Errors
/// Fails if the process was not started as a worker or the job cannot be parsed.
pub fn main(probes: &[&Probe]) -> Result<u8, WorkerError> {
    let channel = Channel {
        file: Mutex::new(File::from(inherited(CHANNEL_VARIABLE)?)),
        token: std::env::var(TOKEN_VARIABLE)
            .map_err(|_| WorkerError::NotAWorker(format!("no {TOKEN_VARIABLE}")))?,
        pid: std::process::id(),
    };
    let status = StatusPage::open(inherited(STATUS_VARIABLE)?)
        .map_err(|error| WorkerError::NotAWorker(format!("{STATUS_VARIABLE}: {error}")))?;
    let status: &StatusPage = Box::leak(Box::new(status));
    allocator::record_failures_on(status);
    // Reaps children that a routine under test forks. SAFETY: this sets no handler, and the process starts no
    // other children.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    // If memory runs out, the kernel should kill this process, not the command that holds the results.
    let _not_linux = std::fs::write("/proc/self/oom_score_adj", "1000");

    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| WorkerError::Job(error.to_string()))?;
    let job: Job = serde_json::from_str(&text).map_err(|error| WorkerError::Job(error.to_string()))?;

    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match &job {
        Job::Load(job) => load(job, &channel.answers(job), status),
        Job::Prove(job) => prove(job, &channel.answers(job), status),
        Job::Probe(job) => probe(job, probes, &channel.answers(job), status),
        Job::Trace(job) => trace(job, &channel.answers(job), status),
        Job::Loops(job) => {
            let answers = channel.answers(job);
            object_loops::run(job, status, &mut |comparison, compared| {
                answers.send(LoopsAnswer { comparison, compared });
            });
        }
        Job::LastLevel(job) => measure_last_level(job, &channel.answers(job), status),
        Job::Measure(job) => {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(job.seed ^ 0x7374_6163_6b00_0000);
            at_stack_depth((rng.next_u64() % 64) as usize, &mut || {
                measure(job, &channel.answers(job), status)
            });
        }
    }));
    match done {
        Ok(()) => {
            channel.send(&Message::<()>::Done);
            Ok(0)
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text =
                text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message");
            channel.send(&Message::<()>::Panicked(text.to_owned()));
            Ok(1)
        }
    }
}

fn inherited(variable: &str) -> Result<OwnedFd, WorkerError> {
    let number = std::env::var(variable).ok().and_then(|text| text.parse::<RawFd>().ok());
    let fd = number.ok_or_else(|| WorkerError::NotAWorker(format!("no {variable}")))?;
    // SAFETY: F_GETFD only tests whether the descriptor is open.
    if fd < 3 || unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        return Err(WorkerError::NotAWorker(format!("{variable} is not open")));
    }
    // SAFETY: the descriptor is open, the parent made it for this process alone, and it is taken here once.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Calls `action` with the stack moved by `frames` frames of at least 80 bytes: the stack address is part of
/// a replicate's layout.
fn at_stack_depth<T>(frames: usize, action: &mut dyn FnMut() -> T) -> T {
    let frame = std::hint::black_box([0_u8; 64]);
    let result = if frames == 0 { action() } else { at_stack_depth(frames - 1, action) };
    std::hint::black_box(&frame);
    result
}

fn load(job: &LoadJob, answers: &Answers<'_, LoadJob>, status: &StatusPage) {
    answers.send(match load_plugin(&job.plugin, status) {
        Ok(_) => LoadAnswer::Loaded,
        Err(reason) => LoadAnswer::Failed { reason },
    });
}

/// Loads the plug-in that a word of the command line describes; fails with the reason.
fn load_plugin(word: &str, status: &StatusPage) -> Result<Subject, String> {
    status.set(Now { phase: Phase::Load as u64, ..Now::default() });
    let spec = plugin::PluginSpec::parse(word).map_err(|error| error.to_string())?;
    plugin::load(&spec).map_err(|error| error.to_string())
}

/// Finds subjects by name, in the collection and among the plug-ins; fails with the reason.
fn find(
    ids: &[SubjectId],
    plugins: &[(String, SubjectId)],
    status: &StatusPage,
) -> Vec<Result<Subject, String>> {
    let mut loaded: Vec<_> = plugins
        .iter()
        .map(|(word, id)| (id, load_plugin(word, status).map(|plugin| plugin.named(&id.name))))
        .collect();
    let own = supervise::own_thresholds();
    ids.iter()
        .map(|id| {
            if let Some(variant) = carryline_variants::find(id.family, &id.name) {
                if variant.thresholds().is_some_and(|thresholds| thresholds != own) {
                    return Err("this process was started with other thresholds of the C library".to_owned());
                }
                return Ok(Subject::of_variant(variant));
            }
            match loaded.iter().position(|(known, _)| *known == id) {
                Some(place) => loaded.swap_remove(place).1,
                None => planted::subject(id).ok_or_else(|| format!("there is no variant {id}")),
            }
        })
        .collect()
}

/// Finds one subject.
fn find_one(id: &SubjectId, plugins: &[(String, SubjectId)], status: &StatusPage) -> Result<Subject, String> {
    find(std::slice::from_ref(id), plugins, status).swap_remove(0)
}

fn prove(job: &ProveJob, answers: &Answers<'_, ProveJob>, status: &StatusPage) {
    let subject = match find_one(&job.subject, &job.plugins, status) {
        Ok(subject) => subject,
        Err(reason) => return answers.send(ProveAnswer::Unproved { reason }),
    };
    answers.send(match verify::prove(&subject, job.depth, job.seed, status, 0) {
        Ok((_, summary)) => ProveAnswer::Proved(summary),
        Err(Failure::Wrong(counterexample)) => ProveAnswer::Disproved(counterexample),
        Err(failure) => ProveAnswer::Unproved { reason: failure.to_string() },
    });
}

fn trace(job: &TraceJob, answers: &Answers<'_, TraceJob>, status: &StatusPage) {
    let executed = find_one(&job.subject, &[], status).and_then(|subject| {
        status.set(Now { phase: Phase::Prove as u64, len: job.len as u64, ..Now::default() });
        subject.follow(job.len).map_err(|error| error.to_string())
    });
    answers.send(match executed {
        Ok(executed) => TraceAnswer::Traced(executed),
        Err(reason) => TraceAnswer::Failed { reason },
    });
}

/// Without memory for the buffer, nothing is known of the level.
fn measure_last_level(job: &LastLevelJob, answers: &Answers<'_, LastLevelJob>, status: &StatusPage) {
    let _unpinned = job.cpu.and_then(|cpu| process::pin(cpu).err());
    let ticks_per_ns = clock::ticks_per_ns(Duration::from_millis(5));
    status.set(Now { phase: Phase::Limits as u64, subject: u64::MAX, ..Now::default() });
    let held_bytes = Buffers::new(0)
        .for_limits(job.most_bytes, status)
        .ok()
        .and_then(|arena| last_level::held(&job.caches, job.most_bytes, arena, ticks_per_ns, status));
    answers.send(LastLevelAnswer { held_bytes });
}

/// Makes the rounds of a probe.
fn probe(job: &ProbeJob, probes: &[&Probe], answers: &Answers<'_, ProbeJob>, status: &StatusPage) {
    let pin_error = job.cpu.and_then(|cpu| process::pin(cpu).err());
    let ticks_per_ns = clock::ticks_per_ns(Duration::from_millis(5));
    answers.send(ProbeAnswer::Setup(ProcessSetup { ticks_per_ns, pin_error, counter_error: None }));
    status.set(Now { phase: Phase::Probe as u64, subject: u64::MAX, ..Now::default() });
    let time = Duration::from_millis(job.total_ms);
    let mut disturbance = Disturbance::now();
    let setup = Setup {
        parameters: &job.parameters,
        seed: job.seed,
        replicate: job.replicate,
        caches: job.caches,
        cpu: job.cpu,
        ticks_per_ns,
        status,
    };
    let unknown = || Impossible(format!("there is no probe '{}'", job.name));
    let begin = Instant::now();
    let done = probes
        .iter()
        .find(|probe| probe.name == job.name)
        .ok_or_else(unknown)
        .and_then(|probe| (probe.start)(&setup))
        .and_then(|mut rounds| {
            let (series, twins) = (rounds.series(), rounds.twins());
            answers.send(ProbeAnswer::Begin { series, twins });
            let mut longest = Duration::ZERO;
            for number in 0..rounds.most_rounds() {
                if number >= LEAST_ROUNDS && time.saturating_sub(begin.elapsed()) < longest {
                    break;
                }
                let started = Instant::now();
                let samples = rounds.round(status)?;
                longest = longest.max(started.elapsed());
                status.beat();
                let ticks_per_cycle = clock::ticks_per_cycle().unwrap_or(0.0);
                disturbance.sample();
                answers.send(ProbeAnswer::Round(Round {
                    number,
                    multiplier: 1,
                    samples,
                    ticks_per_cycle,
                    ..Round::default()
                }));
            }
            answers.send(ProbeAnswer::End { facts: rounds.facts(), unusable: rounds.unusable() });
            Ok(())
        });
    if let Err(Impossible(reason)) = done {
        answers.send(ProbeAnswer::Impossible { reason });
    }
    answers.send(ProbeAnswer::Disturbance(disturbed(&disturbance)));
}
