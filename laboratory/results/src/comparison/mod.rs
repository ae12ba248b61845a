//! Compares two runs: a ratio and a verdict for every cell that both measured, and for all of them together.
//!
//! **The ratio** is the time in the other run divided by that in the base: above 1 is slower. It comes from
//! the replicates' medians of each run, or from pairs of replicates if those of the two runs were measured
//! alternately. The common shift of the rows that cannot have changed (another clock) is removed, up to
//! [`MOST_SHIFT`].
//!
//! **The verdict** `faster` or `slower` requires three tests: the interval, widened by the noise between two
//! runs of one program, excludes 1; the difference exceeds the noise floor of its situation in both runs; and
//! it is among the [discoveries] of all cells together, 5 % of which may be due to chance. `same` means that
//! the interval lies within [`SAME_WITHIN`] of 1. Everything else is `unknown`: it was not measured in both
//! runs, or noise may hide a relevant difference.
//!
//! **Overall**, the verdict is `slower` if any cell is, otherwise `faster` if any is, otherwise `same` unless
//! more than half of the cells are unknown.

mod between;
mod row;

pub use between::{ASSUMED_BETWEEN_RUNS, Between, MOST_SHIFT, Noise};
pub use row::{Evidence, Reach, Row};

use crate::cells::FLOOR_WITHOUT_TWINS;
use carryline_statistics::{Difference, LEAST_FLOOR, Ratio, discoveries};
use carryline_variants::Family;
use serde::{Deserialize, Serialize};

/// The fraction of the cells called faster or slower that may be so by chance.
pub const RATE: f64 = 0.05;
/// How close to 1 the interval of a ratio must lie for the verdict `same`.
pub const SAME_WITHIN: f64 = 0.05;

/// The verdict on a cell, or on a run, from the base to the other run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The other run takes less time.
    Faster,
    /// The other run takes more time.
    Slower,
    /// Any difference is less than [`SAME_WITHIN`].
    Same,
    /// Undecided.
    Unknown,
}

impl Verdict {
    /// The word in tables and in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Unknown => "unknown",
        }
    }
}

/// How the samples of two runs are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// They are the same run.
    Identical,
    /// Replicates with equal numbers were measured one after the other.
    Replicates,
    /// They were measured at different times.
    None,
}

/// A cell that both runs have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedCell {
    /// Its situation.
    pub situation: String,
    /// Its variant.
    pub variant: String,
    /// The variant's family.
    pub family: Family,
    /// Gross time in the other run divided by that in the base, with a 95 % interval that includes the noise
    /// between runs; `None` if either has no figure.
    pub ratio: Option<Ratio>,
    /// The median of gross ticks per call in the base.
    pub base_ticks: Option<f64>,
    /// The median of gross ticks per call in the other run.
    pub other_ticks: Option<f64>,
    /// The larger of the situation's noise floors in the two runs.
    pub noise_floor: f64,
    /// The probability of such a difference between equal cells, for this cell alone.
    pub p_value: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is unknown, if not because of noise.
    pub detail: Option<String>,
}

/// The comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// How their samples are related.
    pub pairing: Pairing,
    /// The noise between runs of one program.
    pub between_runs: Between,
    /// The cells that both runs have, in the order of the base.
    pub cells: Vec<ComparedCell>,
    /// Overall: the geometric mean of their ratios, with an interval as wide as theirs are on average.
    pub ratio: Option<Ratio>,
    /// The overall verdict.
    pub verdict: Verdict,
    /// The number of cells that only the base has.
    pub only_in_base: usize,
    /// The number of cells that only the other run has.
    pub only_in_other: usize,
}

impl Comparison {
    /// The cells with this verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &ComparedCell> {
        self.cells.iter().filter(move |cell| cell.verdict == verdict)
    }
}

/// The rows that both runs have, in the order of the base.
#[must_use]
pub fn pairs<'r>(base: &'r [Row], other: &'r [Row]) -> Vec<(&'r Row, &'r Row)> {
    let like = |row: &Row| other.iter().find(|there| there.is_like(row));
    base.iter().filter_map(|row| Some((row, like(row)?))).collect()
}

/// The differences of paired rows; `None` if either has no figure.
#[must_use]
pub fn differences(pairs: &[(&Row, &Row)], pairing: Pairing, seed: u64) -> Vec<Option<Difference>> {
    let of = |(base, other): &(&Row, &Row)| match (&other.evidence, &base.evidence) {
        (Evidence::Samples(other), Evidence::Samples(base)) if pairing == Pairing::Replicates => {
            Difference::paired(other, base, seed)
        }
        (Evidence::Samples(other), Evidence::Samples(base)) => Difference::unpaired(other, base, seed),
        (other, base) => Difference::of_estimates(&other.estimate(seed)?, &base.estimate(seed)?),
    };
    pairs.iter().map(of).collect()
}

/// Compares `other` with `base`.
#[must_use]
pub fn compare(base: &[Row], other: &[Row], pairing: Pairing, seed: u64) -> Comparison {
    let pairs = pairs(base, other);
    let found = differences(&pairs, pairing, seed);
    let between = match pairing {
        Pairing::None => Between::of(&pairs, &found),
        Pairing::Identical | Pairing::Replicates => Between::NOTHING,
    };
    let correct = |((row, _), found): (&(&Row, &Row), Option<Difference>)| {
        Some(between.at(row.reach).corrected(found?))
    };
    let found: Vec<Option<Difference>> = pairs.iter().zip(found).map(correct).collect();
    let p_values: Vec<f64> = pairs
        .iter()
        .zip(&found)
        .map(|((row, _), found)| found.map_or(1.0, |found| found.p_value(between.at(row.reach).spread)))
        .collect();
    let tested: Vec<usize> = (0..pairs.len()).filter(|place| found[*place].is_some()).collect();
    let of_tested: Vec<f64> = tested.iter().map(|place| p_values[*place]).collect();
    let mut is_found = vec![false; pairs.len()];
    for (place, found) in tested.iter().zip(discoveries(&of_tested, RATE)) {
        is_found[*place] = found;
    }
    let cells: Vec<ComparedCell> = pairs
        .iter()
        .enumerate()
        .map(|(place, (base, other))| {
            let difference = found[place];
            let ratio = match pairing {
                Pairing::Identical => difference.map(|_| Ratio { median: 1.0, low: 1.0, high: 1.0 }),
                _ => difference.map(|found| found.interval(between.at(base.reach).spread)),
            };
            let noise_floor = floor(base).max(floor(other));
            ComparedCell {
                situation: base.situation.clone(),
                variant: base.variant.clone(),
                family: base.family,
                ratio,
                base_ticks: base.evidence.typical(),
                other_ticks: other.evidence.typical(),
                noise_floor,
                p_value: difference.map(|_| p_values[place]),
                verdict: match (ratio, pairing) {
                    (None, _) => Verdict::Unknown,
                    (Some(_), Pairing::Identical) => Verdict::Same,
                    (Some(ratio), _) => verdict(&ratio, noise_floor, is_found[place]),
                },
                detail: absence(base, other).filter(|_| ratio.is_none()),
            }
        })
        .collect();
    Comparison {
        pairing,
        between_runs: between,
        ratio: over_all(&cells),
        verdict: verdict_over_all(&cells),
        only_in_base: base.len() - pairs.len(),
        only_in_other: other.iter().filter(|row| !base.iter().any(|base| base.is_like(row))).count(),
        cells,
    }
}

fn floor(row: &Row) -> f64 {
    row.noise_floor.unwrap_or(FLOOR_WITHOUT_TWINS).max(LEAST_FLOOR)
}

fn absence(base: &Row, other: &Row) -> Option<String> {
    let why = |row: &Row, which: &str| {
        let why = row.absent.as_deref().unwrap_or("it has no figure");
        matches!(row.evidence, Evidence::Nothing).then(|| format!("{which}: {why}"))
    };
    why(base, "in the base").or_else(|| why(other, "in the other run"))
}

/// The verdict on one cell; `found` tells whether it is among the discoveries.
fn verdict(ratio: &Ratio, floor: f64, found: bool) -> Verdict {
    let beyond = |ratio: f64| ratio.max(1.0 / ratio) > 1.0 + floor;
    if found && ratio.low > 1.0 && beyond(ratio.median) {
        return Verdict::Slower;
    }
    if found && ratio.high < 1.0 && beyond(ratio.median) {
        return Verdict::Faster;
    }
    let within = ratio.high <= 1.0 + SAME_WITHIN && ratio.low >= 1.0 / (1.0 + SAME_WITHIN);
    if within && floor <= SAME_WITHIN { Verdict::Same } else { Verdict::Unknown }
}

fn verdict_over_all(cells: &[ComparedCell]) -> Verdict {
    let count = |verdict| cells.iter().filter(|cell| cell.verdict == verdict).count();
    if count(Verdict::Slower) > 0 {
        Verdict::Slower
    } else if count(Verdict::Faster) > 0 {
        Verdict::Faster
    } else if count(Verdict::Same) > 0 && 2 * count(Verdict::Unknown) <= cells.len() {
        Verdict::Same
    } else {
        Verdict::Unknown
    }
}

/// The geometric mean. A disturbance may affect all cells, so errors do not cancel: the interval is as wide
/// as theirs are on average.
fn over_all(cells: &[ComparedCell]) -> Option<Ratio> {
    let ratios: Vec<&Ratio> = cells.iter().filter_map(|cell| cell.ratio.as_ref()).collect();
    let mean = |pick: fn(&Ratio) -> f64| {
        let logs = ratios.iter().map(|ratio| pick(ratio).ln());
        (logs.sum::<f64>() / ratios.len() as f64).exp()
    };
    (!ratios.is_empty()).then(|| Ratio {
        median: mean(|ratio| ratio.median),
        low: mean(|ratio| ratio.low),
        high: mean(|ratio| ratio.high),
    })
}

#[cfg(test)]
mod tests;
