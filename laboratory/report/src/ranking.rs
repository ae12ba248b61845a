//! One ranking per situation: who is fastest, by how much, and how near the hardware's limit.
//!
//! The order is that of the ranks, which come from paired ratios of gross times. Variants that share a rank are
//! tied with its first; which others a variant ties with stands in its row. What could not be measured stands
//! below, with its reason, and has no rank.

use crate::figure::{self, Figure, Scale, fastest_first, speed};
use crate::labels;
use crate::roles::Roles;
use crate::table::{Emphasis, Kind, Style, Table, bold, emphasise};
use crate::text::{enumerate, safe, wrap};
use crate::units::{Unit, align_points, percent, percent_fine, times};
use carryline_conditions::Dependence;
use carryline_results::{Cell, RunResult, Status};
use carryline_variants::Family;
use std::fmt;

/// Cells that cannot stand in one ranking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankingError {
    /// Their calls follow each other in different ways: the figures answer different questions.
    MixedDependence {
        /// The situation that holds them.
        situation: String,
        /// What was found, each once.
        found: Vec<Dependence>,
    },
    /// Another part of their condition differs.
    MixedConditions {
        /// The situation that holds them.
        situation: String,
        /// Two conditions that differ.
        found: [String; 2],
    },
}

impl fmt::Display for RankingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RankingError::MixedDependence { situation, found } => {
                let found = found.iter().map(|dependence| dependence.word().to_owned()).collect::<Vec<_>>();
                let found = enumerate(&found);
                write!(f, "situation '{situation}' mixes {found} calls, which one table must not")
            }
            RankingError::MixedConditions { situation, found: [one, other] } => {
                write!(f, "situation '{situation}' mixes conditions, '{one}' and '{other}'")
            }
        }
    }
}

impl std::error::Error for RankingError {}

/// A variant in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// 1 is the fastest; `None` for one that was measured but is not a candidate.
    pub rank: Option<u32>,
    /// True if another row has the same rank.
    pub shared: bool,
    /// Its name.
    pub variant: String,
    /// The figure that counts in the requested unit, see [`Scale::headline`].
    pub headline: Option<Figure>,
    /// The other of net and gross.
    pub beside: Option<Figure>,
    /// How many times as fast as the baseline.
    pub speed: Option<f64>,
    /// Share of the machine's limit.
    pub limit_share: Option<f64>,
    /// The variants that it ties with.
    pub ties_with: Vec<String>,
}

/// A variant that has no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its name.
    pub variant: String,
    /// What became of it.
    pub status: Status,
    /// Why.
    pub detail: String,
}

/// The variants of a family under one condition, fastest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The situation's name.
    pub situation: String,
    /// What all variants do.
    pub family: Family,
    /// The condition in full.
    pub title: String,
    /// How calls follow each other.
    pub dependence: Dependence,
    /// How the figures were made.
    pub scale: Scale,
    /// The baseline of the ratios, if it was measured here.
    pub baseline: Option<String>,
    /// Difference within which everything is a tie, in this situation or else in the run.
    pub noise_floor: Option<f64>,
    /// What was measured: by rank, then those without one.
    pub rows: Vec<Row>,
    /// What was not, and why.
    pub failures: Vec<Failure>,
}

/// The rankings of a run, in the order in which its situations first appear.
///
/// # Errors
/// When cells of one situation differ in their condition: they do not belong in one table.
pub fn rankings(run: &RunResult, unit: Unit, roles: &Roles) -> Result<Vec<Ranking>, RankingError> {
    let mut groups: Vec<Vec<&Cell>> = vec![];
    for cell in &run.cells {
        let same = |group: &&mut Vec<&Cell>| {
            group
                .first()
                .is_some_and(|first| first.situation == cell.situation && first.family == cell.family)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups.iter().map(|cells| ranking(run, unit, roles, cells)).collect()
}

/// Of the cells of one situation, at least one.
fn ranking(run: &RunResult, unit: Unit, roles: &Roles, cells: &[&Cell]) -> Result<Ranking, RankingError> {
    check_unmixed(cells)?;
    let scale = Scale::of(run, unit, cells.iter().copied());
    let shown = cells.iter().find(|cell| cell.observed.is_some()).unwrap_or(&cells[0]);
    let mut measured: Vec<&Cell> = cells.iter().copied().filter(|cell| cell.status == Status::Ok).collect();
    fastest_first(&mut measured);
    let rows = measured.iter().map(|cell| Row {
        rank: cell.rank,
        shared: cell.rank.is_some() && measured.iter().filter(|other| other.rank == cell.rank).count() > 1,
        variant: safe(&cell.variant),
        headline: scale.headline(cell),
        beside: scale.beside(cell),
        speed: speed(cell),
        limit_share: cell.limit_share.filter(|share| share.is_finite()),
        ties_with: cell.ties_with.iter().map(|name| safe(name)).collect(),
    });
    let failed = cells.iter().filter(|cell| cell.status != Status::Ok);
    let failures = failed.map(|cell| Failure {
        variant: safe(&cell.variant),
        status: cell.status,
        detail: safe(cell.detail.as_deref().unwrap_or("no reason given")),
    });
    Ok(Ranking {
        title: safe(&labels::title(shown)),
        dependence: shown.condition.dependence,
        scale,
        baseline: figure::baseline(measured.iter().copied(), roles).map(safe),
        noise_floor: noise_floor(run, &shown.situation),
        rows: rows.collect(),
        failures: failures.collect(),
        situation: safe(&shown.situation),
        family: shown.family,
    })
}

fn check_unmixed(cells: &[&Cell]) -> Result<(), RankingError> {
    let Some((first, rest)) = cells.split_first() else { return Ok(()) };
    let situation = || first.situation.clone();
    let mut found: Vec<Dependence> = cells.iter().map(|cell| cell.condition.dependence).collect();
    found.sort_unstable();
    found.dedup();
    if found.len() > 1 {
        return Err(RankingError::MixedDependence { situation: situation(), found });
    }
    match rest.iter().find(|cell| cell.condition != first.condition) {
        None => Ok(()),
        Some(other) => Err(RankingError::MixedConditions {
            situation: situation(),
            found: [labels::brief(&first.condition), labels::brief(&other.condition)],
        }),
    }
}

fn noise_floor(run: &RunResult, situation: &str) -> Option<f64> {
    let floor = run.noise_floor.as_ref()?;
    let here = floor.by_situation.iter().find(|(name, _)| name == situation);
    Some(here.map_or(floor.relative, |(_, relative)| *relative))
}

/// The status as a table says it.
#[must_use]
pub const fn status_word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Unsupported => "unsupported",
        Status::Crashed => "crashed",
        Status::TimedOut => "timed out",
        Status::Wrong => "wrong",
        Status::NotVerified => "not verified",
    }
}

impl Row {
    /// The rank as it is printed: `1`, `1=` when shared, `-` without one.
    #[must_use]
    pub fn rank_word(&self) -> String {
        let mark = if self.shared { "=" } else { " " };
        self.rank.map_or_else(|| "- ".to_owned(), |rank| format!("{rank}{mark}"))
    }
}

impl Ranking {
    /// The winner, its ties, and how good it is: one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts = vec![];
        match self.rows.iter().find(|row| row.rank == Some(1)) {
            None => parts.push("no winner: nothing could be ranked".to_owned()),
            Some(winner) => {
                let first = |row: &&Row| row.rank == Some(1) && row.variant != winner.variant;
                let mut ties: Vec<String> =
                    self.rows.iter().filter(first).map(|row| row.variant.clone()).collect();
                ties.extend(
                    winner.ties_with.iter().filter(|name| !ties.contains(name)).cloned().collect::<Vec<_>>(),
                );
                let ties =
                    if ties.is_empty() { String::new() } else { format!(", ties with {}", enumerate(&ties)) };
                parts.push(format!("winner: {}{ties}", winner.variant));
                match (winner.speed, &self.baseline) {
                    (_, Some(baseline)) if *baseline == winner.variant => {
                        parts.push("the baseline itself".to_owned())
                    }
                    (Some(speed), Some(baseline)) => {
                        parts.push(format!("{} as fast as {baseline}", times(speed)))
                    }
                    _ => {}
                }
                parts.extend(winner.limit_share.map(|share| format!("{} of the limit", percent(share))));
            }
        }
        parts.push(self.noise_floor.map_or_else(
            || "noise floor unknown".to_owned(),
            |floor| format!("noise floor ±{}", percent_fine(floor)),
        ));
        parts.join("; ")
    }

    /// Title, table, failures and summary, each line ended.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let mut out = format!("{}\n", bold(&wrap(&self.title, style.width, 2), style));
        out.push_str(&self.table(style).render(style));
        for failure in &self.failures {
            let line = format!("{}: {}: {}", failure.variant, status_word(failure.status), failure.detail);
            let emphasis =
                if failure.status == Status::Unsupported { Emphasis::Faint } else { Emphasis::Bad };
            out.push_str(&emphasise(&format!("-   {}", wrap(&line, style.width, 6)), emphasis, style));
            out.push('\n');
        }
        if !roomy(style) {
            out.extend(self.ties_across_ranks().map(|line| wrap(&line, style.width, 2) + "\n"));
        }
        if !self.rows.is_empty() {
            out.extend(self.scale.missing_factor().map(|note| wrap(note, style.width, 2) + "\n"));
        }
        out.push_str(&wrap(&self.summary(), style.width, 2));
        out.push('\n');
        out
    }

    /// The columns' headers: rank, variant, headline, interval, beside, speed, share, ties.
    #[must_use]
    pub fn headers(&self) -> [String; 8] {
        let (scale, unit) = (&self.scale, self.scale.unit_name());
        let baseline = self.baseline.as_deref().unwrap_or("baseline");
        [
            "#".to_owned(),
            "variant".to_owned(),
            format!("{}\n{unit}", scale.headline_basis()),
            "95 %\ninterval".to_owned(),
            format!("{}\n{unit}", scale.beside_basis()),
            format!("as fast as\n{baseline}"),
            "of\nlimit".to_owned(),
            "ties with".to_owned(),
        ]
    }

    /// The rows as text, in the columns of [`Ranking::headers`], decimal points aligned.
    #[must_use]
    pub fn cells(&self) -> Vec<[String; 8]> {
        let value = |figure: Option<Figure>| figure.map_or_else(|| "-".to_owned(), |figure| figure.text());
        let column = |text: fn(&Row) -> Option<Figure>| {
            align_points(self.rows.iter().map(|row| value(text(row))).collect())
        };
        let figures = column(|row| row.headline).into_iter().zip(column(|row| row.beside));
        let rows = self.rows.iter().zip(figures);
        rows.map(|(row, (headline, beside))| {
            [
                row.rank_word(),
                row.variant.clone(),
                headline,
                row.headline.map_or_else(String::new, |figure| figure.interval()),
                beside,
                row.speed.map_or_else(|| "-".to_owned(), times),
                row.limit_share.map_or_else(|| "-".to_owned(), percent),
                row.ties_with.join(", "),
            ]
        })
        .collect()
    }

    /// Which of the columns say anything.
    #[must_use]
    pub fn filled(&self) -> [bool; 8] {
        let any = |has: fn(&Row) -> bool| self.rows.iter().any(has);
        let (limit, ties) = (any(|row| row.limit_share.is_some()), any(|row| !row.ties_with.is_empty()));
        [true, true, true, true, true, self.baseline.is_some(), limit, ties]
    }

    /// The ties that ranks do not show, because their ends have different ranks.
    fn ties_across_ranks(&self) -> Option<String> {
        let mut pairs = vec![];
        for (at, row) in self.rows.iter().enumerate() {
            let below = self.rows[at + 1..].iter().filter(|other| other.rank != row.rank);
            let tied = below.filter(|other| row.ties_with.contains(&other.variant));
            pairs.extend(tied.map(|other| format!("{} with {}", row.variant, other.variant)));
        }
        (!pairs.is_empty()).then(|| format!("also tied: {}", pairs.join(", ")))
    }

    fn table(&self, style: Style) -> Table {
        let mut shown = self.filled();
        shown[7] &= roomy(style);
        let kinds = [
            Kind::Number,
            Kind::Name,
            Kind::Number,
            Kind::Name,
            Kind::Number,
            Kind::Number,
            Kind::Number,
            Kind::Text,
        ];
        let columns = self.headers().into_iter().zip(kinds).zip(shown);
        let mut table = Table::new(columns.filter(|(_, shown)| *shown).map(|(column, _)| column));
        for (row, cells) in self.rows.iter().zip(self.cells()) {
            let emphasis = match row.rank {
                Some(1) => Emphasis::Strong,
                Some(_) => Emphasis::None,
                None => Emphasis::Faint,
            };
            table.push(
                cells.into_iter().zip(shown).filter(|(_, shown)| *shown).map(|(c, _)| c).collect(),
                emphasis,
            );
        }
        table
    }
}

/// True if there is room for a column of names: otherwise ties are told by shared ranks, and those across ranks
/// in a line below.
fn roomy(style: Style) -> bool {
    style.width.is_none_or(|width| width >= 100)
}

/// What the columns mean, in a few lines for below the rankings.
#[must_use]
pub fn legend(unit: Unit, style: Style) -> String {
    let counts = if unit.is_rate() {
        "Rates count the length of a call once, over the gross time; net excludes the null call."
    } else {
        "Net excludes the null call, gross includes it; '<null' is within the null call: no slower than a call that does \
         nothing."
    };
    let rest = "Ranks and ratios come from gross times, paired within rounds (libc's two rows have none in common); '=' \
                marks a rank shared by a tie. \
                The limit is what the bytes take at the best rate that this run saw, but at least a null call.";
    format!("{}\n{}\n", wrap(counts, style.width, 0), wrap(rest, style.width, 0))
}

#[cfg(test)]
mod tests;
