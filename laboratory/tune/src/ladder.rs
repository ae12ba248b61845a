//! Where the methods of a ladder cross: the thresholds that cost least over all sizes asked about.
//!
//! A single crossing is easily misplaced by noise, and methods may cross more than once. So thresholds are chosen together, as those
//! with the least sum of logarithms of times over the sizes: twice as slow at one size weighs as much as twice as fast at
//! another. Thresholds that are as good as the best but for noise are one answer, and then the one closest to what is in
//! force is taken.

use crate::questions::Method;

/// Thresholds whose cost is within this of the least are as good: 2 % at a single size, or less at several.
const AS_GOOD: f64 = 0.02;

/// What each method takes at one size, as the logarithm of a time; the mean over the conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The size in bytes.
    pub size: u64,
    /// In the order of [`Method::ALL`]; infinite where a method cannot be had.
    pub costs: [f64; 3],
}

/// From which sizes on a call gives up loops; `u64::MAX` for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// For the alternative.
    pub alternative: u64,
    /// For non-temporal stores.
    pub non_temporal: u64,
}

impl Thresholds {
    /// The method of a call of that size.
    #[must_use]
    pub fn method(&self, size: u64) -> Method {
        match size {
            _ if size >= self.non_temporal => Method::NonTemporal,
            _ if size >= self.alternative => Method::Alternative,
            _ => Method::Loop,
        }
    }

    /// The sum of what all sizes cost by these thresholds.
    #[must_use]
    pub fn cost(&self, steps: &[Step]) -> f64 {
        steps.iter().map(|step| step.costs[self.method(step.size) as usize]).sum()
    }
}

/// The best thresholds for a ladder whose second one is given.
#[must_use]
pub fn best_alternative(steps: &[Step], non_temporal: u64, in_force: u64) -> Thresholds {
    let all = candidates(steps).map(|alternative| Thresholds { alternative, non_temporal });
    closest(all.map(|thresholds| {
        (thresholds.cost(steps), distance(thresholds.alternative, in_force, steps), thresholds)
    }))
    .unwrap_or(Thresholds { alternative: in_force, non_temporal })
}

/// The best thresholds for a ladder.
#[must_use]
pub fn best(steps: &[Step], in_force: Thresholds) -> Thresholds {
    let all = candidates(steps).flat_map(|non_temporal| {
        candidates(steps).map(move |alternative| Thresholds { alternative, non_temporal })
    });
    let scored = all.map(|thresholds| {
        let far = distance(thresholds.alternative, in_force.alternative, steps)
            + distance(thresholds.non_temporal, in_force.non_temporal, steps);
        (thresholds.cost(steps), far, thresholds)
    });
    closest(scored).unwrap_or(in_force)
}

/// Among what is as good as the best, the closest to what is in force.
pub fn closest<T: Clone>(scored: impl Iterator<Item = (f64, f64, T)>) -> Option<T> {
    let scored: Vec<(f64, f64, T)> = scored.filter(|(cost, ..)| cost.is_finite()).collect();
    let least = scored.iter().map(|(cost, ..)| *cost).fold(f64::INFINITY, f64::min);
    let as_good = scored.into_iter().filter(|(cost, ..)| *cost <= least + AS_GOOD);
    as_good
        .min_by(|(a, far_a, _), (b, far_b, _)| far_a.total_cmp(far_b).then(a.total_cmp(b)))
        .map(|(.., best)| best)
}

/// The thresholds that can be told apart: each size, and never.
fn candidates(steps: &[Step]) -> impl Iterator<Item = u64> + Clone {
    steps.iter().map(|step| step.size).chain([u64::MAX])
}

/// How far two thresholds are apart, in steps.
fn distance(one: u64, other: u64, steps: &[Step]) -> f64 {
    let place = |bytes: u64| steps.iter().filter(|step| step.size < bytes).count() as f64;
    (place(one) - place(other)).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: u64 = u64::MAX;

    fn steps(costs: &[[f64; 3]]) -> Vec<Step> {
        costs.iter().zip(0..).map(|(costs, power)| Step { size: 1024 << power, costs: *costs }).collect()
    }

    #[test]
    fn a_crossing_is_found() {
        let ladder = steps(&[
            [0.0, 0.5, 0.9],
            [0.0, 0.2, 0.6],
            [0.0, -0.3, 0.3],
            [0.0, -0.4, -0.1],
            [0.0, -0.4, -0.9],
        ]);
        let none = Thresholds { alternative: NEVER, non_temporal: NEVER };
        assert_eq!(best(&ladder, none), Thresholds { alternative: 4096, non_temporal: 16384 });
        assert_eq!(best_alternative(&ladder, NEVER, NEVER).alternative, 4096);
        assert_eq!(
            best_alternative(&ladder, 2048, 1024),
            Thresholds { alternative: 2048, non_temporal: 2048 }
        );
    }

    #[test]
    fn what_is_in_force_stays_where_the_difference_is_noise() {
        let ladder = steps(&[[0.0, 0.004, NAN_FREE], [0.0, -0.003, NAN_FREE], [0.0, 0.002, NAN_FREE]]);
        for alternative in [1024, 2048, 4096, NEVER] {
            let in_force = Thresholds { alternative, non_temporal: NEVER };
            assert_eq!(best(&ladder, in_force), in_force);
        }
    }

    /// A method that cannot be had.
    const NAN_FREE: f64 = f64::INFINITY;

    #[test]
    fn one_bad_size_does_not_move_a_threshold_past_good_ones() {
        let ladder = steps(&[[0.0, -0.3, 1.0], [0.0, 0.05, 1.0], [0.0, -0.3, 1.0], [0.0, -0.3, 1.0]]);
        let none = Thresholds { alternative: NEVER, non_temporal: NEVER };
        assert_eq!(best(&ladder, none).alternative, 1024);
    }

    #[test]
    fn a_method_that_cannot_be_had_is_never_chosen() {
        let ladder = steps(&[[0.0, NAN_FREE, -1.0], [0.0, NAN_FREE, NAN_FREE]]);
        let none = Thresholds { alternative: NEVER, non_temporal: NEVER };
        assert_eq!(best(&ladder, none), none, "non-temporal from 1024 on would be it at 2048 too");
    }

    #[test]
    fn a_ladder_of_no_sizes_changes_nothing() {
        let in_force = Thresholds { alternative: 25600, non_temporal: 1 << 20 };
        assert_eq!(best(&[], in_force).method(25599), Method::Loop);
    }
}
