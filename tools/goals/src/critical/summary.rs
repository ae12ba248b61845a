//! Summary of the errors of many cells, and the goals for it.

use super::{CallBound, Score};
use carryline_statistics::median;

/// The errors of the cells that have a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The number of cells.
    pub cells: usize,
    /// The median absolute error, relative to the measurement.
    pub median: f64,
    /// The fraction of cells within 10 %.
    pub within_10: f64,
    /// The fraction of cells within 20 %.
    pub within_20: f64,
}

impl Summary {
    /// The summary of these cells for one source of predictions; `None` if it predicts none.
    pub fn of<'a>(
        cells: impl Iterator<Item = &'a Score>,
        column: impl Fn(&Score) -> Option<f64>,
    ) -> Option<Summary> {
        let errors: Vec<f64> = cells.filter_map(|cell| error(column(cell)?, cell)).map(f64::abs).collect();
        let within =
            |limit: f64| errors.iter().filter(|error| **error <= limit).count() as f64 / errors.len() as f64;
        let median = median(&errors)?;
        Some(Summary { cells: errors.len(), median, within_10: within(0.1), within_20: within(0.2) })
    }
}

/// The error of a prediction, relative to the measurement.
pub fn error(predicted: f64, cell: &Score) -> Option<f64> {
    (cell.measured > 0.0).then(|| predicted / cell.measured - 1.0)
}

/// The maximum median error, and the minimum fraction within 20 %.
pub const fn goal(kind: CallBound) -> (f64, Option<f64>) {
    match kind {
        CallBound::ChainedLatency => (0.01, None),
        CallBound::ChainedThroughput => (0.06, None),
        CallBound::Independent => (0.08, Some(0.8)),
    }
}

/// The fraction by which a bound may exceed the measurement.
pub const ABOVE: f64 = 0.02;

/// Cells whose bound exceeds the measurement by more.
pub fn exceeded(cells: &[Score]) -> Vec<&Score> {
    let is_above = |cell: &&Score| cell.bound.is_some_and(|bound| bound > cell.measured * (1.0 + ABOVE));
    cells.iter().filter(is_above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(measured: f64, predicted: f64) -> Score {
        Score {
            family: "checksum".into(),
            variant: "dr1".into(),
            size: 40,
            kind: CallBound::Independent,
            measured,
            null_call: 6.0,
            bound: Some(predicted),
            predicted: Some(predicted),
            calibrated: None,
            llvm_mca: None,
            binds: None,
            not_modelled: Vec::new(),
        }
    }

    #[test]
    fn errors_are_relative_to_the_measurement() {
        let cells = [cell(100.0, 105.0), cell(100.0, 85.0), cell(100.0, 50.0)];
        let found = Summary::of(cells.iter(), |cell| cell.predicted).expect("cells");
        assert_eq!(found.cells, 3);
        assert!((found.median - 0.15).abs() < 1e-9, "{found:?}");
        assert!((found.within_10 - 1.0 / 3.0).abs() < 1e-9 && (found.within_20 - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(Summary::of(cells.iter(), |cell| cell.llvm_mca), None);
        assert_eq!(exceeded(&cells).len(), 1);
    }
}
