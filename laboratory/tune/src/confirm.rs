//! Confirms the search's changes at other sizes and offsets, in new processes.

use crate::arms::{self, Arm, Cell, Lab, Times, Timings};
use crate::change::Change;
use carryline_conditions::Offsets;
use carryline_engine::failure::Failure;
use carryline_engine::standard;
use carryline_statistics::{self as statistics, Order, Ratio, compare, distance, noise_floor};
use serde::Serialize;
use std::time::Duration;

/// The arms of a comparison: the settings in force, the same again, and the settings compared with them.
const BASE: usize = 0;
const AGAIN: usize = 1;
const OTHER: usize = 2;

/// A cell measured with both settings.
#[derive(Clone, Debug, Serialize)]
pub struct Confirmed {
    /// The cell.
    pub situation: String,
    /// The variant that was called.
    pub variant: &'static str,
    /// The time of a call with the new settings, as a multiple of that with the old ones.
    pub ratio: Ratio,
    /// The noise floor: the difference between the two arms of the old settings.
    pub floor: f64,
    /// Whether the new settings are faster, slower, or tie.
    #[serde(serialize_with = "crate::output::order")]
    pub order: Order,
}

/// A change and its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The change.
    pub change: Change,
    /// The time of calls over all its cells as a multiple of that before; `None` if nothing could be
    /// measured.
    pub gain: Option<Ratio>,
    /// The noise floor over these cells.
    pub floor: f64,
    /// Its cells.
    pub cells: Vec<Confirmed>,
    /// The verdict.
    pub verdict: ChangeVerdict,
}

/// Whether a change is kept, or why it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeVerdict {
    /// Faster over its cells, and in no cell slower by more than is allowed: kept.
    Faster,
    /// No difference above the noise floor.
    Same,
    /// Faster over its cells, but slower in some of them.
    Mixed,
    /// Slower over its cells.
    Slower,
    /// It could not be measured.
    Unknown,
    /// It was not compared: it has no cells here.
    NotCompared,
}

/// Judges each change on its own cells. All changes are measured in the same processes: `base` against
/// `other`, which has all of them.
///
/// # Errors
/// Fails if a worker cannot be started.
pub fn judge(
    lab: &Lab<'_>,
    base: &Arm,
    other: &Arm,
    changes: &[Change],
    time: Duration,
) -> Result<Vec<Judged>, Failure> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut ranges = Vec::new();
    for change in changes {
        let first = cells.len();
        cells.extend(change.cells.iter().cloned().map(at_other_offsets));
        ranges.push(first..cells.len());
    }
    let found = compared(lab, base, other, &cells, time)?;
    let mut judged = Vec::new();
    for (change, own) in changes.iter().zip(&ranges) {
        // Changes on one ladder are judged together.
        let same = changes.iter().zip(&ranges).filter(|(other, _)| other.ladder == change.ladder);
        let all: Vec<usize> = same.flat_map(|(_, range)| range.clone()).collect();
        let of = |places: &[usize]| -> Vec<Confirmed> {
            places.iter().filter_map(|cell| confirmed(&found, &cells, *cell, lab.seed)).collect()
        };
        let own: Vec<usize> = own.clone().collect();
        let floor = |cells: &[usize]| noise_floor(over(&found, cells, AGAIN, lab.seed).as_slice());
        let together = over(&found, &all, OTHER, lab.seed);
        let allowed = lab.may_cost.max(by_chance(&found, &all, lab.seed));
        judged.push(Judged {
            change: change.clone(),
            gain: over(&found, &own, OTHER, lab.seed),
            floor: floor(&own),
            cells: of(&own),
            verdict: match own.is_empty() {
                true => ChangeVerdict::NotCompared,
                false => verdict(together, floor(&all), &of(&all), allowed),
            },
        });
    }
    Ok(judged)
}

/// Compares two settings in the given cells.
///
/// # Errors
/// Fails if a worker cannot be started.
pub fn compare_in(
    lab: &Lab<'_>,
    base: &Arm,
    other: &Arm,
    cells: &[Cell],
    time: Duration,
) -> Result<Vec<Confirmed>, Failure> {
    let found = compared(lab, base, other, cells, time)?;
    Ok((0..cells.len()).filter_map(|cell| confirmed(&found, cells, cell, lab.seed)).collect())
}

fn compared(
    lab: &Lab<'_>,
    base: &Arm,
    other: &Arm,
    cells: &[Cell],
    time: Duration,
) -> Result<Timings, Failure> {
    let again = Arm { label: format!("{}, again", base.label), ..base.clone() };
    arms::measure(lab, &[base.clone(), again, other.clone()], cells, time)
}

fn confirmed(found: &Timings, cells: &[Cell], cell: usize, seed: u64) -> Option<Confirmed> {
    let ratio = found.ratio(cell, OTHER, BASE, seed)?;
    let floor = noise_floor(found.ratio(cell, AGAIN, BASE, seed).as_slice());
    Some(Confirmed {
        situation: standard::name(cells[cell].family, &cells[cell].condition),
        variant: cells[cell].subject,
        ratio,
        floor,
        order: compare(&ratio, floor),
    })
}

/// The ratio over several cells: geometric means, paired by replicate.
fn over(found: &Timings, cells: &[usize], arm: usize, seed: u64) -> Option<Ratio> {
    let means = |arm: usize| -> Times {
        (0..found.replicates as usize)
            .map(|replicate| {
                let median = |cell: &usize| statistics::median(found.times[arm][*cell].get(replicate)?);
                let logs: Vec<f64> = cells.iter().filter_map(median).map(f64::ln).collect();
                let all = !cells.is_empty() && logs.len() == cells.len();
                all.then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp()).into_iter().collect()
            })
            .collect()
    };
    statistics::paired_ratio(&means(arm), &means(BASE), seed)
}

/// The most by which the settings in force differ from themselves in one of several cells, as far as the interval excludes 1: of many
/// cells, one looks slower by chance.
fn by_chance(found: &Timings, cells: &[usize], seed: u64) -> f64 {
    let again = |cell: &usize| found.ratio(*cell, AGAIN, BASE, seed);
    cells.iter().filter_map(again).map(|ratio| apart(&ratio)).fold(0.0, f64::max)
}

/// The distance of a ratio from 1, or 0 if its interval includes 1.
fn apart(ratio: &Ratio) -> f64 {
    match compare(ratio, 0.0) {
        Order::Tie => 0.0,
        _ => distance(ratio.median),
    }
}

/// A cell is slower if it is so by more than its own noise floor and than `allowed`.
fn verdict(gain: Option<Ratio>, floor: f64, cells: &[Confirmed], allowed: f64) -> ChangeVerdict {
    let Some(gain) = gain else { return ChangeVerdict::Unknown };
    let slower = cells.iter().any(|cell| compare(&cell.ratio, cell.floor.max(allowed)) == Order::Slower);
    match compare(&gain, floor) {
        Order::Faster if slower => ChangeVerdict::Mixed,
        Order::Faster => ChangeVerdict::Faster,
        Order::Slower => ChangeVerdict::Slower,
        Order::Tie => ChangeVerdict::Same,
    }
}

/// The same cell at offsets that the search did not use.
fn at_other_offsets(mut cell: Cell) -> Cell {
    cell.condition.offsets = match cell.condition.offsets {
        Offsets::Random => Offsets::Fixed { dst: 2112, src: 712 },
        Offsets::Fixed { dst: 0, src: 0 } => Offsets::Fixed { dst: 64, src: 2048 },
        other => other,
    };
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(median: f64) -> Confirmed {
        let ratio = Ratio { median, low: median - 0.01, high: median + 0.01 };
        Confirmed {
            situation: String::new(),
            variant: "carryline",
            ratio,
            floor: 0.02,
            order: compare(&ratio, 0.02),
        }
    }

    fn ratio(median: f64) -> Option<Ratio> {
        Some(Ratio { median, low: median - 0.01, high: median + 0.01 })
    }

    #[test]
    fn only_an_interval_without_one_is_apart() {
        let ratio = |median: f64, low, high| apart(&Ratio { median, low, high });
        assert_eq!(ratio(1.3, 0.9, 1.6), 0.0);
        assert!((ratio(1.25, 1.2, 1.3) - 0.25).abs() < 1e-12);
        assert!((ratio(0.8, 0.7, 0.9) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_change_is_kept_if_it_is_faster_and_nowhere_slower() {
        let without_cost = |gain, floor, cells: &[Confirmed]| verdict(gain, floor, cells, 0.0);
        assert_eq!(without_cost(ratio(0.9), 0.02, &[cell(0.8), cell(1.0)]), ChangeVerdict::Faster);
        assert_eq!(without_cost(ratio(0.9), 0.02, &[cell(0.7), cell(1.1)]), ChangeVerdict::Mixed);
        assert_eq!(verdict(ratio(0.9), 0.02, &[cell(0.7), cell(1.1)], 0.15), ChangeVerdict::Faster);
        let noisy = Confirmed { floor: 0.5, ..cell(1.4) };
        assert_eq!(without_cost(ratio(0.9), 0.02, &[cell(0.7), noisy.clone()]), ChangeVerdict::Faster);
        let beside_a_noisy_one = without_cost(ratio(0.9), 0.02, &[cell(0.7), cell(1.1), noisy]);
        assert_eq!(beside_a_noisy_one, ChangeVerdict::Mixed, "noise elsewhere excuses nothing");
        assert_eq!(without_cost(ratio(0.99), 0.02, &[cell(0.99)]), ChangeVerdict::Same);
        assert_eq!(without_cost(ratio(0.9), 0.2, &[cell(0.9)]), ChangeVerdict::Same, "within the floor");
        assert_eq!(without_cost(ratio(1.1), 0.02, &[]), ChangeVerdict::Slower);
        assert_eq!(without_cost(None, 0.02, &[]), ChangeVerdict::Unknown);
    }
}
