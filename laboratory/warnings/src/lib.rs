//! Warnings about a run, each with a code, a cause and a remedy.
//!
//! Figures are only as good as the conditions of the run, so known disturbances are printed with them. There
//! is one function per warning, which takes the observed values. The texts are in one table; `carryline
//! explain CODE` prints the explanation. Codes are never reused, because stored results cite them.

mod catalogue;
pub mod explain;
pub mod numbers;
pub mod trust;

use carryline_conditions::capture::skip_list;
use carryline_conditions::sizes::SkippedPackets;
use carryline_machine::environment::Environment;
use carryline_results::Warning;
use numbers::{counted, percent_fine};
use std::fmt::Display;
use std::time::Duration;

/// Identifies a warning; its code (`W01`) and texts are in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the catalogue explains each one")]
pub enum Code {
    VirtualMachine,
    NoFixedFrequency,
    ClockDrift,
    WideInterval,
    FewRounds,
    DoublingDisagrees,
    ContextSwitches,
    StolenTime,
    CannotPin,
    OneCpu,
    NoHugePages,
    NoCounters,
    CoarseClock,
    HighNoiseFloor,
    SmallBudget,
    BudgetOverrun,
    FeaturesMasked,
    DebugBuild,
    PacketsSkipped,
    WorkerLost,
    NeverSteady,
    ColdMethodsDisagree,
    LoadedMachine,
    CpuQuota,
    UnevenClock,
    TunablesSet,
    SharedCore,
    ThresholdsNotRaised,
    Interrupted,
    PartOfLastLevel,
}

/// How much a warning lowers the trust in a run's comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Weight {
    /// Not at all: it states what was measured, or what the machine cannot show.
    Context,
    /// It affects the cells that it names.
    Cell,
    /// It affects the whole run.
    Run,
    /// The run's comparisons are not reliable.
    Grave,
}

/// The catalogue's entry for a warning.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The warning.
    pub id: Code,
    /// `W01` and so on.
    pub code: &'static str,
    /// How much it lowers the trust in a run's comparisons.
    pub weight: Weight,
    /// A name of a few words.
    pub name: &'static str,
    /// What was observed, with `{}` for each value.
    pub cause: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// What it means for the figures.
    pub explanation: &'static str,
}

impl Code {
    /// All warnings, in the order of their codes.
    #[must_use]
    pub fn all() -> &'static [Entry] {
        catalogue::CATALOGUE
    }

    /// The catalogue's entry.
    #[must_use]
    pub fn entry(self) -> &'static Entry {
        &catalogue::CATALOGUE[self as usize]
    }

    /// The warning with this code (`W03`, in either case) or name.
    #[must_use]
    pub fn find(word: &str) -> Option<&'static Entry> {
        Code::all().iter().find(|entry| {
            entry.code.eq_ignore_ascii_case(word.trim()) || entry.name.eq_ignore_ascii_case(word.trim())
        })
    }

    fn with(self, values: &[&dyn Display]) -> Warning {
        let entry = self.entry();
        let mut cause = String::new();
        let mut values = values.iter();
        for (index, part) in entry.cause.split("{}").enumerate() {
            if index > 0 {
                cause.push_str(&values.next().map_or_else(|| "?".to_owned(), ToString::to_string));
            }
            cause.push_str(part);
        }
        debug_assert!(values.next().is_none(), "{} has more values than places", entry.code);
        Warning { code: entry.code.to_owned(), cause, remedy: entry.remedy.to_owned() }
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// The machine is virtual.
#[must_use]
pub fn virtual_machine(hypervisor: &str) -> Warning {
    Code::VirtualMachine.with(&[&hypervisor])
}

/// The core clock may change; `seen` is what the kernel reports about it.
#[must_use]
pub fn no_fixed_frequency(seen: &impl Display) -> Warning {
    Code::NoFixedFrequency.with(&[seen])
}

/// The last cache level holds this many bytes of the machine's data, and is reported to have so many.
#[must_use]
pub fn part_of_last_level(held_bytes: u64, reported_bytes: u64) -> Warning {
    let [held, reported] = [held_bytes, reported_bytes].map(|bytes| format!("{} MiB", bytes >> 20));
    Code::PartOfLastLevel.with(&[&held, &reported])
}

/// Ticks per core cycle drifted by this fraction of their median.
#[must_use]
pub fn clock_drift(relative: f64) -> Warning {
    Code::ClockDrift.with(&[&percent_fine(relative)])
}

/// The width of a cell's interval, relative to its median.
#[must_use]
pub fn wide_interval(cell: &impl Display, relative: f64) -> Warning {
    Code::WideInterval.with(&[cell, &percent_fine(relative)])
}

/// A cell or situation got too few rounds.
#[must_use]
pub fn few_rounds(cell: &impl Display, rounds: u64) -> Warning {
    Code::FewRounds.with(&[cell, &counted(rounds, "round")])
}

/// The relative difference between a cell's net times of N and of 2N calls.
#[must_use]
pub fn doubling_disagrees(cell: &impl Display, relative: f64) -> Warning {
    Code::DoublingDisagrees.with(&[cell, &percent_fine(relative)])
}

/// Involuntary context switches while timing.
#[must_use]
pub fn context_switches(count: u64) -> Warning {
    Code::ContextSwitches.with(&[&count])
}

/// The fraction of the machine's time that was stolen.
#[must_use]
pub fn stolen_time(share: f64) -> Warning {
    Code::StolenTime.with(&[&percent_fine(share)])
}

/// The fraction of rounds in which another hardware thread of the core ran, and the rate of independent additions
/// there relative to the fastest.
#[must_use]
pub fn shared_core(share: f64, rate: f64) -> Warning {
    Code::SharedCore.with(&[&percent_fine(share), &percent_fine(rate)])
}

/// Workers could not be pinned to a CPU.
#[must_use]
pub fn cannot_pin(reason: &str) -> Warning {
    Code::CannotPin.with(&[&reason])
}

/// Only one CPU may be used.
#[must_use]
pub fn one_cpu() -> Warning {
    Code::OneCpu.with(&[])
}

/// Huge pages were requested; this fraction of the buffer got them.
#[must_use]
pub fn no_huge_pages(given_share: f64) -> Warning {
    Code::NoHugePages.with(&[&percent_fine(given_share)])
}

/// There are no hardware counters, for this reason.
#[must_use]
pub fn no_counters(reason: &str) -> Warning {
    Code::NoCounters.with(&[&reason])
}

/// The time-stamp counter advances in steps of this many ticks.
#[must_use]
pub fn coarse_clock(unit_ticks: u64) -> Warning {
    Code::CoarseClock.with(&[&unit_ticks])
}

/// The A/A pair of a situation differs by up to this fraction.
#[must_use]
pub fn high_noise_floor(situation: &impl Display, relative: f64) -> Warning {
    Code::HighNoiseFloor.with(&[situation, &percent_fine(relative)])
}

/// The budget was too small; `left_out` names what was not measured.
#[must_use]
pub fn small_budget(budget: Duration, left_out: &str) -> Warning {
    Code::SmallBudget.with(&[&seconds(budget), &left_out])
}

/// The run took longer than its budget.
#[must_use]
pub fn budget_overrun(taken: Duration, budget: Duration) -> Warning {
    Code::BudgetOverrun.with(&[&seconds(taken), &seconds(budget)])
}

/// `CARRYLINE_MASK` hides these features.
#[must_use]
pub fn features_masked(features: &[String]) -> Warning {
    Code::FeaturesMasked.with(&[&features.join(", ")])
}

/// The program was built without optimisation or with debug assertions.
#[must_use]
pub fn debug_build(profile: &str, opt_level: &str) -> Warning {
    Code::DebugBuild.with(&[&profile, &opt_level])
}

/// Packets of a capture were not used, by reason.
#[must_use]
pub fn packets_skipped(of: &SkippedPackets) -> Warning {
    let skipped: u64 = of.by_reason.iter().map(|(_, count)| count).sum();
    let all = of.packets_used + skipped;
    Code::PacketsSkipped.with(&[&of.file, &skipped, &all, &skip_list(&of.by_reason)])
}

/// A worker died or had to be killed; `at` is what it was doing.
#[must_use]
pub fn worker_lost(how: &str, at: &str) -> Warning {
    Code::WorkerLost.with(&[&how, &at])
}

/// A cell did not settle during warm-up.
#[must_use]
pub fn never_steady(cell: &impl Display) -> Warning {
    Code::NeverSteady.with(&[cell])
}

/// The relative difference between figures of two methods that make caches cold.
#[must_use]
pub fn cold_methods_disagree(cell: &impl Display, one: &str, other: &str, relative: f64) -> Warning {
    Code::ColdMethodsDisagree.with(&[cell, &one, &other, &percent_fine(relative)])
}

/// Other programs are running.
#[must_use]
pub fn loaded_machine(load_average: f64, cpus: u32) -> Warning {
    Code::LoadedMachine.with(&[&format!("{load_average:.2}"), &cpus])
}

/// The user's environment sets tunables of the C library.
#[must_use]
pub fn tunables_set(variable: &str) -> Warning {
    Code::TunablesSet.with(&[&variable])
}

/// In a situation, a row of the C library with raised thresholds takes this many times as long as the row as
/// installed, below the thresholds.
#[must_use]
pub fn thresholds_not_raised(situation: &str, raised: &str, times: f64, as_installed: &str) -> Warning {
    Code::ThresholdsNotRaised.with(&[&situation, &raised, &format_args!("{times:.1}"), &as_installed])
}

/// The run was interrupted or killed; that many cells were not measured.
#[must_use]
pub fn interrupted(cells_left: usize) -> Warning {
    let verb = if cells_left == 1 { "was" } else { "were" };
    Code::Interrupted.with(&[&match cells_left {
        0 => String::new(),
        left => format!("; {} {verb} not measured", counted(left as u64, "cell")),
    }])
}

/// True if a run was interrupted or killed, so that no advice follows from it.
#[must_use]
pub fn is_interrupted(warnings: &[Warning]) -> bool {
    warnings.iter().any(|warning| warning.code == Code::Interrupted.entry().code)
}

/// The control group limits CPU time.
#[must_use]
pub fn cpu_quota(cpus: f64) -> Warning {
    Code::CpuQuota.with(&[&format!("{cpus:.2}")])
}

/// The time-stamp counter is not invariant.
#[must_use]
pub fn uneven_clock() -> Warning {
    Code::UnevenClock.with(&[])
}

/// The warnings that depend only on the machine and the build.
#[must_use]
pub fn of_environment(here: &Environment) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if here.build.debug_assertions || here.build.opt_level == "0" {
        warnings.push(debug_build(&here.build.profile, &here.build.opt_level));
    }
    if !here.cpu.masked_features.is_empty() {
        warnings.push(features_masked(&here.cpu.masked_features));
    }
    if let Some(hypervisor) = &here.cpu.hypervisor {
        warnings.push(virtual_machine(hypervisor));
    }
    if !here.frequency.is_fixed() {
        warnings.push(no_fixed_frequency(&here.frequency));
    }
    if here.clock.invariant == Some(false) {
        warnings.push(uneven_clock());
    }
    if let Some(steps) = here.clock.steps.filter(|steps| steps.unit_ticks > 1) {
        warnings.push(coarse_clock(steps.unit_ticks));
    }
    if let Some(reason) = &here.no_counters {
        warnings.push(no_counters(reason));
    }
    let cpus = here.cpu.allowed_cpus.len();
    if cpus == 1 {
        warnings.push(one_cpu());
    }
    if let Some(reason) = &here.system.no_pinning {
        warnings.push(cannot_pin(reason));
    }
    if let Some(quota) = here.system.cpu_quota.filter(|quota| *quota < cpus as f64) {
        warnings.push(cpu_quota(quota));
    }
    if let Some(variable) = here.system.rep_thresholds.as_ref().and_then(|seen| seen.glibc_tunables.as_ref())
    {
        warnings.push(tunables_set(variable));
    }
    if let Some(load) = here.system.other_load(here.cpu.logical_cpus) {
        warnings.push(loaded_machine(load, here.cpu.logical_cpus));
    }
    warnings
}

#[cfg(test)]
mod tests;
