//! The geometric mean of ratios that were measured by the same processes.

use carryline_statistics::{Ratio, median, paired_ratio};

/// A ratio of a mean.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// The ratio.
    pub ratio: Ratio,
    /// The noise floor of its situation.
    pub floor: f64,
    /// Where it was measured.
    pub processes: Processes,
}

/// The processes that measured a ratio.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processes {
    /// The run.
    pub run: usize,
    /// The logarithm of the ratio in each process of the run, where it measured both routines; empty if the
    /// ratio was not formed process by process.
    pub logs: Vec<Option<f64>>,
}

impl Processes {
    /// The processes of a run with these samples of two routines, by process and round.
    pub(crate) fn of(run: usize, theirs: &[Vec<f64>], ours: &[Vec<f64>]) -> Processes {
        let log = |(theirs, ours): (&Vec<f64>, &Vec<f64>)| {
            let logs = theirs.iter().zip(ours).map(|(theirs, ours)| theirs.ln() - ours.ln());
            median(&logs.filter(|log| log.is_finite()).collect::<Vec<_>>())
        };
        Processes { run, logs: theirs.iter().zip(ours).map(log).collect() }
    }

    /// Whether a process measured both ratios.
    fn share_one(&self, other: &Processes) -> bool {
        let mut pairs = self.logs.iter().zip(&other.logs);
        self.run == other.run && pairs.any(|(here, there)| here.is_some() && there.is_some())
    }
}

/// The geometric mean of ratios, and the noise floor of a typical one.
///
/// A process has one memory layout for all of its sets, so the mean is formed in each process, and the interval
/// is that over the processes. A row of the C library is measured in every second process: ratios to the two
/// rows share none, and the means of both are independent.
pub(crate) fn mean_of(parts: &[Part], seed: u64) -> Option<(Ratio, f64)> {
    let count = parts.len() as f64;
    let mean = parts.iter().map(|part| part.ratio.median.ln()).sum::<f64>() / count;
    let floor = median(&parts.iter().map(|part| part.floor).collect::<Vec<_>>())?;
    let (mut below, mut above) = (0.0, 0.0);
    for group in groups(parts) {
        let Ratio { median, low, high } = mean_of_group(&group, seed);
        let share = group.len() as f64 / count;
        below += (share * (median / low).ln()).powi(2);
        above += (share * (high / median).ln()).powi(2);
    }
    let ratio =
        Ratio { median: mean.exp(), low: (mean - below.sqrt()).exp(), high: (mean + above.sqrt()).exp() };
    Some((ratio, floor))
}

/// The parts, those that share a process together.
fn groups(parts: &[Part]) -> Vec<Vec<&Part>> {
    let mut groups: Vec<Vec<&Part>> = Vec::new();
    for part in parts {
        let (related, rest): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.iter().any(|known| known.processes.share_one(&part.processes)));
        groups = rest;
        groups.push(related.into_iter().flatten().chain([part]).collect());
    }
    groups
}

/// The mean of parts that share processes. Where a process lacks a part, the median of those that have it is
/// used.
fn mean_of_group(group: &[&Part], seed: u64) -> Ratio {
    let processes = group.iter().map(|part| part.processes.logs.len()).max().unwrap_or(0);
    let typical: Vec<f64> = group
        .iter()
        .map(|part| {
            let known: Vec<f64> = part.processes.logs.iter().copied().flatten().collect();
            median(&known).unwrap_or(f64::NAN)
        })
        .collect();
    let mean = |process: usize| {
        let logs = || group.iter().map(|part| part.processes.logs.get(process).copied().flatten());
        let sum: f64 = logs().zip(&typical).map(|(log, typical)| log.unwrap_or(*typical)).sum();
        let is_known = logs().any(|log| log.is_some());
        vec![if is_known { (sum / group.len() as f64).exp() } else { f64::NAN }]
    };
    let means: Vec<Vec<f64>> = (0..processes).map(mean).collect();
    match (paired_ratio(&means, &vec![vec![1.0]; processes], seed), group) {
        // Alone, the rounds within its processes are known too.
        (_, [part]) => part.ratio,
        (Some(ratio), _) => ratio,
        // Parts share a process, so there is a mean.
        (None, _) => Ratio { median: f64::NAN, low: f64::NAN, high: f64::NAN },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESSES: usize = 8;

    /// A part whose ratio to the C library differs by process.
    fn part(median: f64, is_measured: impl Fn(usize) -> bool, shift: impl Fn(usize) -> f64) -> Part {
        let samples = |process: usize| {
            let ticks = 100.0 * median * shift(process);
            vec![if is_measured(process) { ticks } else { f64::NAN }; 3]
        };
        let theirs: Vec<Vec<f64>> = (0..PROCESSES).map(samples).collect();
        let ours = vec![vec![100.0; 3]; PROCESSES];
        Part {
            ratio: paired_ratio(&theirs, &ours, 1).expect("shared rounds"),
            floor: 0.01,
            processes: Processes::of(0, &theirs, &ours),
        }
    }

    fn width(ratio: &Ratio) -> f64 {
        (ratio.high / ratio.low).ln()
    }

    /// 4 % up or down.
    fn layout(process: usize) -> f64 {
        if (process / 2).is_multiple_of(2) { 1.04 } else { 0.96 }
    }

    #[test]
    fn what_a_process_has_in_common_does_not_average_out() {
        let parts = [1.0, 2.0, 4.0].map(|median| part(median, |_| true, layout));
        let (mean, floor) = mean_of(&parts, 1).expect("parts");
        assert!((mean.median / 2.0 - 1.0).abs() < 0.05 && floor == 0.01, "{mean:?}");
        assert!(width(&mean) > 0.9 * width(&parts[0].ratio), "{mean:?} of {parts:?}");
    }

    #[test]
    fn what_differs_within_a_process_averages_out() {
        let parts = [part(1.0, |_| true, layout), part(1.0, |_| true, |process| 1.0 / layout(process))];
        let (mean, _) = mean_of(&parts, 1).expect("parts");
        assert!(width(&mean) < 0.2 * width(&parts[0].ratio), "{mean:?} of {parts:?}");
    }

    #[test]
    fn ratios_to_rows_of_different_processes_are_independent() {
        let rows = [0, 1].map(|row| part(2.0, move |process| process % 2 == row, layout));
        assert_eq!(groups(&rows).len(), 2);
        let (mean, _) = mean_of(&rows, 1).expect("parts");
        let expected = width(&rows[0].ratio) / 2.0_f64.sqrt();
        assert!((width(&mean) / expected - 1.0).abs() < 0.01, "{mean:?} of {rows:?}");
        // One that shares processes with both joins them.
        let [even, odd] = rows;
        assert_eq!(groups(&[even, odd, part(1.0, |_| true, layout)]).len(), 1);
    }

    #[test]
    fn a_mean_of_nothing_is_none() {
        assert!(mean_of(&[], 1).is_none());
    }
}
