//! Tests published claims: a claim is data with a rule over measured figures, from which its verdict follows.
//!
//! A [`Claim`] states what was claimed, the published figure, and the [`Rule`] that judges it. A rule refers
//! to [`Figures`] and is evaluated on their intervals and the noise floor of their rounds. A verdict is
//! therefore computed, never written by hand, and always cites what it compares:
//!
//! | verdict | when |
//! | --- | --- |
//! | `holds` | the whole interval, widened by the noise floor, satisfies the rule |
//! | `does not hold here` | the whole interval violates it |
//! | `fails` | the same, for a claim that does not depend on the machine ([`Claim::of_any_machine`]) |
//! | `reversed` | the interval violates the rule and is on the other side of equality |
//! | `undecided` | none of these, or the difference is within the noise floor |
//! | `cannot be measured here` | a figure is missing, with the reason |
//!
//! ```
//! use carryline_results::claims::{Claim, ClaimVerdict, Figure, Figures, Rule, Unit};
//! use carryline_results::sources::EVANS_2003;
//!
//! static CLAIM: Claim = Claim::new(
//!     "unrolling-helps",
//!     "unrolling to 64 bytes beats the plain loop by half",
//!     "9.80 against 3.01 GB/s",
//!     Rule::at_least("movl", "unroll 64", 1.5),
//! );
//! let mut figures = Figures::default();
//! let times = |ticks: f64| vec![vec![ticks; 8]; 5];
//! figures.add("movl", Figure::sampled(Unit::Ticks, times(200.0), Some("zero 4096"), 0.01, 1));
//! figures.add("unroll 64", Figure::sampled(Unit::Ticks, times(100.0), Some("zero 4096"), 0.01, 1));
//! let judged = CLAIM.judge(&figures, &EVANS_2003, 1);
//! assert_eq!(judged.verdict, ClaimVerdict::Holds);
//! ```

mod crossing;
mod figures;
mod rule;
mod unit;

pub use crossing::{crossing, differences};
pub use figures::{Figure, Figures};
pub use rule::{ClaimVerdict, Rule};
pub use unit::Unit;

use crate::sources::Source;
use carryline_statistics::Ratio;
use serde::{Deserialize, Serialize};

/// A claim that can be tested.
#[derive(Debug)]
pub struct Claim {
    /// Unique in its experiment; words joined by hyphens.
    pub id: &'static str,
    /// What is claimed, in one sentence.
    pub text: &'static str,
    /// The published figure.
    pub published: &'static str,
    /// The rule that judges it.
    pub rule: Rule,
    /// The document that makes the claim, if it is not the experiment's.
    pub source: Option<&'static Source>,
    /// The verdict if it does not hold: `fails`, or `does not hold here` if it depends on the machine.
    pub otherwise: ClaimVerdict,
}

impl Claim {
    /// A claim from the experiment's source about the author's machine: its name, the claim in the source's words,
    /// the published figure, and the rule that judges it.
    #[must_use]
    pub const fn new(id: &'static str, text: &'static str, published: &'static str, rule: Rule) -> Claim {
        Claim { id, text, published, rule, source: None, otherwise: ClaimVerdict::DoesNotHoldHere }
    }

    /// The same claim from a document other than the experiment's.
    #[must_use]
    pub const fn by(self, source: &'static Source) -> Claim {
        Claim { source: Some(source), ..self }
    }

    /// The same claim as one that does not depend on the machine, such as that a sum is right: its verdict is `fails`.
    #[must_use]
    pub const fn of_any_machine(self) -> Claim {
        Claim { otherwise: ClaimVerdict::Fails, ..self }
    }

    /// Judges the claim by the measured figures. `source` is the experiment's document; `seed` is that of the
    /// bootstrap for paired ratios.
    #[must_use]
    pub fn judge(&self, figures: &Figures, source: &Source, seed: u64) -> ClaimResult {
        let judged = self.rule.judge(figures, self.otherwise, seed);
        let mut named: Vec<NamedFigure> = Vec::new();
        for name in self.rule.names() {
            if let Some(figure) = figures.get(name)
                && !named.iter().any(|known| known.name == name)
            {
                named.push(NamedFigure::new(name, figure));
            }
        }
        ClaimResult {
            id: self.id.to_owned(),
            text: self.text.to_owned(),
            source: self.source.unwrap_or(source).id.to_owned(),
            published: self.published.to_owned(),
            measured: judged.measured,
            figures: named,
            noise_floor: judged.floor,
            verdict: judged.verdict,
            rule: self.rule.words(),
            why: judged.why,
        }
    }
}

/// A figure with its interval, as stored in results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedFigure {
    /// The name used in rules.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// The estimate.
    pub value: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end of its 95 % interval.
    pub high: f64,
}

impl NamedFigure {
    /// A figure with its name.
    #[must_use]
    pub fn new(name: &str, figure: &Figure) -> NamedFigure {
        let estimate = figure.estimate();
        NamedFigure {
            name: name.to_owned(),
            unit: figure.unit(),
            value: estimate.median,
            low: estimate.low,
            high: estimate.high,
        }
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// Unique in its experiment.
    pub id: String,
    /// What is claimed.
    pub text: String,
    /// The document that claims it: a [`Source::id`].
    pub source: String,
    /// The published figure.
    pub published: String,
    /// The measured figure, as text.
    pub measured: String,
    /// The figures in the rule, with their intervals.
    pub figures: Vec<NamedFigure>,
    /// The noise floor used for the verdict.
    pub noise_floor: Option<f64>,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// The rule in words.
    pub rule: String,
    /// One sentence with the figures compared, the noise floor and the verdict.
    pub why: String,
}

/// The result of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// Its name on the command line.
    pub id: String,
    /// The documents that it comes from: [`Source::id`]s, separated by commas.
    pub source: String,
    /// The title.
    pub title: String,
    /// Tables of published and measured figures.
    pub tables: Vec<TableResult>,
    /// Plots as text.
    pub plots: Vec<String>,
    /// Notes for the reader, such as what this machine cannot measure and why.
    pub notes: Vec<String>,
    /// All named figures.
    pub figures: Vec<NamedFigure>,
    /// The judged claims.
    pub claims: Vec<ClaimResult>,
}

/// A table of results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableResult {
    /// The title.
    pub title: String,
    /// The columns.
    pub columns: Vec<ColumnResult>,
    /// The rows, with one datum for each column.
    pub rows: Vec<Vec<Datum>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnResult {
    /// The heading.
    pub name: String,
    /// The second line of the heading: a unit ([`Unit::word`]) or other text.
    pub unit: String,
}

/// The content of a table cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Datum {
    /// An exact number: published or counted.
    Number(f64),
    /// Text.
    Text(String),
    /// A figure with its 95 % interval.
    Figure {
        /// The estimate.
        value: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// In output, a [`Datum::Figure`] of a net time below zero: the call took no longer than the null call.
    WithinNull {
        /// Always true; names the datum in JSON.
        within_null_call: bool,
    },
    /// Nothing: neither published nor measured.
    None,
}

/// The units of times in headings.
const TIMES: [&str; 6] = ["ticks", "cycles", "cycles est.", "cycles pmu", "ns", "us"];

impl Datum {
    /// The datum as it is printed in a column of this unit.
    #[must_use]
    pub fn printed(&self, unit: &str) -> Datum {
        match self {
            Datum::Figure { value, .. } if *value < 0.0 && TIMES.contains(&unit) => {
                Datum::WithinNull { within_null_call: true }
            }
            other => other.clone(),
        }
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Datum {
        Datum::Text(text.to_owned())
    }
}

impl From<String> for Datum {
    fn from(text: String) -> Datum {
        Datum::Text(text)
    }
}

impl From<f64> for Datum {
    fn from(number: f64) -> Datum {
        if number.is_finite() { Datum::Number(number) } else { Datum::None }
    }
}

impl From<Option<f64>> for Datum {
    fn from(number: Option<f64>) -> Datum {
        number.map_or(Datum::None, Datum::from)
    }
}

impl From<&Figure> for Datum {
    fn from(figure: &Figure) -> Datum {
        let estimate = figure.estimate();
        Datum::Figure { value: estimate.median, low: estimate.low, high: estimate.high }
    }
}

impl From<Option<Ratio>> for Datum {
    /// A ratio with its interval; nothing if an end is infinite, which JSON cannot represent.
    fn from(ratio: Option<Ratio>) -> Datum {
        match ratio {
            Some(Ratio { median: value, low, high }) if [value, low, high].iter().all(|v| v.is_finite()) => {
                Datum::Figure { value, low, high }
            }
            _ => Datum::None,
        }
    }
}

impl From<Option<&Figure>> for Datum {
    fn from(figure: Option<&Figure>) -> Datum {
        figure.map_or(Datum::None, Datum::from)
    }
}

impl TableResult {
    /// A table without rows. Each column is its heading and the second line of the heading.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: &[(&str, &str)]) -> TableResult {
        let column =
            |(name, unit): &(&str, &str)| ColumnResult { name: (*name).to_owned(), unit: (*unit).to_owned() };
        TableResult { title: title.into(), columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Datum>) {
        self.rows.push(row);
    }
}
