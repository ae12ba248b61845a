//! Collects the results of a machine from stored samples and evaluated goals.

use super::{CellResult, Count, Floor, GoalResult, Interval, Limit, OpponentKind, Order, Results, VERSION};
use crate::goal::{Against, Over};
use crate::goals::sizes;
use crate::judge::{CellFinding, Finding, GoalVerdict};
use crate::machine;
use crate::stored::{Group, Stored, StoredRun};
use crate::table::{self, WORST};
use carryline_machine::environment::{CacheKind, Environment, Level};
use carryline_statistics::Ratio;
use std::collections::{BTreeMap, BTreeSet};

impl Results {
    /// The results of a group of stored runs.
    #[must_use]
    pub fn of(group: &Group, findings: &[Finding]) -> Results {
        let stored = &group.stored;
        let days = || stored.runs.iter().filter_map(|run| run.started.get(..10));
        let (first, last) = (days().min().unwrap_or("?"), days().max().unwrap_or("?"));
        let newest = stored.runs.first();
        Results {
            version: VERSION,
            machine: group.machine.clone(),
            tier: group.tier,
            masked: newest.map(|run| machine::masked(&run.environment)).unwrap_or_default(),
            environment: newest.map(environment).unwrap_or_default(),
            measured: if first == last { first.to_owned() } else { format!("{first} to {last}") },
            runs: stored.runs.len(),
            commit: commit(stored),
            notes: notes(stored),
            differences: differences(stored),
            limits: limits(stored),
            floor: floor(stored),
            warnings: warnings(stored),
            goals: findings.iter().map(|finding| goal(finding, ticks_per_cycle(stored))).collect(),
            others: super::others::others(stored),
            tables: super::tables::all_variants(stored),
        }
    }
}

/// Rounds to four significant digits, which suffice for every figure and keep the files small.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    // Divides instead of multiplying, because 0.1 has no exact representation and its digits would show.
    if digits >= 0 {
        let scale = 10_f64.powi(digits);
        (value * scale).round() / scale
    } else {
        value.round()
    }
}

pub(super) fn interval(ratio: &Ratio) -> Interval {
    Interval { median: rounded(ratio.median), low: rounded(ratio.low), high: rounded(ratio.high) }
}

fn environment(run: &StoredRun) -> Vec<[String; 2]> {
    let Ok(here) = serde_json::from_value::<Environment>(run.environment.clone()) else {
        return vec![["environment".to_owned(), "of another version".to_owned()]];
    };
    let cpu = &here.cpu;
    let caches: Vec<String> = here
        .caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction)
        .map(|cache| format!("L{} {} KiB", cache.level, cache.size_bytes >> 10))
        .collect();
    let set = here.system.rep_thresholds.as_ref().and_then(|libc| libc.glibc_tunables.as_ref());
    let tunables = set.map(|set| format!(", GLIBC_TUNABLES={set}"));
    let cycle = run.ticks_per_cycle.map(|ticks| format!(", {ticks:.2} ticks to a core cycle"));
    let clock = here.clock.hz.map_or("unknown".to_owned(), |hz| format!("TSC {:.3} GHz", hz as f64 / 1e9));
    [
        ("CPU", machine::words(cpu)),
        ("caches", if caches.is_empty() { "not reported".to_owned() } else { caches.join(", ") }),
        ("clock", format!("{clock}{}", cycle.unwrap_or_default())),
        ("kernel", here.system.kernel.clone()),
        ("C library", format!("{}{}", here.system.libc, tunables.unwrap_or_default())),
        ("build", format!("carryline {}, {}", here.build.version, here.build.compiler)),
    ]
    .map(|(what, is)| [what.to_owned(), is])
    .into()
}

/// The commits of all runs, each once.
fn commit(stored: &Stored) -> Option<String> {
    let mut commits: Vec<&str> = Vec::new();
    for commit in stored.runs.iter().filter_map(|run| run.commit.as_deref()) {
        if !commits.contains(&commit) {
            commits.push(commit);
        }
    }
    (!commits.is_empty()).then(|| commits.join(", "))
}

/// A note on the C library that ratios refer to.
fn notes(stored: &Stored) -> Vec<String> {
    let mut names =
        stored.situations.iter().flat_map(|situation| &situation.gathered.situation.subjects).peekable();
    let is_known = names.peek().is_some();
    let note = if names.any(|name| name.ends_with("_no_rep")) {
        "Ratios to libc are to the better of two: as installed, and with its `rep` thresholds raised."
    } else {
        "Ratios to libc are to libc as installed only."
    };
    if is_known { vec![note.to_owned()] } else { Vec::new() }
}

/// The differences from the first run, each with the runs that have it.
fn differences(stored: &Stored) -> Vec<String> {
    let read = |run: &StoredRun| serde_json::from_value::<Environment>(run.environment.clone()).ok();
    let Some(here) = stored.runs.first().and_then(read) else { return Vec::new() };
    let mut found: Vec<(String, BTreeSet<i64>)> = Vec::new();
    for run in &stored.runs {
        let Some(other) = read(run) else { continue };
        for difference in here.differences(&other).into_iter().map(|difference| difference.to_string()) {
            match found.iter_mut().find(|(known, _)| *known == difference) {
                Some((_, runs)) => _ = runs.insert(run.id),
                None => found.push((difference, BTreeSet::from([run.id]))),
            }
        }
    }
    let of_runs = |runs: &BTreeSet<i64>| match (runs.first(), runs.len()) {
        (Some(run), 1) => format!("run {run}"),
        (_, count) => format!("{count} runs"),
    };
    found.iter().map(|(difference, runs)| format!("{}: {difference}", of_runs(runs))).collect()
}

/// The limits over all runs, in bytes per core cycle: the maximum that any run reached, by its own clock.
fn limits(stored: &Stored) -> Vec<Limit> {
    let mut best: BTreeMap<Level, [f64; 3]> = BTreeMap::new();
    for run in &stored.runs {
        let Some(ticks) = run.ticks_per_cycle else { continue };
        for limit in &run.limits {
            let here = best.entry(limit.level).or_default();
            for (most, seen) in here.iter_mut().zip([limit.load, limit.store, limit.nt_store]) {
                *most = most.max(seen * ticks);
            }
        }
    }
    let of = |(level, rates): (Level, [f64; 3])| {
        let [load, store, nt_store] = rates.map(rounded);
        Limit { level, load, store, nt_store }
    };
    best.into_iter().map(of).collect()
}

fn ticks_per_cycle(stored: &Stored) -> Option<f64> {
    stored.runs.first()?.ticks_per_cycle
}

fn floor(stored: &Stored) -> Option<Floor> {
    let mut floors: Vec<f64> = stored.situations.iter().filter_map(|situation| situation.floor).collect();
    floors.sort_by(f64::total_cmp);
    Some(Floor {
        median: rounded(*floors.get(floors.len() / 2)?),
        maximum: rounded(*floors.last()?),
        situations: floors.len(),
    })
}

fn warnings(stored: &Stored) -> BTreeMap<String, usize> {
    let mut codes = BTreeMap::new();
    for warning in stored.runs.iter().flat_map(|run| &run.warnings) {
        *codes.entry(warning.code.clone()).or_default() += 1;
    }
    codes
}

fn kind(finding: &Finding) -> OpponentKind {
    match finding.goal.against {
        Against::BestOf(_) => OpponentKind::Trap,
        _ if finding.goal.source == sizes::SOURCE => OpponentKind::Sizes,
        _ if finding.goal.is_against_others() => OpponentKind::Others,
        _ => OpponentKind::Machine,
    }
}

fn goal(finding: &Finding, ticks_per_cycle: Option<f64>) -> GoalResult {
    let goal = &finding.goal;
    let (sizes, shown) = table::shown(finding);
    let first = finding.cells.first();
    let opponent = shown.or(first);
    let count = |wanted| finding.cells.iter().filter(|cell| order(&cell.ratio, cell.floor) == wanted).count();
    let below: Vec<&CellFinding> =
        finding.cells.iter().filter(|cell| cell.ratio.median < goal.want).collect();
    // Rounded to whole cycles.
    let cycles = |cell: &CellFinding, ticks: f64| ((cell.ours.median - cell.opponent_ticks) / ticks).round();
    let by_two_cycles =
        ticks_per_cycle.map(|ticks| below.iter().filter(|cell| cycles(cell, ticks) >= 2.0).count());
    let best = finding.cells.last().filter(|_| finding.cells.len() > WORST);
    GoalResult {
        id: goal.id.clone(),
        part: goal.part,
        source: goal.source.to_owned(),
        kind: kind(finding),
        family: goal.cells.family(),
        routine: goal.ours.to_owned(),
        condition: goal.cells.words(),
        sizes,
        want: rounded(goal.want),
        outcome: match &finding.verdict {
            GoalVerdict::Missed { by, at_most } => {
                GoalVerdict::Missed { by: rounded(*by), at_most: at_most.map(rounded) }
            }
            other => other.clone(),
        },
        ours: shown.map(|cell| rounded(cell.ours.median)),
        opponent: opponent.map(|cell| cell.opponent.clone()),
        // A mean has no opponent ticks.
        opponent_ticks: shown.filter(|_| goal.over == Over::Worst).map(|cell| rounded(cell.opponent_ticks)),
        ratio: finding.ratio.as_ref().map(interval),
        also: first.and_then(|cell| cell.also.as_ref()).map(|(name, ratio)| (name.clone(), interval(ratio))),
        cells: finding.cells.iter().take(WORST).map(cell).collect(),
        best: best.map(cell),
        count: Count {
            cells: finding.cells.len(),
            faster: count(Order::Faster),
            slower: count(Order::Slower),
            below: below.len(),
            by_two_cycles,
        },
        measured: None,
    }
}

fn cell(finding: &CellFinding) -> CellResult {
    CellResult {
        size: finding.size.clone(),
        ratio: rounded(finding.ratio.median),
        opponent: finding.opponent.clone(),
        ours: Some(rounded(finding.ours.median)),
        theirs: Some(rounded(finding.opponent_ticks)),
        order: order(&finding.ratio, finding.floor),
    }
}

/// The order of our time and the opponent's, from the opponent's time over ours.
pub(super) fn order(ratio: &Ratio, floor: f64) -> Order {
    if ratio.high < 1.0 && 1.0 - ratio.median > floor {
        Order::Slower
    } else if ratio.low > 1.0 && ratio.median - 1.0 > floor {
        Order::Faster
    } else {
        Order::Tie
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_significant_digits() {
        let values = [0.0, 1.23456, 0.98765, 12.3456, 1234.56, 8_222_890.4, 0.012345].map(rounded);
        assert_eq!(values, [0.0, 1.235, 0.9877, 12.35, 1235.0, 8_222_890.0, 0.01235]);
        assert_eq!(rounded(f64::NAN), 0.0);
    }
}
