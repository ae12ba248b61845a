//! The properties of the machine and the build that affect measurements; stored with every result.
//!
//! Two runs are comparable only if these agree ([`Environment::differences`]). [`Environment::limits_here`]
//! lists what cannot be measured on a machine, with the reasons. Names of hosts and users are never read.
//! Properties that the system does not report are `None`, never a guess.

mod assumed;
mod cache_sizes;
mod caches;
mod clock;
mod compare;
mod cpu;
mod load;
mod system;
mod tuning;

pub use cache_sizes::{CacheSizes, Level};
pub use caches::{Cache, CacheKind};
pub use clock::{Clock, TscSteps, tsc_steps};
pub use cpu::{Cpu, Frequency, core_of};
pub use system::{Build, Memory, Steal, System, libc_name, may_pin};
pub use tuning::Tuning;

use crate::counters::CycleCounter;
use serde::{Deserialize, Serialize};

/// The properties of the machine and the build that can change a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The processor.
    pub cpu: Cpu,
    /// Its caches as reported for the first allowed CPU, the nearest first.
    pub caches: Vec<Cache>,
    /// The time-stamp counter.
    pub clock: Clock,
    /// The control of the core frequency.
    pub frequency: Frequency,
    /// Main memory and pages.
    pub memory: Memory,
    /// Kernel, C library and load.
    pub system: System,
    /// The program.
    pub build: Build,
    /// The library's tuning; `None` in results stored before it was recorded.
    #[serde(default)]
    pub tuning: Option<Tuning>,
    /// Why hardware counters cannot be used; `None` if they can.
    pub no_counters: Option<String>,
}

impl Environment {
    /// Describes this machine. Takes some milliseconds, because CPUID is slow in a virtual machine, and 200 more if
    /// the load average is high. Call it
    /// before pinning the thread, which would leave one CPU allowed.
    #[must_use]
    pub fn here() -> Environment {
        let cpu = Cpu::here();
        Environment {
            caches: caches::here(cpu.allowed_cpus.first().copied().unwrap_or(0)),
            clock: Clock::here(),
            frequency: Frequency::here(cpu.allowed_cpus.first().copied().unwrap_or(0)),
            memory: Memory::here(),
            system: System::here(cpu.logical_cpus),
            build: Build::here(),
            tuning: Some(Tuning::here()),
            no_counters: CycleCounter::open().err(),
            cpu,
        }
    }

    /// The size of the data (or unified) cache of a level, in bytes; `None` if it is not reported.
    #[must_use]
    pub fn cache_bytes(&self, level: u8) -> Option<u64> {
        self.caches
            .iter()
            .filter(|cache| cache.level == level && cache.kind != CacheKind::Instruction)
            .map(|cache| cache.size_bytes)
            .max()
    }

    /// The size of the largest data (or unified) cache, in bytes; larger buffers are in memory.
    #[must_use]
    pub fn last_level_bytes(&self) -> Option<u64> {
        let data = self.caches.iter().filter(|cache| cache.kind != CacheKind::Instruction);
        data.map(|cache| cache.size_bytes).max()
    }

    /// The cache sizes that conditions are based on; assumed ones if the machine does not report them.
    #[must_use]
    pub fn cache_sizes(&self) -> CacheSizes {
        assumed::cache_sizes(self)
    }

    /// The assumptions where the machine does not report its properties, and the features masked by the user,
    /// each in a sentence.
    #[must_use]
    pub fn assumed(&self) -> Vec<String> {
        assumed::sentences(self)
    }

    /// What cannot be measured on this machine, or only unreliably, with the reasons.
    #[must_use]
    pub fn limits_here(&self) -> Vec<(String, String)> {
        compare::limits(self)
    }

    /// The differences between two environments that make their results incomparable, each with both values.
    /// Load, free memory and the like are ignored.
    #[must_use]
    pub fn differences(&self, other: &Environment) -> Vec<String> {
        compare::differences(self, other)
    }
}

/// The trimmed content of a one-line file of the kernel; `None` if it is missing or empty.
fn line(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The number in a file of the kernel.
fn number(path: &str) -> Option<u64> {
    line(path)?.parse().ok()
}

/// The CPUs in a list such as `0-3,8`; `None` if it is malformed.
pub(crate) fn cpus_in_list(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (usize, usize) = (low.parse().ok()?, high.parse().ok()?);
        cpus.extend((low <= high).then_some(low..=high)?);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described_and_serialised() {
        let here = Environment::here();
        assert!(!here.cpu.allowed_cpus.is_empty());
        assert!(here.cpu.logical_cpus >= here.cpu.allowed_cpus.len() as u32);
        assert!(here.memory.total_bytes > 1 << 24 && here.memory.available_bytes <= here.memory.total_bytes);
        assert!(here.memory.page_bytes.is_power_of_two());
        assert!(here.build.compiler.starts_with("rustc 1."), "{}", here.build.compiler);
        let json = serde_json::to_string(&here).expect("serialised");
        let back: Environment = serde_json::from_str(&json).expect("read back");
        assert_eq!(back.differences(&here), Vec::<String>::new());
        assert_eq!(back.cpu, here.cpu);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn an_x86_cpu_reports_its_identity_and_caches() {
        let here = Environment::here();
        assert!(here.cpu.vendor.is_some() && here.cpu.family.is_some());
        assert!(here.cpu.features.iter().any(|name| name == "sse2"));
        let l1 = here.cache_bytes(1).expect("a first level");
        assert!((8 << 10..=1 << 20).contains(&l1), "{l1}");
        assert!(here.last_level_bytes() >= here.cache_bytes(2));
    }

    #[test]
    fn names_of_host_and_user_are_not_stored() {
        let json = serde_json::to_string(&Environment::here()).expect("serialised");
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        // Shorter names ("vm", "linux") are part of other words.
        if host.trim().len() >= 8 && host.trim() != "localhost" {
            assert!(!json.contains(host.trim()), "{json}");
        }
        for variable in ["HOME", "LOGNAME", "HOSTNAME"] {
            if let Ok(value) = std::env::var(variable)
                && value.len() >= 8
            {
                assert!(!json.contains(&value), "{variable} in {json}");
            }
        }
    }

    #[test]
    fn cpu_lists_are_parsed() {
        assert_eq!(cpus_in_list("0"), Some(vec![0]));
        assert_eq!(cpus_in_list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(cpus_in_list("3-1"), None);
        assert_eq!(cpus_in_list("x"), None);
    }
}
