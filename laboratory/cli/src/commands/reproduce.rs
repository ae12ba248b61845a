//! `carryline reproduce`: runs the experiments of the source documents, with a verdict on each claim.

mod from;

use super::words::read_segments;
use crate::cli::{Common, Format, Reproduce};
use crate::output;
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::machine::Here;
use carryline_engine::{interrupt, session};
use carryline_experiments::run::{Found, Wanted};
use carryline_experiments::{self as experiments, EXPERIMENTS, Experiment, run as reproduce};
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_report::claims_page::claims_page;
use carryline_report::experiments::experiments_text;
use carryline_report::table::{ColumnKind, Emphasis, Table};
use carryline_results::RunResult;
use carryline_results::sources::{SOURCES, Source};
use std::time::Duration;

/// The default time of an experiment of weight 1, and of a quick one.
const EACH: Duration = Duration::from_secs(30);
const QUICK_EACH: Duration = Duration::from_secs(6);
/// The maximum default time of all experiments together, and of quick ones.
const MOST: Duration = Duration::from_secs(540);
const QUICK_MOST: Duration = Duration::from_secs(105);
/// The maximum number of repeats of a chain.
const MOST_REPEATS: u32 = 64;

/// Lists or runs experiments, or prints stored results.
pub fn run(args: &Reproduce, common: &Common) -> Result<u8, Failure> {
    if args.list {
        return list(common);
    }
    if !args.from.is_empty() {
        let machines = from::runs(&args.from, common)?;
        if args.markdown {
            let results: Vec<RunResult> = machines.into_iter().map(|machine| machine.result).collect();
            return output::print(&claims_page(&results)).map(|()| 0);
        }
        return print(&from::only(machines)?, args, common).map(|()| 0);
    }
    let experiments = selected(&args.ids)?;
    let chain = chain(args)?;
    if chain.is_some() && !experiments.iter().any(|experiment| experiment.id == "chains") {
        return Err(usage(
            "a chain of buffers needs the experiment 'chains': carryline reproduce chains --chain 1,3",
        ));
    }
    let here = Here::look();
    let cpu = here.cpu(args.workers.cpu)?;
    let supervisor = session::supervisor(args.workers.patience)?;
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
        output::message(trouble);
    }
    Ok(match (interrupt::requested(), trouble) {
        (true, _) => status::INTERRUPTED,
        (false, Some(_)) => status::FAILED,
        (false, None) => 0,
    })
}

fn print(result: &RunResult, args: &Reproduce, common: &Common) -> Result<(), Failure> {
    match (args.markdown, common.format) {
        (true, _) => output::print(&claims_page(std::slice::from_ref(result))),
        (false, Format::Json) => super::compare::print_run(result, None, common),
        (false, Format::Table) => output::print(&experiments_text(&result.experiments, output::style())),
    }
}

/// Lists the experiments and their source documents.
fn list(common: &Common) -> Result<u8, Failure> {
    if common.format == Format::Json {
        let line = |e: &&Experiment| serde_json::json!({"id": e.id, "source": e.source_ids(), "title": e.title, "claims": e.claims.len()});
        let lines: Vec<_> = EXPERIMENTS.iter().map(line).collect();
        let list = serde_json::json!({ "experiments": lines, "sources": documents() });
        output::print_json("experiments", &list, common)?;
        return Ok(0);
    }
    let mut table = Table::new([
        ("id", ColumnKind::Name),
        ("source", ColumnKind::Text),
        ("claims", ColumnKind::Number),
        ("title", ColumnKind::Text),
    ]);
    for experiment in EXPERIMENTS {
        let claims = experiment.claims.len().to_string();
        let row = vec![experiment.id.into(), experiment.source_ids(), claims, experiment.title.into()];
        table.push(row, Emphasis::None);
    }
    let mut text = table.render(output::style());
    text.push_str("\nDocuments (see 'carryline explain ID')\n");
    for source in documents() {
        let line = format!("{}: {}", source.id, source.citation());
        text.push_str(&carryline_report::text::wrap(&line, output::style().width, 4));
        text.push('\n');
    }
    output::print(&text)?;
    Ok(0)
}

/// The source documents of the experiments and claims.
fn documents() -> Vec<&'static Source> {
    let used = |source: &&Source| EXPERIMENTS.iter().any(|experiment| experiment.sources().contains(source));
    SOURCES.iter().copied().filter(used).collect()
}

/// The named experiments; all of them for `all` or without a name.
fn selected(ids: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    if ids.is_empty() || ids.iter().any(|id| id == "all") {
        // A wrong name next to 'all' is still an error.
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

/// The chain from `--chain 1,3,1,3`, or after `--` in the form of the original program: `8 1 3 1 3`,
/// repeats first.
fn chain(args: &Reproduce) -> Result<Option<(u32, Vec<u32>)>, Failure> {
    match (&args.chain, args.repeats_and_lengths.as_slice()) {
        (Some(_), [_, ..]) => Err(usage("give a chain with --chain or after '--', not both")),
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
                return Err(usage(format!("'-- {repeats}' has no lengths; write: -- {repeats} 1 3 1 3")));
            }
            Ok(Some((repeats, read_segments("chain", &lengths.join(","))?)))
        }
    }
}
