//! Carries out a run: verifies, measures, stores every round, and assembles the result.

use super::machine::Here;
use super::measure::{self, MeasureContext, Measurement};
use super::plan::RunPlan;
use super::progress::Progress;
use super::prove::{self, Proof, ProofVerdict};
use super::{select::Selection, warnings};
use crate::failure::Failure;
use crate::forecast::Forecast;
use crate::interrupt;
use crate::last_level;
use crate::supervise::Supervisor;
use carryline_results::cells::{self, Summary};
use carryline_results::gather::Gathered;
use carryline_results::round::RoundRecord;
use carryline_results::{Cell, RunResult, SCHEMA_VERSION, Status, Warning, limits};
use carryline_statistics as statistics;
use carryline_store::{RunHeader, RunId, Store, StoreError};
use carryline_verification::Depth;
use std::path::Path;
use std::time::{Duration, Instant};

/// The result of a run.
pub struct Finished {
    /// The measurements.
    pub result: RunResult,
    /// The verification of every subject.
    pub proofs: Vec<Proof>,
    /// Subjects that are wrong although they are not known to be, or that the user requested by name.
    pub wrong: Vec<Proof>,
    /// The same for subjects that did not return in time: slow, or hung.
    pub slow: Vec<Proof>,
    /// What else was requested and could not be done, one sentence each: subjects that could not be verified,
    /// workers that were lost, results that could not be saved.
    pub undone: Vec<String>,
    /// True if the user interrupted it.
    pub interrupted: bool,
    /// The samples that the result was made of.
    pub gathered: Vec<Gathered>,
}

/// How to carry out a run.
pub struct RunContext<'a> {
    /// The machine.
    pub here: &'a Here,
    /// How workers are started.
    pub supervisor: &'a Supervisor,
    /// The selected subjects.
    pub selection: &'a Selection,
    /// How thoroughly they are verified before the first worker measures; each worker takes a sample again.
    pub depth: Depth,
    /// The time that the plan needs, as the command has stated it.
    pub forecast: Forecast,
    /// The logical CPU to measure on.
    pub cpu: Option<usize>,
    /// Whether to store the results.
    pub save: bool,
    /// The store to use instead of the user's own.
    pub db: Option<&'a Path>,
    /// Whether to hide progress.
    pub quiet: bool,
    /// Warnings known before the measurement: packets of captures that could not be used.
    pub warnings: Vec<Warning>,
}

/// Starts this program's executable as workers.
pub fn supervisor(patience_s: u64) -> Result<Supervisor, Failure> {
    let program = std::env::current_exe()?;
    Ok(Supervisor { program, patience: Duration::from_secs(patience_s), environment: Vec::new() })
}

/// The requested seed, or one that differs from run to run.
pub fn seed(asked: Option<u64>) -> u64 {
    asked.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        // Below 2^53, so that every JSON reader can represent it exactly.
        (now.as_nanos() as u64 ^ u64::from(std::process::id()) << 32) & ((1 << 53) - 1)
    })
}

/// Opens the store for results.
pub fn open_store(db: Option<&Path>) -> Result<Store, StoreError> {
    match db {
        Some(path) => Store::open(path),
        None => Store::open(&Store::default_path()?),
    }
}

/// Opens an existing store for reading; `None` if the user's own store does not exist.
pub fn open_kept(db: Option<&Path>) -> Result<Option<Store>, StoreError> {
    match db {
        Some(path) => Store::open_existing(path).map(Some),
        None => match Store::open_existing(Store::default_place()?) {
            Err(StoreError::Missing { .. }) => Ok(None),
            other => other.map(Some),
        },
    }
}

/// Verifies and measures a plan.
pub fn execute(plan: &RunPlan, context: &RunContext<'_>) -> Result<Finished, Failure> {
    let begin = Instant::now();
    // The rest is for what follows the last replicate.
    let deadline = begin + plan.budget.mul_f64(0.96);
    // Fails early if the store cannot be opened: the user has to correct that.
    let store = match context.save {
        true => Some(open_store(context.db).map_err(|error| crate::failure::usage(error.to_string()))?),
        false => None,
    };
    let forecast = &context.forecast;
    let progress = Progress::with_verification(
        plan.budget.max(forecast.total()),
        plan.budget,
        forecast.total().saturating_sub(forecast.proof),
        context.quiet,
    );
    let environment = serde_json::to_value(&context.here.environment)?;

    let inputs = (plan.seed, context.depth);
    let proofs = prove::to_depth(context.supervisor, &plan.plugins, &plan.subjects(), inputs, &progress)?;
    let mut keeper = Keeper::begin(store, plan.seed, &environment, serde_json::to_value(plan)?);
    let RunContext { here, cpu, supervisor, .. } = *context;
    let caches = last_level::measured(here, plan, cpu, supervisor, &progress, &interrupt::requested)?;
    let outcome = measure::run(
        plan,
        &proofs,
        &MeasureContext {
            supervisor,
            caches,
            cpu,
            deadline,
            progress: &progress,
            first_replicate: 0,
            stop: &interrupt::requested,
        },
        &mut |record| keeper.keep(record),
    )?;
    progress.finish();
    let result =
        assemble(plan, context.here, context.warnings.clone(), &outcome, keeper.id(), begin.elapsed())?;
    keeper.end(&result, outcome.interrupted);
    let mut finished = finish(result, proofs, outcome, context.selection);
    finished.undone.extend(keeper.trouble());
    Ok(finished)
}

/// Collects what was found wrong, slow or not done.
pub fn finish(
    result: RunResult,
    mut proofs: Vec<Proof>,
    outcome: Measurement,
    selection: &Selection,
) -> Finished {
    for fallen in outcome.fallen {
        match proofs.iter_mut().find(|proof| proof.subject == fallen.subject) {
            Some(proof) => *proof = fallen,
            None => proofs.push(fallen),
        }
    }
    let (mut wrong, mut slow) = (Vec::new(), Vec::new());
    let mut undone: Vec<String> =
        outcome.lost.iter().map(|how| format!("two worker processes that measured ended {how}")).collect();
    undone.dedup();
    for proof in proofs.iter().filter(|proof| is_wanted(proof, selection)) {
        match &proof.verdict {
            ProofVerdict::Wrong(_) | ProofVerdict::WrongLater(_) | ProofVerdict::Crashed(_) => {
                wrong.push(proof.clone());
            }
            ProofVerdict::TimedOut(_) => slow.push(proof.clone()),
            ProofVerdict::NotProved(why) => undone.push(format!("{} is not verified: {why}", proof.subject)),
            ProofVerdict::Proved(_) | ProofVerdict::Unsupported(_) => {}
        }
    }
    undone.extend(none_usable(&proofs, selection));
    let Measurement { gathered, interrupted, .. } = outcome;
    Finished { result, proofs, wrong, slow, undone, interrupted, gathered }
}

/// A sentence if the user named routines, and this machine can run none of them.
fn none_usable(proofs: &[Proof], selection: &Selection) -> Option<String> {
    let asked = proofs.iter().filter(|proof| selection.asked_for(&proof.subject));
    let reasons: Option<Vec<String>> = asked
        .map(|proof| match &proof.verdict {
            ProofVerdict::Unsupported(reason) => Some(format!("{} ({reason})", proof.subject)),
            _ => None,
        })
        .collect();
    let reasons = reasons.filter(|reasons| !reasons.is_empty())?;
    Some(format!("nothing that was asked for can be used here: {}", reasons.join(", ")))
}

/// True if the subject is expected to be right: not declared known-bad, or requested by the user.
fn is_wanted(proof: &Proof, selection: &Selection) -> bool {
    !is_known_bad(proof) || selection.asked_for(&proof.subject)
}

/// True if the collection declares the subject known-bad.
pub fn is_known_bad(proof: &Proof) -> bool {
    carryline_variants::find(proof.subject.family, &proof.subject.name)
        .is_some_and(|variant| variant.known_bad.is_some())
}

/// Assembles the result. `known` are the warnings from before the measurement.
///
/// # Errors
/// Fails if the environment cannot be serialized.
pub fn assemble(
    plan: &RunPlan,
    here: &Here,
    known: Vec<Warning>,
    outcome: &Measurement,
    run_id: Option<RunId>,
    took: Duration,
) -> Result<RunResult, Failure> {
    let mut limits = outcome.limits.clone();
    limits::raise(&mut limits, &outcome.gathered);
    let summaries: Vec<(String, Summary)> = outcome
        .gathered
        .iter()
        .map(|gathered| (gathered.situation.name.clone(), cells::summarise(gathered, &limits, plan.seed)))
        .collect();
    let noise_floor = cells::noise_floor(&summaries);
    let mut warnings = known;
    warnings.extend(warnings::all(plan, &here.environment, outcome, &summaries, took));
    let mut cells: Vec<Cell> = summaries.into_iter().flat_map(|(_, summary)| summary.cells).collect();
    if outcome.interrupted {
        warnings.push(partial(&mut cells));
    }
    Ok(RunResult {
        schema_version: SCHEMA_VERSION,
        run_id: run_id.map(|id| id.0),
        seed: plan.seed,
        environment: serde_json::to_value(&here.environment)?,
        noise_floor,
        ticks_per_cycle: cells::ticks_per_cycle(&outcome.gathered),
        ticks_per_ns: statistics::median(&outcome.ticks_per_ns),
        limits,
        warnings,
        cells,
        experiments: Vec::new(),
        complete: !outcome.interrupted && outcome.gathered.iter().all(Gathered::is_measured),
    })
}

/// Leaves out the cells that were not measured because the run ended early, and returns the warning about it.
pub(crate) fn partial(cells: &mut Vec<Cell>) -> Warning {
    let planned = cells.len();
    // A routine that did not return has a reason of its own.
    let is_unmeasured =
        |cell: &Cell| cell.status == Status::TimedOut && cell.detail.as_deref() == Some(cells::NO_TIME);
    cells.retain(|cell| !is_unmeasured(cell));
    carryline_warnings::interrupted(planned - cells.len())
}

/// The words with which this process was started; parts that are not UTF-8 are replaced.
pub fn command_line() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

/// Stores rounds as they arrive, until the store fails.
pub struct Keeper {
    store: Option<Store>,
    id: Option<RunId>,
    trouble: Option<String>,
}

impl Keeper {
    /// Begins a run; without a store, nothing is stored.
    pub fn begin(
        store: Option<Store>,
        seed: u64,
        environment: &serde_json::Value,
        plan: serde_json::Value,
    ) -> Keeper {
        Keeper::begin_as(command_line().skip(1).collect(), store, seed, environment, plan)
    }

    /// Begins a run that is to be repeated by another command line.
    pub fn begin_as(
        command: Vec<String>,
        store: Option<Store>,
        seed: u64,
        environment: &serde_json::Value,
        plan: serde_json::Value,
    ) -> Keeper {
        let mut keeper = Keeper { store, id: None, trouble: None };
        let header = RunHeader { command, seed, environment: environment.clone(), plan };
        let begun = keeper.store.as_mut().map(|store| store.begin_run(&header));
        match begun {
            Some(Ok(id)) => keeper.id = Some(id),
            Some(Err(error)) => keeper.give_up(&error),
            None => {}
        }
        keeper
    }

    /// The run's number, if it is stored.
    pub fn id(&self) -> Option<RunId> {
        self.id
    }

    /// Stores a round.
    pub fn keep(&mut self, record: &RoundRecord) {
        let (Some(store), Some(id)) = (self.store.as_mut(), self.id) else { return };
        if let Err(error) = store.add_round(id, record) {
            self.give_up(&error);
        }
    }

    /// Stores the result.
    pub fn end(&mut self, result: &RunResult, interrupted: bool) {
        let (Some(store), Some(id)) = (self.store.as_mut(), self.id) else { return };
        let ended =
            if interrupted { store.mark_interrupted(id, result) } else { store.finish_run(id, result) };
        if let Err(error) = ended {
            self.give_up(&error);
        }
    }

    /// Why not all results are saved, if so.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.clone()
    }

    /// Stops storing; the results are still printed.
    fn give_up(&mut self, error: &StoreError) {
        self.trouble = Some(format!("not all results are saved: {error}"));
        self.store = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_conditions::Condition;
    use carryline_results::gather::{Replicate, Situation};
    use carryline_results::round::Round;
    use carryline_variants::Family;

    #[test]
    fn an_interrupted_run_has_only_what_was_measured() {
        let gathered = |size: u64, rounds: u32| {
            let mut gathered = Gathered::new(Situation {
                name: format!("zero {size}"),
                family: Family::Zero,
                condition: Condition::plain(size),
                subjects: vec!["sse2".to_owned(), "avx2".to_owned()],
                baseline: None,
                twins: Vec::new(),
                weight: 1.0,
            });
            let round = |number| Round {
                number,
                multiplier: 1,
                samples: vec![8.0, 9.0],
                null_ticks: 1.0,
                ticks_per_cycle: 1.0,
                counted: false,
            };
            let rounds = (0..rounds).map(round).collect();
            gathered.replicates.push(Replicate { rounds, observed: None, steady: true });
            gathered
        };
        let mut hung = gathered(64, 4);
        hung.lose(1, Status::TimedOut, "no answer for 10 s");
        let cells = |gathered: &Gathered| cells::summarise(gathered, &[], 1).cells;
        let mut found = [cells(&gathered(40, 4)), cells(&gathered(80, 0)), cells(&hung)].concat();
        let warning = partial(&mut found);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.iter().all(|cell| cell.situation != "zero 80"));
        assert!(warning.cause.ends_with("2 cells were not measured"), "{}", warning.cause);
    }
}
