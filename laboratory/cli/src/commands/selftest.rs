//! `carryline selftest`: checks the measurement itself. A variant must tie with itself, and an injected
//! slowdown of about 5 % must be detected. Both rates show how far to trust a ranking.

use crate::cli::{Common, Selftest};
use crate::{output, prepared};
use carryline_conditions::sizes::Sizes;
use carryline_conditions::{Condition, Offsets};
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::machine::Here;
use carryline_engine::measure::{self, MeasureContext};
use carryline_engine::plan::RunPlan;
use carryline_engine::progress::Progress;
use carryline_engine::{interrupt, planted, session, standard};
use carryline_report::units::counted;
use carryline_results::gather::{Gathered, Situation};
use carryline_statistics::{self as statistics, Order, Ratio};
use carryline_variants::c_library::Thresholds;
use carryline_variants::{Family, Role, Variant};
use serde::Serialize;
use std::time::Instant;

/// The share of A/A pairs that may be called different, and of planted slowdowns that may be missed.
const DIFFERENT: f64 = 0.02;
const MISSED: f64 = 0.05;
/// The probability of as many faults by chance below which they are not chance.
const CHANCE: f64 = 0.001;

/// The maximum number of A/A pairs per situation; more make its rounds too long.
const PAIRS_EACH: usize = 5;

/// The counts over all runs.
#[derive(Debug, Default, Serialize)]
struct Counts {
    runs: u32,
    /// A/A pairs judged, and those called different.
    pairs: u32,
    called_different: u32,
    /// Planted slowdowns judged, and those called slower.
    planted: u32,
    called_slower: u32,
    /// The median of the planted slowdowns' measured ratios.
    planted_ratio: Option<f64>,
    /// The median and the largest of all noise floors.
    floor_median: Option<f64>,
    floor_largest: Option<f64>,
    /// The A/A pairs called different.
    different: Vec<Judged>,
    #[serde(skip)]
    ratios: Vec<f64>,
    #[serde(skip)]
    floors: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct Judged {
    run: u32,
    situation: String,
    variant: String,
    ratio: Ratio,
    floor: f64,
}

/// Runs the self-test.
pub fn run(args: &Selftest, common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let supervisor = session::supervisor(10)?;
    let situations = situations(args.pairs as usize)?;
    let seed = session::seed(common.seed);
    let mut counts = Counts::default();
    let progress = Progress::new(args.budget * args.runs, common.quiet);
    for run in 0..args.runs {
        if interrupt::requested() {
            break;
        }
        let plan = RunPlan {
            situations: situations.clone(),
            plugins: Vec::new(),
            replicates: prepared::REPLICATES,
            most_replicates: prepared::REPLICATES,
            budget: args.budget,
            seed: seed.wrapping_add(u64::from(run)),
            patience: supervisor.patience,
        };
        let context = MeasureContext {
            supervisor: &supervisor,
            caches: here.caches,
            cpu: here.cpu(None)?,
            deadline: Instant::now() + plan.budget,
            progress: &progress,
            first_replicate: 0,
            stop: &interrupt::requested,
        };
        let outcome = measure::run(&plan, &[], &context, &mut |_| {})?;
        if outcome.interrupted {
            break;
        }
        for gathered in &outcome.gathered {
            counts.judge(run, gathered, plan.seed);
        }
        counts.runs += 1;
    }
    progress.finish();
    counts.planted_ratio = statistics::median(&counts.ratios);
    counts.floor_median = statistics::median(&counts.floors);
    counts.floor_largest = counts.floors.iter().copied().reduce(f64::max);
    output::print_result("selftest", &counts, |_| counts.text(), common)?;
    output::end_of_partial(common)?;
    Ok(if interrupt::requested() {
        status::INTERRUPTED
    } else if counts.is_too_noisy() {
        status::UNDECIDED
    } else {
        0
    })
}

/// The probability of `count` or more of `of` independent events of probability `share`.
fn at_least(count: u32, of: u32, share: f64) -> f64 {
    let mut one = (1.0 - share).powi(of as i32);
    let mut fewer = 0.0;
    for known in 0..count {
        fewer += one;
        one *= f64::from(of - known) / f64::from(known + 1) * share / (1.0 - share);
    }
    1.0 - fewer
}

/// The candidates of a family that run here with the C library's default thresholds, the baseline first.
fn candidates(family: Family) -> Vec<&'static Variant> {
    let mut variants: Vec<&Variant> = carryline_variants::of(family)
        .iter()
        .copied()
        .filter(|variant| {
            variant.runs_here()
                && variant.thresholds() != Some(Thresholds::Raised)
                && variant.known_bad.is_none()
                && !matches!(variant.role, Role::Reference | Role::Historical)
        })
        .collect();
    variants.sort_by_key(|variant| variant.role != Role::Baseline);
    variants
}

/// Situations with `pairs` A/A pairs in total, in addition to the one in each that gives the floor; and one
/// situation for each planted slowdown.
fn situations(pairs: usize) -> Result<Vec<Situation>, Failure> {
    let cold = if cfg!(target_arch = "x86_64") { "cold:clflush" } else { "cold:evict" };
    let kinds = [
        (Family::Zero, "4K", Offsets::ALIGNED, "hot"),
        (Family::Copy, "4K", Offsets::ALIGNED, "hot"),
        (Family::Checksum, "1500", Offsets::ALIGNED, "hot"),
        (Family::Checksum, "40", Offsets::ALIGNED, "hot"),
        (Family::Zero, "fleet:memset-A", Offsets::Random, "hot"),
        (Family::Copy, "fleet:memcpy-A", Offsets::Random, "hot"),
        (Family::Checksum, "1..1500", Offsets::Random, "hot"),
        (Family::Checksum, "1500", Offsets::Random, cold),
    ];
    let mut made = Vec::new();
    let mut left = pairs;
    for turn in 0.. {
        if left == 0 {
            break;
        }
        let (family, sizes, offsets, cache) = kinds[turn % kinds.len()];
        let variants = candidates(family);
        let here = left.min(PAIRS_EACH).min(variants.len() - 1);
        left -= here;
        // Later situations use other variants.
        let first = 1 + turn / kinds.len() * PAIRS_EACH % (variants.len() - here).max(1);
        let names = std::iter::once(variants[0]).chain(variants[first..first + here].iter().copied());
        let subjects: Vec<String> = names.map(|variant| variant.name.to_owned()).collect();
        let condition = Condition {
            sizes: one_size(sizes)?,
            offsets,
            cache: cache
                .parse()
                .map_err(|error: carryline_machine::words::UnknownWord| usage(error.to_string()))?,
            ..Condition::plain(0)
        };
        let mut situation = standard::situation(family, condition, 1.0, &|_| (subjects.clone(), Some(0)));
        situation.name = format!("A/A {}: {}", turn + 1, situation.name);
        situation.twins = (0..subjects.len()).collect();
        made.push(situation);
    }
    for size in planted::SIZES {
        let subjects = vec![planted::ORIGINAL.to_owned(), planted::NAME.to_owned()];
        let mut situation = standard::situation(Family::Checksum, Condition::plain(size), 1.0, &|_| {
            (subjects.clone(), Some(0))
        });
        situation.name = format!("planted: {}", situation.name);
        made.push(situation);
    }
    Ok(made)
}

fn one_size(text: &str) -> Result<Sizes, Failure> {
    let sizes = Sizes::parse_list(text).map_err(|error| usage(error.to_string()))?;
    sizes.into_iter().next().ok_or_else(|| usage(format!("'{text}' is not a size")))
}

impl Counts {
    /// Judges a situation as a ranking does: by the noise floor of the baseline's twin.
    fn judge(&mut self, run: u32, gathered: &Gathered, seed: u64) {
        let subjects = &gathered.situation.subjects;
        let ratio =
            |a: usize, b: usize| statistics::paired_ratio(&gathered.gross(a), &gathered.gross(b), seed);
        let Some(own) = ratio(subjects.len(), 0) else { return };
        let floor = statistics::noise_floor(&[own]);
        self.floors.push(floor);
        let judged = |variant: &str, ratio| Judged {
            run,
            situation: gathered.situation.name.clone(),
            variant: variant.to_owned(),
            ratio,
            floor,
        };
        for (twin, subject) in gathered.situation.twins.iter().enumerate().skip(1) {
            let Some(pair) = ratio(subjects.len() + twin, *subject) else { continue };
            self.pairs += 1;
            if statistics::compare(&pair, floor) != Order::Tie {
                self.called_different += 1;
                self.different.push(judged(&subjects[*subject], pair));
            }
        }
        if let Some(place) = subjects.iter().position(|name| name == planted::NAME)
            && let Some(pair) = ratio(place, 0)
        {
            self.planted += 1;
            self.ratios.push(pair.median);
            self.called_slower += u32::from(statistics::compare(&pair, floor) == Order::Slower);
        }
    }

    /// True if more pairs were called different, or more slowdowns missed, than chance explains.
    fn is_too_noisy(&self) -> bool {
        at_least(self.called_different, self.pairs, DIFFERENT) < CHANCE
            || at_least(self.planted - self.called_slower, self.planted, MISSED) < CHANCE
    }

    fn text(&self) -> String {
        if self.runs == 0 {
            return "no run was finished\n".to_owned();
        }
        let percent = |part: u32, whole: u32| 100.0 * f64::from(part) / f64::from(whole.max(1));
        let mut text = format!(
            "{}\n\
             A/A pairs reported different: {} of {} ({:.1} %; at most {:.0} % expected)\n\
             planted slowdowns detected: {} of {} ({:.1} %; at least {:.0} % expected)\n",
            counted(u64::from(self.runs), "run"),
            self.called_different,
            self.pairs,
            percent(self.called_different, self.pairs),
            100.0 * DIFFERENT,
            self.called_slower,
            self.planted,
            percent(self.called_slower, self.planted),
            100.0 * (1.0 - MISSED),
        );
        if let (Some(ratio), Some(median), Some(largest)) =
            (self.planted_ratio, self.floor_median, self.floor_largest)
        {
            text.push_str(&format!(
                "size of planted slowdowns: {:+.1} % (median)\n\
                 noise floor: {:.2} % (median), {:.2} % (largest)\n",
                100.0 * (ratio - 1.0),
                100.0 * median,
                100.0 * largest
            ));
        }
        if self.is_too_noisy() {
            text.push_str(
                "More than chance explains: on this machine, as it is now, do not trust verdicts.\n",
            );
        }
        for judged in &self.different {
            text.push_str(&format!(
                "  run {}: {}: {} compared with itself: {:.4} [{:.4}, {:.4}], floor {:.4}\n",
                judged.run + 1,
                judged.situation,
                judged.variant,
                judged.ratio.median,
                judged.ratio.low,
                judged.ratio.high,
                judged.floor
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_more_faults_than_chance_explains_are_too_many() {
        assert_eq!(at_least(0, 5, 0.05), 1.0);
        assert!((at_least(1, 5, 0.05) - (1.0 - 0.95_f64.powi(5))).abs() < 1e-12);
        assert!((at_least(5, 5, 0.05) - 0.05_f64.powi(5)).abs() < 1e-12);
        let too_noisy = |called_different, pairs, called_slower, planted| {
            Counts { called_different, pairs, called_slower, planted, ..Counts::default() }.is_too_noisy()
        };
        assert!(!too_noisy(0, 0, 0, 0) && !too_noisy(0, 5, 4, 5) && !too_noisy(25, 800, 95, 100));
        assert!(too_noisy(0, 5, 1, 5) && too_noisy(40, 800, 100, 100) && too_noisy(0, 100, 85, 100));
    }
}
