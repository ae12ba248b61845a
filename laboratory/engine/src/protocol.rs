//! What the command and its worker processes say to each other.
//!
//! A worker gets one [`Job`] as JSON on its standard input and answers with lines on a descriptor of its own: the
//! run's token, a space, a [`Message`] as JSON. Standard output and error lead nowhere, for a routine under test may
//! print what it likes; a line without the token is not the worker's and is ignored; one with it that is no message is an error.

use crate::probe::Series;
use carryline_conditions::Condition;
use carryline_machine::environment::CacheSizes;
use carryline_results::round::Round;
use carryline_results::{Limit, Observed};
use carryline_sampler::object_loops::{Compared, LoopsJob};
use carryline_verification::subject::SubjectId;
use carryline_verification::trace::Executed;
use carryline_verification::{Counterexample, ProofSummary};
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
    Load {
        /// As on the command line: `FILE.so:SYMBOL:FAMILY`.
        plugin: String,
    },
    /// A probe.
    Probe(ProbeJob),
    /// Prove one subject in full.
    Prove {
        /// Plug-ins to load first, as on the command line.
        plugins: Vec<String>,
        /// What to prove.
        subject: SubjectId,
        /// Decides the random part of the proof.
        seed: u64,
    },
    /// Follow a call of one subject, instruction by instruction.
    Trace {
        /// What to call.
        subject: SubjectId,
        /// With how many bytes.
        len: usize,
    },
    /// Be a replicate: prove, then measure.
    Measure(MeasureJob),
    /// Time the loops of a shared object.
    Loops(LoopsJob),
}

/// What is being done, in a few words.
impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Job::Load { plugin } => write!(f, "load {plugin}"),
            Job::Probe(job) => write!(f, "probe {}, replicate {}", job.name, job.replicate),
            Job::Prove { subject, .. } => write!(f, "prove {subject}"),
            Job::Trace { subject, len } => write!(f, "trace {subject} at {len} bytes"),
            Job::Measure(job) => write!(f, "measure, replicate {}", job.replicate),
            Job::Loops(job) => write!(f, "time the loops of {}", job.file.display()),
        }
    }
}

/// One replicate's work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasureJob {
    /// Plug-ins to load first, as on the command line.
    pub plugins: Vec<String>,
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
    pub limits: Vec<String>,
    /// The machine's caches.
    pub caches: CacheSizes,
}

/// One replicate of a probe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProbeJob {
    /// The probe's name.
    pub name: String,
    /// What it is asked for.
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
    /// The family's name.
    pub family: String,
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
pub enum Message {
    /// The plug-in is there.
    Loaded,
    /// A plug-in cannot be loaded.
    LoadFailed {
        /// As on the command line.
        plugin: String,
        /// Why.
        reason: String,
    },
    /// A subject is proved.
    Proved {
        /// Its index in the job (0 in a proof of one).
        subject: usize,
        /// What was done.
        summary: ProofSummary,
    },
    /// A subject is wrong.
    Disproved {
        /// Its index in the job.
        subject: usize,
        /// The input that shows it.
        counterexample: Box<Counterexample>,
    },
    /// Nothing is known about a subject: the CPU lacks what it needs, or there was no memory for the proof.
    Unproved {
        /// Its index in the job.
        subject: usize,
        /// Why.
        reason: String,
    },
    /// What a call executed.
    Traced(Executed),
    /// The machine's limits.
    Limits(Vec<Limit>),
    /// What is to be known of the process itself.
    Setup {
        /// TSC ticks per nanosecond.
        ticks_per_ns: f64,
        /// Why it could not stay on its CPU, if so.
        pin_error: Option<String>,
        /// Why cycles are not counted, if so.
        counter_error: Option<String>,
    },
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
    /// A probe has been set up.
    ProbeBegin {
        /// What each round samples.
        series: Vec<Series>,
        /// Indices of series that measure the same thing.
        twins: Vec<(usize, usize)>,
    },
    /// A round of a probe is finished.
    ProbeRound(Round),
    /// A probe is finished.
    ProbeEnd {
        /// What it established besides.
        facts: serde_json::Value,
    },
    /// A probe cannot run on this machine.
    ProbeImpossible {
        /// Why.
        reason: String,
    },
    /// Loops of a shared object were compared, or refused.
    Compared {
        /// The comparison's index in the job.
        comparison: usize,
        /// What came of it.
        compared: Compared,
    },
    /// What disturbed the process.
    Disturbance {
        /// Times the kernel took the CPU away.
        involuntary_switches: u64,
        /// Share of the machine's time that the hypervisor took meanwhile, 0 to 1.
        stolen: f64,
    },
    /// The worker's own code gave up.
    Panicked(String),
    /// Everything asked for has been done.
    Done,
}
