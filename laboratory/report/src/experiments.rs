//! The experiments of the source documents as text: tables, and each claim with its verdict.

use crate::figure::{WITHIN_NULL, WITHIN_NULL_LEGEND};
use crate::table::{ColumnKind, Emphasis, Style, Table, bold};
use crate::text::{safe, wrap};
use crate::units::{byte_size, number, number_with};
use carryline_results::claims::{ClaimResult, ClaimVerdict, Datum, ExperimentResult, TableResult, Unit};
use carryline_results::sources::{self, Source};

/// The width of the table of claims without a terminal.
const CLAIMS_WIDTH: u16 = 150;
/// The width from which the table of claims has a column for the sources.
const WITH_SOURCES: u16 = 92;

/// All experiments, followed by a table of all claims.
#[must_use]
pub fn experiments_text(experiments: &[ExperimentResult], style: Style) -> String {
    let mut text = String::new();
    for experiment in experiments {
        text.push_str(&bold(&format!("{}: {}", experiment.id, safe(&experiment.title)), style));
        text.push_str(&format!(" ({})\n", safe(&experiment.source)));
        for table in &experiment.tables {
            text.push('\n');
            text.push_str(&table_text(table, style));
        }
        for plot in &experiment.plots {
            text.push('\n');
            for line in plot.lines() {
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        if !experiment.notes.is_empty() {
            text.push('\n');
        }
        for note in &experiment.notes {
            text.push_str(&wrap(&safe(note), style.width, 2));
            text.push('\n');
        }
        text.push('\n');
    }
    text.push_str(&claims_text(experiments, style));
    text.push_str(&sources_text(experiments, style));
    text
}

/// A table of all claims, a sentence for each with the reason, and the number of each verdict.
#[must_use]
pub fn claims_text(experiments: &[ExperimentResult], style: Style) -> String {
    let claims: Vec<&ClaimResult> = experiments.iter().flat_map(|experiment| &experiment.claims).collect();
    if claims.is_empty() {
        return String::new();
    }
    // Where there is no room for the sources, they are before the reasons.
    let width = style.width.unwrap_or(CLAIMS_WIDTH);
    let has_source = width >= WITH_SOURCES;
    let mut columns = vec![("", ColumnKind::Number)];
    columns.extend(has_source.then_some(("source", ColumnKind::Text)));
    columns.extend(["claim", "published", "here", "verdict"].map(|head| (head, ColumnKind::Text)));
    let mut table = Table::new(columns);
    let mut sentences = String::new();
    for (number, claim) in (1..).zip(&claims) {
        let mut row = vec![number_with(f64::from(number), 0)];
        row.extend(has_source.then(|| safe(&claim.source)));
        row.extend([&claim.text, &claim.published, &claim.measured].map(|text| safe(text)));
        row.push(claim.verdict.to_string());
        table.push(row, emphasis(claim.verdict));
        let source = if has_source { String::new() } else { format!("{}: ", safe(&claim.source)) };
        sentences.push_str(&wrap(&format!("{number}. {source}{}.", safe(&claim.why)), style.width, 4));
        sentences.push('\n');
    }
    let wide = Style { width: Some(width), ..style };
    format!(
        "{}\n{}\n{}\n{sentences}\n{}\n",
        bold("Claims", style),
        table.render(wide),
        bold("Why", style),
        counts(claims.into_iter())
    )
}

/// The documents that the experiments come from.
fn sources_text(experiments: &[ExperimentResult], style: Style) -> String {
    let cited = cited(experiments);
    let Some(first) = cited.first() else { return String::new() };
    let mut text = format!("\n{}\n", bold("Documents", style));
    for source in &cited {
        text.push_str(&wrap(&format!("{}: {}", source.id, source.citation()), style.width, 4));
        text.push('\n');
    }
    text.push_str(&format!("See 'carryline explain {}' for what happened since.\n", first.id));
    text
}

/// The documents cited by the experiments and their claims, in the order of [`sources::SOURCES`].
pub(crate) fn cited(experiments: &[ExperimentResult]) -> Vec<&'static Source> {
    let names = |source: &Source| {
        let in_list = |list: &str| list.split(", ").any(|id| id == source.id);
        experiments.iter().any(|experiment| {
            in_list(&experiment.source) || experiment.claims.iter().any(|claim| in_list(&claim.source))
        })
    };
    sources::SOURCES.iter().copied().filter(|source| names(source)).collect()
}

const fn emphasis(verdict: ClaimVerdict) -> Emphasis {
    match verdict {
        ClaimVerdict::Holds => Emphasis::Strong,
        ClaimVerdict::Fails | ClaimVerdict::DoesNotHoldHere | ClaimVerdict::Reversed => Emphasis::Bad,
        ClaimVerdict::Undecided => Emphasis::None,
        ClaimVerdict::CannotBeMeasured => Emphasis::Faint,
    }
}

/// The number of each verdict: `41 claims: holds 20, fails 9, ...`
pub(crate) fn counts<'a>(claims: impl Iterator<Item = &'a ClaimResult>) -> String {
    let verdicts: Vec<ClaimVerdict> = claims.map(|claim| claim.verdict).collect();
    let of = |verdict: ClaimVerdict| {
        let count = verdicts.iter().filter(|known| **known == verdict).count();
        (count > 0).then(|| format!("{verdict} {count}"))
    };
    let parts: Vec<String> = ClaimVerdict::ALL.into_iter().filter_map(of).collect();
    let noun = if verdicts.len() == 1 { "claim" } else { "claims" };
    format!("{} {noun}: {}", verdicts.len(), parts.join(", "))
}

/// A table with its title.
fn table_text(result: &TableResult, style: Style) -> String {
    let kind = |index: usize| {
        let has_text = result.rows.iter().any(|row| matches!(row.get(index), Some(Datum::Text(_))));
        match (index, has_text) {
            (_, false) => ColumnKind::Number,
            (0, true) => ColumnKind::Name,
            (_, true) => ColumnKind::Text,
        }
    };
    let columns = result.columns.iter().enumerate().map(|(index, column)| {
        let unit = if column.unit.is_empty() { String::new() } else { format!("\n{}", column.unit) };
        (format!("{}{unit}", in_lines(&column.name)), kind(index))
    });
    let mut table = Table::new(columns);
    for row in &result.rows {
        let cells = row.iter().zip(&result.columns).map(|(datum, column)| datum_text(datum, &column.unit));
        table.push(cells.collect(), Emphasis::None);
    }
    let legend = within_null(result).map(|legend| format!("{legend}\n")).unwrap_or_default();
    format!("{}\n{}{legend}", bold(&safe(&result.title), style), table.render_in_parts(style))
}

/// The meaning of [`WITHIN_NULL`], if it is in the table.
pub(crate) fn within_null(table: &TableResult) -> Option<&'static str> {
    let any = |row: &Vec<Datum>| {
        row.iter()
            .zip(&table.columns)
            .any(|(datum, column)| matches!(datum.printed(&column.unit), Datum::WithinNull { .. }))
    };
    table.rows.iter().any(any).then_some(WITHIN_NULL_LEGEND)
}

/// Breaks a column's name into lines about as wide as the figures.
fn in_lines(name: &str) -> String {
    const WIDE: usize = 11;
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDE => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

pub(crate) fn datum_text(datum: &Datum, unit: &str) -> String {
    match datum.printed(unit) {
        // Sizes are exact; other numbers have three digits.
        Datum::Number(value) if unit == Unit::Bytes.word() && value >= 0.0 => byte_size(value as u64),
        Datum::Number(value) | Datum::Figure { value, .. } => number(value),
        Datum::Text(text) => safe(&text),
        Datum::WithinNull { .. } => WITHIN_NULL.to_owned(),
        Datum::None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::experiment;

    #[test]
    fn experiments_have_tables_and_every_claim_has_its_verdict() {
        let text = experiments_text(&[experiment()], Style::default());
        let (text, documents) = text.split_once("\nDocuments\n").expect("documents");
        assert!(documents.starts_with("torvalds-2000: Linus Torvalds, 2000"), "{documents}");
        assert!(documents.ends_with("See 'carryline explain torvalds-2000' for what happened since.\n"));
        insta::assert_snapshot!(text, @r"
        times: Two times (evans-2003)

        Times
        variant   size      time
                 bytes  measured
                            here
                           ticks
        ────────────────────────
        x        4 KiB       300
        y            -         -

        A note.

        Claims
           source           claim            published        here                  verdict
        ───────────────────────────────────────────────────────────────────────────────────────────────────
        1  evans-2003       slow | fast      3x               3.00x (3.00 to 3.00)  holds
        2  torvalds-2000    it is seen       -                -                     cannot be measured here

        Why
        1. 'slow' 300 ticks over 'fast' 100 ticks is 3.00x (3.00 to 3.00), noise floor 0.0 %: holds.
        2. 'absent' is missing: one CPU alone.

        2 claims: holds 1, cannot be measured here 1
        ");
    }

    #[test]
    fn claims_fit_into_80_columns_with_their_sources_before_the_reasons() {
        let text = claims_text(&[experiment()], Style { colour: false, width: Some(80) });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("1. evans-2003: 'slow' 300 ticks") && text.contains("cannot be"), "{text}");
    }
}
