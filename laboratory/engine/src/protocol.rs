//! The protocol between the command and its worker processes.
//!
//! A worker receives one [`Job`] as JSON on standard input. It answers with lines on a dedicated descriptor:
//! the run's token, a space, and a [`Message`] as JSON. Every job has its own type of answers ([`Task`]).
//! Standard output and error are discarded, because a routine under test may print anything. A line without
//! the token is not the worker's and is ignored; a line with the token that is not a message is an error.

use crate::probe::{Series, Unusable};
use carryline_conditions::Condition;
use carryline_machine::environment::{CacheSizes, Level};
use carryline_results::round::Round;
use carryline_results::{Limit, Observed};
use carryline_sampler::object_loops::{Compared, LoopsJob};
use carryline_variants::Family;
use carryline_verification::subject::SubjectId;
use carryline_verification::trace::Executed;
use carryline_verification::{Counterexample, Depth, ProofSummary};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The environment variable with the number of the message descriptor.
pub const CHANNEL_VARIABLE: &str = "CARRYLINE_WORKER_CHANNEL";
/// The environment variable with the number of the status page's descriptor.
pub const STATUS_VARIABLE: &str = "CARRYLINE_WORKER_STATUS";
/// The environment variable with the token that begins the worker's lines.
pub const TOKEN_VARIABLE: &str = "CARRYLINE_WORKER_TOKEN";
/// The environment variable with the thresholds of the worker's C library: see
/// [`c_library`](carryline_machine::c_library).
pub const THRESHOLDS_VARIABLE: &str = "CARRYLINE_WORKER_THRESHOLDS";
/// The environment variable whose length varies the stack address between workers.
pub const PADDING_VARIABLE: &str = "CARRYLINE_WORKER_PADDING";

/// A worker's job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Load a plug-in and find its symbol.
    Load(LoadJob),
    /// Make the rounds of a probe.
    Probe(ProbeJob),
    /// Verify one subject in full.
    Prove(ProveJob),
    /// Trace a call of one subject, instruction by instruction.
    Trace(TraceJob),
    /// Verify and measure one replicate.
    Measure(MeasureJob),
    /// Time the loops of a shared object.
    Loops(LoopsJob),
    /// Measure how much of the last cache level is available.
    LastLevel(LastLevelJob),
}

/// A job with its type of answers.
pub trait Task: Into<Job> {
    /// What the worker sends while it does the job.
    type Answer: Serialize + DeserializeOwned;
}

macro_rules! tasks {
    ($($job:ident: $task:ty => $answer:ty;)*) => {$(
        impl From<$task> for Job {
            fn from(task: $task) -> Job {
                Job::$job(task)
            }
        }

        impl Task for $task {
            type Answer = $answer;
        }
    )*};
}

tasks! {
    Load: LoadJob => LoadAnswer;
    Probe: ProbeJob => ProbeAnswer;
    Prove: ProveJob => ProveAnswer;
    Trace: TraceJob => TraceAnswer;
    Measure: MeasureJob => MeasureAnswer;
    Loops: LoopsJob => LoopsAnswer;
    LastLevel: LastLevelJob => LastLevelAnswer;
}

/// The job in a few words.
impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Job::Load(job) => write!(f, "load {}", job.plugin),
            Job::Probe(job) => write!(f, "probe {}, replicate {}", job.name, job.replicate),
            Job::Prove(job) => write!(f, "verify {}", job.subject),
            Job::Trace(job) => write!(f, "trace {} at {} bytes", job.subject, job.len),
            Job::Measure(job) => write!(f, "measure, replicate {}", job.replicate),
            Job::Loops(job) => write!(f, "time the loops of {}", job.file.display()),
            Job::LastLevel(job) => write!(f, "read {} bytes for the last cache level", job.most_bytes),
        }
    }
}

/// Load a plug-in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadJob {
    /// As on the command line: `[NAME=]FILE.so:SYMBOL:FAMILY`.
    pub plugin: String,
}

/// Verify a subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProveJob {
    /// Plug-ins to load first, as on the command line, with their subject ids.
    pub plugins: Vec<(String, SubjectId)>,
    /// The subject to verify.
    pub subject: SubjectId,
    /// The seed of the random inputs.
    pub seed: u64,
    /// How thorough it is.
    pub depth: Depth,
}

/// Trace one call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceJob {
    /// The subject to call.
    pub subject: SubjectId,
    /// The number of bytes.
    pub len: usize,
}

/// Measure one replicate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasureJob {
    /// Plug-ins to load first, as on the command line, with their subject ids.
    pub plugins: Vec<(String, SubjectId)>,
    /// All subjects of the situations; the status page and messages use indices into this list.
    pub subjects: Vec<SubjectId>,
    /// The situations to measure.
    pub situations: Vec<SituationJob>,
    /// The number of this replicate.
    pub replicate: u32,
    /// The seed of order, sizes, offsets and layout.
    pub seed: u64,
    /// The time for all situations together.
    pub total_ms: u64,
    /// The logical CPU to pin the worker to, if any.
    pub cpu: Option<usize>,
    /// The cache levels whose limits are measured first.
    pub limits: Vec<Level>,
    /// The machine's caches.
    pub caches: CacheSizes,
}

/// Measure one replicate of a probe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProbeJob {
    /// The probe's name.
    pub name: String,
    /// The probe's parameters; the type is the experiment's own.
    pub parameters: serde_json::Value,
    /// The number of this replicate.
    pub replicate: u32,
    /// The random seed.
    pub seed: u64,
    /// The time for all rounds together.
    pub total_ms: u64,
    /// The logical CPU to pin the worker to, if any.
    pub cpu: Option<usize>,
    /// The machine's caches.
    pub caches: CacheSizes,
}

/// Measure how much of the last cache level holds this machine's data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LastLevelJob {
    /// The size of the largest buffer of interest.
    pub most_bytes: u64,
    /// The logical CPU to pin the worker to, if any.
    pub cpu: Option<usize>,
    /// The machine's caches.
    pub caches: CacheSizes,
}

/// A situation of a replicate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SituationJob {
    /// Its index in the plan.
    pub index: u32,
    /// The family of its members.
    pub family: Family,
    /// The condition under which all members are measured.
    pub condition: Condition,
    /// Indices into the job's subjects; an A/A twin is an index that occurs a second time.
    pub members: Vec<usize>,
    /// Its share of the time, relative to the other situations.
    pub weight: f64,
}

/// A message of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message<A> {
    /// An answer to the job.
    Answer(A),
    /// The worker's own code panicked, with this message.
    Panicked(String),
    /// The job is done.
    Done,
}

/// The result of loading a plug-in.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadAnswer {
    /// It can be loaded.
    Loaded,
    /// It cannot be loaded.
    Failed {
        /// Why.
        reason: String,
    },
}

/// The result of a verification.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProveAnswer {
    /// The subject is verified; what was tried.
    Proved(ProofSummary),
    /// The subject is wrong on this input.
    Disproved(Box<Counterexample>),
    /// No verdict: the subject cannot be loaded, the CPU lacks what it needs, or there was no memory for
    /// verification.
    Unproved {
        /// Why.
        reason: String,
    },
}

/// The result of tracing a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceAnswer {
    /// The instructions that the call executed.
    Traced(Executed),
    /// The call cannot be traced.
    Failed {
        /// Why.
        reason: String,
    },
}

/// How much of the last cache level holds this machine's data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LastLevelAnswer {
    /// As [`CacheSizes::l3_held`].
    pub held_bytes: Option<u64>,
}

/// An answer from a replicate.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasureAnswer {
    /// Properties of the process.
    Setup(ProcessSetup),
    /// A subject is wrong.
    Disproved {
        /// Its index in the job.
        subject: usize,
        /// The input on which it is wrong.
        counterexample: Box<Counterexample>,
    },
    /// No verdict: the subject cannot be loaded, the CPU lacks what it needs, or there was no memory for
    /// verification.
    Unproved {
        /// Its index in the job.
        subject: usize,
        /// Why.
        reason: String,
    },
    /// The machine's limits.
    Limits(Vec<Limit>),
    /// A situation begins.
    Begin {
        /// Its index in the plan.
        situation: u32,
        /// Indices into the job's subjects, in the order of every round's samples.
        members: Vec<usize>,
        /// False if the figures did not settle during warm-up.
        steady: bool,
    },
    /// A round is finished.
    Round {
        /// The situation's index in the plan.
        situation: u32,
        /// The samples, by member.
        round: Round,
    },
    /// A situation is finished.
    End {
        /// Its index in the plan.
        situation: u32,
        /// The conditions as observed.
        observed: Observed,
        /// Indices of members that returned a wrong result afterwards.
        wrong: Vec<usize>,
    },
    /// A situation cannot be measured on this machine.
    Impossible {
        /// Its index in the plan.
        situation: u32,
        /// Why.
        reason: String,
    },
    /// Disturbances of the process.
    Disturbance(Disturbed),
}

impl MeasureAnswer {
    /// The index in the plan of the situation that the answer is about, if any.
    #[must_use]
    pub fn situation(&self) -> Option<u32> {
        match self {
            MeasureAnswer::Begin { situation, .. }
            | MeasureAnswer::Round { situation, .. }
            | MeasureAnswer::End { situation, .. }
            | MeasureAnswer::Impossible { situation, .. } => Some(*situation),
            _ => None,
        }
    }
}

/// An answer from a replicate of a probe.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeAnswer {
    /// Properties of the process.
    Setup(ProcessSetup),
    /// The probe has been set up.
    Begin {
        /// The series that each round samples.
        series: Vec<Series>,
        /// Indices of series that measure the same thing.
        twins: Vec<(usize, usize)>,
    },
    /// A round is finished.
    Round(Round),
    /// The probe is finished.
    End {
        /// Facts established besides the samples; the type is the experiment's own.
        facts: serde_json::Value,
        /// Series that took no part, with the reasons.
        unusable: Vec<Unusable>,
    },
    /// The probe cannot run on this machine.
    Impossible {
        /// Why.
        reason: String,
    },
    /// Disturbances of the process.
    Disturbance(Disturbed),
}

/// The result of a comparison of a shared object's loops.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoopsAnswer {
    /// The comparison's index in the job.
    pub comparison: usize,
    /// The comparison, or why there is none.
    pub compared: Compared,
}

/// Properties of a worker process that measures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProcessSetup {
    /// TSC ticks per nanosecond.
    pub ticks_per_ns: f64,
    /// Why it could not be pinned to its CPU, if so.
    pub pin_error: Option<String>,
    /// Why cycles are not counted, if so.
    pub counter_error: Option<String>,
}

/// Disturbances of a worker process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Disturbed {
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// The fraction of the machine's time stolen by the hypervisor, 0 to 1.
    pub stolen: f64,
    /// The independent additions that the core executed in a cycle, by round; empty if unknown.
    pub additions_per_cycle: Vec<f64>,
}
