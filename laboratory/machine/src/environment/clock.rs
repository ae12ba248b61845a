//! The time-stamp counter: how fast it ticks, and in what steps.

use serde::{Deserialize, Serialize};

/// The time-stamp counter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Whether it ticks evenly whatever the core clock does; `None` where there is none.
    pub invariant: Option<bool>,
    /// Its frequency, where someone states it.
    pub hz: Option<u64>,
    /// Who states it: `CPUID`, `hypervisor`, `kernel`.
    pub hz_source: Option<String>,
    /// The steps in which it is seen to advance.
    pub steps: Option<TscSteps>,
}

/// How the counter advances between readings that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TscSteps {
    /// The smallest step seen. A counter fed in bulk may be nudged by 1 so that no two readings are alike; then
    /// this says nothing of what it can tell apart, and `unit_ticks` does.
    pub smallest_ticks: u64,
    /// What nearly every step was a multiple of, within a tick. More than 1 means that the counter is fed in bulk
    /// (some count at 100 MHz and multiply), and that a single reading is no finer than this.
    pub unit_ticks: u64,
}

impl Clock {
    pub(super) fn here() -> Clock {
        let (hz, hz_source) = match stated_hz() {
            Some((hz, source)) => (Some(hz), Some(source.to_owned())),
            None => (None, None),
        };
        Clock { invariant: invariant(), hz, hz_source, steps: tsc_steps(4096) }
    }
}

/// Watches the counter through that many steps, with a little work of varied length before each reading, so that
/// a fine counter shows steps of every size; `None` where there is none or it stands still.
#[must_use]
pub fn tsc_steps(steps: usize) -> Option<TscSteps> {
    const MOST_READINGS: usize = 1 << 24;
    let mut seen = Vec::new();
    let mut before = read_tsc()?;
    for reading in 0..MOST_READINGS {
        if seen.len() >= steps {
            break;
        }
        for delay in 0..reading % 61 {
            std::hint::black_box(delay);
        }
        let now = read_tsc()?;
        if now > before {
            seen.push(now - before);
        }
        before = now;
    }
    let smallest_ticks = *seen.iter().min()?;
    Some(TscSteps { smallest_ticks, unit_ticks: unit(&seen) })
}

/// The largest unit of which nearly all steps are multiples, give or take a tick of rounding; 1 where there is
/// none.
fn unit(steps: &[u64]) -> u64 {
    // Below, one step in three would fit by chance.
    const LEAST: u64 = 8;
    // A unit need not be whole (25.96 ticks), so that large multiples drift off: only the lower half is looked at.
    let mut steps = steps.to_vec();
    steps.sort_unstable();
    steps.truncate(steps.len().div_ceil(2));
    let Some(&largest) = steps.last() else { return 1 };
    let fits = |unit: u64| {
        let on_grid = steps.iter().filter(|step| (**step + 1) % unit <= 2).count();
        // At least one true multiple: a counter that only ever moved by 1 has no grid.
        on_grid * 100 >= steps.len() * 98 && steps.iter().any(|step| *step + 1 >= unit)
    };
    (LEAST..=largest + 1).rev().find(|unit| fits(*unit)).unwrap_or(1)
}

#[cfg(target_arch = "x86_64")]
fn read_tsc() -> Option<u64> {
    // SAFETY: RDTSC is part of every x86-64 CPU, and a process forbidden to use it could not time anything.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
fn read_tsc() -> Option<u64> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn invariant() -> Option<bool> {
    None
}

#[cfg(target_arch = "x86_64")]
fn invariant() -> Option<bool> {
    raw_cpuid::CpuId::new().get_advanced_power_mgmt_info().map(|power| power.has_invariant_tsc())
}

#[cfg(not(target_arch = "x86_64"))]
fn stated_hz() -> Option<(u64, &'static str)> {
    None
}

#[cfg(target_arch = "x86_64")]
fn stated_hz() -> Option<(u64, &'static str)> {
    let cpuid = raw_cpuid::CpuId::new();
    if let Some(hz) = cpuid.get_tsc_info().and_then(|info| info.tsc_frequency()).filter(|hz| *hz > 0) {
        return Some((hz, "CPUID"));
    }
    let khz = cpuid.get_hypervisor_info().and_then(|info| info.tsc_frequency());
    if let Some(khz) = khz.filter(|khz| *khz > 0) {
        return Some((u64::from(khz) * 1000, "hypervisor"));
    }
    // With a constant TSC the kernel's delay loop counts TSC ticks, and BogoMIPS are two per tick.
    let flags = super::cpu::cpuinfo("flags")?;
    let constant = flags.split_whitespace().any(|flag| flag == "constant_tsc");
    let bogomips: f64 = super::cpu::cpuinfo("bogomips").filter(|_| constant)?.parse().ok()?;
    (bogomips.is_finite() && bogomips > 0.0).then_some(((bogomips / 2.0 * 1e6) as u64, "kernel"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_counter_is_recognised_and_a_fine_one_is_not() {
        // 100 MHz multiplied by 25.96, read again within a step, one step or several later.
        let mut coarse = Vec::new();
        for _ in 0..50 {
            coarse.extend([1, 1, 25, 26, 26, 26, 26, 51, 52, 78, 104]);
        }
        assert_eq!(unit(&coarse), 26);
        coarse.push(60_346);
        assert_eq!(unit(&coarse), 26, "an interrupt changes nothing");
        // A fine counter shows steps of every size.
        let fine: Vec<u64> = (0..600).map(|n| 18 + n % 61).collect();
        assert_eq!(unit(&fine), 1);
        let even: Vec<u64> = (0..600).map(|n| 18 + 2 * (n % 61)).collect();
        assert_eq!(unit(&even), 1);
        assert_eq!(unit(&[]), 1);
        assert_eq!(unit(&[1, 1, 1]), 1);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_counter_here_advances() {
        let steps = tsc_steps(1000).expect("a counter");
        assert!(steps.smallest_ticks >= 1 && (1..10_000).contains(&steps.unit_ticks), "{steps:?}");
        let clock = Clock::here();
        assert_eq!(clock.hz.is_some(), clock.hz_source.is_some());
        if let Some(hz) = clock.hz {
            assert!((100_000_000..20_000_000_000).contains(&hz), "{hz}");
        }
    }
}
