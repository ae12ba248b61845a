//! The load by other processes at the moment.
//!
//! The load average covers the last minute, so that it includes commands of this program that have ended. Where it is
//! high, the time that CPUs are busy while this process sleeps shows whether other processes still run.

use std::time::Duration;

/// How long this process sleeps between the two readings.
const PAUSE: Duration = Duration::from_millis(200);

/// The ticks in which CPUs were busy, and all ticks, of all CPUs; and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Busy {
    busy: u64,
    all: u64,
    cpus: u64,
}

impl Busy {
    fn in_stat(stat: &str) -> Option<Busy> {
        let fields = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // user nice system idle iowait irq softirq. Guest time is included in user time.
        let ticks: Vec<u64> =
            fields.split_whitespace().take(7).map_while(|field| field.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq] = ticks.try_into().ok()?;
        let is_cpu = |line: &&str| {
            let number = line.strip_prefix("cpu");
            number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let cpus = stat.lines().filter(is_cpu).count() as u64;
        let busy = user + nice + system + irq + softirq;
        (cpus > 0).then_some(Busy { busy, all: busy + idle + iowait, cpus })
    }

    /// The mean number of busy CPUs since an earlier reading.
    fn since(&self, earlier: &Busy) -> Option<f64> {
        let all = self.all.checked_sub(earlier.all).filter(|all| *all > 0)?;
        Some(self.busy.saturating_sub(earlier.busy) as f64 / all as f64 * self.cpus as f64)
    }
}

/// The mean number of CPUs that other processes keep busy, from two readings of `/proc/stat` between which this process
/// sleeps; `None` if the kernel does not report it.
pub(super) fn busy_cpus() -> Option<f64> {
    let now = || Busy::in_stat(&std::fs::read_to_string("/proc/stat").ok()?);
    let before = now()?;
    std::thread::sleep(PAUSE);
    now()?.since(&before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_is_parsed_and_compared() {
        let stat = |user: u64, idle: u64| {
            let lines = format!("cpu  {user} 1 40 {idle} 5 0 1 9 7 0\ncpu0 1 2 3\ncpu1 4 5 6\nintr 7\n");
            Busy::in_stat(&lines).expect("two CPUs")
        };
        let (before, after) = (stat(100, 200), stat(110, 230));
        assert_eq!(before, Busy { busy: 142, all: 347, cpus: 2 });
        assert_eq!(after.since(&before), Some(0.5), "10 of 40 ticks of two CPUs");
        assert_eq!(before.since(&before), None);
        assert_eq!(Busy::in_stat("cpu  1 2 3\n"), None);
        assert_eq!(Busy::in_stat("intr 7\n"), None);
    }
}
