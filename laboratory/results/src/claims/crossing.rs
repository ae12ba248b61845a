//! The point at which two curves cross, with an interval: the distance or size from which the other method is
//! faster.

use super::{Figure, Unit};
use carryline_statistics as statistics;

/// The point from which a difference keeps its final sign, interpolated on a logarithmic scale between the
/// measured points. It is computed for each replicate; the interval is over the replicates.
///
/// `differences` are by replicate and point; `points` must be positive and ascending.
///
/// # Errors
/// The reason, as text: the difference has one sign everywhere, or changes sign only in some replicates.
pub fn crossing(points: &[f64], differences: &[Vec<f64>], unit: Unit, seed: u64) -> Result<Figure, String> {
    let found: Vec<f64> = differences.iter().filter_map(|curve| last_change(points, curve)).collect();
    if found.is_empty() {
        return Err("one is cheaper at every measured point".to_owned());
    }
    if found.len() < differences.len() {
        return Err(format!(
            "they cross in only {} of {} worker processes, near {:.0} {unit}",
            found.len(),
            differences.len(),
            statistics::median(&found).unwrap_or(f64::NAN),
        ));
    }
    let samples = found.into_iter().map(|point| vec![point]).collect();
    Figure::sampled(unit, samples, None, 0.0, seed).ok_or_else(|| "there are no samples".to_owned())
}

/// The differences of two curves, each given by a figure for every point, in each replicate that both have.
#[must_use]
pub fn differences(first: &[&Figure], second: &[&Figure]) -> Vec<Vec<f64>> {
    let replicates = first.iter().chain(second).map(|figure| figure.samples().len()).min().unwrap_or(0);
    let median = |figure: &Figure, replicate: usize| {
        let finite: Vec<f64> =
            figure.samples()[replicate].iter().copied().filter(|v| v.is_finite()).collect();
        statistics::median(&finite).unwrap_or(f64::NAN)
    };
    (0..replicates)
        .map(|replicate| {
            first.iter().zip(second).map(|(a, b)| median(a, replicate) - median(b, replicate)).collect()
        })
        .collect()
}

fn last_change(points: &[f64], curve: &[f64]) -> Option<f64> {
    let end = *curve.last()?;
    let before = curve.iter().rposition(|value| (*value > 0.0) != (end > 0.0))?;
    let (low, high) = (*points.get(before)?, *points.get(before + 1)?);
    let (from, to) = (curve[before], curve[before + 1]);
    let share = (from / (from - to)).clamp(0.0, 1.0);
    let point = (low.ln() + share * (high.ln() - low.ln())).exp();
    point.is_finite().then_some(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [f64; 4] = [1.0, 4.0, 16.0, 64.0];

    fn figure(values: &[f64]) -> Figure {
        Figure::sampled(Unit::Ns, values.iter().map(|v| vec![*v; 3]).collect(), None, 0.0, 1)
            .expect("samples")
    }

    #[test]
    fn the_last_change_of_sign_counts() {
        let found =
            crossing(&POINTS, &vec![vec![-2.0, 1.0, -3.0, 3.0]; 3], Unit::Bytes, 1).expect("it crosses");
        assert!((found.value() - 32.0).abs() < 1e-9, "{}", found.value());
        let exact =
            crossing(&POINTS, &vec![vec![5.0, 5.0, 0.0, -1.0]; 3], Unit::Bytes, 1).expect("it crosses");
        assert!((exact.value() - 16.0).abs() < 1e-9, "{}", exact.value());
    }

    #[test]
    fn the_interval_is_over_the_replicates() {
        let curves = [vec![-1.0, -1.0, 1.0, 1.0], vec![-1.0, -2.0, 1.0, 1.0], vec![-1.0, -1.0, 3.0, 1.0]];
        let estimate = crossing(&POINTS, &curves, Unit::Bytes, 1).expect("it crosses").estimate();
        assert!(estimate.low < estimate.median && estimate.median < estimate.high, "{estimate:?}");
    }

    #[test]
    fn without_a_crossing_there_is_a_reason() {
        let none = crossing(&POINTS, &vec![vec![1.0; 4]; 3], Unit::Bytes, 1).expect_err("one sign");
        assert!(none.contains("every measured point"), "{none}");
        let some = crossing(&POINTS, &[vec![1.0; 4], vec![1.0, 1.0, 1.0, -1.0]], Unit::Bytes, 1);
        assert!(some.expect_err("one of two").contains("1 of 2"));
        assert!(crossing(&POINTS, &[], Unit::Bytes, 1).is_err());
    }

    #[test]
    fn differences_are_taken_within_a_replicate() {
        let (a, b) = (figure(&[5.0, 7.0]), figure(&[1.0, 2.0, 9.0]));
        assert_eq!(differences(&[&a, &b], &[&b, &a]), [[4.0, -4.0], [5.0, -5.0]]);
    }
}
