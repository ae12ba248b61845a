//! The processor: its identity, features, CPUs and frequency.

use super::{line, number};
#[cfg(target_arch = "x86_64")]
use carryline::internals::cpu::Model;
use carryline::internals::cpu::{Features, mask_from_environment};
use serde::{Deserialize, Serialize};

/// The processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The vendor, such as `GenuineIntel` or `AuthenticAMD`.
    pub vendor: Option<String>,
    /// The brand string.
    pub brand: Option<String>,
    /// The family, including the extended family.
    pub family: Option<u32>,
    /// The model, including the extended model; see [`Model::here`](carryline::internals::cpu::Model::here).
    pub model: Option<u32>,
    /// The model that CPUID reports, if that cannot be true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_model: Option<u32>,
    /// The stepping.
    pub stepping: Option<u32>,
    /// The microcode revision as printed by the kernel.
    pub microcode: Option<String>,
    /// Features that kernels may use, by their names in this project.
    pub features: Vec<String>,
    /// Features of the CPU that `CARRYLINE_MASK` disables.
    pub masked_features: Vec<String>,
    /// The number of online CPUs.
    pub logical_cpus: u32,
    /// The CPUs on which this process may run.
    pub allowed_cpus: Vec<u32>,
    /// True if cores run more than one thread; `None` if the kernel does not report it.
    pub smt: Option<bool>,
    /// The hypervisor of a virtual machine, such as `KVM` or `VMware`; `unknown` if it is not identified.
    pub hypervisor: Option<String>,
}

impl Cpu {
    pub(super) fn here() -> Cpu {
        let found = Features::detect();
        // An unknown feature masks nothing here; the command rejects it before measuring.
        let mask = mask_from_environment().unwrap_or(Features::NONE);
        let usable = found.masked(mask);
        let names = |features: Features| features.names().map(str::to_owned).collect();
        let allowed_cpus = allowed_cpus();
        let online = line("/sys/devices/system/cpu/online").and_then(|list| super::cpus_in_list(&list));
        let identity = identity();
        Cpu {
            vendor: identity.vendor,
            brand: identity.brand,
            family: identity.family,
            model: identity.model,
            reported_model: identity.reported_model,
            stepping: identity.stepping,
            hypervisor: identity.hypervisor,
            microcode: cpuinfo("microcode"),
            features: names(usable),
            masked_features: names(found.without(usable)),
            logical_cpus: online.map_or(0, |cpus| cpus.len()).max(allowed_cpus.len()) as u32,
            allowed_cpus,
            smt: number("/sys/devices/system/cpu/smt/active").map(|active| active == 1),
        }
    }

    /// The name of its cores, such as `Zen 5`, if the model is known.
    #[must_use]
    pub fn core(&self) -> Option<&'static str> {
        core_of(self.vendor.as_deref()?, self.family?, self.model?)
    }
}

/// The name of the cores of a model, such as `Zen 5`, if it is known.
///
/// ```
/// use carryline_machine::environment::core_of;
/// assert_eq!(core_of("AuthenticAMD", 26, 2), Some("Zen 5"));
/// assert_eq!(core_of("GenuineIntel", 6, 0), None);
/// ```
#[must_use]
pub fn core_of(vendor: &str, family: u32, model: u32) -> Option<&'static str> {
    let core = CORES.iter().find(|(of, families, models, _)| {
        *of == vendor && *families == family && models.iter().any(|models| models.contains(&model))
    });
    core.map(|(.., name)| *name)
}

/// The names of cores by vendor, family and models, from the vendors' manuals and the kernel's
/// `intel-family.h`.
const CORES: &[(&str, u32, &[std::ops::RangeInclusive<u32>], &str)] = &[
    ("AuthenticAMD", 0x17, &[0x00..=0x2f], "Zen"),
    ("AuthenticAMD", 0x17, &[0x30..=0xff], "Zen 2"),
    ("AuthenticAMD", 0x19, &[0x00..=0x0f, 0x20..=0x5f], "Zen 3"),
    ("AuthenticAMD", 0x19, &[0x10..=0x1f, 0x60..=0xaf], "Zen 4"),
    ("AuthenticAMD", 0x1a, &[0x00..=0xff], "Zen 5"),
    ("GenuineIntel", 6, &[0x3c..=0x3c, 0x3f..=0x3f, 0x45..=0x46], "Haswell"),
    ("GenuineIntel", 6, &[0x3d..=0x3d, 0x47..=0x47, 0x4f..=0x4f, 0x56..=0x56], "Broadwell"),
    ("GenuineIntel", 6, &[0x4e..=0x4e, 0x5e..=0x5e, 0x55..=0x55, 0x8e..=0x8e, 0x9e..=0x9e], "Skylake"),
    ("GenuineIntel", 6, &[0x6a..=0x6a, 0x6c..=0x6c, 0x7e..=0x7e], "Ice Lake"),
    ("GenuineIntel", 6, &[0x97..=0x97, 0x9a..=0x9a], "Alder Lake"),
    ("GenuineIntel", 6, &[0x8f..=0x8f], "Sapphire Rapids"),
    ("GenuineIntel", 6, &[0xcf..=0xcf], "Emerald Rapids"),
    ("GenuineIntel", 6, &[0xad..=0xae], "Granite Rapids"),
];

#[derive(Default)]
struct Identity {
    vendor: Option<String>,
    brand: Option<String>,
    family: Option<u32>,
    model: Option<u32>,
    reported_model: Option<u32>,
    stepping: Option<u32>,
    hypervisor: Option<String>,
}

#[cfg(target_arch = "x86_64")]
fn identity() -> Identity {
    use raw_cpuid::{CpuId, Hypervisor};
    let cpuid = CpuId::new();
    let version = cpuid.get_feature_info();
    let virtual_machine = version.as_ref().is_some_and(|info| info.has_hypervisor());
    let hypervisor = virtual_machine.then(|| match cpuid.get_hypervisor_info().map(|info| info.identify()) {
        None | Some(Hypervisor::Unknown(..)) => "unknown".to_owned(),
        Some(known) => format!("{known:?}"),
    });
    let (model, reported) = (Model::here(), Model::reported());
    Identity {
        vendor: cpuid.get_vendor_info().map(|vendor| vendor.as_str().to_owned()),
        brand: cpuid.get_processor_brand_string().map(|brand| brand.as_str().trim().to_owned()),
        family: model.map(|model| model.family),
        model: model.map(|model| model.model),
        reported_model: reported.filter(|reported| Some(*reported) != model).map(|reported| reported.model),
        stepping: version.as_ref().map(|info| info.stepping_id().into()),
        hypervisor,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn identity() -> Identity {
    Identity {
        vendor: cpuinfo("CPU implementer"),
        brand: cpuinfo("Model").or_else(|| cpuinfo("model name")),
        ..Identity::default()
    }
}

/// The first value of `key` in `/proc/cpuinfo`.
pub(super) fn cpuinfo(key: &str) -> Option<String> {
    value_in(&std::fs::read_to_string("/proc/cpuinfo").ok()?, key)
}

/// The first value of `key` in `key : value` lines.
pub(super) fn value_in(text: &str, key: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, value)| name.trim() == key && !value.trim().is_empty())
        .map(|(_, value)| value.trim().to_owned())
}

fn allowed_cpus() -> Vec<u32> {
    let allowed = crate::process::allowed_cpus();
    match allowed.is_empty() {
        false => allowed.into_iter().map(|cpu| cpu as u32).collect(),
        true => (0..std::thread::available_parallelism().map_or(1, |n| n.get() as u32)).collect(),
    }
}

/// The kernel's frequency control; all fields are `None` if it reports none, as in most virtual machines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frequency {
    /// The driver, such as `intel_pstate` or `acpi-cpufreq`.
    pub driver: Option<String>,
    /// The policy, such as `performance` or `schedutil`.
    pub governor: Option<String>,
    /// The minimum, in kHz.
    pub min_khz: Option<u64>,
    /// The maximum, in kHz.
    pub max_khz: Option<u64>,
    /// True if it may exceed the nominal frequency.
    pub turbo: Option<bool>,
}

impl Frequency {
    pub(super) fn here(cpu: u32) -> Frequency {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq");
        let boost = || number("/sys/devices/system/cpu/cpufreq/boost").map(|on| on == 1);
        let no_turbo = number("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == 0);
        Frequency {
            driver: line(&format!("{folder}/scaling_driver")),
            governor: line(&format!("{folder}/scaling_governor")),
            min_khz: number(&format!("{folder}/scaling_min_freq")),
            max_khz: number(&format!("{folder}/scaling_max_freq")),
            turbo: no_turbo.or_else(boost),
        }
    }

    /// True if the kernel reports that the frequency does not change.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        let one_speed = self.min_khz.is_some() && self.min_khz == self.max_khz;
        let performance = self.governor.as_deref() == Some("performance");
        self.turbo != Some(true) && (one_speed || performance && self.turbo == Some(false))
    }
}

impl std::fmt::Display for Frequency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(governor) = &self.governor else { return f.write_str("not visible") };
        write!(f, "{governor}")?;
        if let Some(driver) = &self.driver {
            write!(f, " ({driver})")?;
        }
        match self.turbo {
            Some(true) => f.write_str(", turbo on"),
            Some(false) => f.write_str(", turbo off"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_the_complete_key() {
        let text = "processor\t: 0\nmodel name\t: A CPU\nmodel\t\t: 2\nempty :\nempty : x\n";
        assert_eq!(value_in(text, "model"), Some("2".to_owned()));
        assert_eq!(value_in(text, "model name"), Some("A CPU".to_owned()));
        assert_eq!(value_in(text, "empty"), Some("x".to_owned()));
        assert_eq!(value_in(text, "stepping"), None);
    }

    #[test]
    fn a_clock_is_fixed_only_if_that_is_reported() {
        let unseen = Frequency::default();
        assert!(!unseen.is_fixed());
        assert_eq!(unseen.to_string(), "not visible");
        let pinned = Frequency {
            governor: Some("performance".to_owned()),
            driver: Some("intel_pstate".to_owned()),
            turbo: Some(false),
            ..unseen.clone()
        };
        assert!(pinned.is_fixed());
        assert_eq!(pinned.to_string(), "performance (intel_pstate), turbo off");
        assert!(!Frequency { turbo: Some(true), ..pinned.clone() }.is_fixed());
        assert!(!Frequency { governor: Some("schedutil".to_owned()), ..pinned }.is_fixed());
        assert!(Frequency { min_khz: Some(2_000_000), max_khz: Some(2_000_000), ..unseen }.is_fixed());
    }
}
