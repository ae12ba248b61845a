//! The ratio of two cells that share no rounds: cells from processes of different kinds, such as those with
//! different C library thresholds.
//!
//! Nothing cancels out here: both figures vary between processes, and so does their ratio. The interval comes
//! from the replicates' medians of each side, resampled independently, and is wider than a paired one of the
//! same samples.

use super::estimate::paired_ratio;
use super::interval::{BARE_RELATIVE, Clean, percentiles, t_95};
use crate::Ratio;

/// Gives the second side a random sequence of its own.
const OTHER_SIDE: u64 = 0x756e_7061_6972_6564;

/// The time of `a` as a multiple of that of `b`: paired if they share rounds, otherwise from the replicates'
/// medians.
///
/// # Examples
/// ```
/// use carryline_statistics::ratio;
/// let (here, there) = (vec![10.0; 8], vec![f64::NAN; 8]);
/// let a = vec![here.clone(), there.clone(), vec![10.2; 8], there.clone()];
/// let b = vec![there.clone(), vec![20.0; 8], there, vec![20.4; 8]];
/// let ratio = ratio(&a, &b, 7).expect("samples");
/// assert!((ratio.median - 0.5).abs() < 0.001 && ratio.low < 0.5 && ratio.high > 0.5);
/// ```
#[must_use]
pub fn ratio(a: &[Vec<f64>], b: &[Vec<f64>], seed: u64) -> Option<Ratio> {
    paired_ratio(a, b, seed).or_else(|| unpaired_ratio(a, b, seed))
}

/// The time of `a` as a multiple of that of `b`, from processes none of which measured both; `None` if either
/// has no sample. Samples that are not positive count as missing.
///
/// The interval is the hull of Welch's t on the logarithms of the replicates' medians and a bootstrap that
/// resamples the replicates (and blocks of their rounds) of the two sides independently. With one replicate
/// on a side, the variation between processes is unknown there, and the interval is at least as wide as that
/// of a cell with hardly any rounds.
#[must_use]
pub fn unpaired_ratio(a: &[Vec<f64>], b: &[Vec<f64>], seed: u64) -> Option<Ratio> {
    let (a, b) = (logs(a)?, logs(b)?);
    let median = a.median() - b.median();
    let other = b.centres(seed ^ OTHER_SIDE);
    let (mut low, mut high) = percentiles(a.centres(seed).iter().zip(other).map(|(a, b)| a - b).collect());
    match welch(a.medians(), b.medians()) {
        Some((welch_low, welch_high)) => (low, high) = (low.min(welch_low), high.max(welch_high)),
        None => {
            let least = BARE_RELATIVE.ln_1p();
            (low, high) = (low.min(median - least), high.max(median + least));
        }
    }
    let (low, high) = (low.min(median), high.max(median));
    Some(Ratio { median: median.exp(), low: low.exp(), high: high.exp() })
}

/// The difference of two cells' medians of logarithms; `None` if either has no sample.
pub(super) fn log_difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<f64> {
    Some(logs(a)?.median() - logs(b)?.median())
}

pub(super) fn logs(samples: &[Vec<f64>]) -> Option<Clean> {
    let log = |ticks: &f64| if *ticks > 0.0 { ticks.ln() } else { f64::NAN };
    Clean::new(samples.iter().map(|rounds| rounds.iter().map(log).collect()))
}

/// Welch's 95 % interval of the difference of two means; `None` if a side has one value.
fn welch(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    let ((mean_a, _), (mean_b, _)) = (mean_and_variance(a)?, mean_and_variance(b)?);
    let (error, degrees) = error_and_degrees(a, b)?;
    let (difference, half) = (mean_a - mean_b, t_95(degrees) * error);
    Some((difference - half, difference + half))
}

/// The standard error of the difference of two means, and Welch's degrees of freedom; `None` if a side has
/// one value.
pub(super) fn error_and_degrees(a: &[f64], b: &[f64]) -> Option<(f64, usize)> {
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let ((_, var_a), (_, var_b)) = (mean_and_variance(a)?, mean_and_variance(b)?);
    let (free_a, free_b) = ((a.len() - 1) as f64, (b.len() - 1) as f64);
    let variance = var_a + var_b;
    let degrees = variance * variance / (var_a * var_a / free_a + var_b * var_b / free_b);
    // Two sides without scatter give 0 / 0: the width is 0 whatever the degrees.
    let degrees = if degrees.is_finite() { (degrees.floor() as usize).max(1) } else { 1 };
    Some((variance.sqrt(), degrees))
}

/// The mean and its variance; `None` for fewer than two values.
pub(super) fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((mean, squares / (n - 1.0) / n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welchs_interval_matches_hand_calculation() {
        // Means 2 and 10, variances of the means 1/3 and 4/3, degrees (5/3)^2 / (1/18 + 16/18) = 2.94: t of 2
        // is 4.303.
        let (low, high) = welch(&[1.0, 2.0, 3.0], &[8.0, 10.0, 12.0]).expect("two sides");
        let half = 4.303 * (5.0_f64 / 3.0).sqrt();
        assert!((low + 8.0 + half).abs() < 1e-9 && (high + 8.0 - half).abs() < 1e-9, "{low} {high}");
        assert_eq!(welch(&[1.0, 1.0], &[3.0, 3.0]), Some((-2.0, -2.0)));
        assert_eq!(welch(&[1.0], &[3.0, 3.0]), None);
    }

    #[test]
    fn variation_between_processes_does_not_cancel() {
        // The replicates vary by 10 %, equally on both sides: this cancels if paired, and must not if
        // unpaired.
        let side = |ticks: f64| -> Vec<Vec<f64>> {
            [1.0, 1.1, 0.95, 1.05, 0.9].map(|factor| vec![ticks * factor; 8]).into()
        };
        let (a, b) = (side(103.0), side(100.0));
        let paired = paired_ratio(&a, &b, 1).expect("rounds");
        let unpaired = unpaired_ratio(&a, &b, 1).expect("samples");
        assert!((unpaired.median - 1.03).abs() < 1e-9, "{unpaired:?}");
        assert!(paired.low > 1.0 && unpaired.low < 1.0 && unpaired.high > 1.06, "{paired:?} {unpaired:?}");
        let reversed = unpaired_ratio(&b, &a, 1).expect("samples");
        assert!((reversed.median * unpaired.median - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_process_per_side_is_hardly_evidence() {
        let many: Vec<Vec<f64>> = vec![vec![100.0; 30]; 5];
        let ratio = unpaired_ratio(&[vec![50.0; 30]], &many, 1).expect("samples");
        assert!(ratio.low < 0.34 && ratio.high > 0.74, "{ratio:?}");
        assert!(unpaired_ratio(&[vec![f64::NAN]], &many, 1).is_none());
        assert!(unpaired_ratio(&[vec![0.0]], &many, 1).is_none());
    }

    #[test]
    fn common_rounds_are_paired() {
        let gap = vec![f64::NAN; 4];
        let a = vec![vec![10.0; 4], gap.clone()];
        let b = vec![vec![20.0; 4], vec![80.0; 4]];
        let half = ratio(&a, &b, 1).expect("a round in common");
        assert!((half.median - 0.5).abs() < 1e-9, "{half:?}");
        let apart = ratio(&a, &[gap, vec![80.0; 4]], 1).expect("samples on both sides");
        assert!((apart.median - 0.125).abs() < 1e-9, "{apart:?}");
    }
}
