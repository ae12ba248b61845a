//! The source documents' experiments as people read them: published beside measured, and each claim with its verdict.

use crate::table::{Emphasis, Kind, Style, Table, bold};
use crate::text::{safe, wrap};
use crate::units::{byte_size, number, number_with, percent_fine};
use carryline_machine::environment::Environment;
use carryline_results::RunResult;
use carryline_results::claims::{ClaimResult, Datum, ExperimentResult, TableResult, Unit, Verdict};

/// Width of the table of claims without a terminal.
const CLAIMS_WIDTH: u16 = 150;

/// All experiments, then one table of all claims.
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
    text
}

/// One table of all claims, the sentence that says why for each, and how many of each verdict there are.
#[must_use]
pub fn claims_text(experiments: &[ExperimentResult], style: Style) -> String {
    let claims: Vec<&ClaimResult> = experiments.iter().flat_map(|experiment| &experiment.claims).collect();
    if claims.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        ("", Kind::Number),
        ("source", Kind::Text),
        ("claim", Kind::Text),
        ("published", Kind::Text),
        ("here", Kind::Text),
        ("verdict", Kind::Text),
    ]);
    let mut sentences = String::new();
    for (number, claim) in (1..).zip(&claims) {
        let row = [&claim.source, &claim.text, &claim.published, &claim.measured];
        let mut row: Vec<String> = row.map(|text| safe(text)).into();
        row.insert(0, number_with(f64::from(number), 0));
        row.push(claim.verdict.to_string());
        table.push(row, emphasis(claim.verdict));
        sentences.push_str(&wrap(&format!("{number}. {}.", safe(&claim.why)), style.width, 4));
        sentences.push('\n');
    }
    let wide = Style { width: Some(style.width.unwrap_or(CLAIMS_WIDTH).max(90)), ..style };
    format!(
        "{}\n{}\n{}\n{sentences}\n{}\n",
        bold("Claims", style),
        table.render(wide),
        bold("Why", style),
        counts(claims.into_iter())
    )
}

const fn emphasis(verdict: Verdict) -> Emphasis {
    match verdict {
        Verdict::Holds => Emphasis::Strong,
        Verdict::Fails | Verdict::Reversed => Emphasis::Bad,
        Verdict::Undecided => Emphasis::None,
        Verdict::CannotBeMeasured => Emphasis::Faint,
    }
}

/// `41 claims: 20 hold, 9 fail, ...`
fn counts<'a>(claims: impl Iterator<Item = &'a ClaimResult>) -> String {
    let verdicts: Vec<Verdict> = claims.map(|claim| claim.verdict).collect();
    let of = |verdict: Verdict| {
        let count = verdicts.iter().filter(|known| **known == verdict).count();
        (count > 0).then(|| format!("{verdict} {count}"))
    };
    let parts: Vec<String> = Verdict::ALL.into_iter().filter_map(of).collect();
    format!("{} claims: {}", verdicts.len(), parts.join(", "))
}

/// A table with its title.
fn table_text(result: &TableResult, style: Style) -> String {
    let kind = |index: usize| {
        let has_text = result.rows.iter().any(|row| matches!(row.get(index), Some(Datum::Text(_))));
        match (index, has_text) {
            (_, false) => Kind::Number,
            (0, true) => Kind::Name,
            (_, true) => Kind::Text,
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
    format!("{}\n{}", bold(&safe(&result.title), style), table.render(style))
}

/// A column's name over several lines, no wider than the figures.
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

fn datum_text(datum: &Datum, unit: &str) -> String {
    match datum {
        // A size, exact; everything else to three digits.
        Datum::Number(value) if unit == Unit::Bytes.word() && *value >= 0.0 => byte_size(*value as u64),
        Datum::Number(value) | Datum::Figure { value, .. } => number(*value),
        Datum::Text(text) => safe(text),
        Datum::None => "-".to_owned(),
    }
}

/// The claims and the tables of a run as a page in Markdown, the machine named.
#[must_use]
pub fn claims_page(run: &RunResult) -> String {
    let claims = || run.experiments.iter().flat_map(|experiment| &experiment.claims);
    let mut page = String::from("# The source documents' claims, tested\n\n");
    page.push_str(&machine(run));
    if let Some(floor) = &run.noise_floor {
        page.push_str(&format!(
            "Noise floor of the run: {}, the largest of {} A/A pairs.\n",
            percent_fine(floor.relative),
            floor.pairs
        ));
    }
    page.push_str(
        "Intervals (95 %) are in parentheses. A verdict is computed from them, the noise floor and the \
         claim's rule. Generated by `carryline reproduce --from RUN --markdown`; do not edit.\n\n",
    );
    page.push_str(&format!("{}\n\n", counts(claims())));
    page.push_str("| source | claim | published | here | verdict |\n| --- | --- | --- | --- | --- |\n");
    for claim in claims() {
        let cells = [&claim.source, &claim.text, &claim.published, &claim.measured];
        let cells: Vec<String> = cells.iter().map(|text| escape(text)).collect();
        page.push_str(&format!("| {} | {} |\n", cells.join(" | "), claim.verdict));
    }
    for experiment in &run.experiments {
        page.push_str(&format!(
            "\n## {}\n\n{} ({})\n",
            experiment.id,
            escape(&experiment.title),
            experiment.source
        ));
        for table in &experiment.tables {
            page.push_str(&table_page(table));
        }
        for plot in &experiment.plots {
            page.push_str(&format!("\n```text\n{}\n```\n", plot.trim_end()));
        }
        for note in &experiment.notes {
            page.push_str(&format!("\n{}\n", escape(note)));
        }
        for claim in &experiment.claims {
            page.push_str(&format!(
                "\n- **{}** ({}): {}. Rule: {}. {}\n",
                claim.id,
                claim.verdict,
                escape(&claim.text),
                escape(&claim.rule),
                escape(&claim.why)
            ));
        }
    }
    page
}

fn machine(run: &RunResult) -> String {
    let Ok(here) = serde_json::from_value::<Environment>(run.environment.clone()) else {
        return "Machine: not known.\n\n".to_owned();
    };
    let mut caches: Vec<(u8, u64)> = (1..=4).filter_map(|l| Some((l, here.cache_bytes(l)?))).collect();
    caches.dedup_by_key(|(_, bytes)| *bytes);
    let caches: Vec<String> = caches.iter().map(|(l, bytes)| format!("L{l} {}", byte_size(*bytes))).collect();
    format!(
        "Machine: {}, {} CPUs, {}, {} of memory.\n\n",
        here.cpu.brand.as_deref().unwrap_or("an unnamed CPU"),
        here.cpu.logical_cpus,
        caches.join(", "),
        byte_size(here.memory.total_bytes >> 20 << 20),
    )
}

fn table_page(result: &TableResult) -> String {
    let header = result.columns.iter().map(|column| match column.unit.as_str() {
        "" => escape(&column.name),
        unit => format!("{}, {unit}", escape(&column.name)),
    });
    let header: Vec<String> = header.collect();
    let mut page = format!("\n{}\n\n| {} |\n", escape(&result.title), header.join(" | "));
    page.push_str(&format!("|{}\n", " --- |".repeat(header.len())));
    for row in &result.rows {
        let cells = row.iter().zip(&result.columns);
        let cells: Vec<String> =
            cells.map(|(datum, column)| escape(&datum_text(datum, &column.unit))).collect();
        page.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    page
}

/// Text for a cell of a Markdown table.
fn escape(text: &str) -> String {
    safe(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_results::claims::{Claim, Figure, Figures, Rule};

    static CLAIMS: [Claim; 2] = [
        Claim { id: "a", text: "slow | fast", published: "3x", rule: Rule::at_least("slow", "fast", 2.0) },
        Claim { id: "b", text: "it is seen", published: "-", rule: Rule::value_at_least("absent", 1.0) },
    ];

    fn experiment() -> ExperimentResult {
        let mut figures = Figures::default();
        figures.add("slow", Figure::exact(Unit::Ticks, 300.0));
        figures.add("fast", Figure::exact(Unit::Ticks, 100.0));
        figures.missing("absent", "one CPU alone");
        let mut table =
            TableResult::new("Times", &[("variant", ""), ("size", "bytes"), ("time measured here", "ticks")]);
        table.push(vec!["x".into(), 4096.0.into(), figures.get("slow").into()]);
        table.push(vec!["y".into(), Datum::None, Datum::None]);
        ExperimentResult {
            id: "times".into(),
            source: "evans-2003".into(),
            title: "Two times".into(),
            tables: vec![table],
            plots: vec![],
            notes: vec!["A note.".into()],
            figures: vec![],
            claims: CLAIMS.iter().map(|claim| claim.judge(&figures, "evans-2003", 1)).collect(),
        }
    }

    #[test]
    fn published_stands_beside_measured_and_every_claim_has_its_verdict() {
        let text = experiments_text(&[experiment()], Style::default());
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
           source           claim            published        here                 verdict
        ──────────────────────────────────────────────────────────────────────────────────────────────────
        1  evans-2003       slow | fast      3x               3.00 (3.00 to 3.00)  holds
        2  evans-2003       it is seen       -                -                    cannot be measured here

        Why
        1. 'slow' 300 ticks over 'fast' 100 ticks is 3.00 (3.00 to 3.00), noise floor 0.0 %: holds.
        2. 'absent' is missing: one CPU alone.

        2 claims: holds 1, cannot be measured here 1
        ");
    }

    #[test]
    fn the_page_names_the_machine_and_every_rule() {
        let run = RunResult { experiments: vec![experiment()], ..crate::fixture::empty() };
        let page = claims_page(&run);
        for part in
            ["Machine: not known", "slow \\| fast", "'slow' over 'fast' is at least 2", "one CPU alone"]
        {
            assert!(page.contains(part), "no {part} in\n{page}");
        }
        let here = serde_json::to_value(Environment::here()).expect("serialised");
        let page = claims_page(&RunResult { environment: here, ..run });
        assert!(page.contains("CPUs, L1"), "{page}");
    }
}
