//! `carryline reproduce`: the source documents' experiments, each with its verdicts.

use super::measure::read_segments;
use crate::cli::{Common, Format, Reproduce};
use crate::output;
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::machine::Here;
use carryline_engine::{interrupt, session};
use carryline_experiments::run::{Found, Wanted};
use carryline_experiments::{self as experiments, EXPERIMENTS, Experiment, run as reproduce};
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_report::experiments::{claims_page, experiments_text};
use carryline_report::table::{Emphasis, Kind, Table};
use carryline_results::RunResult;
use carryline_store::RunId;
use std::time::Duration;

/// Time for an experiment of weight 1 unless told otherwise; for a quick one.
const EACH: Duration = Duration::from_secs(30);
const QUICK_EACH: Duration = Duration::from_secs(6);
/// Time for all of them together, at most; for quick ones.
const MOST: Duration = Duration::from_secs(540);
const QUICK_MOST: Duration = Duration::from_secs(105);
/// Repeats of a chain, at most.
const MOST_REPEATS: u32 = 64;

/// Lists, runs, or prints again.
pub fn run(args: &Reproduce, common: &Common) -> Result<u8, Failure> {
    if args.list {
        return list(common);
    }
    if let Some(id) = args.from {
        let store = session::open_kept(common.db.as_deref()).map_err(|error| usage(error.to_string()))?;
        let store = store.ok_or_else(|| usage(format!("there is no run {id}: no run is stored")))?;
        let result = store.load_run(RunId(id)).map_err(|error| usage(error.to_string()))?;
        if result.experiments.is_empty() {
            return Err(usage(format!(
                "run {id} has no experiments; 'carryline history' lists the runs, and those of 'reproduce' have some"
            )));
        }
        return print(&result, args, common).map(|()| 0);
    }
    let experiments = selected(&args.ids)?;
    let chain = chain(args)?;
    if chain.is_some() && !experiments.iter().any(|experiment| experiment.id == "chains") {
        return Err(usage(
            "a chain of buffers is for the experiment 'chains': carryline reproduce chains --chain 1,3",
        ));
    }
    let here = Here::look();
    let cpu = here.cpu(args.cpu)?;
    let supervisor = session::supervisor(args.patience)?;
    let weight: f64 = experiments.iter().map(|experiment| experiment.weight).sum();
    let (each, most) = if args.quick { (QUICK_EACH, QUICK_MOST) } else { (EACH, MOST) };
    let wanted = Wanted {
        experiments,
        quick: args.quick,
        budget: args.budget.unwrap_or(each.mul_f64(weight).min(most)),
        cpu,
        chain,
        save: !args.no_save,
        db: common.db.clone(),
        seed: common.seed,
        quiet: common.quiet,
    };
    let Found { result, trouble } = reproduce::run(&wanted, &here, &supervisor)?;
    print(&result, args, common)?;
    output::warn(&result.warnings, common);
    if let Some(id) = result.run_id {
        output::note(
            &format!("saved as run {id}; 'carryline reproduce --from {id}' prints it again"),
            common,
        );
    }
    if let Some(trouble) = &trouble {
        output::complain(trouble);
    }
    Ok(match (interrupt::requested(), trouble) {
        (true, _) => status::INTERRUPTED,
        (false, Some(_)) => status::FAILED,
        (false, None) => 0,
    })
}

fn print(result: &RunResult, args: &Reproduce, common: &Common) -> Result<(), Failure> {
    match (args.markdown, common.format) {
        (true, _) => output::print(&claims_page(result)),
        (false, Format::Json) => super::compare::print_run(result, None, common),
        (false, Format::Table) => output::print(&experiments_text(&result.experiments, output::style())),
    }
}

/// What experiments there are.
fn list(common: &Common) -> Result<u8, Failure> {
    if common.format == Format::Json {
        let line = |e: &&Experiment| serde_json::json!({"id": e.id, "source": e.source, "title": e.title, "claims": e.claims.len()});
        let lines: Vec<_> = EXPERIMENTS.iter().map(line).collect();
        output::print_json("experiments", &serde_json::json!({ "experiments": lines }), common)?;
        return Ok(0);
    }
    let mut table = Table::new([
        ("id", Kind::Name),
        ("source", Kind::Text),
        ("claims", Kind::Number),
        ("what it shows", Kind::Text),
    ]);
    for experiment in EXPERIMENTS {
        let claims = experiment.claims.len().to_string();
        let row = vec![experiment.id.into(), experiment.source.into(), claims, experiment.title.into()];
        table.push(row, Emphasis::None);
    }
    output::print(&table.render(output::style()))?;
    Ok(0)
}

/// The experiments of these names; all of them for `all` and for none.
fn selected(ids: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    if ids.is_empty() || ids.iter().any(|id| id == "all") {
        // A wrong name beside 'all' is wrong all the same.
        for id in ids.iter().filter(|id| *id != "all") {
            known(id)?;
        }
        return Ok(EXPERIMENTS.to_vec());
    }
    let mut found: Vec<&'static Experiment> = Vec::new();
    for id in ids {
        let experiment = known(id)?;
        if !found.iter().any(|other| other.id == experiment.id) {
            found.push(experiment);
        }
    }
    Ok(found)
}

fn known(id: &str) -> Result<&'static Experiment, Failure> {
    experiments::find(id).ok_or_else(|| {
        let ids = || EXPERIMENTS.iter().map(|experiment| experiment.id);
        let near = did_you_mean(&nearest(id, ids()));
        let list: Vec<&str> = ids().collect();
        usage(format!("unknown experiment '{id}'{near} (experiments: {}, or all)", list.join(", ")))
    })
}

/// The chain given by `--chain 1,3,1,3`, or after `--` as its author's program took it: `8 1 3 1 3`, the repeats first.
fn chain(args: &Reproduce) -> Result<Option<(u32, Vec<u32>)>, Failure> {
    match (&args.chain, args.repeats_and_lengths.as_slice()) {
        (Some(_), [_, ..]) => Err(usage("give a chain by --chain or after '--', not both")),
        (Some(lengths), []) => Ok(Some((8, read_segments("--chain", lengths)?))),
        (None, []) => Ok(None),
        (None, [repeats, lengths @ ..]) => {
            let repeats =
                repeats.parse().ok().filter(|n| (1..=MOST_REPEATS).contains(n)).ok_or_else(|| {
                    usage(format!(
                        "'{repeats}' is not a number of repeats from 1 to {MOST_REPEATS}; write: -- 8 1 3 1 3"
                    ))
                })?;
            if lengths.is_empty() {
                return Err(usage(format!("'-- {repeats}' names no length; write: -- {repeats} 1 3 1 3")));
            }
            Ok(Some((repeats, read_segments("chain", &lengths.join(","))?)))
        }
    }
}
