//! `carryline history`: lists the stored runs, or shows one.

use super::run::answer;
use crate::cli::{Common, Format, History};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::kept::{self, Stored};
use carryline_engine::session::open_kept;
use carryline_report::advice::machine;
use carryline_report::experiments::experiments_text;
use carryline_report::json;
use carryline_report::listing::{RunLine, RunList};
use carryline_report::text::{shell, wrap};
use carryline_store::{RunStatus, RunSummary, Store};

/// The number of runs to list by default.
const MOST: usize = 20;

/// Lists runs, or shows one.
pub fn run(args: &History, common: &Common) -> Result<u8, Failure> {
    if let Some(word) = &args.show {
        if args.most.is_some() {
            return Err(usage("--most: only without --show RUN"));
        }
        return show(word, args, common);
    }
    let of_show =
        [("--full", args.detail.full), ("--pairs", args.detail.pairs), ("--unit", args.unit.is_some())];
    for (option, given) in of_show {
        if given {
            return Err(usage(format!("{option}: only with --show RUN")));
        }
    }
    let store = open_kept(common.db.as_deref()).map_err(|error| usage(error.to_string()))?;
    let runs = match &store {
        Some(store) => store.runs(args.most.unwrap_or(MOST)).map_err(|error| usage(error.to_string()))?,
        None => Vec::new(),
    };
    let list = RunList { runs: runs.into_iter().map(|run| run_line(run, store.as_ref())).collect() };
    output::print_result("history", &list, |style| list.to_text(style), common).map(|()| 0)
}

fn run_line(run: RunSummary, store: Option<&Store>) -> RunLine {
    let status = match run.status {
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Incomplete => "incomplete",
        RunStatus::Damaged => "damaged",
    };
    RunLine {
        id: run.id.0,
        content_hash: store.and_then(|store| kept::hash_of(store, run.id).ok()),
        label: kept::label(&run.command),
        started: run.started,
        command: shell(std::iter::once("carryline").chain(run.command.iter().map(String::as_str))),
        status: status.to_owned(),
        situations: run.situations,
        cells: run.cells,
        rounds: run.rounds,
    }
}

/// Shows a stored run; if it was killed, the results of its completed rounds.
fn show(word: &str, args: &History, common: &Common) -> Result<u8, Failure> {
    let stored = kept::stored(word, common.db.as_deref())?;
    if !stored.ended {
        let id = stored.id;
        output::note(
            &format!(
                "run {id} was killed or is still running; these are the results of its completed rounds"
            ),
            common,
        );
    }
    let Stored { result, .. } = &stored;
    match common.format {
        Format::Json => output::print_json("run", &json::stored(&stored.about(), result), common)?,
        Format::Table if !result.experiments.is_empty() => {
            let style = output::style();
            let machine = wrap(&format!("{}, run {}", machine(result), stored.id), style.width, 2);
            output::print(&format!("{machine}\n\n{}", experiments_text(&result.experiments, style)))?;
        }
        Format::Table => output::print(&answer(result, args.unit.unwrap_or_default(), args.detail)?)?,
    }
    match result.experiments.is_empty() {
        true => output::warn_in_full(&result.warnings, common),
        false => output::warn(&result.warnings, common),
    }
    Ok(0)
}
