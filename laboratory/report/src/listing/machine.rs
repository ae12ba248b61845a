//! The description of a machine.

use super::flatten;
use crate::units::{byte_size, byte_size_rough, number};
use carryline_machine::environment::{Cache, CacheKind, Environment};
use serde_json::Value;

/// A row for each property of a machine; keys and values if another version of this program described it.
pub(super) fn rows(environment: &Value) -> Vec<(String, String)> {
    match serde_json::from_value::<Environment>(environment.clone()) {
        Ok(here) => in_words(&here).into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        Err(_) => flatten(environment),
    }
}

fn in_words(here: &Environment) -> Vec<(&'static str, String)> {
    let unknown = || "unknown".to_owned();
    let (cpu, system, memory) = (&here.cpu, &here.system, &here.memory);
    let mut rows = vec![("CPU", name(here)), ("CPUs", cpus(here))];
    rows.push(match cpu.hypervisor.as_deref() {
        None => ("virtual machine", "no".to_owned()),
        Some("unknown") => ("virtual machine", "yes".to_owned()),
        Some(by) => ("virtual machine", by.to_owned()),
    });
    rows.push(("CPU features", list(&cpu.features)));
    if !cpu.masked_features.is_empty() {
        rows.push(("hidden features", list(&cpu.masked_features)));
    }
    rows.push(("microcode", cpu.microcode.clone().unwrap_or_else(unknown)));
    rows.extend(here.caches.iter().map(|cache| (cache_name(cache), cache_size(cache))));
    rows.push(("core clock", here.frequency.to_string()));
    rows.push(("time-stamp counter", counter(here)));
    let cycles = here.no_counters.as_ref().map(|why| format!("estimated: {why}"));
    rows.push(("core cycles", cycles.unwrap_or_else(|| "counted".to_owned())));
    let of = [byte_size_rough(memory.total_bytes), byte_size_rough(memory.available_bytes)];
    rows.push(("memory", format!("{}, {} available", of[0], of[1])));
    let huge = memory.transparent_huge_pages.clone().unwrap_or_else(unknown);
    rows.push(("pages", format!("{}; transparent huge pages: {huge}", byte_size(memory.page_bytes))));
    rows.push(("kernel", system.kernel.clone()));
    rows.push(("C library", system.libc.clone()));
    if let Some(tunables) = system.rep_thresholds.as_ref().and_then(|seen| seen.glibc_tunables.clone()) {
        rows.push(("GLIBC_TUNABLES", tunables));
    }
    let forced = here.tuning.as_ref().and_then(|tuning| tuning.forced.clone());
    rows.extend(forced.map(|kernel| ("forced kernel", format!("{kernel} (CARRYLINE_FORCE)"))));
    rows.push(("load average", system.load_average.map_or_else(unknown, number)));
    rows.extend(system.cpu_quota.map(|quota| ("CPU quota", format!("{} CPUs", number(quota)))));
    rows.extend(system.no_pinning.as_ref().map(|why| ("pinning", format!("impossible: {why}"))));
    let build = &here.build;
    let checks = if build.debug_assertions { ", with debug assertions" } else { "" };
    rows.push((
        "this program",
        format!(
            "carryline {}, {} build{checks}, optimisation level {}, {}, {}",
            build.version, build.profile, build.opt_level, build.compiler, build.target
        ),
    ));
    rows
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn name(here: &Environment) -> String {
    let cpu = &here.cpu;
    let brand = cpu.brand.as_deref().unwrap_or("unnamed");
    let core = cpu.core().map(|core| format!(" ({core})")).unwrap_or_default();
    let numbers = [("family", cpu.family), ("model", cpu.model), ("stepping", cpu.stepping)];
    let numbers = numbers.iter().filter_map(|(word, number)| Some(format!("{word} {}", (*number)?)));
    let reported = cpu
        .reported_model
        .map(|model| format!("reported as model {model}, which lacks some of its features"));
    let numbers: Vec<String> = cpu.vendor.iter().cloned().chain(numbers).chain(reported).collect();
    if numbers.is_empty() {
        format!("{brand}{core}")
    } else {
        format!("{brand}{core}; {}", numbers.join(", "))
    }
}

fn cpus(here: &Environment) -> String {
    let cpu = &here.cpu;
    let mut words = vec![cpu.logical_cpus.to_string()];
    if cpu.allowed_cpus.len() != cpu.logical_cpus as usize {
        let allowed: Vec<String> = cpu.allowed_cpus.iter().map(ToString::to_string).collect();
        words.push(format!("of which this process may use {}", allowed.join(", ")));
    }
    words.extend(cpu.smt.map(|smt| match smt {
        true => "several threads per core".to_owned(),
        false => "one thread per core".to_owned(),
    }));
    words.join(", ")
}

fn cache_name(cache: &Cache) -> &'static str {
    match (cache.level, cache.kind) {
        (1, CacheKind::Instruction) => "L1 cache, code",
        (1, _) => "L1 cache, data",
        (2, _) => "L2 cache",
        (3, _) => "L3 cache",
        _ => "L4 cache",
    }
}

fn cache_size(cache: &Cache) -> String {
    let shared = match cache.shared_by {
        Some(cpus) if cpus > 1 => format!(", shared by {cpus} CPUs"),
        _ => String::new(),
    };
    format!("{}{shared}", byte_size(cache.size_bytes))
}

fn counter(here: &Environment) -> String {
    let clock = &here.clock;
    let mut words = vec![match clock.hz {
        Some(hz) => format!("{} MHz", number(hz as f64 / 1e6)),
        None => "unknown frequency".to_owned(),
    }];
    words.push(match clock.invariant {
        Some(true) => "even (invariant)".to_owned(),
        Some(false) => "not invariant".to_owned(),
        None => "not known to be invariant".to_owned(),
    });
    let coarse = clock.steps.filter(|steps| steps.unit_ticks > 1);
    words.extend(coarse.map(|steps| format!("in steps of {} ticks", steps.unit_ticks)));
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_described_in_words_instead_of_keys() {
        let here = serde_json::to_value(Environment::here()).expect("an object");
        let rows = rows(&here);
        for key in ["CPU", "CPUs", "virtual machine", "memory", "kernel", "C library", "this program"] {
            assert!(rows.iter().any(|(known, value)| known == key && !value.is_empty()), "{key}");
        }
        assert!(
            rows.iter()
                .all(|(key, value)| !key.contains(['_', '.']) || key == "GLIBC_TUNABLES" || value.is_empty())
        );
    }

    #[test]
    fn a_description_by_another_version_is_shown_as_keys_and_values() {
        let lines = rows(&serde_json::json!({"cpu": {"cores": 2}}));
        assert_eq!(lines, [("cpu.cores".to_owned(), "2".to_owned())]);
    }
}
