//! Runs experiments one after the other: divides the time, judges the claims, stores the results.

use crate::context::{Context, Total};
use crate::{Experiment, Outcome};
use carryline_engine::failure::{Failure, usage};
use carryline_engine::interrupt;
use carryline_engine::machine::Here;
use carryline_engine::plan::RunPlan;
use carryline_engine::progress::Progress;
use carryline_engine::session::{self, Keeper};
use carryline_engine::supervise::Supervisor;
use carryline_results::RunResult;
use carryline_results::claims::{ExperimentResult, NamedFigure};
use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Worker processes per figure.
const REPLICATES: u32 = 5;
/// The same with `quick`.
const QUICK_REPLICATES: u32 = 3;

/// The experiments to run, and the settings.
pub struct Wanted {
    /// The experiments, in order.
    pub experiments: Vec<&'static Experiment>,
    /// Use fewer replicates and less time.
    pub quick: bool,
    /// The time for all experiments together.
    pub budget: Duration,
    /// The logical CPU to measure on.
    pub cpu: Option<usize>,
    /// The number of layouts and the buffer lengths of a user-defined chain.
    pub chain: Option<(u32, Vec<u32>)>,
    /// Whether to store the results.
    pub save: bool,
    /// The store to use instead of the user's default.
    pub db: Option<PathBuf>,
    /// The random seed, if the user gave one.
    pub seed: Option<u64>,
    /// Whether to hide the progress.
    pub quiet: bool,
}

/// The results of the experiments.
pub struct Found {
    /// The judged claims and everything that was measured.
    pub result: RunResult,
    /// The reason if not all results were stored.
    pub trouble: Option<String>,
}

/// Runs the experiments and judges their claims. An experiment that cannot run becomes a note with the
/// reason.
pub fn run(wanted: &Wanted, here: &Here, supervisor: &Supervisor) -> Result<Found, Failure> {
    let begin = Instant::now();
    let store = match wanted.save {
        true => Some(session::open_store(wanted.db.as_deref()).map_err(|error| usage(error.to_string()))?),
        false => None,
    };
    let seed = session::seed(wanted.seed);
    let replicates = if wanted.quick { QUICK_REPLICATES } else { REPLICATES };
    let mut plan = RunPlan {
        situations: Vec::new(),
        plugins: Vec::new(),
        replicates,
        most_replicates: replicates,
        budget: wanted.budget,
        seed,
        patience: supervisor.patience,
    };
    let environment = serde_json::to_value(&here.environment)?;
    let mut kept_plan = serde_json::to_value(&plan)?;
    kept_plan["kind"] = "reproduce".into();
    kept_plan["experiments"] = wanted.experiments.iter().map(|experiment| experiment.id).collect();
    let keeper = RefCell::new(Keeper::begin(store, seed, &environment, kept_plan));
    let progress = Progress::new(wanted.budget, wanted.quiet);
    let total = RefCell::new(Total::default());
    let mut results = Vec::new();
    let mut weight_left: f64 = wanted.experiments.iter().map(|experiment| experiment.weight).sum();
    for experiment in &wanted.experiments {
        if interrupt::requested() {
            break;
        }
        let left = wanted.budget.saturating_sub(begin.elapsed());
        let share = (experiment.weight / weight_left.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        weight_left -= experiment.weight;
        let context = Context {
            here,
            quick: wanted.quick,
            budget: left.mul_f64(share),
            seed,
            chain: wanted.chain.as_ref().map(|(_, lengths)| lengths.as_slice()),
            chain_repeats: wanted.chain.as_ref().map_or(8, |(repeats, _)| *repeats),
            id: experiment.id,
            supervisor,
            cpu: wanted.cpu,
            replicates,
            progress: &progress,
            keeper: &keeper,
            total: &total,
        };
        context.say("starting");
        results.push(judge(experiment, (experiment.run)(&context), seed));
    }
    progress.finish();

    let interrupted = interrupt::requested();
    let Total { situations, outcome } = total.into_inner();
    plan.situations = situations;
    let mut keeper = keeper.into_inner();
    let mut result = session::assemble(&plan, here, Vec::new(), &outcome, keeper.id(), begin.elapsed())?;
    result.experiments = results;
    result.complete = !interrupted && result.experiments.len() == wanted.experiments.len();
    keeper.end(&result, interrupted);
    Ok(Found { result, trouble: keeper.trouble() })
}

/// Judges the claims of an experiment. If it could not run, its notes and all its verdicts give the reason.
fn judge(experiment: &Experiment, found: Result<Outcome, Failure>, seed: u64) -> ExperimentResult {
    let mut outcome = match found {
        Ok(outcome) => outcome,
        Err(failure) => {
            let mut outcome = Outcome::default();
            for name in experiment.claims.iter().flat_map(|claim| claim.rule.names()) {
                outcome.figures.missing(name, failure.to_string());
            }
            outcome.notes.push(format!("Cannot be measured here: {failure}."));
            outcome
        }
    };
    if interrupt::requested() {
        outcome.notes.push("Interrupted: partial results.".to_owned());
    }
    let claims = if outcome.beside_the_claims { &[] } else { experiment.claims };
    let claims = claims.iter().map(|claim| claim.judge(&outcome.figures, experiment.source, seed)).collect();
    ExperimentResult {
        id: experiment.id.to_owned(),
        source: experiment.source_ids(),
        title: experiment.title.to_owned(),
        tables: outcome.tables,
        plots: outcome.plots,
        notes: outcome.notes,
        figures: outcome.figures.iter().map(|(name, figure)| NamedFigure::new(name, figure)).collect(),
        claims,
    }
}
