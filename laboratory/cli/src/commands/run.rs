//! `carryline run`: verifies, measures the standard matrix, ranks, recommends and saves.

use super::compare::Repeated;
use super::words::read_sizes;
use crate::cli::{Common, Detail, Effort, Format, Run};
use crate::output;
use crate::prepared::Prepared;
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::machine::Here;
use carryline_engine::session::Finished;
use carryline_engine::standard;
use carryline_report::advice::advice;
use carryline_report::limits;
use carryline_report::ranking::{Rows, legend, rankings};
use carryline_report::recommend::recommend;
use carryline_report::roles::Roles;
use carryline_report::text::wrap;
use carryline_report::units::Unit;
use carryline_results::RunResult;
use std::time::Duration;

/// The default budget.
const BUDGET: Duration = Duration::from_secs(60);

/// Runs the standard matrix.
pub fn run(args: &Run, common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let prepared = Prepared::new(&args.subjects, &args.effort, &here)?;
    let (sizes, warnings) = read_sizes(&args.sizes, common)?;
    let subjects = |family| prepared.selection.subjects(family);
    let situations =
        standard::situations(&here.caches, &prepared.selection.families, false, &sizes, &subjects)
            .map_err(|error| usage(error.to_string()))?;
    let (situations, left_out) = here.that_fit(situations);
    if situations.is_empty() {
        return Err(usage(left_out.into_iter().next().unwrap_or_else(|| "nothing to measure".to_owned())));
    }
    for sentence in left_out {
        output::note(&format!("left out: {sentence}"), common);
    }
    let plan = prepared.plan(situations, &args.effort, BUDGET, common);
    let Some(finished) = prepared.execute(&plan, &args.effort, &here, warnings, common)? else {
        return Ok(0);
    };
    let text = answer(&finished.result, prepared.unit, args.detail)?;
    conclude(&finished, &text, prepared.unit, &args.effort, common)
}

/// The result as text: the advice, and either all details or a hint on how to see them.
pub fn answer(result: &RunResult, unit: Unit, detail: Detail) -> Result<String, Failure> {
    let (style, roles) = (output::style(), Roles::of_collection());
    let advice = advice(result, &roles);
    let mut text = advice.to_text(style);
    text.push('\n');
    if detail.full || detail.pairs {
        text.push_str(&ranked(result, unit, detail)?);
        text.push('\n');
        text.push_str(&limits::limits(result, unit).to_text(style));
        text.push('\n');
        text.push_str(&recommend(result, &roles).to_text(style));
        return Ok(text);
    }
    if advice.situations == 0 {
        return Ok(text);
    }
    let again = match result.run_id {
        Some(id) => format!("carryline history --show {id} "),
        None => String::new(),
    };
    let rankings = match advice.situations {
        1 => "the ranking".to_owned(),
        count => format!("the {count} rankings"),
    };
    let warnings = match advice.warnings {
        0 => String::new(),
        1 => "; --warnings: the warning".to_owned(),
        count => format!("; --warnings: the {count} warnings"),
    };
    text.push_str(&wrap(&format!("{again}--full: {rankings}{warnings}"), style.width, 2));
    text.push('\n');
    Ok(text)
}

/// The rankings of all situations, with a legend.
pub fn ranked(result: &RunResult, unit: Unit, detail: Detail) -> Result<String, Failure> {
    let style = output::style();
    let rows = if detail.pairs { Rows::AllAndPairs } else { Rows::Folded };
    let mut text = String::new();
    for ranking in rankings(result, unit, &Roles::of_collection())? {
        text.push_str(&ranking.to_text(style, rows));
        text.push('\n');
    }
    if !text.is_empty() {
        text.push_str(&legend(unit, style));
    }
    Ok(text)
}

/// Prints the result, writes the requested page and returns the exit status.
pub fn conclude(
    finished: &Finished,
    text: &str,
    unit: Unit,
    effort: &Effort,
    common: &Common,
) -> Result<u8, Failure> {
    // Partial results are compared with nothing.
    let repeats = common.repeats.filter(|_| !finished.interrupted);
    let repeated = repeats.map(|id| Repeated::of(id, &finished.result, common)).transpose()?;
    match common.format {
        Format::Json => super::compare::print_run(&finished.result, repeated.as_ref(), common)?,
        Format::Table => output::print(text)?,
    }
    if common.format == Format::Json {
        output::end_of_partial(common)?;
    }
    output::warn_in_full(&finished.result.warnings, common);
    if let (Some(repeated), Format::Table) = (&repeated, common.format) {
        output::print(&repeated.text()?)?;
    }
    if let Some(path) = &effort.report {
        super::report::of_finished(finished, path, unit, effort, common)?;
    }
    if let (Some(id), false) = (finished.result.run_id, common.quiet) {
        output::note(&format!("saved as run {id}; 'carryline history --show {id}' prints it again"), common);
    }
    for proof in finished.wrong.iter().chain(&finished.slow) {
        output::message(&super::verify::sentence(proof));
    }
    for sentence in &finished.undone {
        output::message(sentence);
    }
    Ok(match finished {
        finished if finished.interrupted => status::INTERRUPTED,
        finished if !finished.wrong.is_empty() => status::WRONG,
        finished if !finished.slow.is_empty() => status::UNDECIDED,
        finished if !finished.undone.is_empty() => status::FAILED,
        _ => 0,
    })
}
