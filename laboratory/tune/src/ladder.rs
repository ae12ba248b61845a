//! Finds where the methods of a ladder cross: the thresholds with the least cost over all measured sizes.
//!
//! Noise easily misplaces a single crossing, and methods may cross more than once. So the thresholds of a
//! ladder are chosen together: those with the least sum of log times over the sizes, in which twice as slow
//! at one size weighs as much as twice as fast at another. Of the thresholds that are equally good within
//! noise, the closest to those in force are chosen.

use crate::questions::Method;

/// Thresholds whose cost is within this of the least count as equally good: 2 % at one size, or less at
/// several.
const AS_GOOD: f64 = 0.02;

/// The costs of all methods at one size: the logarithm of a time, averaged over the conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The size in bytes.
    pub size: u64,
    /// In the order of [`Method::ALL`]; infinite if a method is not available.
    pub costs: [f64; 3],
}

/// The sizes from which a call no longer uses loops; `u64::MAX` for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// From this size on, the alternative.
    pub alternative: u64,
    /// From this size on, non-temporal stores.
    pub non_temporal: u64,
}

impl Thresholds {
    /// The method of a call of `size` bytes.
    #[must_use]
    pub fn method(&self, size: u64) -> Method {
        match size {
            _ if size >= self.non_temporal => Method::NonTemporal,
            _ if size >= self.alternative => Method::Alternative,
            _ => Method::Loop,
        }
    }

    /// The sum of the costs of all sizes.
    #[must_use]
    pub fn cost(&self, steps: &[Step]) -> f64 {
        steps.iter().map(|step| step.costs[self.method(step.size) as usize]).sum()
    }
}

/// The best thresholds of a ladder whose non-temporal threshold is given.
#[must_use]
pub fn best_alternative(steps: &[Step], non_temporal: u64, in_force: u64) -> Thresholds {
    let all = candidates(steps).map(|alternative| Thresholds { alternative, non_temporal });
    closest(all.map(|thresholds| {
        (thresholds.cost(steps), distance(thresholds.alternative, in_force, steps), thresholds)
    }))
    .unwrap_or(Thresholds { alternative: in_force, non_temporal })
}

/// The best thresholds of a ladder.
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

/// The closest to those in force among the equally good candidates, given as (cost, distance, candidate).
pub fn closest<T: Clone>(scored: impl Iterator<Item = (f64, f64, T)>) -> Option<T> {
    let scored: Vec<(f64, f64, T)> = scored.filter(|(cost, ..)| cost.is_finite()).collect();
    let least = scored.iter().map(|(cost, ..)| *cost).fold(f64::INFINITY, f64::min);
    let as_good = scored.into_iter().filter(|(cost, ..)| *cost <= least + AS_GOOD);
    as_good
        .min_by(|(a, far_a, _), (b, far_b, _)| far_a.total_cmp(far_b).then(a.total_cmp(b)))
        .map(|(.., best)| best)
}

/// The thresholds that the measured sizes can distinguish: each size, and never.
fn candidates(steps: &[Step]) -> impl Iterator<Item = u64> + Clone {
    steps.iter().map(|step| step.size).chain([u64::MAX])
}

/// The number of steps between two thresholds.
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
    fn thresholds_in_force_are_kept_if_the_difference_is_noise() {
        let ladder = steps(&[[0.0, 0.004, ABSENT], [0.0, -0.003, ABSENT], [0.0, 0.002, ABSENT]]);
        for alternative in [1024, 2048, 4096, NEVER] {
            let in_force = Thresholds { alternative, non_temporal: NEVER };
            assert_eq!(best(&ladder, in_force), in_force);
        }
    }

    /// The cost of a method that is not available.
    const ABSENT: f64 = f64::INFINITY;

    #[test]
    fn one_bad_size_does_not_move_a_threshold_past_good_ones() {
        let ladder = steps(&[[0.0, -0.3, 1.0], [0.0, 0.05, 1.0], [0.0, -0.3, 1.0], [0.0, -0.3, 1.0]]);
        let none = Thresholds { alternative: NEVER, non_temporal: NEVER };
        assert_eq!(best(&ladder, none).alternative, 1024);
    }

    #[test]
    fn an_unavailable_method_is_never_chosen() {
        let ladder = steps(&[[0.0, ABSENT, -1.0], [0.0, ABSENT, ABSENT]]);
        let none = Thresholds { alternative: NEVER, non_temporal: NEVER };
        assert_eq!(best(&ladder, none), none, "non-temporal from 1024 would include 2048");
    }

    #[test]
    fn a_ladder_without_sizes_changes_nothing() {
        let in_force = Thresholds { alternative: 25600, non_temporal: 1 << 20 };
        assert_eq!(best(&[], in_force).method(25599), Method::Loop);
    }
}
