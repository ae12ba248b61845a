//! The search: first a grid of sizes in powers of two, then the sizes around each crossing.

use crate::arms::{self, Arm, Cell, Found, Lab};
use crate::ladder::{Step, Thresholds, best, best_string, closest};
use crate::questions::{Method, QUESTIONS, Question, SHARE};
use crate::settings::{Settings, decision, function};
use carryline::internals::cpu;
use carryline::internals::dispatch::{Function, kernels};
use carryline_conditions::sizes::Sizes;
use carryline_conditions::{Condition, Offsets};
use carryline_engine::failure::Failure;
use carryline_variants::Family;
use std::path::Path;
use std::time::Duration;

/// The rest of the search's time is for the sizes around the crossings.
const FOR_GRID: f64 = 0.6;
/// How often the sizes around a crossing are divided by four.
const REFINED: u32 = 2;
/// Kernels get this part of the time.
const FOR_KERNELS: f64 = 0.25;
/// Kernels of one function that are compared, at most: the first ones of its list.
const MOST_KERNELS: usize = 3;
/// A method that costs more than this under any condition is not looked for: the logarithm of a ratio.
const SLACK: f64 = 0.05;
/// A kernel is given up for another that takes this much less time, in the mean of the logarithms.
const BETTER: f64 = 0.02;

/// The settings that are best by what was measured, where they differ from `base` by more than noise.
///
/// # Errors
/// When workers cannot be started or files not be written.
pub fn search(
    lab: &Lab<'_>,
    base: &Settings,
    families: &[Family],
    folder: &Path,
    time: Duration,
) -> Result<Settings, Failure> {
    let questions: Vec<Question> =
        QUESTIONS.into_iter().filter(|question| families.contains(&question.family)).collect();
    let for_kernels = if questions.is_empty() { 1.0 } else { FOR_KERNELS };
    let settings = search_kernels(lab, base, families, folder, time.mul_f64(for_kernels))?;
    search_thresholds(lab, &settings, &questions, folder, time.mul_f64(1.0 - for_kernels))
}

/// Something whose thresholds can be set: the library, or the C library.
pub trait Knobs: Clone {
    /// The thresholds of a question.
    fn thresholds(&self, question: &Question) -> Thresholds;
    /// The same with another value for a threshold, in bytes; the largest number is never.
    #[must_use]
    fn set(&self, name: &'static str, bytes: u64) -> Self;
    /// Processes that are set so. Files go into `folder`.
    ///
    /// # Errors
    /// When a file cannot be written.
    fn arm(&self, label: &str, folder: &Path) -> std::io::Result<Arm>;
    /// What makes each method the only one, as far as thresholds do.
    fn methods(&self, questions: &[Question]) -> [(&'static str, Self); 3];
}

/// Asks questions at some sizes each. What is in force counts as it is; another method that costs time under some condition
/// counts by what it costs there, as it would not be kept.
fn ask<K: Knobs>(
    lab: &Lab<'_>,
    arms: &[Arm],
    base: &K,
    questions: &[Question],
    sizes: &[(usize, Vec<u64>)],
    time: Duration,
) -> Result<Vec<(usize, Vec<Step>)>, Failure> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut places = Vec::new();
    for (question, sizes) in sizes {
        for size in sizes {
            let first = cells.len();
            cells.extend(questions[*question].cells(*size));
            places.push((*question, *size, first..cells.len()));
        }
    }
    let found = arms::measure(lab, arms, &cells, time)?;
    let mut answers: Vec<(usize, Vec<Step>)> =
        sizes.iter().map(|(question, _)| (*question, Vec::new())).collect();
    for (question, size, cells) in places {
        let cells: Vec<usize> = cells.collect();
        let in_force = base.thresholds(&questions[question]).method(size);
        let logs = Method::ALL.map(|method| logs(&found, &cells, method as usize));
        let mut costs = Method::ALL.map(|method| cost(&logs, method, in_force));
        if questions[question].non_temporal.is_none() {
            costs[Method::NonTemporal as usize] = f64::INFINITY;
        }
        // What could not be measured by loops says nothing about the others.
        if costs[0].is_finite()
            && let Some((_, steps)) = answers.iter_mut().find(|(known, _)| *known == question)
        {
            steps.push(Step { size, costs });
        }
    }
    Ok(answers)
}

/// The logarithms of some cells' times in an arm; `None` if one has none.
fn logs(found: &Found, cells: &[usize], arm: usize) -> Option<Vec<f64>> {
    cells.iter().map(|cell| found.typical(*cell, arm).map(f64::ln)).collect()
}

/// What a method costs at one size, from the logarithms of the times of all methods.
fn cost(logs: &[Option<Vec<f64>>; 3], method: Method, in_force: Method) -> f64 {
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    let (Some(own), Some(now)) = (&logs[method as usize], &logs[in_force as usize]) else {
        return f64::INFINITY;
    };
    let worst = own.iter().zip(now).map(|(own, now)| own - now).fold(0.0, f64::max);
    if worst > SLACK { mean(now) + worst } else { mean(own) }
}

/// The thresholds that are best by what was measured, where they differ from `base` by more than noise.
///
/// # Errors
/// When workers cannot be started or files not be written.
pub fn search_thresholds<K: Knobs>(
    lab: &Lab<'_>,
    base: &K,
    questions: &[Question],
    folder: &Path,
    time: Duration,
) -> Result<K, Failure> {
    let methods = base.methods(questions);
    let arms: Vec<Arm> =
        methods.iter().map(|(label, method)| method.arm(label, folder)).collect::<std::io::Result<_>>()?;
    let grid: Vec<(usize, Vec<u64>)> =
        questions.iter().enumerate().map(|(k, question)| (k, question.grid())).collect();
    let answers = ask(lab, &arms, base, questions, &grid, time.mul_f64(FOR_GRID))?;
    let steps_of =
        |k: usize| answers.iter().find(|(known, _)| *known == k).map_or(&[][..], |(_, steps)| steps);

    let mut settings = base.clone();
    // The share of the caches is one number for zeroing and copying.
    let share = best_share(base, questions, &steps_of);
    if let Some(share) = share {
        settings = settings.set(SHARE, share);
    }
    let mut crossings: Vec<Crossing> = Vec::new();
    for (k, question) in questions.iter().enumerate() {
        let in_force = base.thresholds(question);
        let found = match question.non_temporal {
            Some(SHARE) => {
                let from = share.map_or(in_force.non_temporal, |share| question.non_temporal_from(share));
                best_string(steps_of(k), from, in_force.string)
            }
            Some(_) => best(steps_of(k), in_force),
            None => best_string(steps_of(k), u64::MAX, in_force.string),
        };
        let own = question.non_temporal.filter(|name| *name != SHARE);
        let both = [
            (Some(question.string), in_force.string, found.string),
            (own, in_force.non_temporal, found.non_temporal),
        ];
        for (name, was, now) in both {
            let Some(name) = name else { continue };
            let before = question.grid().into_iter().rfind(|size| *size < now);
            // Between two sizes of the grid, or above all of them, one threshold is as good as another.
            let is_same = was <= now && before.is_none_or(|before| was > before)
                || now == u64::MAX && before.is_none_or(|b| was > b);
            if !is_same {
                let [lower, upper] = [before.unwrap_or(0), now].map(|size| found.method(size));
                crossings.push(Crossing { question: k, name, now, before, lower, upper });
            }
        }
    }
    for _ in 0..REFINED {
        let between = crossings.iter().map(|crossing| (crossing.question, crossing.between()));
        let time = time.mul_f64((1.0 - FOR_GRID) / f64::from(REFINED));
        let answers = ask(lab, &arms, base, questions, &merged(between), time)?;
        for crossing in &mut crossings {
            let own = answers.iter().find(|(known, _)| *known == crossing.question);
            crossing.refine(own.map_or(&[][..], |(_, steps)| steps));
        }
    }
    Ok(crossings.iter().fold(settings, |settings, crossing| settings.set(crossing.name, crossing.now)))
}

/// The sizes of each question once.
fn merged(asked: impl Iterator<Item = (usize, Vec<u64>)>) -> Vec<(usize, Vec<u64>)> {
    let mut all: Vec<(usize, Vec<u64>)> = Vec::new();
    for (question, sizes) in asked.filter(|(_, sizes)| !sizes.is_empty()) {
        match all.iter_mut().find(|(known, _)| *known == question) {
            Some((_, known)) => known.extend(sizes),
            None => all.push((question, sizes)),
        }
    }
    for (_, sizes) in &mut all {
        sizes.sort_unstable();
        sizes.dedup();
    }
    all
}

/// The share of the caches that costs least over zeroing and copying; `None` where the one in force is as good.
fn best_share<'s, K: Knobs>(
    base: &K,
    questions: &[Question],
    steps_of: &dyn Fn(usize) -> &'s [Step],
) -> Option<u64> {
    let shared = || questions.iter().enumerate().filter(|(_, question)| question.non_temporal == Some(SHARE));
    let (_, first) = shared().next()?;
    let now = base.thresholds(first).non_temporal.saturating_mul(first.buffers);
    let bounds = decision(SHARE).bounds();
    let (least, most) = (*bounds.start() as u64, *bounds.end() as u64);
    let powers = std::iter::successors(Some(least.max(1).next_power_of_two()), |share| Some(share * 2));
    let candidates = powers.take_while(|share| *share <= most).chain([now]);
    let scored = candidates.map(|share| {
        let cost: f64 = shared()
            .map(|(k, question)| {
                let from = question.non_temporal_from(share);
                best_string(steps_of(k), from, base.thresholds(question).string).cost(steps_of(k))
            })
            .sum();
        (cost, (share as f64 / now as f64).log2().abs(), share)
    });
    closest(scored).filter(|share| *share != now)
}

/// A threshold that is elsewhere than in the settings in force.
struct Crossing {
    question: usize,
    name: &'static str,
    /// The smallest size at which the later method was found to be better.
    now: u64,
    /// The largest one below.
    before: Option<u64>,
    /// The methods below and above.
    lower: Method,
    upper: Method,
}

impl Crossing {
    /// The sizes between the two: none where the threshold is never, or below all sizes.
    fn between(&self) -> Vec<u64> {
        match self.before {
            Some(before) if self.now != u64::MAX => {
                // In whole lines.
                let quarter = |quarters: u64| (before + (self.now - before) / 4 * quarters) & !63;
                [1, 2, 3].map(quarter).into_iter().filter(|size| *size > before).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Comes closer to the threshold by what was found between.
    fn refine(&mut self, steps: &[Step]) {
        let Some(before) = self.before.filter(|_| self.now != u64::MAX) else { return };
        let within: Vec<&Step> =
            steps.iter().filter(|step| step.size > before && step.size < self.now).collect();
        let cost = |from: u64| -> f64 {
            let method = |size: u64| if size >= from { self.upper } else { self.lower };
            within.iter().map(|step| step.costs[method(step.size) as usize]).sum()
        };
        let candidates = within.iter().map(|step| step.size).chain([self.now]);
        // Of those that are as good as the best, the largest.
        let best = closest(candidates.map(|from| (cost(from), (self.now - from) as f64, from)));
        self.now = best.unwrap_or(self.now);
        self.before =
            within.iter().map(|step| step.size).filter(|size| *size < self.now).max().or(self.before);
    }
}

/// What kernels are compared at: sizes that vary and sizes that do not.
const KERNEL_SIZES: [(Family, &[&str]); 4] = [
    (Family::Zero, &["fleet:memset-A", "fleet:memset-D", "fleet:memset-Q", "16", "100", "1500"]),
    (Family::Copy, &["fleet:memcpy-A", "fleet:memcpy-D", "fleet:memcpy-Q", "16", "100", "1500"]),
    (Family::Checksum, &["1..64", "1..1500", "20", "40", "1500", "32K"]),
    (Family::CopyChecksum, &["1..1500", "40", "1500", "9000"]),
];

/// Cells of `carryline` at such sizes, hot and at random offsets.
///
/// # Errors
/// When a word is not one of sizes.
pub fn cells_of(family: Family, words: &[&str]) -> Result<Vec<Cell>, Failure> {
    let cell = |sizes| Cell {
        family,
        subject: "carryline",
        condition: Condition { sizes, offsets: Offsets::Random, ..Condition::plain(0) },
    };
    Ok(Sizes::parse_list(&words.join(","))?.into_iter().map(cell).collect())
}

/// Kernels of a function that this CPU can run.
fn usable(function: Function) -> Vec<&'static str> {
    let usable = kernels(function).filter(|(_, needs)| cpu::features().contains(*needs));
    usable.map(|(name, _)| name).take(MOST_KERNELS).collect()
}

fn search_kernels(
    lab: &Lab<'_>,
    base: &Settings,
    families: &[Family],
    folder: &Path,
    time: Duration,
) -> Result<Settings, Failure> {
    let most = Function::ALL.into_iter().map(|function| usable(function).len()).max().unwrap_or(0);
    let (mut arms, mut settings_of) = (Vec::new(), Vec::new());
    for number in 0..most {
        let mut settings = *base;
        for function in Function::ALL {
            let names = usable(function);
            settings = settings.with_kernel(function, names.get(number).or(names.first()).copied());
        }
        arms.push(settings.arm(&format!("kernels {}", number + 1), folder)?);
        settings_of.push(settings);
    }
    let mut cells = Vec::new();
    for (family, words) in KERNEL_SIZES.into_iter().filter(|(family, _)| families.contains(family)) {
        cells.extend(cells_of(family, words)?);
    }
    let found = arms::measure(lab, &arms, &cells, time)?;
    let mut settings = *base;
    for family in families.iter().copied() {
        let function = function(family);
        let own: Vec<usize> = (0..cells.len()).filter(|cell| cells[*cell].family == family).collect();
        let cost = |arm: usize| -> Option<f64> {
            let logs: Option<Vec<f64>> =
                own.iter().map(|cell| found.typical(*cell, arm).map(f64::ln)).collect();
            logs.map(|logs| logs.iter().sum::<f64>() / own.len().max(1) as f64)
        };
        let now = base.kernel(function);
        let costs: Vec<(f64, &'static str)> = settings_of
            .iter()
            .enumerate()
            .filter_map(|(arm, settings)| Some((cost(arm)?, settings.kernel(function))))
            .collect();
        let own_cost = costs.iter().find(|(_, kernel)| *kernel == now).map(|(cost, _)| *cost);
        let least = costs.iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
        if let (Some(own_cost), Some((cost, kernel))) = (own_cost, least)
            && *kernel != now
            && *cost < own_cost - BETTER
        {
            settings = settings.with_kernel(function, Some(kernel));
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_time_somewhere_is_not_looked_for() {
        // Twice as fast under one condition, and a little slower under the other.
        let logs = |other: f64| [Some(vec![0.0, 0.0]), Some(vec![-0.7, other]), None];
        let cost = |other: f64, method, in_force| cost(&logs(other), method, in_force);
        assert_eq!(cost(0.04, Method::String, Method::Loop), (-0.7 + 0.04) / 2.0);
        assert_eq!(cost(0.1, Method::String, Method::Loop), 0.1);
        assert_eq!(cost(0.1, Method::String, Method::String), (-0.7 + 0.1) / 2.0, "it is in force");
        assert_eq!(cost(0.1, Method::Loop, Method::String), (-0.7 + 0.1) / 2.0 + 0.7);
        assert_eq!(cost(0.1, Method::NonTemporal, Method::Loop), f64::INFINITY);
    }

    #[test]
    fn a_crossing_is_closed_in_on() {
        let mut crossing = Crossing {
            question: 0,
            name: "rep_movsb_from_bytes",
            now: 32 << 10,
            before: Some(16 << 10),
            lower: Method::Loop,
            upper: Method::String,
        };
        // The later method is better from 25,600 bytes on.
        let truth =
            |size: u64| Step { size, costs: [0.0, if size >= 25_600 { -0.5 } else { 0.2 }, f64::INFINITY] };
        assert_eq!(crossing.between(), [20 << 10, 24 << 10, 28 << 10]);
        for _ in 0..REFINED {
            let steps: Vec<Step> = crossing.between().into_iter().map(truth).collect();
            crossing.refine(&steps);
        }
        assert_eq!((crossing.before, crossing.now), (Some(24 << 10), 25 << 10));
        let never = Crossing { now: u64::MAX, ..crossing };
        assert!(never.between().is_empty(), "there is nothing between that can be measured");
    }
}
