//! The limits of an environment for measurements, and the differences between two environments.

use super::{Cache, Environment, Frequency, Tuning};
use std::collections::BTreeSet;
use std::fmt::Debug;

pub(super) fn limits(here: &Environment) -> Vec<(String, String)> {
    let mut limits: Vec<(String, String)> = Vec::new();
    let mut limit = |what: &str, why: String| limits.push((what.to_owned(), why));
    if let Some(hypervisor) = &here.cpu.hypervisor {
        limit(
            "the actual frequency and the load of other guests",
            format!(
                "a virtual machine ({hypervisor}): the host controls the clock and shares caches and memory with other guests"
            ),
        );
        if here.caches.iter().any(|cache| cache.level >= 3) {
            limit(
                "the size of the last cache level",
                "the hypervisor reports it, and this machine may have only a part of a shared cache: runs with large \
                 buffers measure how much (W32)"
                    .to_owned(),
            );
        }
    }
    if let Some(reason) = &here.no_counters {
        limit(
            "core cycles by hardware counter",
            format!("{reason}; cycles are estimated from a dependent chain"),
        );
    }
    if !here.frequency.is_fixed() {
        let why = match &here.frequency {
            Frequency { governor: None, .. } => "the kernel reports no frequency control".to_owned(),
            seen => format!("the clock may change ({seen})"),
        };
        limit("a fixed core frequency", why);
    }
    match here.clock.steps {
        None => limit("ticks", "there is no time-stamp counter".to_owned()),
        Some(steps) if steps.unit_ticks > 1 => limit(
            "the time of a single short call",
            format!(
                "the time-stamp counter advances in steps of about {} ticks; batches are timed",
                steps.unit_ticks
            ),
        ),
        Some(_) => {}
    }
    if here.clock.invariant == Some(false) {
        limit("time from ticks", "the CPU does not report an invariant time-stamp counter".to_owned());
    }
    if here.cpu.allowed_cpus.len() == 1 {
        limit(
            "a quiet core",
            "only one CPU is allowed: it is shared with the supervising process".to_owned(),
        );
    }
    if let Some(reason) = &here.system.no_pinning {
        limit("a dedicated core", reason.clone());
    }
    if let Some(quota) = here.system.cpu_quota.filter(|quota| *quota < here.cpu.allowed_cpus.len() as f64) {
        limit(
            "uninterrupted time",
            format!(
                "the control group allows {quota:.2} CPUs' worth of time, after which the process is suspended"
            ),
        );
    }
    match here.memory.transparent_huge_pages.as_deref() {
        Some("always" | "madvise") => {}
        Some(setting) => limit("huge pages", format!("transparent huge pages are set to '{setting}'")),
        None => limit("huge pages", "the kernel reports no transparent huge pages".to_owned()),
    }
    for level in [1, 2, 3] {
        if here.cache_bytes(level).is_none() {
            limit(
                &format!("the size of cache level {level}"),
                "neither the kernel nor the CPU reports it".to_owned(),
            );
        }
    }
    limits
}

pub(super) fn differences(here: &Environment, other: &Environment) -> Vec<String> {
    let mut found = Differences(Vec::new());
    let (a, b) = (&here.cpu, &other.cpu);
    found.field("CPU vendor", &a.vendor, &b.vendor);
    found.field("CPU", &a.brand, &b.brand);
    found.field("CPU family", &a.family, &b.family);
    found.field("CPU model", &a.model, &b.model);
    found.field("CPU stepping", &a.stepping, &b.stepping);
    found.field("microcode", &a.microcode, &b.microcode);
    found.words("features", &a.features, &b.features);
    found.words("masked features (CARRYLINE_MASK)", &a.masked_features, &b.masked_features);
    found.field("logical CPUs", &a.logical_cpus, &b.logical_cpus);
    found.field("allowed CPUs", &a.allowed_cpus.len(), &b.allowed_cpus.len());
    found.field("more than one thread per core", &a.smt, &b.smt);
    found.field("hypervisor", &a.hypervisor, &b.hypervisor);
    let caches = |environment: &Environment| -> Vec<String> {
        let cache = |cache: &Cache| format!("L{} {:?} {} bytes", cache.level, cache.kind, cache.size_bytes);
        environment.caches.iter().map(cache).collect()
    };
    found.words("caches", &caches(here), &caches(other));
    found.field("frequency control", &here.frequency, &other.frequency);
    // The kernel measures the frequency at each boot: 0.1 % either way is the same clock.
    if !equal_within(here.clock.hz, other.clock.hz, 0.001) {
        found.field("time-stamp counter, Hz", &here.clock.hz, &other.clock.hz);
    }
    if !equal_within(Some(here.memory.total_bytes), Some(other.memory.total_bytes), 0.05) {
        found.field("memory, bytes", &here.memory.total_bytes, &other.memory.total_bytes);
    }
    found.field("page size", &here.memory.page_bytes, &other.memory.page_bytes);
    let huge = |environment: &Environment| environment.memory.transparent_huge_pages.clone();
    found.field("transparent huge pages", &huge(here), &huge(other));
    found.field("kernel", &here.system.kernel, &other.system.kernel);
    found.field("C library", &here.system.libc, &other.system.libc);
    if let (Some(a), Some(b)) = (&here.system.rep_thresholds, &other.system.rep_thresholds) {
        found.field("GLIBC_TUNABLES", &a.glibc_tunables, &b.glibc_tunables);
    }
    found.field("CPU quota", &here.system.cpu_quota, &other.system.cpu_quota);
    found.field("hardware counters", &here.no_counters.is_none(), &other.no_counters.is_none());
    if let (Some(a), Some(b)) = (&here.tuning, &other.tuning) {
        found.field("tuning profile", &a.profile, &b.profile);
        let names: BTreeSet<&String> = a.decisions.keys().chain(b.decisions.keys()).collect();
        for name in names {
            let value = |tuning: &Tuning| match tuning.decisions.get(name) {
                Some(Some(bytes)) => format!("{bytes} bytes"),
                Some(None) => "never".to_owned(),
                None => "unknown".to_owned(),
            };
            found.field(&format!("tuning, {name}"), &value(a), &value(b));
        }
        let forced = |tuning: &Tuning| tuning.forced.clone().unwrap_or_else(|| "none".to_owned());
        found.field("forced kernel (CARRYLINE_FORCE)", &forced(a), &forced(b));
    }
    let (a, b) = (&here.build, &other.build);
    found.field("carryline", &a.version, &b.version);
    found.field("compiler", &a.compiler, &b.compiler);
    found.field("build profile", &a.profile, &b.profile);
    found.field("optimisation level", &a.opt_level, &b.opt_level);
    found.field("target", &a.target, &b.target);
    found.field("debug assertions", &a.debug_assertions, &b.debug_assertions);
    found.0
}

fn equal_within(a: Option<u64>, b: Option<u64>, relative: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) as f64 <= a.max(b) as f64 * relative,
        _ => a == b,
    }
}

struct Differences(Vec<String>);

impl Differences {
    fn field<T: PartialEq + Debug>(&mut self, name: &str, here: &T, there: &T) {
        if here != there {
            self.0.push(format!("{name}: {} against {}", plain(here), plain(there)));
        }
    }

    /// The words that only one list has.
    fn words(&mut self, name: &str, here: &[String], there: &[String]) {
        let only = |words: &[String], others: &[String]| {
            let words: Vec<&str> =
                words.iter().filter(|word| !others.contains(word)).map(String::as_str).collect();
            if words.is_empty() { "none".to_owned() } else { words.join(", ") }
        };
        self.field(name, &only(here, there), &only(there, here));
    }
}

/// A value without the syntax of `Debug`.
fn plain(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    if text == "None" {
        return "unknown".to_owned();
    }
    let inner = text.strip_prefix("Some(").and_then(|text| text.strip_suffix(')')).unwrap_or(&text);
    inner.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::TscSteps;

    #[test]
    fn differences_are_reported_with_both_values() {
        let here = Environment::here();
        let mut other = here.clone();
        other.system.load_average = Some(99.0);
        other.memory.available_bytes /= 2;
        other.clock.steps = None;
        assert_eq!(
            here.differences(&other),
            Vec::<String>::new(),
            "transient properties are not differences"
        );
        other.cpu.microcode = Some("0x7e57".to_owned());
        other.build.profile = "tuned".to_owned();
        other.memory.total_bytes *= 2;
        other.cpu.hypervisor = Some("QNX".to_owned());
        let differences = here.differences(&other);
        assert_eq!(differences.len(), 4, "{differences:?}");
        assert!(differences.iter().any(|d| d.starts_with("microcode: ") && d.ends_with(" against 0x7e57")));
        assert!(
            differences.iter().any(|d| d.starts_with("build profile: ") && d.ends_with(" against tuned"))
        );
        assert_eq!(other.differences(&here).len(), 4);
    }

    #[test]
    fn user_settings_of_the_library_are_differences() {
        let mut here = Environment::here();
        here.cpu.masked_features = Vec::new();
        let mut other = here.clone();
        other.cpu.masked_features = vec!["avx512f".to_owned()];
        if let (Some(a), Some(b)) = (&mut here.tuning, &mut other.tuning) {
            a.forced = None;
            b.forced = Some("avx2".to_owned());
            b.profile = "mine, from CARRYLINE_TUNING".to_owned();
        }
        let found = here.differences(&other);
        for word in [
            "CARRYLINE_MASK): none against avx512f",
            "CARRYLINE_FORCE): none against avx2",
            "CARRYLINE_TUNING",
        ] {
            assert!(found.iter().any(|found| found.contains(word)), "{word} in {found:?}");
        }
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn of_lists_only_what_differs_is_named() {
        let mut here = Environment::here();
        here.cpu.features = ["sse2", "adx", "avx2"].map(str::to_owned).to_vec();
        let mut other = here.clone();
        other.cpu.features.retain(|feature| feature != "adx");
        if let (Some(a), Some(b)) = (&mut here.tuning, &mut other.tuning) {
            a.decisions.insert("zero_non_temporal_from_bytes".to_owned(), Some(4096));
            b.decisions.insert("zero_non_temporal_from_bytes".to_owned(), None);
        }
        let wanted =
            ["features: adx against none", "tuning, zero_non_temporal_from_bytes: 4096 bytes against never"];
        assert_eq!(here.differences(&other), wanted);
    }

    #[test]
    fn nearly_equal_frequencies_are_equal() {
        let mut here = Environment::here();
        here.clock.hz = Some(2_596_120_000);
        let mut other = here.clone();
        other.clock.hz = Some(2_596_118_000);
        assert_eq!(here.differences(&other), Vec::<String>::new());
        other.clock.hz = Some(2_400_000_000);
        assert_eq!(here.differences(&other).len(), 1);
        other.clock.hz = None;
        assert_eq!(here.differences(&other), ["time-stamp counter, Hz: 2596120000 against unknown"]);
    }

    #[test]
    fn every_limit_has_a_reason() {
        let mut worst = Environment::here();
        worst.cpu.hypervisor = Some("KVM".to_owned());
        worst.no_counters = Some("no counters".to_owned());
        worst.frequency = Frequency::default();
        worst.clock.steps = Some(TscSteps { smallest_ticks: 1, unit_ticks: 26 });
        worst.clock.invariant = Some(false);
        worst.cpu.allowed_cpus = vec![3];
        worst.system.no_pinning = Some("no pinning".to_owned());
        worst.system.cpu_quota = Some(0.5);
        worst.memory.transparent_huge_pages = Some("never".to_owned());
        worst.caches.retain(|cache| cache.level >= 3);
        worst.caches.push(super::super::Cache {
            level: 3,
            kind: super::super::CacheKind::Unified,
            size_bytes: 1 << 25,
            line_bytes: None,
            ways: None,
            shared_by: None,
        });
        let limits = worst.limits_here();
        let whats: Vec<&str> = limits.iter().map(|(what, _)| what.as_str()).collect();
        assert_eq!(whats.len(), 12, "{whats:?}");
        assert!(limits.iter().all(|(what, why)| !what.is_empty() && !why.is_empty()));

        let mut best = worst.clone();
        best.cpu.hypervisor = None;
        best.no_counters = None;
        best.frequency.min_khz = Some(3_000_000);
        best.frequency.max_khz = Some(3_000_000);
        best.clock.steps = Some(TscSteps { smallest_ticks: 18, unit_ticks: 1 });
        best.clock.invariant = Some(true);
        best.cpu.allowed_cpus = vec![0, 1];
        best.system.no_pinning = None;
        best.system.cpu_quota = None;
        best.memory.transparent_huge_pages = Some("madvise".to_owned());
        for level in [1, 2] {
            let cache = super::super::Cache { level, ..best.caches[0].clone() };
            best.caches.push(cache);
        }
        assert_eq!(best.limits_here(), []);
    }
}
