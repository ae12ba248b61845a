//! The time-stamp counter: its frequency and its step size.

use serde::{Deserialize, Serialize};

/// The time-stamp counter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// True if it ticks at a constant rate regardless of the core clock; `None` if there is no counter.
    pub invariant: Option<bool>,
    /// Its frequency, if reported.
    pub hz: Option<u64>,
    /// The source of the frequency: `CPUID`, `hypervisor` or `kernel`.
    pub hz_source: Option<String>,
    /// The observed steps.
    pub steps: Option<TscSteps>,
}

/// The steps between consecutive readings of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TscSteps {
    /// The smallest step. A counter that advances in large units may be incremented by 1 so that no two
    /// readings are equal; its resolution is then only in `unit_ticks`.
    pub smallest_ticks: u64,
    /// The unit of which nearly all steps are multiples, within a tick. If it exceeds 1, the counter advances
    /// in units (some count at 100 MHz and multiply), and a single reading has no finer resolution.
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

/// Observes the counter for this many steps, with a varying amount of work before each reading, so that a
/// fine counter shows steps of every size; `None` if there is no counter or it does not advance.
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

/// The largest unit of which nearly all steps are multiples, within a tick of rounding; 1 if there is none.
fn unit(steps: &[u64]) -> u64 {
    // Smaller units would fit one step in three by chance.
    const LEAST: u64 = 8;
    // The unit may be fractional (25.96 ticks), so that large multiples drift: only the smaller half of the
    // steps is used.
    let mut steps = steps.to_vec();
    steps.sort_unstable();
    steps.truncate(steps.len().div_ceil(2));
    let Some(&largest) = steps.last() else { return 1 };
    let fits = |unit: u64| {
        let on_grid = steps.iter().filter(|step| (**step + 1) % unit <= 2).count();
        // At least one true multiple: a counter that only moved by 1 shows no unit.
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
    // With a constant TSC, the kernel's delay loop counts TSC ticks, and BogoMIPS is twice the TSC frequency
    // in MHz.
    let flags = super::cpu::cpuinfo("flags")?;
    let constant = flags.split_whitespace().any(|flag| flag == "constant_tsc");
    let bogomips: f64 = super::cpu::cpuinfo("bogomips").filter(|_| constant)?.parse().ok()?;
    (bogomips.is_finite() && bogomips > 0.0).then_some(((bogomips / 2.0 * 1e6) as u64, "kernel"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_and_fine_counters_are_distinguished() {
        // 100 MHz multiplied by 25.96, read again within the same step or several steps later.
        let mut coarse = Vec::new();
        for _ in 0..50 {
            coarse.extend([1, 1, 25, 26, 26, 26, 26, 51, 52, 78, 104]);
        }
        assert_eq!(unit(&coarse), 26);
        coarse.push(60_346);
        assert_eq!(unit(&coarse), 26, "an interrupt has no influence");
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
