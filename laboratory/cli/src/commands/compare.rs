//! `carryline compare A B`: what became faster or slower from one run to others.

use crate::cli::{Common, Compare, Format};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::kept::{self, Kept, unlike};
use carryline_engine::session::command_line;
use carryline_report::comparison::Shown;
use carryline_report::json::{self, About};
use carryline_results::comparison::{ComparedCell, Comparison, Pairing, Verdict, compare};
use carryline_results::{RunResult, comparison};
use carryline_statistics::Ratio;
use serde::Serialize;
use serde_json::Value;

/// The draws of the intervals: the same runs always compare alike.
const SEED: u64 = 1;

/// Holds the runs against the first.
pub fn run(args: &Compare, common: &Common) -> Result<u8, Failure> {
    let db = common.db.as_deref();
    let runs = args.runs.iter().map(|word| kept::find(word, db)).collect::<Result<Vec<Kept>, Failure>>()?;
    let [base, others @ ..] = runs.as_slice() else { return Err(usage("two runs are needed")) };
    let found =
        others.iter().map(|other| Found::of(base, other, args.force)).collect::<Result<Vec<_>, _>>()?;
    match common.format {
        Format::Json => output::print_json("compare", &Report::of(base, &found), common)?,
        Format::Table => {
            let texts: Vec<String> = found.iter().map(|found| found.text(base, args.full)).collect();
            output::print(&texts.join("\n"))?;
        }
    }
    Ok(0)
}

/// A comparison of two runs.
pub struct Found<'a> {
    other: &'a Kept,
    /// In what the two are unlike, if that was allowed.
    unlike: Vec<String>,
    /// What was found.
    pub comparison: Comparison,
}

impl Found<'_> {
    /// Compares two runs if they are alike, or if unlike ones were asked for.
    pub fn of<'a>(base: &Kept, other: &'a Kept, force: bool) -> Result<Found<'a>, Failure> {
        let differing = unlike(base, other);
        if !differing.is_empty() && !force {
            return Err(Failure::Unlike(format!(
                "{} and {} are unlike, so that their figures do not compare (--force compares them all the same):\n  {}",
                base.title,
                other.title,
                differing.join("\n  ")
            )));
        }
        let same = base.content_hash.is_some() && base.content_hash == other.content_hash;
        let pairing = if same { Pairing::Identical } else { Pairing::None };
        let comparison = compare(&base.rows, &other.rows, pairing, SEED);
        Ok(Found { other, unlike: differing, comparison })
    }

    /// The comparison for people.
    pub fn text(&self, base: &Kept, full: bool) -> String {
        let mut remarks: Vec<String> =
            self.unlike.iter().map(|difference| format!("unlike: {difference}")).collect();
        remarks.extend(versions(base, self.other));
        let (base, other) = (base.name(), self.other.name());
        let shown =
            Shown { base: &base, other: &other, remarks: &remarks, comparison: &self.comparison, full };
        shown.to_text(output::style())
    }
}

/// The library's versions, where they differ.
fn versions(base: &Kept, other: &Kept) -> Option<String> {
    let version = |run: &Kept| run.environment["build"]["version"].as_str().map(str::to_owned);
    let (base, other) = (version(base)?, version(other)?);
    (base != other).then(|| format!("carryline {base} -> {other}"))
}

/// A run in JSON.
#[derive(Serialize)]
struct RunName<'a> {
    name: &'a str,
    run_id: Option<i64>,
    content_hash: Option<&'a str>,
    label: Option<&'a str>,
    started: &'a str,
}

impl<'a> RunName<'a> {
    fn of(run: &'a Kept) -> RunName<'a> {
        RunName {
            name: &run.title,
            run_id: run.id,
            content_hash: run.content_hash.as_deref(),
            label: run.label.as_deref(),
            started: &run.started,
        }
    }
}

/// A comparison in JSON.
#[derive(Serialize)]
struct Other<'a> {
    #[serde(flatten)]
    run: RunName<'a>,
    unlike: &'a [String],
    pairing: Pairing,
    between_runs: comparison::Between,
    only_in_base: usize,
    only_in_other: usize,
    ratio: Option<Ratio>,
    verdict: Verdict,
}

#[derive(Serialize)]
struct OtherCell<'a> {
    run: &'a str,
    #[serde(flatten)]
    cell: &'a ComparedCell,
}

/// Everything found, in JSON.
#[derive(Serialize)]
pub struct Report<'a> {
    /// What ratios are of.
    ratio_of: &'static str,
    base: RunName<'a>,
    others: Vec<Other<'a>>,
    cells: Vec<OtherCell<'a>>,
    ratio: Option<Ratio>,
    verdict: Verdict,
}

impl<'a> Report<'a> {
    /// Over several runs, the verdict is that of the worst; the ratio is there where one run is held against the base.
    pub fn of(base: &'a Kept, found: &'a [Found<'_>]) -> Report<'a> {
        let other = |found: &'a Found<'_>| {
            let Comparison { pairing, between_runs, only_in_base, only_in_other, ratio, verdict, .. } =
                found.comparison;
            let run = RunName::of(found.other);
            Other {
                run,
                unlike: &found.unlike,
                pairing,
                between_runs,
                only_in_base,
                only_in_other,
                ratio,
                verdict,
            }
        };
        let cells = found.iter().flat_map(|found| {
            let run = found.other.title.as_str();
            found.comparison.cells.iter().map(move |cell| OtherCell { run, cell })
        });
        let worst = [Verdict::Slower, Verdict::Unknown, Verdict::Faster, Verdict::Same];
        let is_there = |verdict: &Verdict| found.iter().any(|found| found.comparison.verdict == *verdict);
        Report {
            ratio_of: "gross time of a call, over that in the base: above 1 is slower",
            base: RunName::of(base),
            others: found.iter().map(other).collect(),
            cells: cells.collect(),
            ratio: if let [one] = found { one.comparison.ratio } else { None },
            verdict: worst.into_iter().find(is_there).unwrap_or(Verdict::Unknown),
        }
    }
}

/// What a rerun ends with: the run that it repeated against this one.
pub struct Repeated {
    base: Kept,
    again: Kept,
}

impl Repeated {
    /// Finds both: the one that was repeated by its number, the new one by its own or, where it was not saved, in its result.
    pub fn of(repeated: i64, result: &RunResult, common: &Common) -> Result<Repeated, Failure> {
        let db = common.db.as_deref();
        let base = kept::find(&repeated.to_string(), db)?;
        let again = match result.run_id {
            Some(id) => kept::find(&id.to_string(), db)?,
            None => Kept::of_result(result),
        };
        Ok(Repeated { base, again })
    }

    /// The comparison, which is made even of unlike runs: its user asked for the run, and is told.
    fn found(&self) -> Result<Found<'_>, Failure> {
        Found::of(&self.base, &self.again, true)
    }

    /// For people.
    pub fn text(&self) -> Result<String, Failure> {
        Ok(self.found()?.text(&self.base, false))
    }

    /// For the run's JSON.
    pub fn json(&self) -> Result<Value, Failure> {
        let found = [self.found()?];
        Ok(serde_json::to_value(Report::of(&self.base, &found))?)
    }
}

/// A run's own JSON, with the comparison that a rerun ends with.
#[derive(Serialize)]
struct RunAndComparison<T> {
    #[serde(flatten)]
    run: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Value>,
}

/// Prints a run that was just made as JSON.
pub fn print_run(result: &RunResult, repeated: Option<&Repeated>, common: &Common) -> Result<(), Failure> {
    // What cannot be read again was reported when it was written.
    let stored = result.run_id.and_then(|id| kept::stored(&id.to_string(), common.db.as_deref()).ok());
    let about = stored.map(|stored| stored.about()).unwrap_or_else(|| {
        let made_by: Vec<String> = command_line().collect();
        About { label: kept::label(&made_by), made_by, ..About::default() }
    });
    let comparison = repeated.map(Repeated::json).transpose()?;
    output::print_json("run", &RunAndComparison { run: json::stored(&about, result), comparison }, common)
}
