//! The difference between two cells of different runs: its size, its uncertainty, and its significance among
//! many others.
//!
//! **Noise between runs.** The interval of a ratio comes from replicates, but all replicates of a run share
//! its time of day, its host and the other load there, and this is not part of their scatter. Two runs of one
//! program therefore differ by more than their intervals show. Rows that cannot have changed show by how much
//! ([`between_runs`]): their common shift is removed, and their spread is added to each row's own error, as
//! variances add.
//!
//! **Many rows.** At a level of 5 %, one row in twenty would differ between two equal runs. [`discoveries`]
//! applies the procedure of Benjamini and Hochberg (Controlling the false discovery rate, Journal of the
//! Royal Statistical Society B 57, 1995): at most 5 % of the rows called different are expected to be so by
//! chance, and if nothing changed, at most 5 % of comparisons have such a row.

use super::unpaired::{error_and_degrees, logs, mean_and_variance, unpaired_ratio};
use super::{Estimate, Ratio, median, paired_ratio, quantile};
use puruspe::{betai, invbetai};

/// Degrees of freedom of a difference if only the two intervals are known.
const DEGREES_OF_ESTIMATES: f64 = 8.0;
/// The least number of rows that cannot have changed from which the noise between runs is estimated.
pub const LEAST_CONTROLS: usize = 8;
/// 95 % and 90 % of a normal distribution lie within this many standard deviations.
const NORMAL_95: f64 = 1.959_96;
const NORMAL_90: f64 = 1.644_85;

/// The difference between two cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The ratio of their times with its 95 % interval from the replicates.
    pub ratio: Ratio,
    /// The standard error of the ratio's logarithm; infinite if a side has one replicate.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub degrees: f64,
}

impl Difference {
    /// The difference of two cells of different processes: `a` as a multiple of `b`. `None` if either has no
    /// sample.
    #[must_use]
    pub fn unpaired(a: &[Vec<f64>], b: &[Vec<f64>], seed: u64) -> Option<Difference> {
        let ratio = unpaired_ratio(a, b, seed)?;
        let known = error_and_degrees(logs(a)?.medians(), logs(b)?.medians());
        let (error, degrees) = known.unwrap_or((f64::INFINITY, 1));
        Some(Difference { ratio, error, degrees: degrees as f64 })
    }

    /// The same if replicates with equal numbers were measured one after the other: the ratio is formed
    /// within each pair.
    #[must_use]
    pub fn paired(a: &[Vec<f64>], b: &[Vec<f64>], seed: u64) -> Option<Difference> {
        let ratio = paired_ratio(&typical(a), &typical(b), seed)?;
        let logs = pairs(a, b);
        let known = mean_and_variance(&logs);
        let error = known.map_or(f64::INFINITY, |(_, variance)| variance.sqrt());
        Some(Difference { ratio, error, degrees: logs.len().saturating_sub(1).max(1) as f64 })
    }

    /// The difference of two cells of which only the estimates are known.
    #[must_use]
    pub fn of_estimates(a: &Estimate, b: &Estimate) -> Option<Difference> {
        let half = |estimate: &Estimate| -> Option<f64> {
            let all = [estimate.low, estimate.median, estimate.high].into_iter().all(|v| v > 0.0);
            all.then(|| (estimate.high / estimate.low).ln() / 2.0)
        };
        let width = half(a)?.hypot(half(b)?);
        let median = a.median / b.median;
        let ratio = Ratio { median, low: median / width.exp(), high: median * width.exp() };
        Some(Difference { ratio, error: width / NORMAL_95, degrees: DEGREES_OF_ESTIMATES })
    }

    /// Removes a shift common to all rows (a logarithm).
    #[must_use]
    pub fn without(self, shift: f64) -> Difference {
        let Ratio { median, low, high } = self.ratio;
        let factor = shift.exp();
        Difference {
            ratio: Ratio { median: median / factor, low: low / factor, high: high / factor },
            ..self
        }
    }

    /// The ratio's 95 % interval if runs of one program differ by `between` (a standard deviation of the
    /// logarithm).
    #[must_use]
    pub fn interval(&self, between: f64) -> Ratio {
        let Ratio { median, low, high } = self.ratio;
        let wider = |half: f64| half.hypot(NORMAL_95 * between).exp();
        Ratio { median, low: median / wider((median / low).ln()), high: median * wider((high / median).ln()) }
    }

    /// The probability of a difference at least as large as this one between equal cells.
    #[must_use]
    pub fn p_value(&self, between: f64) -> f64 {
        let error = self.error.hypot(between);
        let distance = self.ratio.median.ln().abs();
        if !error.is_finite() || distance == 0.0 {
            return 1.0;
        }
        if error == 0.0 {
            return 0.0;
        }
        tails(distance / error, self.degrees)
    }

    /// Bounds that the true ratio exceeds with a probability of `tail` (below a half) on each side, and at
    /// least as wide as [`Difference::interval`] if `tail` is below 2.5 %. `(0, infinity)` if a side has one
    /// replicate.
    #[must_use]
    pub fn bounds(&self, tail: f64, between: f64) -> (f64, f64) {
        let half = quantile_of_t(tail, self.degrees) * self.error.hypot(between);
        if !half.is_finite() {
            return (0.0, f64::INFINITY);
        }
        let median = self.ratio.median;
        let (low, high) = (median / half.exp(), median * half.exp());
        match self.interval(between) {
            interval if tail < 0.025 => (low.min(interval.low), high.max(interval.high)),
            _ => (low, high),
        }
    }
}

/// Bounds on the median ratio of replicate pairs, each exceeded with a probability of at most `tail`. They
/// are order statistics and assume no distribution, so one outlying process in ten has no effect. `None` if
/// there are too few pairs for this probability.
#[must_use]
pub fn median_bounds(a: &[Vec<f64>], b: &[Vec<f64>], tail: f64) -> Option<(f64, f64)> {
    let mut ratios: Vec<f64> = pairs(a, b).into_iter().map(f64::exp).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    // The probability that at most `beyond` pairs lie on one side of the median.
    let mut term = 0.5_f64.powi(i32::try_from(ratios.len()).unwrap_or(i32::MAX));
    let mut chance = 0.0;
    let mut cut = None;
    for beyond in 0..ratios.len() {
        chance += term;
        if chance > tail {
            break;
        }
        cut = Some(beyond);
        term *= (ratios.len() - beyond) as f64 / (beyond + 1) as f64;
    }
    let cut = cut?;
    Some((*ratios.get(cut)?, *ratios.get(ratios.len() - 1 - cut)?))
}

/// The medians of the replicates.
fn typical(replicates: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let kept = |rounds: &Vec<f64>| -> Vec<f64> {
        rounds.iter().copied().filter(|ticks| ticks.is_finite() && *ticks > 0.0).collect()
    };
    replicates.iter().map(|rounds| median(&kept(rounds)).into_iter().collect()).collect()
}

/// The logarithms of the ratios of replicates with equal numbers.
fn pairs(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<f64> {
    let (a, b) = (typical(a), typical(b));
    a.iter().zip(&b).filter_map(|(a, b)| Some(a.first()?.ln() - b.first()?.ln())).collect()
}

/// The two-sided tail probability of Student's t.
fn tails(t: f64, degrees: f64) -> f64 {
    betai(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// The value that Student's t exceeds with a probability of `tail`.
fn quantile_of_t(tail: f64, degrees: f64) -> f64 {
    let x = invbetai((2.0 * tail).clamp(0.0, 1.0), degrees / 2.0, 0.5);
    (degrees * (1.0 - x) / x).sqrt()
}

/// The difference between two runs of one program beyond the scatter of their replicates, on a logarithmic
/// scale.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunNoise {
    /// The shift common to all rows, for example from another clock frequency or more load.
    pub shift: f64,
    /// The standard deviation of the rows around the shift.
    pub spread: f64,
}

/// The noise between two runs, from rows that cannot have changed; `None` if there are fewer than
/// [`LEAST_CONTROLS`].
///
/// The shift is the rows' median. 90 % of the rows lie within 1.64 standard deviations of it, which include
/// the replicates' own errors. A single outlying row has no effect; rows with one process are ignored.
#[must_use]
pub fn between_runs(unchanged: &[Difference]) -> Option<RunNoise> {
    let known: Vec<&Difference> = unchanged.iter().filter(|row| row.error.is_finite()).collect();
    if known.len() < LEAST_CONTROLS {
        return None;
    }
    let logs: Vec<f64> = known.iter().map(|row| row.ratio.median.ln()).collect();
    let shift = median(&logs)?;
    let distances: Vec<f64> = logs.iter().map(|log| (log - shift).abs()).collect();
    let errors: Vec<f64> = known.iter().map(|row| row.error).collect();
    let (all, own) = (quantile(&distances, 0.9)? / NORMAL_90, median(&errors)?);
    Some(RunNoise { shift, spread: (all * all - own * own).max(0.0).sqrt() })
}

/// Marks the comparisons that found a difference, such that at most 5 % of them (for a `rate` of 0.05) are
/// expected to be due to chance.
///
/// # Examples
/// ```
/// use carryline_statistics::discoveries;
/// // Of twenty, one below 5 % is expected by chance; two far below are not.
/// let mut p = [0.5; 20];
/// p[3] = 0.04;
/// assert_eq!(discoveries(&p, 0.05).iter().filter(|found| **found).count(), 0);
/// (p[4], p[5]) = (0.001, 0.002);
/// assert_eq!(discoveries(&p, 0.05).iter().filter(|found| **found).count(), 2);
/// ```
#[must_use]
pub fn discoveries(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let share = |place: usize| rate * (place + 1) as f64 / p_values.len() as f64;
    let last = order.iter().enumerate().rev().find(|(place, index)| p_values[**index] <= share(*place));
    let mut found = vec![false; p_values.len()];
    for index in order.iter().take(last.map_or(0, |(place, _)| place + 1)) {
        found[*index] = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_t_match_the_tables() {
        for (degrees, tail, t) in
            [(1.0, 0.025, 12.706), (4.0, 0.025, 2.776), (8.0, 0.005, 3.355), (30.0, 0.05, 1.697)]
        {
            assert!((quantile_of_t(tail, degrees) - t).abs() < 2e-3, "{degrees} {tail}");
            assert!((tails(t, degrees) - 2.0 * tail).abs() < 1e-4, "{degrees} {tail}");
        }
        // Far in the tail, as needed for comparisons of hundreds of rows: 8.907 by numerical integration.
        assert!((quantile_of_t(1e-5, 8.0) - 8.907).abs() < 0.002, "{}", quantile_of_t(1e-5, 8.0));
    }

    #[test]
    fn noise_between_runs_widens_intervals_and_raises_p_values() {
        let side = |ticks: f64| -> Vec<Vec<f64>> {
            [1.0, 1.002, 0.998, 1.001, 0.999].map(|factor| vec![ticks * factor; 8]).into()
        };
        let row = Difference::unpaired(&side(102.0), &side(100.0), 1).expect("samples");
        assert!(row.ratio.low > 1.01 && row.p_value(0.0) < 1e-4, "{row:?}");
        let wide = row.interval(0.02);
        assert!(wide.low < 1.0 && wide.high > 1.05, "{wide:?}");
        assert!(row.p_value(0.02) > 0.3);
        let (low, high) = row.bounds(0.001, 0.0);
        assert!(low < row.ratio.low && high > row.ratio.high && low > 1.0, "{low} {high}");
    }

    #[test]
    fn alternating_processes_are_paired() {
        let level = [1.0, 1.2, 0.9, 1.1, 0.95];
        let side = |ticks: f64| -> Vec<Vec<f64>> { level.iter().map(|l| vec![ticks * l; 6]).collect() };
        let pair = Difference::paired(&side(103.0), &side(100.0), 1).expect("samples");
        assert!((pair.ratio.low - 1.03).abs() < 1e-9 && pair.p_value(0.0) < 1e-9, "{pair:?}");
        let apart = Difference::unpaired(&side(103.0), &side(100.0), 1).expect("samples");
        assert!(apart.ratio.low < 1.0 && apart.p_value(0.0) > 0.5, "{apart:?}");
    }

    #[test]
    fn an_outlying_process_moves_no_bound() {
        let base = vec![vec![100.0; 3]; 20];
        let mut new: Vec<Vec<f64>> = (0..20).map(|k| vec![105.0 + 0.1 * f64::from(k % 5); 3]).collect();
        new[3] = vec![300.0; 3];
        let (low, high) = median_bounds(&new, &base, 0.001).expect("enough pairs");
        assert!(low > 1.049 && high < 1.055, "{low} {high}");
        assert!(Difference::paired(&new, &base, 1).is_some_and(|found| found.bounds(0.001, 0.0).0 < 1.0));
        // By the binomial distribution: of 10 pairs, none lie beyond the median with probability 1 / 1024, at
        // most one with 11 / 1024.
        let ten: Vec<Vec<f64>> = (1..=10).map(|k| vec![100.0 + f64::from(k)]).collect();
        let at = |tail| median_bounds(&ten, &base[..10], tail).map(|(low, _)| (low * 100.0).round());
        assert_eq!((at(0.0009), at(0.001), at(0.011)), (None, Some(101.0), Some(102.0)));
    }

    #[test]
    fn one_process_per_side_is_never_significant() {
        let lone = Difference::unpaired(&[vec![200.0; 30]], &vec![vec![100.0; 30]; 5], 1).expect("samples");
        assert_eq!((lone.p_value(0.0), lone.bounds(0.01, 0.0)), (1.0, (0.0, f64::INFINITY)));
        assert!(Difference::unpaired(&[vec![f64::NAN]], &[vec![1.0]], 1).is_none());
    }

    #[test]
    fn half_widths_of_intervals_add_as_variances() {
        let of = |median: f64| Estimate { median, low: median / 1.03, high: median * 1.03, min: median };
        let row = Difference::of_estimates(&of(110.0), &of(100.0)).expect("positive");
        let half = (1.03_f64.ln() * 2.0_f64.sqrt()).exp();
        assert!((row.ratio.high / row.ratio.median - half).abs() < 1e-9, "{row:?}");
        let odd = Estimate { median: 1.0, low: 0.0, high: 2.0, min: 0.0 };
        assert!(Difference::of_estimates(&odd, &of(1.0)).is_none());
    }

    #[test]
    fn unchanged_rows_give_the_noise_between_runs() {
        let row = |log: f64| {
            let median = log.exp();
            Difference { ratio: Ratio { median, low: median, high: median }, error: 0.002, degrees: 8.0 }
        };
        let rows: Vec<Difference> = (0..20).map(|k| row(0.04 + 0.02 * f64::from(k % 5 - 2))).collect();
        let noise = between_runs(&rows).expect("twenty rows");
        assert!((noise.shift - 0.04).abs() < 1e-12 && (0.02..0.03).contains(&noise.spread), "{noise:?}");
        assert!((rows[2].without(noise.shift).ratio.median - 1.0).abs() < 1e-12);
        let mut wild = rows;
        wild[0] = row(3.0);
        assert!((between_runs(&wild).expect("twenty rows").spread - noise.spread).abs() < 0.005);
        assert_eq!(between_runs(&wild[..7]), None);
        assert_eq!(between_runs(&vec![row(0.0); 8]), Some(RunNoise::default()));
    }
}
