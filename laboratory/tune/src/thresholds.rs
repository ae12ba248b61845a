//! Searches for the thresholds of a ladder: first over a grid of powers of two, then around each crossing.

use crate::arms::{self, Arm, Cell, Lab, Timings};
use crate::ladder::{Step, Thresholds, best, best_alternative, closest};
use crate::questions::{Method, Question, SHARE, Setting};
use crate::settings::decision;
use carryline_engine::failure::Failure;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// The fraction of the search's time for the grid; the rest is for the sizes around the crossings.
const FOR_GRID: f64 = 0.6;
/// The number of refinements, each of which divides the range of a crossing by four.
const REFINED: u32 = 2;
/// A method that is slower than the one in force by more than this under any condition is rejected, besides
/// what the user allows: the logarithm of a ratio.
const SLACK: f64 = 0.05;

/// A library whose thresholds can be set: ours or the C library.
pub trait Knobs: Clone {
    /// The thresholds of a question.
    fn thresholds(&self, question: &Question) -> Thresholds;
    /// The same settings with another threshold in bytes; `u64::MAX` for never.
    #[must_use]
    fn set(&self, name: &'static str, bytes: u64) -> Self;
    /// An arm with these settings. Files are written into `folder`.
    ///
    /// # Errors
    /// Fails if a file cannot be written.
    fn arm(&self, label: &str, folder: &Path) -> std::io::Result<Arm>;
    /// Settings that use only one method, as far as thresholds allow, in the order of [`Method::ALL`]; as
    /// many as the questions ask about.
    fn methods(&self, questions: &[Question]) -> Vec<(&'static str, Self)>;
}

/// The times of the methods at one size under one condition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The name of the decision from which size the alternative is used.
    pub decision: &'static str,
    /// The variant that was called.
    pub variant: &'static str,
    /// The size of a call in bytes.
    pub size_bytes: u64,
    /// The condition.
    pub setting: Setting,
    /// The times of loops, the alternative and non-temporal stores as multiples of the anchor's; `None` if a
    /// method was not measured or does not exist.
    pub relative_times: [Option<f64>; 3],
}

/// The result of a search.
pub struct Answer<K> {
    /// The best settings measured; where the difference from the given ones is noise, the given ones.
    pub settings: K,
    /// The measurements.
    pub measured: Vec<Measured>,
}

/// Measures each question at its sizes, and returns the costs of the methods. A method that is too slow under
/// some condition costs more than the one in force, because it would not be kept: see [`cost`].
fn ask<K: Knobs>(
    lab: &Lab<'_>,
    arms: &[Arm],
    base: &K,
    questions: &[Question],
    sizes: &[(usize, Vec<u64>)],
    time: Duration,
    measured: &mut Vec<Measured>,
) -> Result<Vec<(usize, Vec<Step>)>, Failure> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut settings: Vec<Setting> = Vec::new();
    let mut places = Vec::new();
    for (question, sizes) in sizes {
        for size in sizes {
            let first = cells.len();
            for (setting, cell) in questions[*question].cells(*size) {
                settings.push(setting);
                cells.push(cell);
            }
            places.push((*question, *size, first..cells.len()));
        }
    }
    let found = arms::measure(lab, arms, &cells, time)?;
    let mut answers: Vec<(usize, Vec<Step>)> =
        sizes.iter().map(|(question, _)| (*question, Vec::new())).collect();
    for (question, size, cells) in places {
        let cells: Vec<usize> = cells.collect();
        measured.extend(cells.iter().map(|cell| Measured {
            decision: questions[question].alternative,
            variant: questions[question].subject,
            size_bytes: size,
            setting: settings[*cell],
            relative_times: Method::ALL.map(|method| found.typical(*cell, method as usize).map(rounded)),
        }));
        let in_force = base.thresholds(&questions[question]).method(size);
        let logs = Method::ALL.map(|method| logs(&found, &cells, method as usize));
        let mut costs = Method::ALL.map(|method| cost(&logs, method, in_force, SLACK + lab.may_cost));
        if questions[question].non_temporal.is_none() {
            costs[Method::NonTemporal as usize] = f64::INFINITY;
        }
        // Without a time of loops there is nothing to compare with.
        if costs[0].is_finite()
            && let Some((_, steps)) = answers.iter_mut().find(|(known, _)| *known == question)
        {
            steps.push(Step { size, costs });
        }
    }
    Ok(answers)
}

/// Rounds to four decimals: the noise is larger.
fn rounded(ratio: f64) -> f64 {
    (ratio * 1e4).round() / 1e4
}

/// The logarithms of some cells' times in an arm; `None` if a cell has none.
fn logs(found: &Timings, cells: &[usize], arm: usize) -> Option<Vec<f64>> {
    cells.iter().map(|cell| found.typical(*cell, arm).map(f64::ln)).collect()
}

/// The cost of a method at one size from the logarithms of all methods' times. The mean over the conditions;
/// if it is slower than the one in force by more than `slack` under some condition, the mean of the one in
/// force plus the largest excess.
fn cost(logs: &[Option<Vec<f64>>; 3], method: Method, in_force: Method, slack: f64) -> f64 {
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    let (Some(own), Some(now)) = (&logs[method as usize], &logs[in_force as usize]) else {
        return f64::INFINITY;
    };
    let worst = own.iter().zip(now).map(|(own, now)| own - now).fold(0.0, f64::max);
    if worst > slack { mean(now) + worst } else { mean(own) }
}

/// The best thresholds measured; where the difference from `base` is noise, those of `base`.
///
/// # Errors
/// Fails if a worker cannot be started or a file cannot be written.
pub fn search_thresholds<K: Knobs>(
    lab: &Lab<'_>,
    base: &K,
    questions: &[Question],
    folder: &Path,
    time: Duration,
) -> Result<Answer<K>, Failure> {
    let mut measured = Vec::new();
    let methods = base.methods(questions);
    let arms: Vec<Arm> =
        methods.iter().map(|(label, method)| method.arm(label, folder)).collect::<std::io::Result<_>>()?;
    let grid: Vec<(usize, Vec<u64>)> =
        questions.iter().enumerate().map(|(k, question)| (k, question.grid())).collect();
    let answers = ask(lab, &arms, base, questions, &grid, time.mul_f64(FOR_GRID), &mut measured)?;
    let steps_of =
        |k: usize| answers.iter().find(|(known, _)| *known == k).map_or(&[][..], |(_, steps)| steps);

    let mut settings = base.clone();
    // Zeroing and copying have one share of the caches in common.
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
                best_alternative(steps_of(k), from, in_force.alternative)
            }
            Some(_) => best(steps_of(k), in_force),
            None => best_alternative(steps_of(k), u64::MAX, in_force.alternative),
        };
        let own = question.non_temporal.filter(|name| *name != SHARE);
        let both = [
            (Some(question.alternative), in_force.alternative, found.alternative),
            (own, in_force.non_temporal, found.non_temporal),
        ];
        for (name, was, now) in both {
            let Some(name) = name else { continue };
            let before = question.grid().into_iter().rfind(|size| *size < now);
            // Between two neighbouring sizes of the grid, or above all of them, thresholds cannot be told
            // apart.
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
        let answers = ask(lab, &arms, base, questions, &merged(between), time, &mut measured)?;
        for crossing in &mut crossings {
            let own = answers.iter().find(|(known, _)| *known == crossing.question);
            crossing.refine(own.map_or(&[][..], |(_, steps)| steps));
        }
    }
    let settings =
        crossings.iter().fold(settings, |settings, crossing| settings.set(crossing.name, crossing.now));
    Ok(Answer { settings, measured })
}

/// Merges the sizes of each question, sorted and without duplicates.
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

/// The share of the caches with the least cost over zeroing and copying; `None` if the one in force is as
/// good.
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
                best_alternative(steps_of(k), from, base.thresholds(question).alternative).cost(steps_of(k))
            })
            .sum();
        (cost, (share as f64 / now as f64).log2().abs(), share)
    });
    closest(scored).filter(|share| *share != now)
}

/// A threshold whose value is to change.
struct Crossing {
    question: usize,
    name: &'static str,
    /// The smallest measured size at which the later method was better.
    now: u64,
    /// The largest measured size below that.
    before: Option<u64>,
    /// The methods below and above the threshold.
    lower: Method,
    upper: Method,
}

impl Crossing {
    /// The sizes to measure between the two; none if the threshold is never, or below all sizes.
    fn between(&self) -> Vec<u64> {
        match self.before {
            Some(before) if self.now != u64::MAX => {
                // Multiples of a cache line.
                let quarter = |quarters: u64| (before + (self.now - before) / 4 * quarters) & !63;
                [1, 2, 3].map(quarter).into_iter().filter(|size| *size > before).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Narrows the range by the costs measured within it.
    fn refine(&mut self, steps: &[Step]) {
        let Some(before) = self.before.filter(|_| self.now != u64::MAX) else { return };
        let within: Vec<&Step> =
            steps.iter().filter(|step| step.size > before && step.size < self.now).collect();
        let cost = |from: u64| -> f64 {
            let method = |size: u64| if size >= from { self.upper } else { self.lower };
            within.iter().map(|step| step.costs[method(step.size) as usize]).sum()
        };
        let candidates = within.iter().map(|step| step.size).chain([self.now]);
        // Of equally good thresholds, the largest.
        let best = closest(candidates.map(|from| (cost(from), (self.now - from) as f64, from)));
        self.now = best.unwrap_or(self.now);
        self.before =
            within.iter().map(|step| step.size).filter(|size| *size < self.now).max().or(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_is_too_slow_under_one_condition_is_rejected() {
        // Twice as fast under one condition, and a little slower under the other.
        let logs = |other: f64| [Some(vec![0.0, 0.0]), Some(vec![-0.7, other]), None];
        let cost = |other: f64, method, in_force| cost(&logs(other), method, in_force, SLACK);
        assert_eq!(cost(0.04, Method::Alternative, Method::Loop), (-0.7 + 0.04) / 2.0);
        assert_eq!(cost(0.1, Method::Alternative, Method::Loop), 0.1);
        assert_eq!(cost(0.1, Method::Alternative, Method::Alternative), (-0.7 + 0.1) / 2.0, "it is in force");
        assert_eq!(cost(0.1, Method::Loop, Method::Alternative), (-0.7 + 0.1) / 2.0 + 0.7);
        assert_eq!(cost(0.1, Method::NonTemporal, Method::Loop), f64::INFINITY);
    }

    #[test]
    fn a_crossing_is_refined() {
        let mut crossing = Crossing {
            question: 0,
            name: "rep_movsb_from_bytes",
            now: 32 << 10,
            before: Some(16 << 10),
            lower: Method::Loop,
            upper: Method::Alternative,
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
        assert!(never.between().is_empty(), "there is nothing to measure");
    }
}
