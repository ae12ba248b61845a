//! Rankings as text.
//!
//! The most important columns always appear; the limit, the net time and a bar only if there is room. Nothing
//! wraps and no name is broken: if even the important columns do not fit, lines are longer than the terminal.

use super::{RankedRow, Ranking, status_word};
use crate::figure::{DisplayedFigure, WITHIN_NULL};
use crate::grouping::distinct;
use crate::table::{ColumnKind, Emphasis, Style, Table, bold, emphasise};
use crate::text::wrap;
use crate::units::{Unit, align_points, decimals_for, number_with, percent, times};
use carryline_results::Status;

/// The rows to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// A long tail of slower rows is folded into one line.
    Folded,
    /// All rows, followed by their ties.
    AllAndPairs,
}

/// This many rows are never folded.
const NEVER_FOLDED: usize = 8;
/// Fewer rows are not folded, because the line that replaces them is as long.
const LEAST_FOLDED: usize = 3;
/// The maximum number of groups whose letters have columns of their own.
const MOST_LETTER_COLUMNS: usize = 6;
/// The minimum and maximum length of a bar.
const BAR: std::ops::RangeInclusive<usize> = 8..=24;
/// The minimum width in columns for bars.
const ROOMY: u16 = 100;

/// The number of columns, and the indices of some.
const COLUMNS: usize = 8;
const INTERVAL: usize = 3;
const LIMIT: usize = 6;
const NET: usize = 7;

impl Ranking {
    /// Title, summary, table and failures.
    #[must_use]
    pub fn to_text(&self, style: Style, rows: Rows) -> String {
        let mut out = format!("{}\n", bold(&wrap(&self.title, style.width, 2), style));
        out.push_str(&wrap(&self.summary(), style.width, 2));
        out.push('\n');
        let shown = match rows {
            Rows::AllAndPairs => self.rows.len(),
            Rows::Folded => self.unfolded(),
        };
        out.push_str(&self.table(style, shown));
        if shown < self.rows.len() {
            out.push_str(&self.folded(shown, style));
        }
        let (lacking, failed): (Vec<_>, Vec<_>) =
            self.failures.iter().partition(|failure| failure.status == Status::Unsupported);
        for failure in failed {
            let line = format!(
                "{}: {}: {}",
                failure.variant,
                status_word(failure.status, Some(&failure.detail)),
                failure.detail
            );
            out.push_str(&emphasise(&wrap(&line, style.width, 2), Emphasis::Bad, style));
            out.push('\n');
        }
        if !lacking.is_empty() {
            let words = lacking.iter().map(|failure| format!("{} ({})", failure.variant, failure.detail));
            let line = format!("unsupported here: {}", words.collect::<Vec<_>>().join("; "));
            out.push_str(&emphasise(&wrap(&line, style.width, 2), Emphasis::Faint, style));
            out.push('\n');
        }
        if rows == Rows::AllAndPairs {
            for row in self.rows.iter().filter(|row| !row.ties_with.is_empty()) {
                let line = format!("{} ties with {}", row.variant, row.ties_with.join(", "));
                out.push_str(&(wrap(&line, style.width, 2) + "\n"));
            }
        }
        if let Some(baseline) = self.baseline.as_ref().filter(|_| self.rows.iter().any(|row| row.contradicts))
        {
            let note = format!(
                "~ this ratio, paired within rounds, differs from that of the times: processes differed by more \
                 than {baseline} and the variant within one. The ratio is the better figure."
            );
            out.push_str(&(wrap(&note, style.width, 2) + "\n"));
        }
        if !self.rows.is_empty() {
            out.extend(self.scale.missing_factor().map(|note| wrap(note, style.width, 2) + "\n"));
        }
        out
    }

    /// The headers of the columns: groups, variant, gross time or rate, interval, ratio to the baseline,
    /// interval, share of the limit, net time or rate.
    #[must_use]
    pub fn headers(&self) -> [String; COLUMNS] {
        let unit = self.scale.unit_name();
        let baseline = self.baseline.as_deref().unwrap_or("baseline");
        [
            String::new(),
            "variant".to_owned(),
            format!("gross\n{unit}"),
            "95 %\ninterval".to_owned(),
            format!("as fast as\n{baseline}"),
            "95 %\ninterval".to_owned(),
            "of\nlimit".to_owned(),
            format!("net\n{unit}"),
        ]
    }

    /// The rows as text, with the columns of [`Ranking::headers`] and aligned decimal points.
    #[must_use]
    pub fn cells(&self) -> Vec<[String; COLUMNS]> {
        let value =
            |figure: Option<DisplayedFigure>| figure.map_or_else(|| "-".to_owned(), |figure| figure.text());
        let column = |figure: &dyn Fn(&RankedRow) -> Option<DisplayedFigure>| {
            align_points(self.rows.iter().map(|row| value(figure(row))).collect())
        };
        let (gross, net) = (column(&|row| self.gross(row)), column(&|row| self.net(row)));
        let letters = self.letters();
        let rows = self.rows.iter().zip(letters).zip(gross.into_iter().zip(net));
        let is_marked = self.rows.iter().any(|row| row.contradicts);
        rows.map(|((row, letters), (gross, net))| {
            let mark = if row.contradicts {
                "~"
            } else if is_marked {
                " "
            } else {
                ""
            };
            [
                letters,
                row.variant.clone(),
                gross,
                self.gross(row).map_or_else(String::new, |figure| figure.interval()),
                self.ratio(row) + mark,
                self.ratio_interval(row),
                row.limit_share.map_or_else(|| "-".to_owned(), percent),
                net,
            ]
        })
        .collect()
    }

    /// Whether each column has any value.
    #[must_use]
    pub fn filled(&self) -> [bool; COLUMNS] {
        let any = |has: &dyn Fn(&RankedRow) -> bool| self.rows.iter().any(has);
        let ratio = self.baseline.is_some();
        let limit = any(&|row| row.limit_share.is_some());
        [true, true, true, true, ratio, ratio, limit, any(&|row| self.net(row).is_some())]
    }

    /// The gross figure.
    pub(crate) fn gross(&self, row: &RankedRow) -> Option<DisplayedFigure> {
        if self.scale.unit.is_rate() { row.headline } else { row.secondary }
    }

    /// The row's speed relative to the fastest, from gross figures; 0 without one.
    pub(crate) fn share_of_best(&self, row: &RankedRow) -> f64 {
        let all = self.rows.iter().filter_map(|row| self.gross(row)).map(|figure| figure.value);
        self.gross(row).map_or(0.0, |figure| match self.scale.unit.is_rate() {
            true => figure.value / all.fold(0.0, f64::max),
            false => all.fold(f64::INFINITY, f64::min) / figure.value,
        })
    }

    /// The net figure.
    fn net(&self, row: &RankedRow) -> Option<DisplayedFigure> {
        if self.scale.unit.is_rate() { row.secondary } else { row.headline }
    }

    pub(crate) fn is_baseline(&self, row: &RankedRow) -> bool {
        self.baseline.as_ref() == Some(&row.variant)
    }

    fn ratio(&self, row: &RankedRow) -> String {
        match row.speed {
            _ if self.is_baseline(row) => times(1.0),
            Some(speed) => times(speed),
            None => "-".to_owned(),
        }
    }

    fn ratio_interval(&self, row: &RankedRow) -> String {
        match row.speed_interval {
            _ if self.is_baseline(row) => "baseline".to_owned(),
            Some([low, high]) => {
                let decimals = decimals_for(high).min(2);
                format!("[{}, {}]", number_with(low, decimals), number_with(high, decimals))
            }
            None => String::new(),
        }
    }

    /// The letters of each row; in columns of their own if there are few, so that groups can be followed
    /// downwards.
    fn letters(&self) -> Vec<String> {
        let all = distinct(self.rows.iter().flat_map(|row| row.letters.chars()));
        if all.len() > MOST_LETTER_COLUMNS {
            return self.rows.iter().map(|row| or_dash(row.letters.clone())).collect();
        }
        let in_columns = |row: &RankedRow| -> String {
            all.iter().map(|letter| if row.letters.contains(*letter) { *letter } else { ' ' }).collect()
        };
        self.rows
            .iter()
            .map(|row| if row.letters.is_empty() { "-".to_owned() } else { in_columns(row) })
            .collect()
    }

    /// The number of rows that are not folded.
    pub(crate) fn unfolded(&self) -> usize {
        let kept = |row: &RankedRow| row.is_singled || row.rank == Some(1);
        let last = self.rows.iter().rposition(kept).map_or(0, |at| at + 1);
        let shown = last.max(NEVER_FOLDED);
        if self.rows.len().saturating_sub(shown) < LEAST_FOLDED { self.rows.len() } else { shown }
    }

    /// The rows from an index on in one line.
    fn folded(&self, from: usize, style: Style) -> String {
        let line = format!("...{}", self.slower(from));
        emphasise(&wrap(&line, style.width, 4), Emphasis::Faint, style) + "\n"
    }

    /// The number of rows from an index on, and each with its speed: `5 slower: clzero 0.31x, ...`.
    pub(crate) fn slower(&self, from: usize) -> String {
        let rows = &self.rows[from..];
        let fastest = self.rows.first().and_then(|row| self.gross(row)).map(|figure| figure.value);
        let times_of = |row: &RankedRow| {
            let to_fastest =
                self.gross(row).zip(fastest).map(|(own, fastest)| match self.scale.unit.is_rate() {
                    true => own.value / fastest,
                    false => fastest / own.value,
                });
            row.speed.or(to_fastest).map_or_else(|| "-".to_owned(), times)
        };
        let words: Vec<String> =
            rows.iter().map(|row| format!("{} {}", row.variant, times_of(row))).collect();
        format!("{} slower: {}", rows.len(), words.join(", "))
    }

    fn table(&self, style: Style, rows: usize) -> String {
        let mut columns = self.filled();
        let width = usize::from(style.width.unwrap_or(u16::MAX));
        // The columns to omit, in order, if there is no room.
        for least in [NET, LIMIT, INTERVAL] {
            if self.arranged(columns, rows, None).1 > width {
                columns[least] = false;
            }
        }
        let (_, used) = self.arranged(columns, rows, None);
        let is_roomy = style.width.is_some_and(|width| width >= ROOMY);
        let bar = width.saturating_sub(used + 2).min(*BAR.end());
        let bar = (is_roomy && bar >= *BAR.start()).then_some(bar);
        self.arranged(columns, rows, bar).0.render(Style { width: None, ..style })
    }

    /// The table with these columns, and its width.
    fn arranged(&self, columns: [bool; COLUMNS], rows: usize, bar: Option<usize>) -> (Table, usize) {
        let kinds = [
            ColumnKind::Name,
            ColumnKind::Name,
            ColumnKind::Number,
            ColumnKind::Name,
            ColumnKind::Number,
            ColumnKind::Name,
            ColumnKind::Number,
            ColumnKind::Number,
        ];
        let headers = self.headers().into_iter().zip(kinds).zip(columns);
        let headers = headers.filter(|(_, shown)| *shown).map(|(column, _)| column);
        let mut table = Table::new(headers.chain(bar.map(|_| (String::new(), ColumnKind::Name))));
        for (row, cells) in self.rows.iter().zip(self.cells()).take(rows) {
            let emphasis = match row.rank {
                Some(1) => Emphasis::Strong,
                Some(_) => Emphasis::None,
                None => Emphasis::Faint,
            };
            let shown = cells.into_iter().zip(columns).filter(|(_, shown)| *shown).map(|(cell, _)| cell);
            let drawn = bar.map(|longest| blocks(self.share_of_best(row), longest));
            table.push(shown.chain(drawn).collect(), emphasis);
        }
        let width =
            table.render(Style::default()).lines().map(|line| line.chars().count()).max().unwrap_or(0);
        (table, width)
    }
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

/// A bar with this share of the longest length, in eighths of a character.
#[must_use]
pub fn blocks(share: f64, longest: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * longest as f64 * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// The meaning of the columns, for below the rankings.
#[must_use]
pub fn legend(unit: Unit, style: Style) -> String {
    let counts = if unit.is_rate() {
        "Rates count the length of a call once, over the gross time; net excludes the null call.".to_owned()
    } else {
        format!(
            "Gross includes the null call, a call that does nothing; net excludes it; '{WITHIN_NULL}' means no slower \
             than the null call."
        )
    };
    let rest = "Rows that share a letter tie. Letters and ratios come from gross times, paired within rounds, but for \
                libc's two rows, which are measured in different processes. The limit is the time of the bytes at the \
                best rate in this run, but at least a null call.";
    format!("{}\n{}\n", wrap(&counts, style.width, 0), wrap(rest, style.width, 0))
}
