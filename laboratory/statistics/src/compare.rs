//! Decides whether a difference counts: the noise floor and the rule for faster, slower and tie.
//!
//! A difference must pass two tests that fail in different ways. Its **interval** must exclude 1: the
//! replicates agree. It must also exceed the **noise floor**: identical code, measured under two names in the
//! same rounds (an A/A pair), does not differ as much. The second test catches what the first cannot:
//! replicates that agree by chance, and biases shared by all replicates.
//!
//! `tests/statistics/monte_carlo.rs` checks the rule's error rates by simulation.

use super::estimate::log_ratios;
use super::{median, paired_ratio, ratio};
use crate::Ratio;

/// The least noise floor. Code placement that no replicate varies, and the clock's resolution, change the
/// time of identical code by about this much.
pub const LEAST_FLOOR: f64 = 0.005;

/// The fraction of the A/A intervals' typical half-width that enters the floor. At 1, a planted 5 % was
/// missed too often in noisy rounds; at 1/2, identical cells were called different too often in quiet ones.
const SHARE_OF_HALF_WIDTH: f64 = 0.8;

/// The result of a comparison, from the point of view of the first cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// It takes less time.
    Faster,
    /// It takes more time.
    Slower,
    /// They cannot be distinguished.
    Tie,
}

impl Order {
    /// The result from the point of view of the other cell.
    #[must_use]
    pub const fn reversed(self) -> Order {
        match self {
            Order::Faster => Order::Slower,
            Order::Slower => Order::Faster,
            Order::Tie => Order::Tie,
        }
    }
}

/// The relative difference up to which cells tie, from A/A pairs: one variant under two names.
///
/// The largest of
/// - the distance of the pairs' medians from 1: a bias between identical routines can occur between others
///   too;
/// - 80 % of the half-width of the pairs' intervals, as the median over the pairs: a pair's median may be
///   close to 1 by chance, and its interval shows how far off it could have been;
/// - [`LEAST_FLOOR`], so that it is never 0.
///
/// One to three pairs of the same situation suffice. Each further pair can only raise the first figure, so the floor
/// of many is that of the worst; the second one, a median, does not grow with their number. Use pairs of the same
/// situation for [`compare`]; a floor over a whole run is only for its summary. Without a pair, the result is
/// [`LEAST_FLOOR`], and the caller should state that there was none.
///
/// # Examples
/// ```
/// use carryline_statistics::{Ratio, noise_floor};
/// let pair = Ratio { median: 1.002, low: 0.98, high: 1.02 };
/// assert!((noise_floor(&[pair]) - 0.8 * 0.0202).abs() < 1e-4);
/// assert_eq!(noise_floor(&[]), 0.005);
/// ```
#[must_use]
pub fn noise_floor(aa_ratios: &[Ratio]) -> f64 {
    let pairs = || aa_ratios.iter().filter(|ratio| ratio.low > 0.0 && ratio.high.is_finite());
    let halves: Vec<f64> = pairs().map(|ratio| (ratio.high / ratio.low).sqrt() - 1.0).collect();
    let typical = SHARE_OF_HALF_WIDTH * median(&halves).unwrap_or(0.0);
    pairs().map(|ratio| distance(ratio.median)).fold(typical.max(LEAST_FLOOR), f64::max)
}

/// The distance of a ratio from 1 in either direction: 0.1 for both 1.1 and 1 / 1.1.
///
/// ```
/// use carryline_statistics::distance;
/// assert!((distance(1.25) - 0.25).abs() < 1e-12 && (distance(0.8) - 0.25).abs() < 1e-12);
/// ```
#[must_use]
pub fn distance(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio) - 1.0
}

/// Compares two cells by the ratio of their times. They differ only if the interval excludes 1 and the median
/// is farther from 1 than the floor. The rule is symmetric: the reciprocal ratio gives the reversed order.
///
/// # Examples
/// ```
/// use carryline_statistics::{Order, Ratio, compare};
/// let ratio = Ratio { median: 1.05, low: 1.03, high: 1.07 };
/// assert_eq!(compare(&ratio, 0.02), Order::Slower);
/// assert_eq!(compare(&ratio, 0.06), Order::Tie);
/// assert_eq!(compare(&Ratio { low: 0.99, ..ratio }, 0.02), Order::Tie);
/// ```
#[must_use]
pub fn compare(ratio: &Ratio, floor: f64) -> Order {
    if distance(ratio.median) <= floor {
        Order::Tie
    } else if ratio.high < 1.0 {
        Order::Faster
    } else if ratio.low > 1.0 {
        Order::Slower
    } else {
        Order::Tie
    }
}

/// The result of [`compare`] for the [`ratio`] of two cells, computed without the bootstrap where possible;
/// `None` if either has no sample.
///
/// No resampling is needed if the difference is within the floor, if Student's interval (which is part of the
/// hull) includes 1, or if all rounds agree on the direction, because then every resample does too.
#[must_use]
pub fn compare_samples(a: &[Vec<f64>], b: &[Vec<f64>], floor: f64, seed: u64) -> Option<Order> {
    let Some(logs) = log_ratios(a, b) else {
        return ratio(a, b, seed).map(|ratio| compare(&ratio, floor));
    };
    if distance(logs.clean.median().exp()) <= floor {
        return Some(Order::Tie);
    }
    // The median of these logarithms is not negative: `a` is slower unless they were negated.
    let unless_negated = |order: Order| if logs.negated { order.reversed() } else { order };
    match logs.clean.student() {
        Some((low, high)) if low <= 0.0 && high >= 0.0 => Some(Order::Tie),
        Some((low, _)) if low > 0.0 && logs.clean.range().0 > 0.0 => Some(unless_negated(Order::Slower)),
        _ => paired_ratio(a, b, seed).map(|ratio| compare(&ratio, floor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_floors_match_hand_calculation() {
        let pair = |median, low, high| Ratio { median, low, high };
        // A bias beyond the interval's share wins.
        assert!((noise_floor(&[pair(1.03, 1.02, 1.04)]) - 0.03).abs() < 1e-12);
        // 1 / 0.97 is 3.09 % away.
        assert!((noise_floor(&[pair(0.97, 0.96, 0.98)]) - 0.030_928).abs() < 1e-6);
        // The median of the three half-widths, not the widest.
        let three = [pair(1.0, 0.99, 1.01), pair(1.0, 0.98, 1.02), pair(1.0, 0.5, 2.0)];
        assert!((noise_floor(&three) - 0.8 * ((1.02f64 / 0.98).sqrt() - 1.0)).abs() < 1e-12);
        // Of the biases, the largest: a further pair may widen the floor, and never narrows it below another's bias.
        let (near, far) = (pair(1.002, 0.999, 1.005), pair(1.02, 1.017, 1.023));
        assert!((noise_floor(&[near]) - LEAST_FLOOR).abs() < 1e-12);
        assert!((noise_floor(&[near, far]) - 0.02).abs() < 1e-12);
        assert!((noise_floor(&[near, near, near, far]) - 0.02).abs() < 1e-12);
        // Perfect agreement still gives the least floor; an unbounded interval is no evidence.
        assert_eq!(noise_floor(&[pair(1.0, 1.0, 1.0)]), LEAST_FLOOR);
        assert_eq!(noise_floor(&[pair(1.0, 0.0, f64::INFINITY)]), LEAST_FLOOR);
    }

    #[test]
    fn compare_is_symmetric() {
        let ratio = |median: f64, low, high| Ratio { median, low, high };
        assert_eq!(compare(&ratio(1.0 / 1.05, 0.93, 0.97), 0.049), Order::Faster);
        assert_eq!(compare(&ratio(1.0 / 1.05, 0.93, 0.97), 0.051), Order::Tie);
        assert_eq!(compare(&ratio(1.05, 1.03, 1.07), 0.049), Order::Slower);
        assert_eq!(compare(&ratio(0.9, 0.8, 1.0), 0.01), Order::Tie);
        for order in [Order::Faster, Order::Slower, Order::Tie] {
            assert_eq!(order.reversed().reversed(), order);
        }
    }

    #[test]
    fn shortcuts_agree_with_the_full_bootstrap() {
        let mut met = std::collections::HashSet::new();
        for step in 0..200u32 {
            // Pairs from equal to far apart, with rounds that agree or not.
            let wobble =
                |r: u32, k: u32| f64::from((r * 31 + k * 17 + step * 13) % 23) / 23.0 * f64::from(step % 9);
            let b: Vec<Vec<f64>> =
                (0..4).map(|r| (0..9).map(|k| 100.0 + wobble(r, k + 40)).collect()).collect();
            let a: Vec<Vec<f64>> = (0..4)
                .map(|r| (0..9).map(|k| 94.0 + wobble(r, k) + f64::from(step) * 0.06).collect())
                .collect();
            let long = compare(&paired_ratio(&a, &b, 5).expect("rounds"), 0.01);
            assert_eq!(compare_samples(&a, &b, 0.01, 5), Some(long), "step {step}");
            assert_eq!(compare_samples(&b, &a, 0.01, 5), Some(long.reversed()), "step {step}");
            met.insert(long);
        }
        assert_eq!(met.len(), 3);
    }

    #[test]
    fn cells_without_a_common_round_are_compared_by_their_replicates() {
        let level = |ticks: f64, here: usize| -> Vec<Vec<f64>> {
            (0..8).map(|r| vec![if r % 2 == here { ticks + r as f64 } else { f64::NAN }; 9]).collect()
        };
        assert_eq!(compare_samples(&level(100.0, 0), &level(200.0, 1), 0.01, 5), Some(Order::Faster));
        assert_eq!(compare_samples(&level(103.0, 0), &level(100.0, 1), 0.01, 5), Some(Order::Tie));
        assert_eq!(compare_samples(&level(f64::NAN, 0), &level(100.0, 1), 0.01, 5), None);
    }
}
