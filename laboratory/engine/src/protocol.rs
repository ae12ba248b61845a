//! What the command and its worker processes say to each other.
//!
//! A worker gets one [`Job`] as JSON on its standard input and answers with lines on a descriptor of its own: the
//! run's token, a space, a [`Message`] as JSON. Every job has answers of its own ([`Task`]). Standard output and error lead nowhere, for a routine under test may
//! print what it likes; a line without the token is not the worker's and is ignored; one with it that is not a message is an error.

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

/// The environment variable with the number of the descriptor that messages go to.
pub const CHANNEL_VARIABLE: &str = "CARRYLINE_WORKER_CHANNEL";
/// The environment variable with the number of the status page's descriptor.
pub const STATUS_VARIABLE: &str = "CARRYLINE_WORKER_STATUS";
/// The environment variable with the token that marks the worker's lines.
pub const TOKEN_VARIABLE: &str = "CARRYLINE_WORKER_TOKEN";
/// The environment variable that says with which thresholds the worker's C library was started: see
/// [`c_library`](carryline_machine::c_library).
pub const THRESHOLDS_VARIABLE: &str = "CARRYLINE_WORKER_THRESHOLDS";
/// The environment variable whose length shifts the stack from worker to worker.
pub const PADDING_VARIABLE: &str = "CARRYLINE_WORKER_PADDING";

/// What a worker is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Load a plug-in and find its symbol.
    Load(LoadJob),
    /// A probe.
    Probe(ProbeJob),
    /// Prove one subject in full.
    Prove(ProveJob),
    /// Follow a call of one subject, instruction by instruction.
    Trace(TraceJob),
    /// Be a replicate: prove, then measure.
    Measure(MeasureJob),
    /// Time the loops of a shared object.
    Loops(LoopsJob),
}

/// A job, and what can be answered to it.
pub trait Task: Into<Job> {
    /// What the worker says while it does the job.
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
}

/// What is being done, in a few words.
impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Job::Load(job) => write!(f, "load {}", job.plugin),
            Job::Probe(job) => write!(f, "probe {}, replicate {}", job.name, job.replicate),
            Job::Prove(job) => write!(f, "prove {}", job.subject),
            Job::Trace(job) => write!(f, "trace {} at {} bytes", job.subject, job.len),
            Job::Measure(job) => write!(f, "measure, replicate {}", job.replicate),
            Job::Loops(job) => write!(f, "time the loops of {}", job.file.display()),
        }
    }
}

/// Loading a plug-in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadJob {
    /// As on the command line: `FILE.so:SYMBOL:FAMILY`.
    pub plugin: String,
}

/// A verification by itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProveJob {
    /// Plug-ins to load first, as on the command line, with their subject ids.
    pub plugins: Vec<(String, SubjectId)>,
    /// What to prove.
    pub subject: SubjectId,
    /// Decides the random part of verification.
    pub seed: u64,
    /// How thorough it is.
    pub depth: Depth,
}

/// One call, followed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceJob {
    /// What to call.
    pub subject: SubjectId,
    /// With how many bytes.
    pub len: usize,
}

/// One replicate's work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasureJob {
    /// Plug-ins to load first, as on the command line, with their subject ids.
    pub plugins: Vec<(String, SubjectId)>,
    /// Everything that occurs in a situation; status and messages use indices into this list.
    pub subjects: Vec<SubjectId>,
    /// What to measure.
    pub situations: Vec<SituationJob>,
    /// Number of this replicate.
    pub replicate: u32,
    /// Decides order, sizes, offsets and layout.
    pub seed: u64,
    /// Time for all situations together.
    pub total_ms: u64,
    /// The logical CPU to stay on, if any.
    pub cpu: Option<usize>,
    /// The cache levels whose limits are to be measured first.
    pub limits: Vec<Level>,
    /// The machine's caches.
    pub caches: CacheSizes,
}

/// One replicate of a probe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProbeJob {
    /// The probe's name.
    pub name: String,
    /// What it is to time: a structure of the experiment's own.
    pub parameters: serde_json::Value,
    /// Number of this replicate.
    pub replicate: u32,
    /// Decides everything that is drawn.
    pub seed: u64,
    /// Time for all rounds together.
    pub total_ms: u64,
    /// The logical CPU to stay on, if any.
    pub cpu: Option<usize>,
    /// The machine's caches.
    pub caches: CacheSizes,
}

/// A comparison within a replicate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SituationJob {
    /// Its index in the plan.
    pub index: u32,
    /// What its members do.
    pub family: Family,
    /// What every member is measured under.
    pub condition: Condition,
    /// Indices into the job's subjects; an A/A twin is an index that occurs a second time.
    pub members: Vec<usize>,
    /// Its part of the time, relative to the others'.
    pub weight: f64,
}

/// What a worker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message<A> {
    /// To its job.
    Answer(A),
    /// The worker's own code gave up.
    Panicked(String),
    /// Everything requested has been done.
    Done,
}

/// Whether a plug-in can be loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadAnswer {
    /// It is there.
    Loaded,
    /// It cannot be loaded.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What came of a verification.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProveAnswer {
    /// The subject is verified; what was done.
    Proved(ProofSummary),
    /// The subject is wrong; the input that shows it.
    Disproved(Box<Counterexample>),
    /// Nothing is known about the subject: it cannot be loaded, the CPU lacks what it needs, or there was no memory for
    /// verification.
    Unproved {
        /// Why.
        reason: String,
    },
}

/// What came of following a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceAnswer {
    /// What the call executed.
    Traced(Executed),
    /// It cannot be followed.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What a replicate says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasureAnswer {
    /// What is to be known of the process itself.
    Setup(ProcessSetup),
    /// A subject is wrong.
    Disproved {
        /// Its index in the job.
        subject: usize,
        /// The input that shows it.
        counterexample: Box<Counterexample>,
    },
    /// Nothing is known about a subject: it cannot be loaded, the CPU lacks what it needs, or there was no memory for
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
        /// False if the figures kept moving while it warmed up.
        steady: bool,
    },
    /// A round is finished.
    Round {
        /// The situation's index in the plan.
        situation: u32,
        /// What was measured, by member.
        round: Round,
    },
    /// A situation is finished.
    End {
        /// Its index in the plan.
        situation: u32,
        /// What ran.
        observed: Observed,
        /// Places among the members that no longer gave the right answer afterwards.
        wrong: Vec<usize>,
    },
    /// A situation cannot be measured on this machine.
    Impossible {
        /// Its index in the plan.
        situation: u32,
        /// Why.
        reason: String,
    },
    /// What disturbed the process.
    Disturbance(Disturbed),
}

impl MeasureAnswer {
    /// The situation that it is about, if it is about one: its index in the plan.
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

/// What a replicate of a probe says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeAnswer {
    /// What is to be known of the process itself.
    Setup(ProcessSetup),
    /// The probe has been set up.
    Begin {
        /// What each round samples.
        series: Vec<Series>,
        /// Indices of series that measure the same thing.
        twins: Vec<(usize, usize)>,
    },
    /// A round is finished.
    Round(Round),
    /// The probe is finished.
    End {
        /// What it established besides: a structure of the experiment's own.
        facts: serde_json::Value,
        /// What took no part, and why.
        unusable: Vec<Unusable>,
    },
    /// The probe cannot run on this machine.
    Impossible {
        /// Why.
        reason: String,
    },
    /// What disturbed the process.
    Disturbance(Disturbed),
}

/// Loops of a shared object were compared, or refused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoopsAnswer {
    /// The comparison's index in the job.
    pub comparison: usize,
    /// What came of it.
    pub compared: Compared,
}

/// What is to be known of a worker process that measures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProcessSetup {
    /// TSC ticks per nanosecond.
    pub ticks_per_ns: f64,
    /// Why it could not stay on its CPU, if so.
    pub pin_error: Option<String>,
    /// Why cycles are not counted, if so.
    pub counter_error: Option<String>,
}

/// What disturbed a worker process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Disturbed {
    /// Times the kernel took the CPU away.
    pub involuntary_switches: u64,
    /// Share of the machine's time that the hypervisor took meanwhile, 0 to 1.
    pub stolen: f64,
}
