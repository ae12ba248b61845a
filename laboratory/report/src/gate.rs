//! The output of `carryline gate`, as text and as annotations of GitHub workflows.

use crate::table::{ColumnKind, Emphasis, Style, Table};
use crate::text::safe;
use crate::units::{number_with, percent_fine};
use serde::Serialize;

/// Whether a cell passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateVerdict {
    /// Slower than the limit allows.
    Slower,
    /// There is no verdict.
    Unknown,
    /// Slower than the base, within the limit.
    Allowed,
    /// Within the limit, and not found to differ from the base.
    Same,
    /// Faster than the base.
    Faster,
}

impl GateVerdict {
    /// Every verdict, in the order of the table.
    const ALL: [GateVerdict; 5] = [
        GateVerdict::Slower,
        GateVerdict::Unknown,
        GateVerdict::Allowed,
        GateVerdict::Same,
        GateVerdict::Faster,
    ];

    /// The verdict in a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            GateVerdict::Slower => "slower",
            GateVerdict::Unknown => "unknown",
            GateVerdict::Allowed => "allowed",
            GateVerdict::Same => "same",
            GateVerdict::Faster => "faster",
        }
    }

    /// True if a cell passes.
    const fn passes(self) -> bool {
        matches!(self, GateVerdict::Allowed | GateVerdict::Same | GateVerdict::Faster)
    }
}

/// The result for a cell.
#[derive(Clone, Debug)]
pub struct GateLine {
    /// Its situation.
    pub situation: String,
    /// Its variant.
    pub variant: String,
    /// The time of a call divided by that in the base; `None` if it was not measured.
    pub ratio: Option<f64>,
    /// The confidence bounds of the ratio.
    pub bounds: Option<(f64, f64)>,
    /// The verdict.
    pub verdict: GateVerdict,
}

impl GateLine {
    fn bounds_text(&self) -> String {
        let digits = |value: f64| if value.is_finite() { number_with(value, 3) } else { "any".to_owned() };
        match self.bounds {
            Some((low, high)) => format!("[{}, {}]", digits(low), digits(high)),
            None => "not measured".to_owned(),
        }
    }
}

/// A table of the cells: slower ones, then unknown ones; all cells if `full`.
#[must_use]
pub fn to_text(lines: &[GateLine], full: bool, style: Style) -> String {
    let mut table = Table::new([
        ("", ColumnKind::Name),
        ("situation", ColumnKind::Text),
        ("variant", ColumnKind::Name),
        ("time", ColumnKind::Number),
        ("bounds", ColumnKind::Name),
    ]);
    let mut any = false;
    for verdict in GateVerdict::ALL.into_iter().filter(|verdict| full || !verdict.passes()) {
        for line in lines.iter().filter(|line| line.verdict == verdict) {
            any = true;
            let emphasis = match verdict {
                GateVerdict::Slower => Emphasis::Bad,
                GateVerdict::Unknown => Emphasis::Faint,
                _ => Emphasis::None,
            };
            let time =
                line.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{}x", number_with(ratio, 3)));
            let row = vec![
                verdict.word().to_owned(),
                line.situation.clone(),
                line.variant.clone(),
                time,
                line.bounds_text(),
            ];
            table.push(row, emphasis);
        }
    }
    if any { table.render(style) } else { String::new() }
}

/// Workflow commands: an error for each cell that is slower than `limit` allows, a warning for each unknown
/// one.
#[must_use]
pub fn annotations(lines: &[GateLine], base: &str, limit: f64) -> String {
    let mut out = String::new();
    for line in lines {
        let (command, what) = match line.verdict {
            GateVerdict::Slower => ("error", "slower"),
            GateVerdict::Unknown => ("warning", "unknown"),
            GateVerdict::Allowed | GateVerdict::Same | GateVerdict::Faster => continue,
        };
        let title = format!("carryline: {} in {}: {what}", line.variant, line.situation);
        let time = line
            .ratio
            .map_or_else(String::new, |ratio| format!("{} times the time of ", number_with(ratio, 3)));
        let (bounds, limit) = (line.bounds_text(), percent_fine(limit));
        let message = format!("{time}{base}; bounds {bounds}; limit {limit} more");
        out.push_str(&format!("::{command} title={}::{}\n", property(&title), data(&message)));
    }
    out
}

/// Escapes text for a workflow command.
fn data(text: &str) -> String {
    safe(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes text for a property, which also ends at colons and commas.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(verdict: GateVerdict) -> GateLine {
        GateLine {
            situation: "checksum 1500, hot".to_owned(),
            variant: "carryline".to_owned(),
            ratio: Some(1.0517),
            bounds: Some((1.041, 1.062)),
            verdict,
        }
    }

    #[test]
    fn annotations_are_github_workflow_commands() {
        let lines = [
            line(GateVerdict::Slower),
            line(GateVerdict::Same),
            GateLine { ratio: None, bounds: None, ..line(GateVerdict::Unknown) },
        ];
        let text = annotations(&lines, "run 12", 0.03);
        assert_eq!(
            text,
            "::error title=carryline%3A carryline in checksum 1500%2C hot%3A slower::1.052 times the time of run 12; \
             bounds [1.041, 1.062]; limit 3.0 %25 more\n\
             ::warning title=carryline%3A carryline in checksum 1500%2C hot%3A unknown::run 12; bounds not measured; \
             limit 3.0 %25 more\n"
        );
    }

    #[test]
    fn passing_cells_are_shown_on_request() {
        let lines = [line(GateVerdict::Same), line(GateVerdict::Faster)];
        assert_eq!(to_text(&lines, false, Style::default()), "");
        assert!(to_text(&lines, true, Style::default()).contains("[1.041, 1.062]"));
    }
}
