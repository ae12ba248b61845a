//! Rankings, one per situation: which variant is fastest, by how much, and how close to the hardware's limit.
//!
//! Rows are ordered by the printed time. Letters show ties: rows that share a letter tie. Ratios to the
//! baseline are paired within rounds, as are the verdicts that the letters come from; a ratio that
//! contradicts the medians next to it is marked. Variants without figures follow, each with the reason.

mod text;

use crate::figure::{self, DisplayedFigure, Scale, speed};
use crate::grouping::grouped;
use crate::labels;
use crate::roles::Roles;
use crate::text::{enumerate, safe};
use crate::units::{Unit, percent, percent_fine, times};
use carryline_conditions::Dependence;
use carryline_results::cells::NO_TIME;
use carryline_results::{Cell, RunResult, Status};
use carryline_statistics::letter_groups;
use carryline_variants::{Family, Role, find};
use std::collections::HashMap;
use std::fmt;

pub use text::{Rows, blocks, legend};

/// Cells that do not belong in one ranking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankingError {
    /// Cells with different dependence, whose figures are not comparable.
    MixedDependence {
        /// The situation.
        situation: String,
        /// The dependences, without duplicates.
        found: Vec<Dependence>,
    },
    /// Cells with different conditions.
    MixedConditions {
        /// The situation.
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
                write!(f, "situation '{situation}' mixes {found} calls, which are not comparable")
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
pub struct RankedRow {
    /// 1 is the fastest; `None` for a measured variant that is not a candidate.
    pub rank: Option<u32>,
    /// Whether it leads the ranking: of the fastest and those that tie with it, the one whose interval ends first.
    pub leads: bool,
    /// True if another row has the same rank.
    pub shared: bool,
    /// Its name.
    pub variant: String,
    /// The main figure in the requested unit; see [`Scale::headline`].
    pub headline: Option<DisplayedFigure>,
    /// The figure of the other basis; see [`Scale::secondary`].
    pub secondary: Option<DisplayedFigure>,
    /// The letters of its tie groups; empty without a rank.
    pub letters: String,
    /// Speed relative to the baseline.
    pub speed: Option<f64>,
    /// The interval of the speed, lower end first.
    pub speed_interval: Option<[f64; 2]>,
    /// True if the paired speed contradicts the medians of the two variants.
    pub contradicts: bool,
    /// True for a row that is never folded: the baseline, this project's own function, or a plug-in.
    pub is_singled: bool,
    /// Share of the machine's limit.
    pub limit_share: Option<f64>,
    /// The variants that it ties with.
    pub ties_with: Vec<String>,
}

/// A variant without a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its name.
    pub variant: String,
    /// Its status.
    pub status: Status,
    /// The reason.
    pub detail: String,
}

/// The variants of a family under one condition, ordered by time.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The situation's name.
    pub situation: String,
    /// The family.
    pub family: Family,
    /// The condition in full.
    pub title: String,
    /// The dependence.
    pub dependence: Dependence,
    /// The unit and basis of the figures.
    pub scale: Scale,
    /// The baseline of the ratios, if it was measured here.
    pub baseline: Option<String>,
    /// The noise floor of the situation, or else of the run.
    pub noise_floor: Option<f64>,
    /// The measured variants, by gross time.
    pub rows: Vec<RankedRow>,
    /// The variants without a figure.
    pub failures: Vec<Failure>,
}

/// The rankings of a run, in the order of the situations' first cells.
///
/// # Errors
/// If cells of one situation differ in their condition.
pub fn rankings(run: &RunResult, unit: Unit, roles: &Roles) -> Result<Vec<Ranking>, RankingError> {
    by_situation(run).iter().map(|cells| ranking(run, unit, roles, cells)).collect()
}

/// The letters of all ranked cells, by situation, family and variant.
#[must_use]
pub fn group_letters(run: &RunResult) -> HashMap<(&str, Family, &str), String> {
    let lettered = by_situation(run).into_iter().flat_map(|cells| {
        let measured = in_order(&cells);
        let letters = letters(&measured);
        measured.into_iter().zip(letters)
    });
    let named = lettered.filter(|(_, letters)| !letters.is_empty());
    named
        .map(|(cell, letters)| ((cell.situation.as_str(), cell.family, cell.variant.as_str()), letters))
        .collect()
}

/// The cells of each situation, in the order of their first cells.
fn by_situation(run: &RunResult) -> Vec<Vec<&Cell>> {
    grouped(&run.cells, |one, other| one.situation == other.situation && one.family == other.family)
}

/// The measured cells, fastest first.
fn in_order<'a>(cells: &[&'a Cell]) -> Vec<&'a Cell> {
    let mut measured: Vec<&Cell> = cells.iter().copied().filter(|cell| cell.status == Status::Ok).collect();
    measured.sort_by(|a, b| time(a).total_cmp(&time(b)).then_with(|| a.variant.cmp(&b.variant)));
    measured
}

fn time(cell: &Cell) -> f64 {
    cell.gross.map_or(f64::INFINITY, |gross| gross.median)
}

/// The ranking of a situation's cells, of which there must be at least one.
fn ranking(run: &RunResult, unit: Unit, roles: &Roles, cells: &[&Cell]) -> Result<Ranking, RankingError> {
    check_unmixed(cells)?;
    let scale = Scale::of(run, unit, cells.iter().copied());
    let shown = cells.iter().find(|cell| cell.observed.is_some()).unwrap_or(&cells[0]);
    let measured = in_order(cells);
    let baseline = figure::baseline(measured.iter().copied(), roles);
    let baseline_time =
        measured.iter().find(|cell| Some(cell.variant.as_str()) == baseline).map(|cell| time(cell));
    let floor = noise_floor(run, &shown.situation);
    let letters = letters(&measured);
    let mut by_rank = measured.clone();
    figure::fastest_first(&mut by_rank);
    let leader = by_rank.first().map(|cell| cell.variant.as_str());
    let rows = measured.iter().zip(letters).map(|(cell, letters)| RankedRow {
        rank: cell.rank,
        leads: leader == Some(cell.variant.as_str()),
        shared: cell.rank.is_some() && measured.iter().filter(|other| other.rank == cell.rank).count() > 1,
        variant: safe(&cell.variant),
        headline: scale.headline(cell),
        secondary: scale.secondary(cell),
        letters,
        speed: speed(cell),
        speed_interval: speed_interval(cell),
        contradicts: baseline_time.is_some_and(|baseline| contradicts(cell, baseline, floor.unwrap_or(0.0))),
        is_singled: is_singled(cell, baseline, roles),
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
        baseline: baseline.map(safe),
        noise_floor: floor,
        rows: rows.collect(),
        failures: failures.collect(),
        situation: safe(&shown.situation),
        family: shown.family,
    })
}

/// The letters of each cell, from the ties between ranked cells; the first group is `a`.
fn letters(cells: &[&Cell]) -> Vec<String> {
    let ranked: Vec<usize> = (0..cells.len()).filter(|at| cells[*at].rank.is_some()).collect();
    let differ = |a: usize, b: usize| {
        let (a, b) = (cells[ranked[a]], cells[ranked[b]]);
        !a.ties_with.contains(&b.variant) && !b.ties_with.contains(&a.variant)
    };
    let mut letters = vec![String::new(); cells.len()];
    for (index, group) in letter_groups(ranked.len(), differ).into_iter().enumerate() {
        let letter = letter(index);
        group.into_iter().for_each(|member| letters[ranked[member]].push_str(&letter));
    }
    letters
}

/// `a` to `z`, `A` to `Z`, and then numbers in brackets.
fn letter(index: usize) -> String {
    match ('a'..='z').chain('A'..='Z').nth(index) {
        Some(letter) => letter.to_string(),
        None => format!("({})", index + 1),
    }
}

fn speed_interval(cell: &Cell) -> Option<[f64; 2]> {
    let ratio = cell.ratio_to_baseline.filter(|ratio| ratio.low > 0.0)?;
    Some([1.0 / ratio.high, 1.0 / ratio.low]).filter(|ends| ends.iter().all(|end| end.is_finite()))
}

/// True if the paired ratio contradicts the quotient of the medians: they differ in direction by more than
/// the floor, or the quotient is far outside the ratio's interval.
fn contradicts(cell: &Cell, baseline: f64, floor: f64) -> bool {
    /// Smaller distances from the interval are not worth a mark.
    const FAR: f64 = 0.05;
    let (Some(ratio), Some(own)) = (cell.ratio_to_baseline, cell.gross) else { return false };
    let quotient = own.median / baseline;
    let beyond = |one: f64, other: f64| one > 1.0 + floor && other < 1.0;
    let opposite = beyond(quotient, ratio.median)
        || beyond(ratio.median, quotient)
        || beyond(1.0 / quotient, 1.0 / ratio.median)
        || beyond(1.0 / ratio.median, 1.0 / quotient);
    let far = floor.max(FAR);
    opposite || quotient > ratio.high * (1.0 + far) || quotient * (1.0 + far) < ratio.low
}

/// True for rows that readers always look for.
fn is_singled(cell: &Cell, baseline: Option<&str>, roles: &Roles) -> bool {
    let name = cell.variant.as_str();
    let collected = find(cell.family, name);
    Some(name) == baseline
        || Some(name) == roles.baseline(cell.family)
        || Some(name) == roles.ours(cell.family)
        || collected.is_none_or(|variant| matches!(variant.role, Role::Ours | Role::Baseline))
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

/// The status as printed in tables. Without figures for want of time, nothing timed out.
#[must_use]
pub fn status_word(status: Status, detail: Option<&str>) -> &'static str {
    match status {
        Status::TimedOut if detail.is_some_and(|detail| detail.starts_with(NO_TIME)) => "not measured",
        Status::Ok => "ok",
        Status::Unsupported => "unsupported",
        Status::Crashed => "crashed",
        Status::TimedOut => "timed out",
        Status::Wrong => "wrong",
        Status::NotVerified => "not verified",
    }
}

/// The main result of a ranking.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding<'a> {
    /// Nothing was ranked.
    Nothing,
    /// Most ranked rows tie with the best: these.
    NoDifference(Vec<&'a RankedRow>),
    /// The leader of the best rank, and the rows that tie with it.
    Fastest(&'a RankedRow, Vec<&'a RankedRow>),
}

impl Ranking {
    /// The main result; names no winner if most rows tie with it.
    #[must_use]
    pub fn finding(&self) -> Finding<'_> {
        let ranked = self.rows.iter().filter(|row| row.rank.is_some()).count();
        let first: Vec<&RankedRow> = self.rows.iter().filter(|row| row.rank == Some(1)).collect();
        match first.as_slice() {
            [] => Finding::Nothing,
            [_, _, ..] if 2 * first.len() > ranked => Finding::NoDifference(first),
            [fastest, ..] => {
                // Not the lowest median: see `carryline_statistics::rank`.
                let leader = first.iter().find(|row| row.leads).unwrap_or(fastest);
                let ties = |row: &&RankedRow| row.rank == Some(1) && leader.ties_with.contains(&row.variant);
                Finding::Fastest(leader, self.rows.iter().filter(ties).collect())
            }
        }
    }

    /// The main result with speed, share of the limit and noise floor, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts = vec![];
        match self.finding() {
            Finding::Nothing => parts.push("nothing could be ranked".to_owned()),
            Finding::NoDifference(rows) => {
                let ranked = self.rows.iter().filter(|row| row.rank.is_some()).count();
                parts.push(match rows.len() == ranked {
                    true => format!("no difference found between these {ranked}"),
                    false => {
                        let names: Vec<String> = rows.iter().map(|row| row.variant.clone()).collect();
                        let named =
                            if names.len() > 4 { String::new() } else { format!(" ({})", enumerate(&names)) };
                        format!("no difference found between the best {} of {ranked}{named}", rows.len())
                    }
                });
            }
            Finding::Fastest(leader, ties) => {
                let names: Vec<String> = ties.iter().map(|row| row.variant.clone()).collect();
                let ties = match names.len() {
                    0 => String::new(),
                    1..=3 => format!(", tied with {}", enumerate(&names)),
                    more => format!(", tied with {more} others"),
                };
                parts.push(format!("fastest: {}{ties}", leader.variant));
                match (leader.speed, &self.baseline) {
                    (_, Some(baseline)) if *baseline == leader.variant => {
                        parts.push("the baseline itself".to_owned());
                    }
                    (_, Some(baseline)) if leader.ties_with.contains(baseline) => {
                        parts.push(format!("no different from {baseline}"));
                    }
                    (Some(speed), Some(baseline)) => {
                        parts.push(format!("{} as fast as {baseline}", times(speed)));
                    }
                    _ => {}
                }
                parts.extend(leader.limit_share.map(|share| format!("{} of the limit", percent(share))));
            }
        }
        parts.push(self.noise_floor.map_or_else(
            || "noise floor unknown".to_owned(),
            |floor| format!("noise floor ±{}", percent_fine(floor)),
        ));
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests;
