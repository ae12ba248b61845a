//! Exports of a run for other programs: one file for each format, and one line in [`FORMATS`].
//!
//! Formats of other tools have one figure per benchmark: the gross time, which is what a caller pays.

mod asciidoc;
mod bencher;
mod cells;
mod csv;
mod flat;
mod github_action;
mod go;
mod hyperfine;
mod json;
mod jsonl;
mod markdown;
mod samples;

use crate::json::{About, Head};
use carryline_results::gather::Gathered;
use carryline_results::round::RoundRecord;
use carryline_results::{Cell, RunResult};

/// A stored run to be exported.
#[derive(Debug)]
pub struct Exported<'a> {
    /// The fields that begin the JSON.
    pub head: &'a Head,
    /// The run's properties other than its result.
    pub about: &'a About,
    /// Its result.
    pub run: &'a RunResult,
    /// Its plan.
    pub plan: &'a serde_json::Value,
    /// Its rounds.
    pub rounds: &'a [RoundRecord],
    /// The rounds by situation; empty for runs of experiments.
    pub gathered: &'a [Gathered],
    /// Whether to export every sample instead of figures computed from them.
    pub raw: bool,
    /// Whether to omit what identifies the machine.
    pub redact: bool,
}

/// Why a run cannot be exported in a format.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The format has times, but the run has only ticks.
    #[error(
        "the length of a tick is unknown in this run, but {0} has only times; --to csv and --to go have ticks"
    )]
    NoTime(&'static str),
    /// A row cannot be serialised.
    #[error("cannot write CSV: {0}")]
    Csv(#[from] ::csv::Error),
    /// A value cannot be serialised.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// A format.
#[derive(Debug)]
pub struct Format {
    /// Its name on the command line.
    pub word: &'static str,
    /// A description for the help.
    pub summary: &'static str,
    /// Whether it can contain every sample.
    pub raw: bool,
    render: fn(&Exported<'_>) -> Result<String, ExportError>,
}

/// Every format, in the order of the help.
pub const FORMATS: &[Format] = &[
    Format { word: "json", summary: "the object of --format json", raw: true, render: json::render },
    Format { word: "jsonl", summary: "JSON Lines, an object for each row", raw: true, render: jsonl::render },
    Format { word: "csv", summary: "comma-separated values", raw: true, render: csv::render },
    Format { word: "markdown", summary: "a Markdown table", raw: false, render: markdown::render },
    Format { word: "asciidoc", summary: "an AsciiDoc table", raw: false, render: asciidoc::render },
    Format { word: "go", summary: "Go's benchmark text, for benchstat", raw: false, render: go::render },
    Format { word: "bmf", summary: "Bencher Metric Format", raw: false, render: bencher::render },
    Format {
        word: "github-action-benchmark",
        summary: "its customSmallerIsBetter",
        raw: false,
        render: github_action::render,
    },
    Format { word: "hyperfine", summary: "hyperfine's JSON", raw: false, render: hyperfine::render },
];

impl Format {
    /// The format with that name.
    #[must_use]
    pub fn find(word: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.word == word)
    }

    /// The run in this format.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn render(&self, exported: &Exported<'_>) -> Result<String, ExportError> {
        (self.render)(exported)
    }
}

impl<'a> Exported<'a> {
    /// The cells with figures.
    fn measured(&self) -> impl Iterator<Item = &'a Cell> + use<'a> {
        self.run.cells.iter().filter(|cell| cell.gross.is_some())
    }

    /// The name of a cell in formats with a single name per benchmark.
    fn name(&self, cell: &Cell) -> String {
        format!("{} / {}", cell.situation, cell.variant)
    }

    /// A cell's gross ticks per call in each replicate: the medians over its rounds.
    fn by_replicate(&self, cell: &Cell) -> Vec<f64> {
        let Some(gathered) = self.gathered.iter().find(|gathered| gathered.situation.name == cell.situation)
        else {
            return cell.gross.iter().map(|gross| gross.median).collect();
        };
        let place = gathered.situation.subjects.iter().position(|name| *name == cell.variant);
        let samples = place.map(|place| gathered.gross(place)).unwrap_or_default();
        let typical = |rounds: Vec<f64>| {
            let known: Vec<f64> = rounds.into_iter().filter(|ticks| ticks.is_finite()).collect();
            carryline_statistics::median(&known)
        };
        samples.into_iter().filter_map(typical).collect()
    }
}

#[cfg(test)]
mod tests;
