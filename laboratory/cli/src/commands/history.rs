//! `carryline history`: the runs kept so far, and any of them again.

use super::run::answer;
use crate::cli::{Common, Format, History};
use crate::output;
use anyhow::Context;
use carryline_conditions::Offsets;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::plan::Plan;
use carryline_engine::session::open_kept;
use carryline_report::listing::{RunLine, RunList, to_json};
use carryline_results::cells::{self, Summary};
use carryline_results::gather::Gathered;
use carryline_results::{RunResult, SCHEMA_VERSION};
use carryline_store::{RunId, RunStatus, RunSummary, Store, StoreError};

/// Lists runs, or shows one.
pub fn run(args: &History, common: &Common) -> Result<u8, Failure> {
    let store = open_kept(common.db.as_deref()).map_err(|error| usage(error.to_string()))?;
    let runs = match (&store, args.show) {
        (Some(store), Some(id)) => return show(store, RunId(id), args, common),
        (None, Some(id)) => return Err(usage(format!("there is no run {id}: no run is stored"))),
        (Some(store), None) => store.runs(args.most).map_err(|error| usage(error.to_string()))?,
        (None, None) => Vec::new(),
    };
    let list = RunList { runs: runs.into_iter().map(run_line).collect() };
    match common.format {
        Format::Table => output::print(&list.to_text(output::style()))?,
        Format::Json => output::print(&to_json(&list)?)?,
    }
    Ok(0)
}

fn run_line(run: RunSummary) -> RunLine {
    let status = match run.status {
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Incomplete => "incomplete",
        RunStatus::Damaged => "damaged",
    };
    RunLine {
        id: run.id.0,
        started: run.started,
        command: std::iter::once("carryline".to_owned()).chain(run.command).collect::<Vec<_>>().join(" "),
        status: status.to_owned(),
        situations: run.situations,
        cells: run.cells,
        rounds: run.rounds,
    }
}

/// Prints a run again; of one that was killed, what its finished rounds tell.
fn show(store: &Store, id: RunId, args: &History, common: &Common) -> Result<u8, Failure> {
    let result = match store.load_run(id) {
        Err(StoreError::Unfinished { .. }) => {
            output::note(
                &format!(
                    "run {id} was killed or is still running; these are the results of its finished rounds"
                ),
                common,
            );
            from_rounds(store, id)?
        }
        other => other.map_err(|error| usage(error.to_string()))?,
    };
    let result = with_names_of_today(result);
    match common.format {
        Format::Json => output::print(&carryline_report::json::run_json(&result)?)?,
        Format::Table if !result.experiments.is_empty() => {
            output::print(&carryline_report::experiments::experiments_text(
                &result.experiments,
                output::style(),
            ))?;
        }
        Format::Table => output::print(&answer(&result, args.unit, args.detail)?)?,
    }
    match result.experiments.is_empty() {
        true => output::warnings_wanted(&result.warnings, common),
        false => output::warn(&result.warnings, common),
    }
    Ok(0)
}

/// Situations that were named when `random` offsets were what `random-line` is now get that name, so that nobody takes
/// their figures for those of today's `random`.
fn with_names_of_today(mut result: RunResult) -> RunResult {
    let old: Vec<String> = result
        .cells
        .iter()
        .filter(|cell| cell.condition.offsets == Offsets::RandomInLine)
        .map(|cell| cell.situation.clone())
        .collect();
    let rename = |name: &mut String| {
        if old.contains(name) {
            *name = name.replace("offset random ", "offset random-line ");
        }
    };
    result.cells.iter_mut().for_each(|cell| rename(&mut cell.situation));
    let floors = result.noise_floor.iter_mut().flat_map(|floor| &mut floor.by_situation);
    floors.for_each(|(name, _)| rename(name));
    result
}

/// The result of a run that never ended, from its plan and its rounds.
fn from_rounds(store: &Store, id: RunId) -> Result<RunResult, Failure> {
    let header = store.header(id).map_err(|error| usage(error.to_string()))?;
    let plan: Plan =
        serde_json::from_value(header.plan).context("the plan of this run is of another version")?;
    let rounds = store.rounds(id).map_err(|error| usage(error.to_string()))?;
    let gathered = Gathered::restore(plan.situations, &rounds);
    let summaries: Vec<(String, Summary)> = gathered
        .iter()
        .map(|gathered| (gathered.situation.name.clone(), cells::summarise(gathered, &[], header.seed)))
        .collect();
    Ok(RunResult {
        schema_version: SCHEMA_VERSION,
        run_id: Some(id.0),
        seed: header.seed,
        environment: header.environment,
        noise_floor: cells::noise_floor(&summaries),
        ticks_per_cycle: cells::ticks_per_cycle(&gathered),
        ticks_per_ns: None,
        limits: Vec::new(),
        warnings: Vec::new(),
        cells: summaries.into_iter().flat_map(|(_, summary)| summary.cells).collect(),
        experiments: Vec::new(),
        complete: false,
    })
}
