//! CPU affinity of the measuring process.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The logical CPUs on which this process may run; empty if the kernel does not report them.
#[must_use]
pub fn allowed_cpus() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Pins this thread to one CPU.
///
/// # Errors
/// The reason the kernel refuses, as a sentence.
pub fn pin(cpu: usize) -> Result<(), String> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(format!("CPU {cpu} cannot be named in an affinity mask"));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|errno| format!("the kernel refuses to pin to CPU {cpu}: {errno}"))
}

/// Keeps this thread off a CPU as long as the guard lives, so that a process that waits for a measurement
/// does not wake up on the measuring CPU. Does nothing if no other CPU is allowed, or if the kernel refuses.
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

/// Restores the affinity when dropped; see [`keep_off`].
#[derive(Debug)]
pub struct KeptOff {
    before: Option<CpuSet>,
}

impl Drop for KeptOff {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // At worst, the thread stays on fewer CPUs.
            let _ = sched_setaffinity(None, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_only_to_allowed_cpus() {
        // In a separate thread, because the affinity persists.
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
    fn keeps_off_a_cpu_until_the_guard_is_dropped() {
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
}
