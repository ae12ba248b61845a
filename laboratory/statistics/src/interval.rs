//! Computes all intervals: from replicates of rounds to a median with its 95 % interval.
//!
//! **Centre.** The median over the rounds of a replicate, then the median over the replicates.
//!
//! **Interval.** Everything that a restart changes (layout, page colours, other load on the machine) affects
//! all rounds of a process together, so rounds of one process are not independent repetitions; only
//! replicates are. With three to eight replicates, each of the usual intervals fails in its own way:
//!
//! - The percentile bootstrap over replicates cannot leave the observed range, but all of four replicates lie
//!   on one side of the true value in 12 % of cases.
//! - Student's t allows for few replicates, but trusts their scatter, which with three degrees of freedom is
//!   too small by half in one case of seven.
//!
//! The interval is therefore the hull of both: Student's t on the replicates' medians, and a hierarchical
//! bootstrap (replicates, then blocks of neighbouring rounds within each). The second level of the bootstrap
//! keeps the interval from collapsing if the replicates agree by chance. The hull always includes the median.
//!
//! **One replicate** gives no information about restarts. The bootstrap interval over its rounds is stretched
//! to twice its width, and extends at least [`LONE_RELATIVE`] of the median to either side ([`BARE_RELATIVE`]
//! if there are fewer rounds than a 95 % interval of a median needs).

use super::draw::below;
use super::order::{median_in_place, quantile_of_sorted};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The number of bootstrap resamples. The 2.5 % point then rests on 25 resamples.
const RESAMPLES: usize = 1000;

/// The number of resamples of its rounds that represent a replicate in the bootstrap over replicates.
const POOL: usize = 200;

/// The least relative half-width of the interval of a single replicate: layout alone changes the time by one
/// to two percent between restarts of a program.
pub const LONE_RELATIVE: f64 = 0.02;

/// The same if the replicate has fewer than [`LEAST_ROUNDS`] rounds.
pub const BARE_RELATIVE: f64 = 0.5;

/// The least number of values whose range covers the median with 95 % (1 - 2 / 2^6 = 97 %).
pub const LEAST_ROUNDS: usize = 6;

/// A median and its 95 % interval, in the units of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    /// The number of replicates.
    pub replicates: usize,
    /// The number of rounds in the largest replicate.
    pub rounds: usize,
}

/// Replicates without missing samples, in an order independent of that of the input.
pub(super) struct Clean {
    replicates: Vec<Vec<f64>>,
    medians: Vec<f64>,
}

impl Clean {
    /// Drops non-finite values, then empty replicates; `None` if none is left.
    pub fn new(replicates: impl IntoIterator<Item = Vec<f64>>) -> Option<Clean> {
        let mut kept: Vec<(f64, Vec<f64>)> = replicates
            .into_iter()
            .filter_map(|mut rounds| {
                rounds.retain(|value| value.is_finite());
                median_in_place(&mut rounds.clone()).map(|median| (median, rounds))
            })
            .collect();
        kept.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| total_order(&a.1, &b.1)));
        let (medians, replicates): (Vec<f64>, Vec<Vec<f64>>) = kept.into_iter().unzip();
        (!replicates.is_empty()).then_some(Clean { replicates, medians })
    }

    /// The median of the replicates' medians.
    pub fn median(&self) -> f64 {
        // Never empty: `new` returns `None` instead.
        median_in_place(&mut self.medians.clone()).unwrap_or(f64::NAN)
    }

    /// The smallest and the largest of all values.
    pub fn range(&self) -> (f64, f64) {
        let all = self.replicates.iter().flatten();
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
    }

    /// The number of rounds in the largest replicate.
    pub fn rounds(&self) -> usize {
        self.replicates.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Student's 95 % interval of the mean of the replicates' medians; `None` for one replicate.
    pub fn student(&self) -> Option<(f64, f64)> {
        let n = self.medians.len();
        if n < 2 {
            return None;
        }
        let mean = self.medians.iter().sum::<f64>() / n as f64;
        let squares: f64 = self.medians.iter().map(|m| (m - mean) * (m - mean)).sum();
        let half = t_95(n - 1) * (squares / (n - 1) as f64 / n as f64).sqrt();
        Some((mean - half, mean + half))
    }

    /// The replicates' medians in ascending order.
    pub fn medians(&self) -> &[f64] {
        &self.medians
    }

    /// The hierarchical percentile bootstrap.
    fn bootstrap(&self, seed: u64) -> (f64, f64) {
        percentiles(self.centres(seed))
    }

    /// The medians of [`RESAMPLES`] resamples, in the order drawn.
    pub fn centres(&self, seed: u64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut rounds = Vec::with_capacity(self.rounds());
        // The medians of resampled rounds, drawn once for each replicate; the resamples of replicates draw
        // from these.
        let mut pool = Vec::with_capacity(self.replicates.len() * POOL);
        for replicate in &self.replicates {
            for _ in 0..POOL {
                resample_blocks(&mut rng, replicate, &mut rounds);
                pool.push(median_in_place(&mut rounds).unwrap_or(f64::NAN));
            }
        }
        let mut medians = vec![0.0; self.replicates.len()];
        let mut centres = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            for median in &mut medians {
                *median = pool[below(&mut rng, pool.len())];
            }
            centres.push(median_in_place(&mut medians).unwrap_or(f64::NAN));
        }
        centres
    }

    /// The hull of both intervals for at least two replicates, the stretched bootstrap interval for one. The
    /// caller adds the minimum width for one replicate, which depends on the scale.
    pub fn interval(&self, seed: u64) -> Interval {
        let median = self.median();
        let (mut low, mut high) = self.bootstrap(seed);
        match self.student() {
            Some((student_low, student_high)) => {
                low = low.min(student_low);
                high = high.max(student_high);
            }
            None => {
                low = median - 2.0 * (median - low);
                high = median + 2.0 * (high - median);
            }
        }
        Interval {
            median,
            low: low.min(median),
            high: high.max(median),
            replicates: self.replicates.len(),
            rounds: self.rounds(),
        }
    }
}

/// The range of the middle 95 % of values.
pub(super) fn percentiles(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share| quantile_of_sorted(&values, share).unwrap_or(f64::NAN);
    (at(0.025), at(0.975))
}

/// The least half-width of an interval, relative to the median.
pub(super) fn least_relative(replicates: usize, rounds: usize) -> f64 {
    match (replicates, rounds) {
        (1, rounds) if rounds < LEAST_ROUNDS => BARE_RELATIVE,
        (1, _) => LONE_RELATIVE,
        _ => 0.0,
    }
}

fn total_order(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    let differing = a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
    differing.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Draws as many rounds as there are, in blocks of neighbours (wrapping around at the end), so that
/// disturbances of several rounds stay together.
fn resample_blocks(rng: &mut Xoshiro256PlusPlus, rounds: &[f64], into: &mut Vec<f64>) {
    let n = rounds.len();
    let block = (n as f64).cbrt().ceil() as usize;
    into.clear();
    while into.len() < n {
        let start = below(rng, n);
        let length = block.min(n - into.len());
        into.extend((start..start + length).map(|i| rounds[if i < n { i } else { i - n }]));
    }
}

/// The 97.5 % point of Student's t: exact to three decimals up to 30 degrees of freedom, within 0.2 % beyond.
pub(super) fn t_95(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    match degrees {
        0 => f64::INFINITY,
        1..=30 => TABLE[degrees - 1],
        // First term of the expansion in 1 / degrees: (z^3 + z) / 4 = 2.372 at z = 1.95996.
        _ => 1.959_96 + 2.372 / degrees as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_interval_matches_hand_calculation() {
        // Medians 1, 2, 3, 6: mean 3, squares 4 + 1 + 0 + 9 = 14, s = 2.1602, / sqrt 4 = 1.0801, t = 3.182.
        let clean = Clean::new([vec![1.0], vec![6.0], vec![3.0], vec![2.0]]).expect("4 replicates");
        let (low, high) = clean.student().expect("4 replicates");
        assert!((high - 3.0 - 3.4369).abs() < 1e-3, "{low} {high}");
        assert!((3.0 - low - 3.4369).abs() < 1e-3, "{low} {high}");
        assert_eq!(clean.median(), 2.5);
        assert_eq!(clean.range(), (1.0, 6.0));
        assert!(Clean::new([vec![1.0, 2.0]]).expect("1 replicate").student().is_none());
    }

    #[test]
    fn t_is_continuous_at_the_end_of_the_table() {
        assert_eq!(t_95(1), 12.706);
        assert!((t_95(31) - 2.040).abs() < 0.005, "{}", t_95(31));
        assert!((t_95(60) - 2.000).abs() < 0.001, "{}", t_95(60));
        assert!((t_95(120) - 1.980).abs() < 0.001, "{}", t_95(120));
    }

    #[test]
    fn non_finite_values_are_dropped() {
        assert!(Clean::new([vec![f64::NAN], vec![]]).is_none());
        let clean = Clean::new([vec![f64::NAN, 3.0, f64::INFINITY], vec![]]).expect("one value");
        assert_eq!((clean.median(), clean.medians.len()), (3.0, 1));
    }

    #[test]
    fn resampled_rounds_keep_their_neighbours() {
        let rounds: Vec<f64> = (0..27).map(f64::from).collect();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut into = Vec::new();
        resample_blocks(&mut rng, &rounds, &mut into);
        assert_eq!(into.len(), 27);
        // 27 rounds make blocks of 3.
        for block in into.chunks(3) {
            assert_eq!((block[0] + 1.0) % 27.0, block[1]);
            assert_eq!((block[1] + 1.0) % 27.0, block[2]);
        }
    }

    #[test]
    fn the_scatter_of_rounds_counts_if_replicates_agree() {
        let noisy: Vec<f64> = (0..12).map(|i| 100.0 + 5.0 * f64::from((i * 7) % 12 - 6)).collect();
        let clean = Clean::new(vec![noisy; 4]).expect("4 replicates");
        let (low, high) = clean.student().expect("4 replicates");
        assert_eq!(low, high);
        let interval = clean.interval(1);
        assert!(interval.high - interval.low > 5.0, "{interval:?}");
    }
}
