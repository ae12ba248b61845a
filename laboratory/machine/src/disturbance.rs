//! Disturbances of a measuring process: from the kernel's counters, and from the rate at which the core executes
//! independent additions.

use crate::clock;
use crate::environment::Steal;

/// The kernel's counters of lost CPU time at one moment, and what was sampled since.
#[derive(Clone, Debug)]
pub struct Disturbance {
    involuntary_switches: u64,
    steal: Option<Steal>,
    additions_per_cycle: Vec<f64>,
}

impl Disturbance {
    /// Reads the counters.
    #[must_use]
    pub fn now() -> Disturbance {
        Disturbance {
            involuntary_switches: involuntary_switches(),
            steal: Steal::now(),
            additions_per_cycle: Vec::new(),
        }
    }

    /// Samples the rate of independent additions, which takes about 25 microseconds.
    pub fn sample(&mut self) {
        self.additions_per_cycle.extend(clock::additions_per_cycle());
    }

    /// The sampled rates of independent additions.
    #[must_use]
    pub fn additions_per_cycle(&self) -> &[f64] {
        &self.additions_per_cycle
    }

    /// The involuntary context switches of this thread since then, and the fraction of the machine's time
    /// that the hypervisor took.
    #[must_use]
    pub fn since(&self) -> (u64, f64) {
        let now = Disturbance::now();
        let stolen = self.steal.zip(now.steal).map_or(0.0, |(before, after)| after.share_since(&before));
        (now.involuntary_switches.saturating_sub(self.involuntary_switches), stolen)
    }
}

fn involuntary_switches() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/thread-self/status") else { return 0 };
    let field = text.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    field.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbance_does_not_decrease() {
        let mut before = Disturbance::now();
        before.sample();
        let (switches, stolen) = before.since();
        assert!(switches < 1_000_000 && (0.0..=1.0).contains(&stolen));
        let known = usize::from(cfg!(target_arch = "x86_64"));
        assert_eq!(before.additions_per_cycle().len(), known);
    }
}
