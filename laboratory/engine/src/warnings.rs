//! The warnings of a run: about the machine, disturbances and unreliable figures.

use super::measure::Measurement;
use super::plan::RunPlan;
use carryline_conditions::Condition;
use carryline_machine::arena::Pages;
use carryline_machine::c_library::RepThresholds;
use carryline_machine::environment::Environment;
use carryline_results::cells::Summary;
use carryline_results::gather::{Gathered, Situation};
use carryline_results::{Status, Warning};
use carryline_statistics::{self as statistics, Estimate};
use carryline_variants::Family;
use carryline_variants::c_library::Thresholds;
use carryline_warnings as warning;
use std::time::Duration;

/// The relative width above which an interval is too wide.
const WIDE: f64 = 0.10;
/// The number of rounds in a replicate below which the median is poor.
const FEW_ROUNDS: usize = 5;
/// Batches of N and 2N calls whose nets differ by more than this, and by more than twice the floor, show a
/// fixed cost.
const DOUBLING: f64 = 0.03;
/// The drift of the core clock between rounds above which figures in cycles are blurred.
const DRIFT: f64 = 0.03;
/// A noise floor above this hides most differences of interest.
const HIGH_FLOOR: f64 = 0.05;
/// Involuntary switches per second of measurement above the usual housekeeping.
const SWITCHES_PER_SECOND: f64 = 50.0;
/// Cold methods whose figures differ by more than this are not one condition.
const COLD: f64 = 0.2;
/// The fraction of stolen time that matters.
const STEAL: f64 = 0.01;
/// Rounds in which the core executes less than this part of the independent additions that it can are slowed by
/// another thread of the core.
const SLOWED: f64 = 0.9;
/// The fraction of such rounds that matters.
const SHARED: f64 = 0.05;
/// Two rows that execute the same instructions do not differ by this factor.
const SAME: f64 = 2.0;
/// The number of cells named per warning; the rest are counted.
const NAMED: usize = 3;

/// All warnings of a run.
pub fn all(
    plan: &RunPlan,
    here: &Environment,
    outcome: &Measurement,
    summaries: &[(String, Summary)],
    took: Duration,
) -> Vec<Warning> {
    let mut warnings = warning::of_environment(here);
    if let Some(reason) = &outcome.pin_error {
        add(&mut warnings, warning::cannot_pin(reason));
    }
    if let Some(held) = outcome.l3_held {
        warnings.push(warning::part_of_last_level(held, here.cache_sizes().l3));
    }
    let seconds = took.as_secs_f64().max(1.0);
    if outcome.involuntary_switches as f64 / seconds > SWITCHES_PER_SECOND {
        warnings.push(warning::context_switches(outcome.involuntary_switches));
    }
    if outcome.stolen > STEAL {
        warnings.push(warning::stolen_time(outcome.stolen));
    }
    if let Some((share, rate)) = shared_core(&outcome.additions_per_cycle) {
        warnings.push(warning::shared_core(share, rate));
    }
    if let Some(relative) = drift(&outcome.gathered).filter(|relative| *relative > DRIFT) {
        warnings.push(warning::clock_drift(relative));
    }
    for how in outcome.lost.iter().chain(&outcome.restarted) {
        warnings.push(warning::worker_lost(how, "outside every variant"));
    }
    for proof in &outcome.fallen {
        warnings
            .push(warning::worker_lost("a routine failed while it was measured", &proof.subject.to_string()));
    }
    let mut few = Vec::new();
    let mut unsteady = Vec::new();
    let mut doubling = Vec::new();
    for (gathered, (_, summary)) in outcome.gathered.iter().zip(summaries) {
        few.extend(few_rounds(gathered));
        if gathered.replicates.iter().filter(|r| !r.steady).count() * 2 > gathered.replicates.len().max(1) {
            unsteady.push(gathered.situation.name.clone());
        }
        doubling.extend(disagreement(gathered, summary));
    }
    limited(&mut warnings, few, |(name, rounds)| warning::few_rounds(name, *rounds));
    limited(&mut warnings, unsteady, warning::never_steady);
    limited(&mut warnings, doubling, |(name, relative)| warning::doubling_disagrees(name, *relative));
    let mut wide: Vec<(String, f64)> =
        summaries.iter().flat_map(|(_, summary)| wide_cells(summary)).collect();
    wide.sort_by(|a, b| b.1.total_cmp(&a.1));
    limited(&mut warnings, wide, |(name, relative)| warning::wide_interval(name, *relative));
    let mut high: Vec<(String, f64)> = summaries
        .iter()
        .filter_map(|(name, summary)| {
            Some((name.clone(), summary.floor.filter(|floor| *floor > HIGH_FLOOR)?))
        })
        .collect();
    high.sort_by(|a, b| b.1.total_cmp(&a.1));
    limited(&mut warnings, high, |(name, floor)| warning::high_noise_floor(name, *floor));
    let thresholds = here.system.rep_thresholds.as_ref();
    let not_raised = thresholds.into_iter().flat_map(|thresholds| {
        let situations = outcome.gathered.iter().zip(summaries);
        situations.flat_map(|(gathered, (_, summary))| not_raised(&gathered.situation, summary, thresholds))
    });
    limited(&mut warnings, not_raised.collect(), |(situation, raised, times, as_installed)| {
        warning::thresholds_not_raised(situation, raised, *times, as_installed)
    });
    for gathered in &outcome.gathered {
        if gathered.situation.condition.pages == Pages::Huge {
            let given = gathered
                .observed()
                .and_then(|o| Some(o.huge_bytes? as f64 / o.footprint_bytes.max(1) as f64));
            if given.is_some_and(|share| share < 0.9) {
                add(&mut warnings, warning::no_huge_pages(given.unwrap_or(0.0)));
            }
        }
    }
    limited(
        &mut warnings,
        cold_disagreements(&outcome.gathered, summaries),
        |(name, one, other, relative)| warning::cold_methods_disagree(name, one, other, *relative),
    );
    // Without a round, although not every subject was lost.
    let starved = |g: &&Gathered| !g.is_measured() && g.lost.len() < g.situation.subjects.len();
    let unmeasured: Vec<&str> =
        outcome.gathered.iter().filter(starved).map(|g| g.situation.name.as_str()).collect();
    if !unmeasured.is_empty() && !outcome.interrupted {
        warnings.push(warning::small_budget(plan.budget, &unmeasured.join("; ")));
    }
    if took > plan.budget.mul_f64(1.25) {
        warnings.push(warning::budget_overrun(took, plan.budget));
    }
    warnings
}

/// Adds a warning unless there is one with its code.
fn add(warnings: &mut Vec<Warning>, warning: Warning) {
    if !warnings.iter().any(|known| known.code == warning.code) {
        warnings.push(warning);
    }
}

/// Adds warnings for the first items of a list; the last one states the number of the others.
fn limited<T>(warnings: &mut Vec<Warning>, list: Vec<T>, make: impl Fn(&T) -> Warning) {
    let more = list.len().saturating_sub(NAMED);
    for (index, item) in list.iter().take(NAMED).enumerate() {
        let mut warning = make(item);
        if index + 1 == NAMED && more > 0 {
            warning.cause.push_str(&format!(" (and {more} more like it)"));
        }
        warnings.push(warning);
    }
}

/// Situations that differ only in the method that makes them cold, but in which a variant's figures differ by
/// more than [`COLD`]: the situation, both methods, and the difference of the variant that differs most.
fn cold_disagreements(
    gathered: &[Gathered],
    summaries: &[(String, Summary)],
) -> Vec<(String, String, String, f64)> {
    let mut found = Vec::new();
    for (index, one) in gathered.iter().enumerate() {
        for (later, other) in gathered.iter().enumerate().skip(index + 1) {
            let (a, b) = (&one.situation, &other.situation);
            let cold = |condition: &Condition| !condition.cache.is_hot() && condition.cache.mixed().is_none();
            let same = Condition { cache: a.condition.cache, ..b.condition.clone() } == a.condition;
            let both_cold = cold(&a.condition) && cold(&b.condition);
            if a.family != b.family
                || !same
                || !both_cold
                || a.condition.cache.operands != b.condition.cache.operands
                || a.condition.cache.batch != b.condition.cache.batch
            {
                continue;
            }
            let pairs = summaries[index].1.cells.iter().zip(&summaries[later].1.cells);
            let furthest = pairs
                .filter_map(|(x, y)| Some((x.variant.clone(), x.gross?.median / y.gross?.median)))
                .map(|(variant, ratio)| (variant, ratio.max(1.0 / ratio) - 1.0))
                .max_by(|x, y| x.1.total_cmp(&y.1));
            if let Some((variant, relative)) = furthest.filter(|(_, relative)| *relative > COLD) {
                let (one, other) = (a.condition.cache.to_string(), b.condition.cache.to_string());
                found.push((
                    format!("{} {}: {variant}", a.family, a.condition.sizes.label),
                    one,
                    other,
                    relative,
                ));
            }
        }
    }
    found
}

/// The drift of the core clock: the spread of the middle 80 % of the rounds' ticks per cycle.
fn drift(gathered: &[Gathered]) -> Option<f64> {
    let rounds = gathered.iter().flat_map(|g| &g.replicates).flat_map(|replicate| &replicate.rounds);
    let ratios: Vec<f64> = rounds.map(|round| round.ticks_per_cycle).filter(|ratio| *ratio > 0.0).collect();
    Some(statistics::quantile(&ratios, 0.9)? / statistics::quantile(&ratios, 0.1)? - 1.0)
}

/// The fraction of rounds slowed by another thread of the core, if it matters, and their median rate relative to
/// the fastest. The very fastest rates are not believed: an interruption of the chain that counts the cycles raises
/// a rate.
fn shared_core(additions_per_cycle: &[f64]) -> Option<(f64, f64)> {
    let fastest = statistics::quantile(additions_per_cycle, 0.98)?;
    let slowed: Vec<f64> =
        additions_per_cycle.iter().map(|rate| rate / fastest).filter(|rate| *rate < SLOWED).collect();
    let share = slowed.len() as f64 / additions_per_cycle.len() as f64;
    (share > SHARED).then_some((share, statistics::median(&slowed)?))
}

fn few_rounds(gathered: &Gathered) -> Option<(String, u64)> {
    let rounds = gathered.replicates.iter().map(|replicate| replicate.rounds.len()).min()?;
    (rounds < FEW_ROUNDS).then(|| (gathered.situation.name.clone(), rounds as u64))
}

/// The difference between a situation's nets from batches of N and of 2N calls, if it is more than noise.
fn disagreement(gathered: &Gathered, summary: &Summary) -> Option<(String, f64)> {
    let null = gathered.null();
    let worst = (0..gathered.situation.subjects.len())
        .map(|place| (place, gathered.gross(place)))
        .filter(|(_, gross)| {
            // A C library row has samples only in processes of its kind.
            let nets = statistics::net(gross, &null).into_iter().flatten();
            let nets: Vec<f64> = nets.filter(|net| net.is_finite()).collect();
            // In a net of about a tick, the clock's resolution is a large part.
            statistics::median(&nets).is_some_and(|net| net > 1.0)
        })
        .filter_map(|(place, gross)| Some((place, statistics::agreement_of_nets(&gross, &null)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let bound = DOUBLING.max(2.0 * summary.floor.unwrap_or(0.0));
    let (place, relative) = worst.filter(|(_, relative)| *relative > bound)?;
    Some((format!("{}: {}", gathered.situation.name, gathered.situation.subjects[place]), relative))
}

/// The rows with raised thresholds that differ from the rows as installed although no call is as long as a
/// threshold: the situation, the row, the ratio of the times, and the row as installed.
fn not_raised(
    situation: &Situation,
    summary: &Summary,
    thresholds: &RepThresholds,
) -> Vec<(String, &'static str, f64, &'static str)> {
    let threshold = match situation.family {
        Family::Zero => thresholds.stosb,
        Family::Copy | Family::CopyChecksum => thresholds.movsb,
        Family::Checksum => None,
    };
    if threshold.is_none_or(|bytes| situation.condition.sizes.max() >= bytes) {
        return Vec::new();
    }
    let gross = |name: &str| summary.cells.iter().find(|cell| cell.variant == name)?.gross;
    let rows = carryline_variants::of(situation.family).iter();
    rows.filter(|row| row.thresholds() == Some(Thresholds::Raised))
        .filter_map(|raised| {
            let as_installed = raised.with_other_thresholds()?.name;
            let (slower, faster) = (gross(raised.name)?, gross(as_installed)?);
            let times = slower.median / faster.median;
            let differs = times > SAME && slower.low > faster.high;
            differs.then(|| (situation.name.clone(), raised.name, times, as_installed))
        })
        .collect()
}

fn wide_cells(summary: &Summary) -> Vec<(String, f64)> {
    let width = |estimate: Estimate| (estimate.high - estimate.low) / estimate.median.max(f64::MIN_POSITIVE);
    summary
        .cells
        .iter()
        .filter(|cell| cell.status == Status::Ok)
        .filter_map(|cell| Some((format!("{}: {}", cell.situation, cell.variant), width(cell.gross?))))
        .filter(|(_, width)| *width > WIDE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_results::gather::Replicate;
    use carryline_results::round::Round;

    #[test]
    fn a_core_is_shared_if_additions_slow_down_in_some_rounds() {
        let mut rates = vec![4.0; 100];
        assert_eq!(shared_core(&[]), None);
        assert_eq!(shared_core(&rates), None);
        rates[..4].fill(2.0);
        assert_eq!(shared_core(&rates), None, "too few to matter");
        rates[..40].fill(2.8);
        // The chain was interrupted.
        rates[99] = 9.0;
        let (share, rate) = shared_core(&rates).expect("40 of 100 rounds");
        assert_eq!((share, (rate * 100.0).round()), (0.4, 70.0));
    }

    fn gathered(rounds: Vec<Round>) -> Gathered {
        let situation = Situation {
            name: "zero 4K".to_owned(),
            family: Family::Zero,
            condition: Condition::plain(4096),
            subjects: vec!["a".to_owned()],
            baseline: None,
            twins: Vec::new(),
            weight: 1.0,
        };
        let mut gathered = Gathered::new(situation);
        gathered.replicates.push(Replicate { rounds, observed: None, steady: true });
        gathered
    }

    fn round(multiplier: u32, sample: f64, ticks_per_cycle: f64) -> Round {
        Round {
            number: 0,
            multiplier,
            samples: vec![sample],
            null_ticks: 4.0,
            ticks_per_cycle,
            counted: false,
        }
    }

    #[test]
    fn a_fixed_cost_in_short_batches_is_detected() {
        let summary = Summary { cells: Vec::new(), floor: Some(0.005), twins: Vec::new() };
        let leaky: Vec<Round> =
            (0..20).map(|i| round(1 + i % 2, if i % 2 == 0 { 110.0 } else { 104.0 }, 0.6)).collect();
        let (_, relative) = disagreement(&gathered(leaky), &summary).expect("6 % is more than noise");
        assert!((relative - 6.0 / 106.0).abs() < 0.001, "{relative}");
        let clean: Vec<Round> = (0..20).map(|i| round(1 + i % 2, 104.0, 0.6)).collect();
        assert!(disagreement(&gathered(clean), &summary).is_none());
    }

    #[test]
    fn thresholds_that_were_not_raised_are_detected_below_them() {
        let found = |bytes: u64, raised: f64| {
            let rows = ["libc_memcpy", "libc_memcpy_no_rep"];
            let rounds = (0..20).map(|i| {
                let jitter = 1.0 + f64::from(i) / 1000.0;
                Round { samples: vec![8.5 * jitter, raised * jitter], ..round(1, 0.0, 0.6) }
            });
            let mut gathered = gathered(rounds.collect());
            gathered.situation.family = Family::Copy;
            gathered.situation.condition = Condition::plain(bytes);
            gathered.situation.subjects = rows.map(str::to_owned).into();
            gathered.replicates = vec![gathered.replicates[0].clone(); 3];
            let summary = carryline_results::cells::summarise(&gathered, &[], 1);
            let thresholds = RepThresholds { movsb: Some(2112), stosb: Some(64), ..RepThresholds::default() };
            not_raised(&gathered.situation, &summary, &thresholds)
        };
        let [(_, raised, times, as_installed)] = &found(160, 34.0)[..] else { panic!("one row") };
        assert_eq!((*raised, *as_installed), ("libc_memcpy_no_rep", "libc_memcpy"));
        assert!((times - 4.0).abs() < 0.01, "{times}");
        assert!(found(160, 9.5).is_empty(), "noise");
        assert!(found(160, 2.0).is_empty(), "faster is not what this fault does");
        assert!(found(2112, 34.0).is_empty(), "string instructions are the difference");
    }

    #[test]
    fn drift_and_few_rounds_are_detected() {
        let slow: Vec<Round> = (0..20).map(|i| round(1, 100.0, 0.6 + 0.005 * f64::from(i))).collect();
        assert!(drift(&[gathered(slow)]).expect("rounds") > 0.1);
        assert_eq!(few_rounds(&gathered(vec![round(1, 1.0, 0.6); 3])).map(|(_, n)| n), Some(3));
        assert!(few_rounds(&gathered(vec![round(1, 1.0, 0.6); 9])).is_none());
    }

    #[test]
    fn a_long_list_of_one_kind_is_cut_and_counted() {
        let mut warnings = Vec::new();
        let names: Vec<String> = (0..10).map(|i| format!("cell {i}")).collect();
        limited(&mut warnings, names, warning::never_steady);
        assert_eq!(warnings.len(), NAMED);
        assert!(warnings[NAMED - 1].cause.ends_with("(and 7 more like it)"), "{}", warnings[NAMED - 1].cause);
    }
}
