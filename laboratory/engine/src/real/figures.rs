//! Computes the figures of both forms, their ratio and its verdict from the resource usage of the runs.

use super::child::Usage;
use carryline_statistics::{self as statistics, Estimate, Order, Ratio};
use serde::Serialize;

/// One round.
#[derive(Clone, Copy, Debug)]
pub struct ProgramRound {
    /// Without the interposer.
    pub without: Usage,
    /// With it.
    pub with: Usage,
    /// Without the interposer again, for the noise floor.
    pub again: Usage,
    /// Without the interposer and with other tunables of the C library, if requested.
    pub tuned: Option<Usage>,
}

/// A metric of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Elapsed time in seconds.
    RealS,
    /// User CPU time in seconds.
    UserS,
    /// System CPU time in seconds.
    SystemS,
    /// User and system CPU time in seconds; the kernel accounts the sum more accurately than the division.
    CpuS,
    /// Peak memory in bytes.
    PeakMemoryBytes,
    /// Page faults without I/O.
    MinorFaults,
    /// Page faults with I/O.
    MajorFaults,
    /// Voluntary context switches.
    VoluntarySwitches,
    /// Involuntary context switches.
    InvoluntarySwitches,
}

impl Metric {
    /// All of them, in the order of tables.
    pub const ALL: [Metric; 9] = [
        Metric::RealS,
        Metric::UserS,
        Metric::SystemS,
        Metric::CpuS,
        Metric::PeakMemoryBytes,
        Metric::MinorFaults,
        Metric::MajorFaults,
        Metric::VoluntarySwitches,
        Metric::InvoluntarySwitches,
    ];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::RealS => "real time",
            Metric::UserS => "user time",
            Metric::SystemS => "system time",
            Metric::CpuS => "user + system",
            Metric::PeakMemoryBytes => "peak memory",
            Metric::MinorFaults => "minor faults",
            Metric::MajorFaults => "major faults",
            Metric::VoluntarySwitches => "voluntary switches",
            Metric::InvoluntarySwitches => "involuntary switches",
        }
    }

    fn of(self, usage: &Usage) -> f64 {
        match self {
            Metric::RealS => usage.real_s,
            Metric::UserS => usage.user_s,
            Metric::SystemS => usage.system_s,
            Metric::CpuS => usage.user_s + usage.system_s,
            Metric::PeakMemoryBytes => usage.peak_memory_bytes,
            Metric::MinorFaults => usage.minor_faults,
            Metric::MajorFaults => usage.major_faults,
            Metric::VoluntarySwitches => usage.voluntary_switches,
            Metric::InvoluntarySwitches => usage.involuntary_switches,
        }
    }
}

/// One metric of both forms.
#[derive(Clone, Debug, Serialize)]
pub struct MetricFigure {
    /// The metric.
    pub metric: Metric,
    /// Without the interposer.
    pub without: Estimate,
    /// With it.
    pub with: Estimate,
    /// With divided by without, by round; `None` if the metric is zero in one of them.
    pub ratio: Option<Ratio>,
    /// The noise floor: the relative difference between two runs without the interposer.
    pub floor: Option<f64>,
    /// `less`, `more` or `tie`: the effect of the interposer; `None` if there is no ratio or only one round.
    pub verdict: Option<&'static str>,
    /// With other tunables of the C library, if there is such a form.
    pub tuned: Option<Tuned>,
    /// The samples without and with the interposer, by round.
    #[serde(skip)]
    pub samples: [Vec<Vec<f64>>; 2],
}

/// One metric with other tunables of the C library and without the interposer.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Tuned {
    /// With them.
    pub with: Estimate,
    /// With divided by without, by round.
    pub ratio: Option<Ratio>,
    /// See [`MetricFigure::verdict`].
    pub verdict: Option<&'static str>,
    /// With the interposer, and the tunables as they were, divided by this, by round.
    pub interposer_ratio: Option<Ratio>,
    /// The effect of the interposer against these tunables.
    pub interposer_verdict: Option<&'static str>,
}

/// The figures of all metrics; empty without a round.
pub(super) fn all(rounds: &[ProgramRound], seed: u64) -> Vec<MetricFigure> {
    Metric::ALL.into_iter().filter_map(|metric| figure(metric, rounds, seed)).collect()
}

fn figure(metric: Metric, rounds: &[ProgramRound], seed: u64) -> Option<MetricFigure> {
    // Each run is a process, so everything that varies between processes varies between rounds.
    let samples = |usage: fn(&ProgramRound) -> &Usage| -> Vec<Vec<f64>> {
        rounds.iter().map(|round| vec![metric.of(usage(round))]).collect()
    };
    let (without, with, again) = (samples(|r| &r.without), samples(|r| &r.with), samples(|r| &r.again));
    let ratio = statistics::paired_ratio(&with, &without, seed);
    let floor = statistics::paired_ratio(&again, &without, seed).map(|pair| statistics::noise_floor(&[pair]));
    // One round gives no spread.
    let verdict = |ratio: Option<Ratio>| {
        ratio.zip(floor).filter(|_| rounds.len() > 1).map(|(ratio, floor)| {
            match statistics::compare(&ratio, floor) {
                Order::Faster => "less",
                Order::Slower => "more",
                Order::Tie => "tie",
            }
        })
    };
    let tuned: Vec<Vec<f64>> =
        rounds.iter().map(|r| r.tuned.iter().map(|usage| metric.of(usage)).collect()).collect();
    let tuned = statistics::estimate(&tuned, seed).map(|estimate| {
        let ratio = statistics::paired_ratio(&tuned, &without, seed);
        let interposer_ratio = statistics::paired_ratio(&with, &tuned, seed);
        let (verdict, interposer_verdict) = (verdict(ratio), verdict(interposer_ratio));
        Tuned { with: estimate, ratio, verdict, interposer_ratio, interposer_verdict }
    });
    Some(MetricFigure {
        metric,
        without: statistics::estimate(&without, seed)?,
        with: statistics::estimate(&with, seed)?,
        ratio,
        floor,
        verdict: verdict(ratio),
        tuned,
        samples: [without, with],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(real_s: f64) -> Usage {
        Usage {
            real_s,
            user_s: real_s,
            system_s: 0.0,
            peak_memory_bytes: 1e6,
            minor_faults: 100.0,
            major_faults: 0.0,
            voluntary_switches: 1.0,
            involuntary_switches: 0.0,
        }
    }

    fn rounds(with: f64) -> Vec<ProgramRound> {
        let noise = [0.0, 0.002, -0.001, 0.001, -0.002, 0.0015, 0.0005];
        noise
            .iter()
            .map(|n| ProgramRound {
                without: usage(1.0 + n),
                with: usage(with - n),
                again: usage(1.0 - n / 2.0),
                tuned: None,
            })
            .collect()
    }

    #[test]
    fn a_difference_counts_only_above_the_floor() {
        let verdict = |with| {
            let figures = all(&rounds(with), 1);
            figures.iter().find(|figure| figure.metric == Metric::RealS).expect("measured").verdict
        };
        assert_eq!(verdict(0.9), Some("less"));
        assert_eq!(verdict(1.1), Some("more"));
        assert_eq!(verdict(1.001), Some("tie"));
    }

    #[test]
    fn the_interposer_is_compared_with_other_tunables_too() {
        let rounds: Vec<ProgramRound> = rounds(0.9)
            .into_iter()
            .map(|round| ProgramRound { tuned: Some(usage(round.without.real_s * 0.8)), ..round })
            .collect();
        let figures = all(&rounds, 1);
        let real = figures.iter().find(|figure| figure.metric == Metric::RealS).expect("measured");
        let tuned = real.tuned.expect("a fourth form");
        assert_eq!(
            (real.verdict, tuned.verdict, tuned.interposer_verdict),
            (Some("less"), Some("less"), Some("more"))
        );
        let ratio = tuned.interposer_ratio.expect("positive times").median;
        assert!((ratio - 0.9 / 0.8).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn a_metric_that_is_zero_has_no_ratio() {
        let figures = all(&rounds(1.0), 1);
        assert_eq!(figures.len(), Metric::ALL.len());
        let faults = figures.iter().find(|figure| figure.metric == Metric::MajorFaults).expect("there");
        assert_eq!((faults.ratio, faults.verdict, faults.without.median), (None, None, 0.0));
        assert!(all(&[], 1).is_empty());
    }
}
