//! The text of `carryline compare`: what became slower or faster, and how reliable that is.

use crate::table::{ColumnKind, Emphasis, Style, Table, bold};
use crate::text::{safe, wrap};
use crate::units::{counted, number_with, percent_fine, times};
use carryline_results::comparison::{ComparedCell, Comparison, Noise, Pairing, RATE, SAME_WITHIN, Verdict};
use carryline_statistics::Ratio;

/// The maximum number of rows per verdict, unless all are requested.
const SHOWN: usize = 12;

/// The meaning of the ratios in JSON.
pub const RATIO_OF: &str = "gross time of a call divided by that in the base; above 1 is slower";

/// A comparison with the names of its runs.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The name of the base.
    pub base: &'a str,
    /// The name of the other run.
    pub other: &'a str,
    /// Sentences about differences between the runs that were allowed, and about new versions.
    pub remarks: &'a [String],
    /// The comparison.
    pub comparison: &'a Comparison,
    /// Whether to show every cell.
    pub full: bool,
}

impl Shown<'_> {
    /// The comparison as text, with one statement per line.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let Comparison { cells, .. } = self.comparison;
        let mut out = bold(&safe(&format!("{}  ->  {}", self.base, self.other)), style);
        out.push('\n');
        for remark in self.remarks {
            out.push_str(&wrap(&safe(remark), style.width, 2));
            out.push('\n');
        }
        let shown = self.shown();
        if !shown.is_empty() {
            out.push('\n');
            out.push_str(&table(&shown).render(style));
        }
        out.push('\n');
        for verdict in [Verdict::Slower, Verdict::Faster] {
            let all = self.comparison.with(verdict).count();
            let rows = shown.iter().filter(|cell| cell.verdict == verdict).count();
            if all > rows {
                out.push_str(&format!("and {} more {}: --full shows them\n", all - rows, verdict.word()));
            }
        }
        out.push_str(&wrap(&self.counts(), style.width, 2));
        out.push('\n');
        for line in self.reliability() {
            out.push_str(&wrap(&line, style.width, 2));
            out.push('\n');
        }
        if cells.is_empty() {
            return out;
        }
        out.push_str(&wrap(&self.overall(), style.width, 2));
        out.push('\n');
        out
    }

    /// The cells to show: slower ones, the worst first, then faster ones, then the others if requested.
    fn shown(&self) -> Vec<&ComparedCell> {
        let distance = |cell: &&ComparedCell| cell.ratio.map_or(0.0, |ratio| -ratio.median.ln().abs());
        let mut rows: Vec<&ComparedCell> = Vec::new();
        for verdict in [Verdict::Slower, Verdict::Faster, Verdict::Unknown, Verdict::Same] {
            let mut of: Vec<&ComparedCell> = self.comparison.with(verdict).collect();
            of.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
            let most = match (self.full, verdict) {
                (true, _) => usize::MAX,
                (false, Verdict::Slower | Verdict::Faster) => SHOWN,
                (false, Verdict::Unknown | Verdict::Same) => 0,
            };
            rows.extend(of.into_iter().take(most));
        }
        rows
    }

    fn counts(&self) -> String {
        let count = |verdict| self.comparison.with(verdict).count();
        let (same, unknown) = (count(Verdict::Same), count(Verdict::Unknown));
        let missing = self.comparison.with(Verdict::Unknown).filter(|cell| cell.ratio.is_none()).count();
        let mut text = format!(
            "{}: {} slower, {} faster, {same} same (within {}), {unknown} unknown",
            counted(self.comparison.cells.len() as u64, "cell"),
            count(Verdict::Slower),
            count(Verdict::Faster),
            percent_fine(SAME_WITHIN),
        );
        if missing > 0 {
            text.push_str(&format!(" ({missing} of them not measured in both)"));
        }
        for (only, run) in
            [(self.comparison.only_in_base, self.base), (self.comparison.only_in_other, self.other)]
        {
            if only > 0 {
                text.push_str(&format!("; {only} more only in {}", safe(run)));
            }
        }
        text
    }

    /// How the runs are compared, the noise between them, and the false discovery rate.
    fn reliability(&self) -> Vec<String> {
        let between = &self.comparison.between_runs;
        let (core, beyond) = (between.core_caches, between.beyond);
        let mut lines = match (self.comparison.pairing, between.lack()) {
            (Pairing::Identical, _) => return vec!["both are the same run".to_owned()],
            (Pairing::Replicates, _) => {
                vec!["the two were measured alternately, process by process".to_owned()]
            }
            (Pairing::None, Some(lack)) => vec![format!(
                "noise between runs: {} ({lack}); included in the intervals",
                percent_fine(core.spread)
            )],
            (Pairing::None, None) => vec![format!(
                "noise between runs: {} within a core's caches, {} beyond, from {} rows that cannot have \
                 changed; included in the intervals",
                percent_fine(core.spread),
                percent_fine(beyond.spread),
                between.controls
            )],
        };
        if between.controls > 0 && !between.assumed {
            let shift = format!("{} within a core's caches and {} beyond", ratio(core), ratio(beyond));
            let correction = match (core.taken_off, beyond.taken_off) {
                (true, true) => "removed from all ratios",
                (false, false) => "too much for clock drift or load, so the machine has changed; not removed",
                _ => "removed where it is below 10 %; elsewhere the machine has changed",
            };
            lines.push(format!("these rows took {shift} of their time in the base: {correction}"));
        }
        let rate = percent_fine(RATE);
        lines.push(format!("up to {rate} of the cells called slower or faster may be so by chance"));
        lines
    }

    fn overall(&self) -> String {
        let verdict = match self.comparison.verdict {
            Verdict::Slower => "slower (a loss in any cell counts)",
            Verdict::Faster => "faster, and nowhere slower",
            Verdict::Same => "the same",
            Verdict::Unknown => "unknown",
        };
        let mean = self.comparison.ratio.map_or_else(String::new, |ratio| {
            let (median, interval) = speed(&ratio);
            format!("; geometric mean {median} as fast {interval}")
        });
        format!("overall: {verdict}{mean}")
    }
}

fn table(cells: &[&ComparedCell]) -> Table {
    let mut table = Table::new([
        ("", ColumnKind::Name),
        ("situation", ColumnKind::Text),
        ("variant", ColumnKind::Name),
        ("as fast\nas before", ColumnKind::Number),
        ("95 %\ninterval", ColumnKind::Name),
        ("floor", ColumnKind::Number),
    ]);
    for cell in cells {
        let (median, interval) = match (&cell.ratio, &cell.detail) {
            (Some(ratio), _) => speed(ratio),
            (None, why) => ("-".to_owned(), safe(why.as_deref().unwrap_or("not measured"))),
        };
        let emphasis = match cell.verdict {
            Verdict::Slower => Emphasis::Bad,
            Verdict::Faster => Emphasis::Strong,
            Verdict::Unknown => Emphasis::Faint,
            Verdict::Same => Emphasis::None,
        };
        let row = vec![
            cell.verdict.word().to_owned(),
            cell.situation.clone(),
            cell.variant.clone(),
            median,
            interval,
            percent_fine(cell.noise_floor),
        ];
        table.push(row, emphasis);
    }
    table
}

fn ratio(noise: Noise) -> String {
    percent_fine(noise.controls_ratio)
}

/// Converts a ratio of times and its interval to speeds, as in rankings: below 1 is slower.
fn speed(ratio: &Ratio) -> (String, String) {
    let decimals = |value: f64| number_with(value, if value < 1.995 { 3 } else { 2 });
    let interval = format!("[{}, {}]", decimals(1.0 / ratio.high), decimals(1.0 / ratio.low));
    (times(1.0 / ratio.median), interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_results::comparison::{Between, Noise};
    use carryline_variants::Family;

    fn cell(variant: &str, ratio: Option<(f64, f64, f64)>, verdict: Verdict) -> ComparedCell {
        ComparedCell {
            situation: "copy 255 offset random hot independent".to_owned(),
            variant: variant.to_owned(),
            family: Family::Copy,
            ratio: ratio.map(|(low, median, high)| Ratio { median, low, high }),
            base_ticks: ratio.map(|_| 20.0),
            other_ticks: ratio.map(|(_, median, _)| 20.0 * median),
            noise_floor: 0.008,
            p_value: None,
            verdict,
            detail: ratio.is_none().then(|| "in the base: the CPU lacks adx".to_owned()),
        }
    }

    fn comparison() -> Comparison {
        let cells = vec![
            cell("carryline", Some((1.05, 1.075, 1.1)), Verdict::Slower),
            cell("libc_memcpy", Some((0.99, 1.0, 1.02)), Verdict::Same),
            cell("avx512", Some((0.26, 0.27, 0.28)), Verdict::Faster),
            cell("adx", None, Verdict::Unknown),
        ];
        Comparison {
            pairing: Pairing::None,
            between_runs: Between {
                core_caches: Noise { controls_ratio: 1.012, taken_off: true, spread: 0.012 },
                beyond: Noise { controls_ratio: 0.97, taken_off: true, spread: 0.03 },
                controls: 212,
                assumed: false,
            },
            cells,
            ratio: Some(Ratio { median: 0.66, low: 0.65, high: 0.67 }),
            verdict: Verdict::Slower,
            only_in_base: 2,
            only_in_other: 0,
        }
    }

    #[test]
    fn losses_come_first_and_hidden_cells_are_counted() {
        let comparison = comparison();
        let remarks = ["carryline 0.1.0 -> 0.2.0".to_owned()];
        let shown = Shown {
            base: "run 12",
            other: "run 14",
            remarks: &remarks,
            comparison: &comparison,
            full: false,
        };
        insta::assert_snapshot!(shown.to_text(Style { colour: false, width: Some(80) }));
        let full = Shown { full: true, ..shown }.to_text(Style::default());
        assert!(full.contains("in the base: the CPU lacks adx") && full.contains("libc_memcpy"), "{full}");
    }

    #[test]
    fn assumed_noise_is_called_so_with_the_number_of_rows() {
        let mut comparison = comparison();
        (comparison.between_runs.assumed, comparison.between_runs.controls) = (true, 4);
        let shown =
            Shown { base: "run 12", other: "run 14", remarks: &[], comparison: &comparison, full: false };
        let text = shown.to_text(Style::default());
        let lack = "1.2 % (assumed: only 4 of the 8 rows needed that cannot have changed)";
        assert!(text.contains(lack) && !text.contains("these rows took"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let comparison = comparison();
        let shown =
            Shown { base: "run 12", other: "run 14", remarks: &[], comparison: &comparison, full: false };
        for width in [80, 100, 160] {
            let text = shown.to_text(Style { colour: false, width: Some(width) });
            assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
        }
    }
}
