//! `carryline compare BASE RUN...`: what became faster or slower.

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

/// The seed of the intervals; fixed, so that a comparison always has the same result.
const SEED: u64 = 1;

/// Compares runs with the first.
pub fn run(args: &Compare, common: &Common) -> Result<u8, Failure> {
    let db = common.db.as_deref();
    let runs = args.runs.iter().map(|word| kept::find(word, db)).collect::<Result<Vec<Kept>, Failure>>()?;
    let [base, others @ ..] = runs.as_slice() else { return Err(usage("two runs are needed")) };
    let comparisons = others
        .iter()
        .map(|other| RunComparison::of(base, other, args.force))
        .collect::<Result<Vec<_>, _>>()?;
    // With --force, runs may have nothing in common.
    if comparisons.iter().all(|one| one.comparison.cells.is_empty()) {
        let titles: Vec<&str> = others.iter().map(|other| other.title.as_str()).collect();
        return Err(Failure::Unlike(format!(
            "{} has no cell in common with {}: nothing can be compared; 'carryline history --show RUN --full' shows their \
             cells",
            base.title,
            titles.join(", ")
        )));
    }
    match common.format {
        Format::Json => output::print_json("compare", &Report::of(base, &comparisons), common)?,
        Format::Table => {
            let texts: Vec<String> = comparisons.iter().map(|one| one.text(base, args.full)).collect();
            output::print(&texts.join("\n"))?;
        }
    }
    Ok(0)
}

/// A comparison of a run with the base.
pub struct RunComparison<'a> {
    other: &'a Kept,
    /// The fields in which machine, build or conditions differ, if that was allowed.
    unlike: Vec<String>,
    /// The comparison of the cells.
    pub comparison: Comparison,
}

impl RunComparison<'_> {
    /// Compares two runs.
    ///
    /// # Errors
    /// If machine, build or conditions differ or there are no samples, unless `force` is set.
    pub fn of<'a>(base: &Kept, other: &'a Kept, force: bool) -> Result<RunComparison<'a>, Failure> {
        let mut differing = unlike(base, other);
        let without_samples = [base, other].into_iter().filter(|run| !run.has_samples()).map(|run| {
            format!(
                "samples: {} has none, so what differs between processes is unknown ('carryline export RUN --to json \
                 --raw' writes them)",
                run.title
            )
        });
        differing.extend(without_samples);
        if !differing.is_empty() && !force {
            return Err(Failure::Unlike(format!(
                "{} and {} are not comparable (--force compares them anyway):\n  {}",
                base.title,
                other.title,
                differing.join("\n  ")
            )));
        }
        let same = base.content_hash.is_some() && base.content_hash == other.content_hash;
        let pairing = if same { Pairing::Identical } else { Pairing::None };
        let comparison = compare(&base.rows, &other.rows, pairing, SEED);
        Ok(RunComparison { other, unlike: differing, comparison })
    }

    /// The comparison as text.
    pub fn text(&self, base: &Kept, full: bool) -> String {
        let mut remarks: Vec<String> =
            self.unlike.iter().map(|difference| format!("differs: {difference}")).collect();
        remarks.extend(versions(base, self.other));
        let (base, other) = (base.name(), self.other.name());
        let shown =
            Shown { base: &base, other: &other, remarks: &remarks, comparison: &self.comparison, full };
        shown.to_text(output::style())
    }
}

/// The library's versions, if they differ.
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

/// A compared cell in JSON.
#[derive(Serialize)]
struct OtherCell<'a> {
    run: &'a str,
    #[serde(flatten)]
    cell: &'a ComparedCell,
}

/// All comparisons in JSON.
#[derive(Serialize)]
pub struct Report<'a> {
    /// The meaning of ratios.
    ratio_of: &'static str,
    base: RunName<'a>,
    others: Vec<Other<'a>>,
    cells: Vec<OtherCell<'a>>,
    ratio: Option<Ratio>,
    verdict: Verdict,
}

impl<'a> Report<'a> {
    /// Of several comparisons, the verdict is the worst; the ratio is given only for a single one.
    pub fn of(base: &'a Kept, comparisons: &'a [RunComparison<'_>]) -> Report<'a> {
        let other = |one: &'a RunComparison<'_>| {
            let Comparison { pairing, between_runs, only_in_base, only_in_other, ratio, verdict, .. } =
                one.comparison;
            let run = RunName::of(one.other);
            Other {
                run,
                unlike: &one.unlike,
                pairing,
                between_runs,
                only_in_base,
                only_in_other,
                ratio,
                verdict,
            }
        };
        let cells = comparisons.iter().flat_map(|one| {
            let run = one.other.title.as_str();
            one.comparison.cells.iter().map(move |cell| OtherCell { run, cell })
        });
        let worst = [Verdict::Slower, Verdict::Unknown, Verdict::Faster, Verdict::Same];
        let occurs = |verdict: &Verdict| comparisons.iter().any(|one| one.comparison.verdict == *verdict);
        Report {
            ratio_of: carryline_report::comparison::RATIO_OF,
            base: RunName::of(base),
            others: comparisons.iter().map(other).collect(),
            cells: cells.collect(),
            ratio: if let [one] = comparisons { one.comparison.ratio } else { None },
            verdict: worst.into_iter().find(occurs).unwrap_or(Verdict::Unknown),
        }
    }
}

/// A rerun and the run that it repeats.
pub struct Repeated {
    base: Kept,
    again: Kept,
}

impl Repeated {
    /// Loads the repeated run, and the new one if it was saved.
    pub fn of(repeated: i64, result: &RunResult, common: &Common) -> Result<Repeated, Failure> {
        let db = common.db.as_deref();
        let base = kept::find(&repeated.to_string(), db)?;
        let again = match result.run_id {
            Some(id) => kept::find(&id.to_string(), db)?,
            None => Kept::of_result(result),
        };
        Ok(Repeated { base, again })
    }

    /// The comparison, even if machine, build or conditions differ: a rerun always ends with it.
    fn comparison(&self) -> Result<RunComparison<'_>, Failure> {
        RunComparison::of(&self.base, &self.again, true)
    }

    /// The comparison as text.
    pub fn text(&self) -> Result<String, Failure> {
        Ok(self.comparison()?.text(&self.base, false))
    }

    /// The comparison for the JSON of the rerun.
    pub fn json(&self) -> Result<Value, Failure> {
        let comparison = [self.comparison()?];
        Ok(serde_json::to_value(Report::of(&self.base, &comparison))?)
    }
}

/// A run, and for a rerun its comparison with the repeated one.
#[derive(Serialize)]
struct RunAndComparison<T> {
    #[serde(flatten)]
    run: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Value>,
}

/// Prints a new run as JSON.
pub fn print_run(result: &RunResult, repeated: Option<&Repeated>, common: &Common) -> Result<(), Failure> {
    // If it cannot be read, the error was already reported when it was written.
    let stored = result.run_id.and_then(|id| kept::stored(&id.to_string(), common.db.as_deref()).ok());
    let about = stored.map(|stored| stored.about()).unwrap_or_else(|| {
        let made_by: Vec<String> = command_line().collect();
        About { label: kept::label(&made_by), made_by, ..About::default() }
    });
    let comparison = repeated.map(Repeated::json).transpose()?;
    output::print_json("run", &RunAndComparison { run: json::stored(&about, result), comparison }, common)
}
