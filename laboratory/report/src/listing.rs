//! The lists of `carryline list`, `machine`, `verify` and `history`, as tables and as JSON.

mod history;
mod machine;
mod tried;

pub use tried::{Coverage, NotTried, Tried};

use crate::grouping::distinct;
use crate::table::{ColumnKind, Emphasis, Style, Table, bold};
use crate::text::{safe, wrap};
use crate::units::counted;
use carryline_variants::Family;
use serde::Serialize;
use serde_json::Value;

/// A line of `carryline list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariantLine {
    /// The variant's name.
    pub name: String,
    /// Its family.
    pub family: Family,
    /// Its requirements: CPU features, or a process of its own.
    pub needs: Vec<String>,
    /// Its origin.
    pub provenance: String,
    /// True if the CPU, as masked, and the C library can run it.
    pub runs_here: bool,
    /// True if it is known to be wrong and verification must catch it.
    pub known_bad: bool,
    /// Why it is known to be wrong.
    pub known_bad_reason: Option<String>,
    /// The technique, in a sentence.
    pub summary: String,
}

/// The list of `carryline list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariantList {
    /// The variants, by family.
    pub variants: Vec<VariantLine>,
}

/// The smallest failing input found for a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counterexample {
    /// Length of the call in bytes.
    pub length: u64,
    /// The destination's address modulo 4096, if there is one.
    pub dst_offset: Option<u64>,
    /// The source's address modulo 4096, if there is one.
    pub src_offset: Option<u64>,
    /// The checksum's seed, if there is one.
    pub seed: Option<u64>,
    /// The input's bytes, in words or in hexadecimal.
    pub bytes: String,
    /// The right result.
    pub expected: String,
    /// The actual result.
    pub got: String,
    /// Calls required before this one, in words; usually none.
    pub earlier: Vec<String>,
    /// All of this and the position of the buffers, in a sentence.
    pub sentence: String,
}

/// A line of `carryline verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProofLine {
    /// The variant's name.
    pub variant: String,
    /// Its family.
    pub family: Family,
    /// The verdict: `right`, `wrong`, `known-bad, caught`, `unsupported`, `crashed`, ...
    pub verdict: String,
    /// True if the verdict is the expected one.
    pub good: bool,
    /// Details: what was covered, why it does not run, or how it crashed.
    pub detail: Option<String>,
    /// The input on which it fails.
    pub counterexample: Option<Counterexample>,
}

/// The list of `carryline verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProofList {
    /// The results, by family.
    pub results: Vec<ProofLine>,
    /// What was tried on the variants found right.
    pub coverage: Coverage,
    /// The number of variants without a result, because the user interrupted the command.
    #[serde(skip)]
    pub left: Option<usize>,
}

/// The verdict on a variant that cannot run here.
pub const UNSUPPORTED: &str = "unsupported";

/// A line of `carryline history`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLine {
    /// The run's number in the store.
    pub id: i64,
    /// A hash of its plan and rounds, which identifies it in every store; `None` if it cannot be read.
    pub content_hash: Option<String>,
    /// The user's label.
    pub label: Option<String>,
    /// The time of its start, as in RFC 3339.
    pub started: String,
    /// The command that measured it.
    pub command: String,
    /// `complete`, `interrupted`, `incomplete` (killed or still running) or `damaged`.
    pub status: String,
    /// The number of situations.
    pub situations: u64,
    /// The number of cells.
    pub cells: u64,
    /// The number of stored rounds.
    pub rounds: u64,
}

/// The list of `carryline history`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunList {
    /// The runs, latest first.
    pub runs: Vec<RunLine>,
}

/// The description of `carryline machine`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// The machine, as it is stored with every run.
    pub environment: Value,
    /// Further facts, in sentences.
    pub notes: Vec<String>,
    /// What cannot be measured here, with the reason.
    pub not_measurable: Vec<NotMeasurable>,
    /// Assumptions about unknown properties, and properties hidden on purpose.
    pub assumed: Vec<String>,
}

/// Something that cannot be measured on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotMeasurable {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

/// A list as indented JSON.
///
/// # Errors
/// The errors of serde, which these types do not cause.
pub fn to_json<T: Serialize>(list: &T) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(list)
}

/// Joins the words of a text, which may span several lines of source, with single spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

impl VariantList {
    /// A table for each family.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let families = distinct(self.variants.iter().map(|line| line.family));
        let tables = families.into_iter().map(|family| self.of_family(family).render(style));
        tables.collect::<Vec<_>>().join("\n")
    }

    /// The table of a family, headed by its name.
    fn of_family(&self, family: Family) -> Table {
        let mut table = Table::new([
            (family.name(), ColumnKind::Name),
            ("runs\nhere", ColumnKind::Name),
            ("needs", ColumnKind::Text),
            ("provenance", ColumnKind::Text),
        ]);
        for line in self.variants.iter().filter(|line| line.family == family) {
            let reason = line.known_bad_reason.as_deref().unwrap_or("no reason given");
            let bad = if line.known_bad { format!(" (known bad: {reason})") } else { String::new() };
            let emphasis = match (line.known_bad, line.runs_here) {
                (true, _) => Emphasis::Bad,
                (false, false) => Emphasis::Faint,
                (false, true) => Emphasis::None,
            };
            let cells = vec![
                line.name.clone(),
                yes(line.runs_here).to_owned(),
                if line.needs.is_empty() { "nothing".to_owned() } else { line.needs.join(", ") },
                one_line(&format!("{}{bad}", line.provenance)),
            ];
            table.push(cells, emphasis);
        }
        table
    }
}

impl ProofList {
    /// The table, followed by the counterexamples and the number of failures.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let mut table = Table::new([
            ("variant", ColumnKind::Name),
            ("family", ColumnKind::Name),
            ("verdict", ColumnKind::Name),
            ("detail", ColumnKind::Text),
        ]);
        for line in &self.results {
            let emphasis = if line.good { Emphasis::None } else { Emphasis::Bad };
            let detail = line.detail.clone().unwrap_or_default();
            table.push(
                vec![line.variant.clone(), line.family.to_string(), line.verdict.clone(), detail],
                emphasis,
            );
        }
        let mut out = table.render(style);
        for line in &self.results {
            if let Some(counterexample) = &line.counterexample {
                let name = format!("{}/{}", line.family, line.variant);
                let text = safe(&format!("{name}: {}", counterexample.sentence));
                out.push_str(&wrap(&text, style.width, 2));
                out.push('\n');
            }
        }
        if !self.coverage.tried.is_empty() {
            out.push('\n');
            out.push_str(&self.coverage.to_text(style));
            out.push('\n');
        }
        if !self.results.is_empty() {
            out.push_str(&format!("{}\n", self.summary()));
        }
        if let Some(left) = self.left {
            let (variants, verb) = (counted(left as u64, "variant"), if left == 1 { "was" } else { "were" });
            out.push_str(&format!("Interrupted: partial results. {variants} {verb} not verified.\n"));
        }
        out
    }

    /// The numbers of variants, of failures, and of variants that cannot run here.
    fn summary(&self) -> String {
        let unusable = self.results.iter().filter(|line| line.verdict == UNSUPPORTED).count();
        let failed = self.results.iter().filter(|line| !line.good && line.verdict != UNSUPPORTED).count();
        let failed = if failed == 0 { "no failures".to_owned() } else { format!("{failed} failed") };
        let unusable = if unusable == 0 { String::new() } else { format!(", {unusable} not usable here") };
        format!("{}: {failed}{unusable}", counted(self.results.len() as u64, "variant"))
    }
}

impl Machine {
    /// The machine as a table, followed by what cannot be measured here and what is assumed.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let mut table = Table::new([("machine", ColumnKind::Name), ("", ColumnKind::Text)]);
        for (key, value) in machine::rows(&self.environment) {
            table.push(vec![key, value], Emphasis::None);
        }
        let mut out = table.render(style);
        for note in &self.notes {
            out.push_str(&format!("\n{}\n", wrap(&safe(note), style.width, 2)));
        }
        if !self.not_measurable.is_empty() {
            out.push_str(&format!("\n{}\n", bold("Cannot be measured here", style)));
        }
        for NotMeasurable { what, why } in &self.not_measurable {
            out.push_str(&wrap(&safe(&format!("{what}: {why}")), style.width, 2));
            out.push('\n');
        }
        if !self.assumed.is_empty() {
            out.push_str(&format!("\n{}\n", bold("Assumed here", style)));
        }
        for sentence in &self.assumed {
            out.push_str(&wrap(&safe(sentence), style.width, 2));
            out.push('\n');
        }
        out
    }
}

/// Flattens a JSON object to keys and values: nested keys are joined by points, lists of plain values by
/// commas.
///
/// ```
/// use carryline_report::listing::flatten;
/// let lines = flatten(&serde_json::json!({"cpu": {"cores": 2, "flags": ["adx", "erms"]}, "vm": null}));
/// assert_eq!(lines, [("cpu.cores", "2"), ("cpu.flags", "adx, erms"), ("vm", "unknown")]
///     .map(|(key, value)| (key.to_owned(), value.to_owned())));
/// ```
#[must_use]
pub fn flatten(value: &Value) -> Vec<(String, String)> {
    let mut lines = vec![];
    flatten_into("", value, &mut lines);
    lines
}

fn flatten_into(path: &str, value: &Value, lines: &mut Vec<(String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, inner)| flatten_into(&below(key), inner, lines))
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            let numbered = items.iter().enumerate();
            numbered.for_each(|(index, item)| flatten_into(&below(&(index + 1).to_string()), item, lines));
        }
        Value::Array(items) if items.is_empty() => lines.push((path.to_owned(), "none".to_owned())),
        Value::Array(items) => {
            lines.push((path.to_owned(), items.iter().map(scalar).collect::<Vec<_>>().join(", ")));
        }
        value => lines.push((path.to_owned(), scalar(value))),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "unknown".to_owned(),
        Value::Bool(is) => yes(*is).to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
