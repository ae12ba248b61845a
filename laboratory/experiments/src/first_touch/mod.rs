//! first-touch: the cost of the first touch of a page, and the share of clearing in it.
//!
//! A write to untouched memory takes one fault, which clears a page. A read maps the kernel's zero page, and
//! a subsequent write faults again. The cost of the kernel entry alone shows where there is nothing to clear:
//! on a page that exists already but is not mapped.

mod claims;
mod probe;

use super::{Context, Experiment, Outcome, Probed};
use carryline_engine::failure::Failure;
use carryline_results::claims::{Figure, TableResult, Unit};
use carryline_results::sources::TORVALDS_2000;
use claims::CLAIMS;
use probe::{Facts, PAGES, SERIES};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "first-touch",
    source: &TORVALDS_2000,
    title: "The first touch of a page: entry and clearing",
    weight: 0.5,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// The initial state of a row, and its published cycles.
fn about(series: &str) -> (&'static str, Option<f64>) {
    match series {
        "write first" => ("untouched; frames flushed", Some(12000.0)),
        "write first again" => ("the same, for the noise floor", None),
        "write first, frames hot" => ("untouched; frames just written", None),
        "read first" => ("untouched: maps the zero page", None),
        "write after read" => ("the zero page mapped", None),
        "read, then write" => ("the two rows above together", None),
        "ready page" => ("exists in a file, hot or cold; not mapped", Some(1000.0)),
        "clearing" => ("write first minus ready page", Some(11000.0)),
        "copy on write" => ("private mapping of a page with data; frames flushed", None),
        "populate" => ("untouched; one call for all; frames flushed", None),
        "map alone" => ("the call without the pages", None),
        "huge page" => ("2 MiB flushed; per 4 KB", None),
        "clear by rep stosb, cold" => ("mapped; flushed", Some(11000.0)),
        "clear by rep stosb, hot" => ("mapped; just cleared", Some(847.0)),
        _ => ("", None),
    }
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let probed = context.probe("first_touch", &(), 0.95)?;
    if let Some(reason) = probed.failed() {
        return Err(context.impossible(reason));
    }
    let facts: Vec<Facts> = probed.facts()?;
    let mut table = TableResult::new(
        format!("Per page of 4 KB, {PAGES} pages at a time"),
        &[
            ("first touch", ""),
            ("state before", ""),
            ("published", "cycles"),
            ("here", "cycles"),
            ("here", "ns"),
            ("faults", "per page"),
        ],
    );
    for series in SERIES {
        let (state, published) = about(series);
        let cycles = probed.cycles(series);
        let ns = probed.ns(series);
        let faults = faults(&probed, &facts, series);
        table.push(vec![
            series.into(),
            state.into(),
            published.into(),
            cycles.as_ref().ok().into(),
            ns.as_ref().ok().into(),
            faults.as_ref().ok().map(Figure::value).into(),
        ]);
        if let Err(reason) = &cycles {
            outcome.notes.push(format!("'{series}' cannot be measured here: {reason}."));
        }
        outcome.figures.add_or_reason(series, cycles);
        outcome.figures.add_or_reason(format!("{series}, faults"), faults);
    }
    outcome.tables.push(table);
    if let (Some(entry), Some(all)) = (outcome.figures.get("ready page"), outcome.figures.get("write first"))
    {
        outcome.notes.push(format!(
            "The kernel entry is {:.0} % of a first write here, the clearing of a cold page the rest; in 2000 it was 8 %.",
            100.0 * entry.value() / all.value()
        ));
    }
    outcome.notes.push(match facts.iter().map(|facts| facts.mapped_before).sum::<Option<u64>>() {
        Some(strays) => format!("Pages found mapped that should have been untouched: {strays}."),
        None => "Whether pages were untouched cannot be checked here: /proc/self/pagemap is not readable."
            .to_owned(),
    });
    Ok(outcome)
}

/// Faults per page of a series; exact if all worker processes agree.
fn faults(probed: &Probed, facts: &[Facts], series: &str) -> Result<Figure, String> {
    let counted = |name: &str| -> Vec<Vec<f64>> {
        facts.iter().filter_map(|facts| facts.faults_per_page.get(name)).map(|count| vec![*count]).collect()
    };
    if counted("write first").iter().flatten().all(|count| *count == 0.0) {
        return Err(probed.reason.clone().unwrap_or_else(|| "this kernel does not count faults".to_owned()));
    }
    let samples = if series == "read, then write" {
        counted("read first")
            .iter()
            .zip(counted("write after read"))
            .map(|(a, b)| vec![a[0] + b[0]])
            .collect()
    } else {
        counted(series)
    };
    Figure::sampled(Unit::Faults, samples, None, 0.0, 1).ok_or_else(|| "not counted".to_owned())
}
