//! What a measuring process asks of the kernel for itself: to stay on one CPU, and to be told when it was disturbed.

use crate::environment::Steal;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The logical CPUs that this process may run on; empty where the kernel does not say.
#[must_use]
pub fn allowed_cpus() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Keeps this thread on one CPU.
///
/// # Errors
/// Why the kernel refuses, as a sentence.
pub fn pin(cpu: usize) -> Result<(), String> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(format!("CPU {cpu} cannot be named in an affinity mask"));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|errno| format!("the kernel refuses to pin to CPU {cpu}: {errno}"))
}

/// Leaves one CPU to others, for as long as the guard lives: the process that waits for a measurement must not wake up
/// on the measuring CPU. Does nothing where that is the only CPU, or where the kernel refuses.
#[must_use]
pub fn keep_off(cpu: usize) -> KeptOff {
    let before = sched_getaffinity(None).ok();
    let changed = before.filter(|before| {
        let mut others = *before;
        others.unset(cpu);
        others.count() > 0 && before.is_set(cpu) && sched_setaffinity(None, &others).is_ok()
    });
    KeptOff { before: changed }
}

/// See [`keep_off`].
#[derive(Debug)]
pub struct KeptOff {
    before: Option<CpuSet>,
}

impl Drop for KeptOff {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Worst case, the thread stays on fewer CPUs.
            let _ = sched_setaffinity(None, before);
        }
    }
}

/// Counters of what takes the CPU away, at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Disturbance {
    involuntary_switches: u64,
    steal: Option<Steal>,
}

impl Disturbance {
    /// The counters now.
    #[must_use]
    pub fn now() -> Disturbance {
        Disturbance { involuntary_switches: involuntary_switches(), steal: Steal::now() }
    }

    /// How often the kernel took the CPU from this thread since then, and which share of the machine's time the
    /// hypervisor took.
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
    fn pins_to_a_cpu_that_is_allowed_and_refuses_another() {
        // In a thread of its own, for the affinity stays.
        std::thread::spawn(|| {
            let allowed = allowed_cpus();
            let last = *allowed.last().expect("at least the CPU this runs on");
            pin(last).expect("an allowed CPU");
            assert_eq!(allowed_cpus(), [last]);
            assert!(pin(CpuSet::MAX_CPU).is_err());
            assert!(pin(CpuSet::MAX_CPU - 1).is_err(), "no machine that runs this has so many CPUs");
        })
        .join()
        .expect("the thread's assertions hold");
    }

    #[test]
    fn a_cpu_is_left_to_others_for_a_while() {
        std::thread::spawn(|| {
            let allowed = allowed_cpus();
            let last = *allowed.last().expect("at least the CPU this runs on");
            {
                let _kept_off = keep_off(last);
                assert_eq!(allowed_cpus().contains(&last), allowed.len() == 1);
            }
            assert_eq!(allowed_cpus(), allowed);
        })
        .join()
        .expect("the thread's assertions hold");
    }

    #[test]
    fn disturbance_only_grows() {
        let before = Disturbance::now();
        let (switches, stolen) = before.since();
        assert!(switches < 1_000_000 && (0.0..=1.0).contains(&stolen));
    }
}
