//! Matrices for many conditions: variants down, conditions across, a table for each family and dependence.
//!
//! A column's header has only the fields that vary; the title has the others. If the columns do not fit, each
//! cell becomes a row. `*` marks the fastest of a column and those that tie with it.

use crate::figure::{Scale, WITHIN_NULL, WITHIN_NULL_LEGEND, fastest_first};
use crate::grouping::{distinct, grouped};
use crate::labels;
use crate::ranking::status_word;
use crate::table::{ColumnKind, Emphasis, Style, Table, bold};
use crate::text::{safe, wrap};
use crate::units::{Unit, align_points};
use carryline_conditions::{Condition, Dependence};
use carryline_results::{Cell, RunResult, Status};
use carryline_variants::Family;

/// The cells of a family and a dependence.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The family.
    pub family: Family,
    /// The dependence.
    pub dependence: Dependence,
    /// The unit and basis of the figures.
    pub scale: Scale,
    /// The fields that all conditions share.
    pub common: Vec<String>,
    /// The fields of each condition that vary, a word for each.
    pub columns: Vec<Vec<String>>,
    /// The names of the variants, in the order of their first cells.
    pub variants: Vec<String>,
    /// The entries by variant, then by condition; `None` if there is no such cell.
    pub entries: Vec<Vec<Option<Entry>>>,
    /// The reasons of cells without figures, without duplicates.
    pub reasons: Vec<String>,
    /// The number of calls per batch of each cold condition, in words.
    pub batches: Vec<String>,
}

/// A cell in a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The figure, or the status of a cell without one.
    pub text: String,
    /// The interval of the figure.
    pub interval: String,
    /// True for the fastest of its condition and those that tie with it.
    pub best: bool,
    /// Its place in its condition, by speed.
    pub place: usize,
}

/// The matrices of a run by family and dependence, in the order of their first cells.
#[must_use]
pub fn matrices(run: &RunResult, unit: Unit) -> Vec<Matrix> {
    let key = |cell: &Cell| (cell.family, cell.condition.dependence);
    let groups = grouped(&run.cells, |one, other| key(one) == key(other));
    groups.iter().map(|cells| matrix(run, unit, key(cells[0]), cells)).collect()
}

fn matrix(run: &RunResult, unit: Unit, key: (Family, Dependence), cells: &[&Cell]) -> Matrix {
    let scale = Scale::of(run, unit, cells.iter().copied());
    let conditions: Vec<&Condition> = distinct(cells.iter().map(|cell| &cell.condition));
    let variants = distinct(cells.iter().map(|cell| cell.variant.as_str()));
    let fields: Vec<_> = conditions.iter().map(|condition| labels::fields(condition)).collect();
    let varies = |at: usize| fields.iter().any(|words| words[at].1 != fields[0][at].1);
    let varying: Vec<usize> = (0..labels::FIELDS).filter(|at| varies(*at)).collect();
    let common = (0..labels::FIELDS).filter(|at| !varies(*at)).map(|at| match &fields[0][at] {
        ("offset", word) => format!("offset {word}"),
        ("size", _) => safe(&labels::size_phrase(conditions[0])),
        (_, word) => safe(word),
    });
    let columns = fields.iter().map(|words| varying.iter().map(|at| safe(&words[*at].1)).collect());
    let ordered: Vec<Vec<&Cell>> = conditions
        .iter()
        .map(|condition| {
            let mut here: Vec<&Cell> =
                cells.iter().copied().filter(|cell| cell.condition == **condition).collect();
            fastest_first(&mut here);
            here
        })
        .collect();
    let entries = variants.iter().map(|variant| {
        let find = |here: &Vec<&Cell>| {
            let place = here.iter().position(|cell| cell.variant == *variant)?;
            Some(entry(&scale, here[place], place))
        };
        ordered.iter().map(find).collect()
    });
    let failed = cells.iter().filter(|cell| cell.status != Status::Ok);
    let reasons = failed.map(|cell| {
        let detail = cell.detail.as_deref().unwrap_or("no reason given");
        format!("{}: {}: {}", safe(&cell.variant), status_word(cell.status, Some(detail)), safe(detail))
    });
    let batches = ordered.iter().filter_map(|here| {
        let calls = here.iter().find_map(|cell| cell.observed.as_ref()?.batch_calls)?;
        let condition = &here[0].condition;
        Some(format!("{} {}: {calls}", labels::size_word(condition), condition.cache))
    });
    let mut batches: Vec<String> = batches.map(|words| safe(&words)).collect();
    batches.dedup();
    Matrix {
        batches,
        family: key.0,
        dependence: key.1,
        scale,
        common: common.filter(|word| !word.is_empty()).collect(),
        columns: columns.collect(),
        entries: entries.collect(),
        variants: variants.into_iter().map(safe).collect(),
        reasons: distinct(reasons),
    }
}

fn entry(scale: &Scale, cell: &Cell, place: usize) -> Entry {
    let figure = scale.headline(cell);
    let text = match cell.status {
        Status::Ok => figure.map_or_else(|| "-".to_owned(), |figure| figure.text()),
        failed => status_word(failed, cell.detail.as_deref()).to_owned(),
    };
    let interval = figure.map_or_else(String::new, |figure| figure.interval());
    Entry { text, interval, best: cell.rank == Some(1), place }
}

impl Matrix {
    /// Family, dependence, common fields and unit.
    #[must_use]
    pub fn title(&self) -> String {
        let common = self.common.iter().map(|word| format!(", {word}")).collect::<String>();
        let (basis, unit) = (self.scale.headline_basis(), self.scale.unit_name());
        format!("{}, {} calls{common}: {basis} {unit}", self.family, self.dependence)
    }

    /// The table, the reasons of missing figures, and a note if the unit is unknown. Columns become rows if
    /// they do not fit into the width, or without a width if there are more than eight.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let across = self.across().render(Style { width: None, ..style });
        let longest = || self.across().render(Style::default()).lines().map(|l| l.chars().count()).max();
        let fits = match style.width {
            Some(width) => longest().is_none_or(|longest| longest <= usize::from(width)),
            None => self.columns.len() <= 8,
        };
        let mut out = format!("{}\n", bold(&wrap(&self.title(), style.width, 2), style));
        out.push_str(&if fits { across } else { self.down().render(style) });
        if self.entries.iter().flatten().flatten().any(|entry| entry.best) {
            out.push_str("* fastest, or tied with the fastest\n");
        }
        if self.entries.iter().flatten().flatten().any(|entry| entry.text == WITHIN_NULL) {
            out.push_str(&format!("{WITHIN_NULL_LEGEND}\n"));
        }
        if !self.batches.is_empty() {
            let note = format!("Calls per batch: {}", self.batches.join(", "));
            out.push_str(&(wrap(&note, style.width, 2) + "\n"));
        }
        for reason in &self.reasons {
            out.push_str(&wrap(reason, style.width, 2));
            out.push('\n');
        }
        out.extend(self.scale.missing_factor().map(|note| wrap(note, style.width, 2) + "\n"));
        out
    }

    /// The header of a column: the fields that vary, or the unit if there are none.
    fn column_header(&self, words: &[String]) -> String {
        if words.is_empty() { self.scale.unit_name().to_owned() } else { words.join("\n") }
    }

    fn across(&self) -> Table {
        let headers = self.columns.iter().map(|words| (self.column_header(words), ColumnKind::Number));
        let mut table = Table::new(std::iter::once(("variant".to_owned(), ColumnKind::Name)).chain(headers));
        let columns = (0..self.columns.len()).map(|at| {
            let entries = self.entries.iter().map(|row| row[at].as_ref());
            let texts = entries.clone().map(|e| e.map_or_else(String::new, |e| e.text.clone())).collect();
            let mark = |entry: Option<&Entry>| if entry.is_some_and(|entry| entry.best) { "*" } else { " " };
            let marked = align_points(texts).into_iter().zip(entries);
            marked.map(|(text, entry)| text + mark(entry)).collect::<Vec<_>>()
        });
        let columns: Vec<Vec<String>> = columns.collect();
        for (at, variant) in self.variants.iter().enumerate() {
            let cells = columns.iter().map(|column| column[at].clone());
            table.push(std::iter::once(variant.clone()).chain(cells).collect(), Emphasis::None);
        }
        table
    }

    fn down(&self) -> Table {
        let mut table = Table::new([
            ("variant", ColumnKind::Name),
            ("condition", ColumnKind::Text),
            ("figure", ColumnKind::Number),
            ("95 % interval", ColumnKind::Name),
        ]);
        for (at, words) in self.columns.iter().enumerate() {
            let rows = self.variants.iter().zip(&self.entries);
            let mut rows: Vec<(&String, &Entry)> =
                rows.filter_map(|(variant, row)| Some((variant, row[at].as_ref()?))).collect();
            rows.sort_by_key(|(_, entry)| entry.place);
            let texts = align_points(rows.iter().map(|(_, entry)| entry.text.clone()).collect());
            for ((variant, entry), text) in rows.into_iter().zip(texts) {
                let mark = if entry.best { "*" } else { " " };
                let emphasis = if entry.best { Emphasis::Strong } else { Emphasis::None };
                let cells = vec![variant.clone(), words.join(", "), text + mark, entry.interval.clone()];
                table.push(cells, emphasis);
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn text(unit: Unit, width: Option<u16>) -> String {
        let style = Style { colour: false, width };
        matrices(&fixture::run(), unit).iter().map(|m| m.to_text(style)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn one_table_for_each_family_and_dependence() {
        insta::assert_snapshot!(text(Unit::Ticks, Some(80)), @"
        zero, independent calls, offset 0, hot: net ticks
        variant                    40   1500  256 KiB
        ─────────────────────────────────────────────
        libc_memset             8.00   40.2    3 300
        avx512                  0.05*  18.1*   3 310
        carryline               0.06*  18.0*   3 900
        rep_stosb              30.0    55.0    2 950*
        clzero        unsupported
        plugin:fill       crashed
        plugin:slow     timed out
        plugin:short        wrong
        * fastest, or tied with the fastest
        clzero: unsupported: the CPU lacks clzero
        plugin:fill: crashed: signal 11 (SIGSEGV) at length 33
        plugin:slow: timed out: no answer for 10 s
        plugin:short: wrong: length 5, offset 3: byte 4 is 0x55, expected 0x00

        checksum, independent calls, 1500 bytes, offset 0, hot: net ticks
        variant         ticks
        ─────────────────────
        adc_1_stream   52.3
        avx512_dot      7.10
        carryline       6.20*
        reference     900
        * fastest, or tied with the fastest

        checksum, chained calls, 1500 bytes, offset 0, hot: net ticks
        variant        ticks
        ────────────────────
        adc_1_stream   72.3
        avx512_dot     27.1
        carryline      26.2*
        reference     900
        * fastest, or tied with the fastest

        copy, independent calls, 1..200, offset random, hot: net ticks
        variant   ticks
        ───────────────
        avx2     12.0
        avx512    9.00*
        * fastest, or tied with the fastest
        ");
    }

    #[test]
    fn no_table_mixes_dependence() {
        let all = matrices(&fixture::run(), Unit::Ticks);
        let keys: Vec<_> = all.iter().map(|matrix| (matrix.family, matrix.dependence)).collect();
        assert_eq!(
            keys,
            [
                (Family::Zero, Dependence::Independent),
                (Family::Checksum, Dependence::Independent),
                (Family::Checksum, Dependence::Chained),
                (Family::Copy, Dependence::Independent),
            ]
        );
    }

    #[test]
    fn columns_that_do_not_fit_become_rows() {
        let mut run = fixture::run();
        run.cells.retain(|cell| cell.family == Family::Zero);
        let matrix = matrices(&run, Unit::BytesPerCycle).remove(0);
        insta::assert_snapshot!(matrix.to_text(Style { colour: false, width: Some(40) }), @"
        zero, independent calls, offset 0, hot:
          gross B/cycle est.
        variant       condition                 figure  95 % interval
        ─────────────────────────────────────────────────────────────
        avx512        40                         5.93*  [5.81, 5.99]
        carryline     40                         5.91*  [5.80, 5.97]
        libc_memset   40                         2.00   [1.96, 2.02]
        rep_stosb     40                         0.71   [0.69, 0.71]
        clzero        40               unsupported
        plugin:fill   40                   crashed
        plugin:short  40                     wrong
        plugin:slow   40                 timed out
        carryline     1500                       40.9*  [40.1, 41.3]
        avx512        1500                       40.7*  [39.9, 41.1]
        libc_memset   1500                       20.4   [20.0, 20.6]
        rep_stosb     1500                       15.3   [15.0, 15.4]
        rep_stosb     256 KiB                    53.2*  [52.2, 53.8]
        libc_memset   256 KiB                    47.6   [46.7, 48.1]
        avx512        256 KiB                    47.5   [46.5, 47.9]
        carryline     256 KiB                    40.3   [39.5, 40.7]
        * fastest, or tied with the fastest
        clzero: unsupported: the CPU lacks
          clzero
        plugin:fill: crashed: signal 11
          (SIGSEGV) at length 33
        plugin:slow: timed out: no answer for 10
          s
        plugin:short: wrong: length 5, offset 3:
          byte 4 is 0x55, expected 0x00
        ");
    }

    #[test]
    fn varying_fields_are_stacked_in_the_header() {
        let mut run = fixture::run();
        run.cells.retain(|cell| cell.family == Family::Zero && cell.status == Status::Ok);
        for cell in run.cells.iter_mut().skip(4) {
            cell.condition.cache = "cold:evict".parse().expect("a cache state");
        }
        insta::assert_snapshot!(matrices(&run, Unit::Ns)[0].to_text(Style::default()), @"
        zero, independent calls, offset 0: net ns
        variant          40        1500     256 KiB
                        hot  cold:evict  cold:evict
        ───────────────────────────────────────────
        libc_memset   3.08       15.5        1 269
        avx512        0.02*       6.96*      1 273
        carryline     0.02*       6.92*      1 500
        rep_stosb    11.5        21.2        1 135*
        * fastest, or tied with the fastest
        ");
    }

    #[test]
    fn a_time_within_the_null_call_is_not_negative() {
        let mut run = fixture::run();
        run.cells.retain(|cell| cell.family == Family::Checksum && cell.variant != "reference");
        run.cells.truncate(3);
        run.cells[2].ticks_per_call = Some(fixture::estimate(-0.3));
        insta::assert_snapshot!(matrices(&run, Unit::Ticks)[0].to_text(Style::default()), @"
        checksum, independent calls, 1500 bytes, offset 0, hot: net ticks
        variant           ticks
        ───────────────────────
        adc_1_stream     52.3
        avx512_dot        7.10
        carryline     <null   *
        * fastest, or tied with the fastest
        <null: within the null call, which does nothing
        ");
    }
}
