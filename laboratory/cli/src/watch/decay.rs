//! Decayed estimates: a sample loses half its weight with every half-life.
//!
//! The median of the rounds between two redraws is one point. The estimate is the weighted median of the
//! points, each with the weight 2^(-age / half-life). Unlike a decayed mean, it ignores short disturbances by
//! other processes, but follows lasting changes.
//!
//! These estimates are for display only: they have no interval. The saved results are computed from all
//! rounds, as for every run.

use carryline_statistics as statistics;
use std::collections::VecDeque;

/// Points older than this many half-lives have less than a thousandth of the weight and are dropped.
const MOST_HALF_LIVES: f64 = 10.0;

/// The median of the rounds since the previous point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its time, in seconds of the screen's clock.
    pub at_s: f64,
    /// The median.
    pub value: f64,
}

/// The weighted median of points whose weight halves with every half-life; `None` without a point.
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
    /// Samples since the last point.
    pending: Vec<f64>,
}

impl Series {
    /// Adds the sample of a round; ignores non-finite values.
    pub fn add(&mut self, sample: f64) {
        if sample.is_finite() {
            self.pending.push(sample);
        }
    }

    /// Turns the samples since the last point into a new point, and drops old points.
    pub fn settle(&mut self, now_s: f64, half_life_s: f64) {
        if let Some(value) = statistics::median(&self.pending) {
            self.points.push_back(Point { at_s: now_s, value });
            self.pending.clear();
            // Measured from the newest point, so that a pause drops none.
            while self.points.front().is_some_and(|old| now_s - old.at_s > MOST_HALF_LIVES * half_life_s) {
                self.points.pop_front();
            }
        }
    }

    /// The values of the last `most` points, oldest first.
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
    fn points_of_one_age_have_the_plain_median() {
        assert_eq!(median(points(&[(0.0, 3.0), (0.0, 1.0), (0.0, 2.0)]), 50.0, 5.0), Some(2.0));
        assert_eq!(median(points(&[]), 0.0, 5.0), None);
        assert_eq!(median(points(&[(0.0, f64::NAN)]), 0.0, 5.0), None);
    }

    #[test]
    fn a_half_life_halves_the_weight() {
        // Weights 1/2, 1/4 and 1 at 10, 20 and 30: only 30 reaches half of 1.75.
        let three = points(&[(5.0, 10.0), (0.0, 20.0), (10.0, 30.0)]);
        assert_eq!(median(three.clone(), 10.0, 5.0), Some(30.0));
        // With hardly any decay, the weights are equal.
        assert_eq!(median(three.clone(), 10.0, 1e6), Some(20.0));
        // Only differences in age matter, so a pause changes nothing.
        assert_eq!(median(three, 1000.0, 5.0), Some(30.0));
    }

    #[test]
    fn an_outlier_is_ignored_and_a_lasting_change_followed() {
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
    fn recent_points_are_in_order() {
        let mut series = Series::default();
        for second in 0..5 {
            series.add(f64::from(second));
            series.settle(f64::from(second), 5.0);
        }
        assert_eq!(series.recent(3), [2.0, 3.0, 4.0]);
        assert_eq!(series.recent(9).len(), 5);
    }

    #[test]
    fn old_points_are_dropped_but_not_by_a_pause() {
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
    fn spread_is_measured_from_the_centre() {
        let mut series = Series::default();
        for (second, ratio) in [1.01, 0.98, 0.96].into_iter().enumerate() {
            series.add(ratio);
            series.settle(second as f64, 1e6);
        }
        let spread = series.spread(1.0, 4.0, 1e6).expect("points");
        assert!((spread - 0.02).abs() < 1e-9, "{spread}");
    }
}
