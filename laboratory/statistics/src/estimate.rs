//! Computes figures from raw samples: the estimate of one cell, and the paired ratio of two.

use super::interval::{Clean, Interval, least_relative};
use serde::{Deserialize, Serialize};

/// A figure with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median over replicates of the median over rounds.
    pub median: f64,
    /// The lower end of the 95 % interval (bootstrap over replicates).
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
    /// The smallest sample.
    pub min: f64,
}

/// A paired ratio of gross times: below 1 is faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The median over replicates of the median over rounds.
    pub median: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
}

/// The median of a cell with its 95 % interval; `None` if there is no sample.
///
/// `samples` are by replicate and round, `NaN` where one is missing. The [crate documentation](crate)
/// describes the interval. Its lower end is not below 0 if no sample is. The same seed gives the same
/// interval.
///
/// # Examples
/// ```
/// use carryline_statistics::estimate;
/// let samples = vec![vec![10.0, 11.0, 10.5], vec![12.0, f64::NAN, 12.0], vec![11.0, 11.2, 90.0]];
/// let estimate = estimate(&samples, 7).expect("there are samples");
/// assert_eq!(estimate.median, 11.2);
/// assert_eq!(estimate.min, 10.0);
/// assert!(estimate.low < 11.2 && estimate.high > 11.2);
/// ```
#[must_use]
pub fn estimate(samples: &[Vec<f64>], seed: u64) -> Option<Estimate> {
    let clean = Clean::new(samples.iter().cloned())?;
    let (min, _) = clean.range();
    let Interval { median, mut low, mut high, replicates, rounds } = clean.interval(seed);
    let least = least_relative(replicates, rounds) * median.abs();
    low = low.min(median - least);
    high = high.max(median + least);
    if min >= 0.0 {
        low = low.max(0.0);
    }
    Some(Estimate { median, low, high, min })
}

/// The median of [`estimate`], without the cost of an interval.
#[must_use]
pub fn typical(samples: &[Vec<f64>]) -> Option<f64> {
    Some(Clean::new(samples.iter().cloned())?.median())
}

/// Gross samples less the null call of the same round; `NaN` where either is missing. Small negative values
/// are kept, because dropping them would bias the median upwards.
#[must_use]
pub fn net(gross: &[Vec<f64>], null: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let by_round = |gross: &Vec<f64>, null: Option<&Vec<f64>>| {
        let null = |round| null.and_then(|rounds: &Vec<f64>| rounds.get(round)).copied().unwrap_or(f64::NAN);
        gross.iter().enumerate().map(|(round, gross)| gross - null(round)).collect()
    };
    gross.iter().enumerate().map(|(replicate, rounds)| by_round(rounds, null.get(replicate))).collect()
}

/// The time of `a` as a multiple of that of `b`, measured in the same rounds; `None` if they share no round.
///
/// A ratio is formed per round, which cancels what disturbed the whole round. The interval is computed from
/// its logarithm (see the [crate documentation](crate)), so that `paired_ratio(b, a)` is the reciprocal.
/// Samples that are not positive count as missing.
///
/// # Examples
/// ```
/// use carryline_statistics::paired_ratio;
/// let b = vec![vec![10.0, 20.0, 10.0]; 4];
/// let a = vec![vec![11.0, 22.0, 11.0]; 4];
/// let ratio = paired_ratio(&a, &b, 7).expect("they share rounds");
/// assert!((ratio.median - 1.1).abs() < 1e-12);
/// ```
#[must_use]
pub fn paired_ratio(a: &[Vec<f64>], b: &[Vec<f64>], seed: u64) -> Option<Ratio> {
    Some(ratio_of_logs(log_ratios(a, b)?, seed))
}

/// The logarithms of the rounds' ratios, negated if needed to make their median non-negative.
pub(super) struct LogRatios {
    pub clean: Clean,
    pub negated: bool,
}

pub(super) fn log_ratios(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<LogRatios> {
    let log_ratio = |(a, b): (&f64, &f64)| {
        let both = a.is_finite() && b.is_finite() && *a > 0.0 && *b > 0.0;
        if both { a.ln() - b.ln() } else { f64::NAN }
    };
    let logs: Vec<Vec<f64>> =
        a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(log_ratio).collect()).collect();
    let clean = Clean::new(logs.iter().cloned())?;
    if clean.median() >= 0.0 {
        return Some(LogRatios { clean, negated: false });
    }
    // Both directions must be the same problem, so that the bootstrap draws the same samples.
    let negated = logs.into_iter().map(|rounds| rounds.into_iter().map(|log| -log).collect());
    Some(LogRatios { clean: Clean::new(negated)?, negated: true })
}

pub(super) fn ratio_of_logs(logs: LogRatios, seed: u64) -> Ratio {
    let Interval { median, low, high, replicates, rounds } = logs.clean.interval(seed);
    let least = least_relative(replicates, rounds).ln_1p();
    let (low, high) = (low.min(median - least), high.max(median + least));
    let (median, low, high) = if logs.negated { (-median, -high, -low) } else { (median, low, high) };
    Ratio { median: median.exp(), low: low.exp(), high: high.exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_round_moves_neither_median_nor_min() {
        let samples = vec![vec![4.0, 4.0, 4.0, 400.0, 4.0]; 5];
        let estimate = estimate(&samples, 1).expect("samples");
        assert_eq!((estimate.median, estimate.min), (4.0, 4.0));
    }

    #[test]
    fn replicates_count_as_repetitions_and_rounds_do_not() {
        // A thousand rounds in each of four processes that disagree: the interval is that of four figures.
        let samples: Vec<Vec<f64>> = [100.0, 102.0, 104.0, 106.0].map(|level| vec![level; 1000]).into();
        let estimate = estimate(&samples, 1).expect("samples");
        assert_eq!(estimate.median, 103.0);
        assert!(estimate.low < 99.0 && estimate.high > 107.0, "{estimate:?}");
    }

    #[test]
    fn one_replicate_gives_a_wide_interval() {
        let lone = estimate(&[vec![10.0; 30]], 1).expect("samples");
        assert!((lone.low - 9.8).abs() < 1e-9 && (lone.high - 10.2).abs() < 1e-9, "{lone:?}");
        let bare = estimate(&[vec![10.0]], 1).expect("a sample");
        assert!((bare.low - 5.0).abs() < 1e-9 && (bare.high - 15.0).abs() < 1e-9, "{bare:?}");
        let ratio = paired_ratio(&[vec![10.0; 30]], &[vec![10.0; 30]], 1).expect("rounds");
        assert!((ratio.high - 1.02).abs() < 1e-9 && (ratio.low - 1.0 / 1.02).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn the_interval_of_a_time_stays_at_or_above_zero() {
        let samples: Vec<Vec<f64>> = [1.0, 1.0, 30.0].map(|level| vec![level; 8]).into();
        assert_eq!(estimate(&samples, 1).expect("samples").low, 0.0);
        let nets: Vec<Vec<f64>> = [-0.1, 0.0, 0.1].map(|level| vec![level; 8]).into();
        assert!(estimate(&nets, 1).expect("samples").low < 0.0);
    }

    #[test]
    fn no_samples_give_no_figure() {
        assert!(estimate(&[], 1).is_none());
        assert!(estimate(&[vec![f64::NAN; 3]], 1).is_none());
        assert!(paired_ratio(&[vec![1.0, f64::NAN]], &[vec![f64::NAN, 1.0]], 1).is_none());
        assert!(paired_ratio(&[vec![0.0, -1.0]], &[vec![1.0, 1.0]], 1).is_none());
    }

    #[test]
    fn nets_match_hand_calculation() {
        let net = net(&[vec![5.0, 6.0, 7.0], vec![8.0]], &[vec![4.0, f64::NAN], vec![9.0]]);
        assert_eq!(net[0][0], 1.0);
        assert!(net[0][1].is_nan() && net[0][2].is_nan());
        assert_eq!(net[1], [-1.0]);
    }

    #[test]
    fn disturbances_of_a_whole_round_cancel() {
        // Rounds differ tenfold; the pair differs by 3 % in each.
        let b: Vec<Vec<f64>> =
            (1..=4).map(|r| (1..=9).map(|k| f64::from(r * 10 + k * k)).collect()).collect();
        let a: Vec<Vec<f64>> = b.iter().map(|rounds| rounds.iter().map(|t| t * 1.03).collect()).collect();
        let ratio = paired_ratio(&a, &b, 3).expect("rounds");
        assert!((ratio.low - 1.03).abs() < 1e-9 && (ratio.high - 1.03).abs() < 1e-9, "{ratio:?}");
    }
}
