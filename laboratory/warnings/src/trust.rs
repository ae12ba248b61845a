//! Grades a run by how reliable its comparisons are, with the main reason.

use crate::{Code, Entry, Weight};
use carryline_results::{RunResult, Warning};
use std::fmt;

/// A noise floor above this hides differences of interest.
const FAIR_FLOOR: f64 = 0.02;
/// A noise floor above this hides most differences between variants.
const POOR_FLOOR: f64 = 0.08;

/// How reliable the comparisons of a run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Not reliable.
    Poor,
    /// Mostly reliable; some cells or the state of the machine are not ideal.
    Fair,
    /// No known disturbance.
    Good,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Grade::Poor => "poor",
            Grade::Fair => "fair",
            Grade::Good => "good",
        })
    }
}

/// The grade of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// The grade.
    pub grade: Grade,
    /// The main reason against a better grade, in a few words; `None` if there is none.
    pub reason: Option<String>,
}

/// Grades a run by its warnings and by its noise floor in the median situation.
#[must_use]
pub fn trust(run: &RunResult) -> Trust {
    let entries = run.warnings.iter().filter_map(|warning| Code::find(&warning.code));
    // The first of the heaviest: warnings about the machine come before those about cells.
    let heaviest = entries.fold(None, |heaviest: Option<&Entry>, entry| match heaviest {
        Some(known) if known.weight >= entry.weight => Some(known),
        _ => Some(entry),
    });
    let floor = median_floor(run);
    let of = |grade, reason: &str| Trust { grade, reason: Some(reason.to_owned()) };
    match heaviest.filter(|entry| entry.weight > Weight::Context) {
        _ if crate::is_interrupted(&run.warnings) => of(Grade::Poor, Code::Interrupted.entry().name),
        _ if !run.complete => of(Grade::Poor, "not everything was measured"),
        Some(entry) if entry.weight == Weight::Grave => of(Grade::Poor, entry.name),
        _ if floor.is_some_and(|floor| floor > POOR_FLOOR) => of(Grade::Poor, "high noise floor"),
        Some(entry) if entry.weight == Weight::Cell => Trust {
            grade: Grade::Fair,
            reason: Some(format!("{} in {}", entry.name, cells(&run.warnings, entry))),
        },
        Some(entry) => of(Grade::Fair, entry.name),
        None if floor.is_none() => of(Grade::Fair, "no noise floor was measured"),
        None if floor.is_some_and(|floor| floor > FAIR_FLOOR) => of(Grade::Fair, "noise floor"),
        None => Trust { grade: Grade::Good, reason: None },
    }
}

/// The median of the situations' noise floors; `None` if none was measured.
#[must_use]
pub fn median_floor(run: &RunResult) -> Option<f64> {
    let floor = run.noise_floor.as_ref()?;
    let mut floors: Vec<f64> = floor.by_situation.iter().map(|(_, relative)| *relative).collect();
    floors.sort_by(f64::total_cmp);
    floors.get(floors.len() / 2).copied().or(Some(floor.relative))
}

/// The number of cells named by the warnings of a kind; a shortened list states how many more there are.
fn cells(warnings: &[Warning], entry: &Entry) -> String {
    let named: Vec<&Warning> = warnings.iter().filter(|warning| warning.code == entry.code).collect();
    let more: usize = named
        .iter()
        .filter_map(|warning| {
            warning.cause.rsplit_once("(and ")?.1.split_once(" more")?.0.parse::<usize>().ok()
        })
        .sum();
    match named.len() + more {
        1 => "one place".to_owned(),
        count => format!("{count} places"),
    }
}

/// The warnings with those that every virtual machine has condensed into the one about the virtual machine.
#[must_use]
pub fn condensed(warnings: &[Warning]) -> Vec<Warning> {
    const IMPLIED: [Code; 3] = [Code::NoFixedFrequency, Code::NoCounters, Code::CoarseClock];
    let is = |warning: &Warning, code: Code| warning.code == code.entry().code;
    if !warnings.iter().any(|warning| is(warning, Code::VirtualMachine)) {
        return warnings.to_vec();
    }
    let implied = |warning: &&Warning| IMPLIED.iter().any(|code| is(warning, *code));
    let words: Vec<String> = warnings
        .iter()
        .filter(implied)
        .filter_map(|warning| Some(format!("{} ({})", Code::find(&warning.code)?.name, warning.code)))
        .collect();
    let mut kept: Vec<Warning> = warnings.iter().filter(|warning| !implied(warning)).cloned().collect();
    for warning in kept.iter_mut().filter(|warning| is(warning, Code::VirtualMachine)) {
        if !words.is_empty() {
            warning.cause.push_str(&format!("; as usual for one: {}", words.join(", ")));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_results::{NoiseFloor, SCHEMA_VERSION};
    use std::time::Duration;

    fn run(warnings: Vec<Warning>, floor: f64) -> RunResult {
        RunResult {
            schema_version: SCHEMA_VERSION,
            run_id: None,
            seed: 1,
            environment: serde_json::Value::Null,
            noise_floor: Some(NoiseFloor {
                relative: floor,
                pairs: 1,
                by_situation: vec![("a".to_owned(), floor), ("b".to_owned(), floor), ("c".to_owned(), 0.5)],
            }),
            ticks_per_cycle: None,
            ticks_per_ns: None,
            limits: vec![],
            warnings,
            cells: vec![],
            experiments: vec![],
            complete: true,
        }
    }

    fn graded(warnings: Vec<Warning>, floor: f64) -> (Grade, Option<String>) {
        let Trust { grade, reason } = trust(&run(warnings, floor));
        (grade, reason)
    }

    #[test]
    fn the_heaviest_warning_decides() {
        let context = || vec![crate::virtual_machine("KVM"), crate::no_counters("none")];
        assert_eq!(graded(context(), 0.005), (Grade::Good, None));
        assert_eq!(graded(context(), 0.03), (Grade::Fair, Some("noise floor".to_owned())));
        assert_eq!(graded(vec![], 0.2), (Grade::Poor, Some("high noise floor".to_owned())));
        let mut cells = vec![crate::wide_interval(&"a", 0.2), crate::wide_interval(&"b", 0.2)];
        cells[1].cause.push_str(" (and 7 more like it)");
        assert_eq!(graded(cells.clone(), 0.01), (Grade::Fair, Some("wide interval in 9 places".to_owned())));
        cells.push(crate::loaded_machine(3.0, 2));
        assert_eq!(graded(cells.clone(), 0.01), (Grade::Fair, Some("other load".to_owned())));
        cells.push(crate::small_budget(Duration::from_secs(1), "copy"));
        assert_eq!(graded(cells, 0.01), (Grade::Poor, Some("budget too small".to_owned())));
        let half = RunResult { complete: false, ..run(vec![], 0.01) };
        assert_eq!(trust(&half).grade, Grade::Poor);
        assert_eq!(trust(&RunResult { noise_floor: None, ..run(vec![], 0.01) }).grade, Grade::Fair);
    }

    #[test]
    fn warnings_implied_by_a_virtual_machine_are_condensed() {
        let lacks = || vec![crate::no_fixed_frequency(&"not visible"), crate::no_counters("none")];
        let all: Vec<Warning> =
            [vec![crate::virtual_machine("KVM")], lacks(), vec![crate::one_cpu()]].concat();
        let short = condensed(&all);
        assert_eq!(short.iter().map(|w| w.code.as_str()).collect::<Vec<_>>(), ["W01", "W10"]);
        assert!(
            short[0].cause.ends_with("no fixed frequency (W02), no hardware counters (W12)"),
            "{}",
            short[0].cause
        );
        assert_eq!(condensed(&lacks()), lacks(), "on a physical machine they stand alone");
    }
}
