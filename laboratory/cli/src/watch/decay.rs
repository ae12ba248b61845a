//! Estimates that forget: what came a half-life ago counts half of what comes now.
//!
//! Rounds are gathered until the screen is next redrawn, and their median becomes one point. The estimate is the weighted
//! median of the points, each with the weight 2^(-age / half-life): unlike a decayed mean, it does not jump when a
//! neighbour takes the machine for a moment, and still follows a change that lasts.
//!
//! When not to use it: for a result. It has no interval; what is saved is worked out from all rounds, as for every run.

use carryline_statistics as statistics;
use std::collections::VecDeque;

/// Points older than this many half-lives weigh less than a thousandth, and are dropped.
const FORGOTTEN: f64 = 10.0;

/// The median of the rounds that came since the point before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// When, in seconds of the screen's clock.
    pub at_s: f64,
    /// What.
    pub value: f64,
}

/// The weighted median, where a point's weight halves with every half-life of its age. `None` without a point.
pub fn median(points: impl IntoIterator<Item = Point>, now_s: f64, half_life_s: f64) -> Option<f64> {
    let mut weighted: Vec<(f64, f64)> = points
        .into_iter()
        .filter(|point| point.value.is_finite())
        .map(|point| (point.value, (-(now_s - point.at_s) / half_life_s).exp2()))
        .collect();
    weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = weighted.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for (value, weight) in &weighted {
        below += weight;
        if below >= wanted {
            return Some(*value);
        }
    }
    weighted.last().map(|(value, _)| *value)
}

/// A figure over time.
#[derive(Clone, Debug, Default)]
pub struct Series {
    points: VecDeque<Point>,
    /// Since the last point.
    pending: Vec<f64>,
}

impl Series {
    /// Adds a round's sample; what is not a number is left out.
    pub fn add(&mut self, sample: f64) {
        if sample.is_finite() {
            self.pending.push(sample);
        }
    }

    /// Makes what came since the last time one point, and forgets what is too old.
    pub fn settle(&mut self, now_s: f64, half_life_s: f64) {
        if let Some(value) = statistics::median(&self.pending) {
            self.points.push_back(Point { at_s: now_s, value });
            self.pending.clear();
            // Measured from the newest point, so that a pause forgets nothing.
            while self.points.front().is_some_and(|old| now_s - old.at_s > FORGOTTEN * half_life_s) {
                self.points.pop_front();
            }
        }
    }

    /// The last so many points' values, the oldest first.
    pub fn recent(&self, most: usize) -> Vec<f64> {
        let skipped = self.points.len().saturating_sub(most);
        self.points.iter().skip(skipped).map(|point| point.value).collect()
    }

    /// The decayed median.
    pub fn median(&self, now_s: f64, half_life_s: f64) -> Option<f64> {
        median(self.points.iter().copied(), now_s, half_life_s)
    }

    /// The decayed median of the distances from `centre`.
    pub fn spread(&self, centre: f64, now_s: f64, half_life_s: f64) -> Option<f64> {
        let distances =
            self.points.iter().map(|point| Point { value: (point.value - centre).abs(), ..*point });
        median(distances, now_s, half_life_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[(f64, f64)]) -> Vec<Point> {
        values.iter().map(|(at_s, value)| Point { at_s: *at_s, value: *value }).collect()
    }

    #[test]
    fn of_points_of_one_age_it_is_the_plain_median() {
        assert_eq!(median(points(&[(0.0, 3.0), (0.0, 1.0), (0.0, 2.0)]), 50.0, 5.0), Some(2.0));
        assert_eq!(median(points(&[]), 0.0, 5.0), None);
        assert_eq!(median(points(&[(0.0, f64::NAN)]), 0.0, 5.0), None);
    }

    #[test]
    fn a_half_life_halves_the_weight() {
        // Weights 1/2, 1/4 and 1 at 10, 20 and 30: half of 1.75 is reached at 30 alone.
        let three = points(&[(5.0, 10.0), (0.0, 20.0), (10.0, 30.0)]);
        assert_eq!(median(three.clone(), 10.0, 5.0), Some(30.0));
        // With hardly any decay the weights are alike.
        assert_eq!(median(three.clone(), 10.0, 1e6), Some(20.0));
        // Ages alone matter, not the time: a pause changes nothing.
        assert_eq!(median(three, 1000.0, 5.0), Some(30.0));
    }

    #[test]
    fn one_outlier_moves_nothing_and_a_lasting_change_is_followed() {
        let mut series = Series::default();
        for second in 0..20 {
            for _ in 0..3 {
                series.add(if second == 18 { 900.0 } else { 100.0 });
            }
            series.settle(f64::from(second), 5.0);
        }
        assert_eq!(series.median(20.0, 5.0), Some(100.0));
        for second in 20..27 {
            series.add(120.0);
            series.settle(f64::from(second), 5.0);
        }
        assert_eq!(series.median(27.0, 5.0), Some(120.0));
    }

    #[test]
    fn recent_points_come_in_their_order() {
        let mut series = Series::default();
        for second in 0..5 {
            series.add(f64::from(second));
            series.settle(f64::from(second), 5.0);
        }
        assert_eq!(series.recent(3), [2.0, 3.0, 4.0]);
        assert_eq!(series.recent(9).len(), 5);
    }

    #[test]
    fn old_points_are_dropped_and_pauses_drop_none() {
        let mut series = Series::default();
        for second in 0..500 {
            series.add(1.0);
            series.settle(f64::from(second), 2.0);
        }
        assert!(series.points.len() <= 21, "{}", series.points.len());
        series.settle(10_000.0, 2.0);
        assert_eq!(series.median(10_000.0, 2.0), Some(1.0));
    }

    #[test]
    fn the_spread_is_around_its_centre() {
        let mut series = Series::default();
        for (second, ratio) in [1.01, 0.98, 0.96].into_iter().enumerate() {
            series.add(ratio);
            series.settle(second as f64, 1e6);
        }
        let spread = series.spread(1.0, 4.0, 1e6).expect("points");
        assert!((spread - 0.02).abs() < 1e-9, "{spread}");
    }
}
