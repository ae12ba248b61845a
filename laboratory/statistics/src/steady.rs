//! Tests whether a series has settled, and whether twice the calls take twice the time.

use super::order::successive_scatter;
use super::{median, net};

/// The number of samples below which a series is never steady.
pub const LEAST_SERIES: usize = 12;

/// The relative difference between windows that is always allowed.
const STEADY_RELATIVE: f64 = 0.01;

/// Whether the samples, in order of time, have settled: the end of the warm-up.
///
/// The first quarter is skipped, and the rest is divided into three windows. Their medians must agree within
/// 1 %, or within three standard errors of a difference of two such medians if that is more. The scatter is
/// estimated from successive values, so that a trend does not enlarge it. Non-finite values are ignored;
/// fewer than [`LEAST_SERIES`] values are never steady.
///
/// # Examples
/// ```
/// use carryline_statistics::steady;
/// let warming: Vec<f64> = (0..40).map(|i| 100.0 + 50.0 / f64::from(1 + i / 8)).collect();
/// let warm: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i % 3) * 0.2).collect();
/// assert!(!steady(&warming) && steady(&warm));
/// ```
#[must_use]
pub fn steady(samples: &[f64]) -> bool {
    let series: Vec<f64> = samples.iter().copied().filter(|value| value.is_finite()).collect();
    if series.len() < LEAST_SERIES {
        return false;
    }
    let window = series.len() / 4;
    let windows = series[series.len() - 3 * window..].chunks(window);
    let medians: Vec<f64> = windows.filter_map(median).collect();
    let (low, high) =
        medians.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), m| (low.min(*m), high.max(*m)));
    let scatter = successive_scatter(&series).unwrap_or(0.0);
    // Standard error of a median: 1.2533 sigma / sqrt(n); of a difference of two: sqrt 2 times that.
    let by_chance = 3.0 * 1.2533 * std::f64::consts::SQRT_2 * scatter / (window as f64).sqrt();
    high - low <= by_chance.max(STEADY_RELATIVE * low.abs())
}

/// Splits rounds by parity: even rounds have N calls per batch, odd rounds 2N.
#[must_use]
pub fn by_parity(samples: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let every_second = |first: usize| {
        samples.iter().map(|rounds| rounds.iter().skip(first).step_by(2).copied().collect()).collect()
    };
    (every_second(0), every_second(1))
}

/// The relative difference between the times per call in batches of N and of 2N calls: 0 if they agree, which
/// they do if a batch has no fixed cost. `None` if no replicate has both.
///
/// The median per replicate and batch size, the relative difference per replicate, then the median over the
/// replicates; the sign is dropped last, so that scatter cancels out.
///
/// # Examples
/// ```
/// use carryline_statistics::agreement_n_2n;
/// let n = vec![vec![10.0, 10.0], vec![10.5, 10.5]];
/// let n2 = vec![vec![9.0, 9.0], vec![9.45, 9.45]];
/// assert!((agreement_n_2n(&n, &n2).expect("both") - 0.1).abs() < 1e-12);
/// ```
#[must_use]
pub fn agreement_n_2n(n_rounds: &[Vec<f64>], n2_rounds: &[Vec<f64>]) -> Option<f64> {
    let finite = |rounds: &Vec<f64>| -> Option<f64> {
        median(&rounds.iter().copied().filter(|value| value.is_finite()).collect::<Vec<_>>())
    };
    let relative = |(n, n2): (&Vec<f64>, &Vec<f64>)| -> Option<f64> {
        let (n, n2) = (finite(n)?, finite(n2)?);
        let larger = n.abs().max(n2.abs());
        Some(if larger > 0.0 { (n - n2) / larger } else { 0.0 })
    };
    let differences: Vec<f64> = n_rounds.iter().zip(n2_rounds).filter_map(relative).collect();
    median(&differences).map(f64::abs)
}

/// [`agreement_n_2n`] of a cell's net samples, split by parity.
#[must_use]
pub fn agreement_of_nets(gross: &[Vec<f64>], null: &[Vec<f64>]) -> Option<f64> {
    let (n_rounds, n2_rounds) = by_parity(&net(gross, null));
    agreement_n_2n(&n_rounds, &n2_rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Saw-tooth noise of 3 % that affects the median of every window.
    fn noise(i: u32) -> f64 {
        f64::from((i * 7) % 11) / 11.0 * 6.0
    }

    #[test]
    fn noise_is_steady_and_a_ramp_is_not() {
        let flat: Vec<f64> = (0..48).map(|i| 100.0 + noise(i)).collect();
        assert!(steady(&flat));
        let ramp: Vec<f64> = (0..48).map(|i| 120.0 - 0.8 * f64::from(i) + noise(i)).collect();
        assert!(!steady(&ramp));
        let step: Vec<f64> = (0..48).map(|i| if i < 30 { 120.0 } else { 100.0 } + noise(i)).collect();
        assert!(!steady(&step));
    }

    #[test]
    fn a_slow_start_and_a_rare_interruption_are_ignored() {
        let late: Vec<f64> = (0..48).map(|i| if i < 12 { 300.0 } else { 100.0 } + noise(i)).collect();
        assert!(steady(&late));
        let struck: Vec<f64> = (0..48).map(|i| if i == 40 { 900.0 } else { 100.0 } + noise(i)).collect();
        assert!(steady(&struck));
    }

    #[test]
    fn too_few_samples_are_never_steady() {
        assert!(!steady(&[100.0; 11]));
        assert!(steady(&[100.0; 12]));
        assert!(!steady(&[f64::NAN; 40]));
    }

    #[test]
    fn agreement_matches_hand_calculation() {
        let (even, odd) = by_parity(&[vec![1.0, 2.0, 3.0], vec![4.0]]);
        assert_eq!(even, [vec![1.0, 3.0], vec![4.0]]);
        assert_eq!(odd, [vec![2.0], vec![]]);
        // Net 8 and 10 in one replicate; the other has no odd round.
        let agreement = agreement_of_nets(&[vec![10.0, 12.0], vec![9.0]], &[vec![2.0, 2.0], vec![2.0]]);
        assert_eq!(agreement, Some(0.2));
        assert_eq!(agreement_n_2n(&[], &[]), None);
        assert_eq!(agreement_n_2n(&[vec![0.0]], &[vec![0.0]]), Some(0.0));
        // One replicate up, one down, one level: agreement, because signs count.
        let n = [vec![1.0], vec![1.0], vec![1.0]];
        assert_eq!(agreement_n_2n(&n, &[vec![0.9], vec![1.0 / 0.9], vec![1.0]]), Some(0.0));
    }
}
