//! Fits a straight line to points, and finds where a curve crosses zero: the start-up cost and rate behind
//! times by size, or the share from which one routine is faster than another.

use super::order::median_in_place;

/// `y = at_zero + slope * x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The value at x = 0.
    pub at_zero: f64,
    /// The increase per unit of x.
    pub slope: f64,
}

impl Line {
    /// The line's value at `x`.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.at_zero + self.slope * x
    }

    /// The x at which the value is twice that at 0; for time over bytes, the half-performance length.
    #[must_use]
    pub fn half_performance(&self) -> f64 {
        self.at_zero / self.slope
    }

    /// The largest relative deviation of these points from the line.
    #[must_use]
    pub fn misses(&self, points: &[(f64, f64)]) -> f64 {
        points.iter().map(|(x, y)| (y / self.at(*x) - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// The Theil-Sen line: the median of the slopes of all pairs of points, and the median intercept. A single
/// outlier does not move it. `None` with fewer than two different x, or if a value is not finite.
///
/// # Examples
/// ```
/// use carryline_statistics::line;
/// let points = [256.0, 512.0, 1024.0, 2048.0].map(|n| (n, 25.0 + n / 32.0));
/// let line = line(&points).expect("four points");
/// assert!((line.at_zero - 25.0).abs() < 1e-9 && (1.0 / line.slope - 32.0).abs() < 1e-9);
/// assert!((line.half_performance() - 800.0).abs() < 1e-6);
/// ```
#[must_use]
pub fn line(points: &[(f64, f64)]) -> Option<Line> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let mut slopes = Vec::new();
    for (place, (x0, y0)) in points.iter().enumerate() {
        for (x1, y1) in &points[place + 1..] {
            if x0 != x1 {
                slopes.push((y1 - y0) / (x1 - x0));
            }
        }
    }
    let slope = median_in_place(&mut slopes)?;
    let mut rests: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    Some(Line { at_zero: median_in_place(&mut rests)?, slope })
}

/// The first x at which a curve through these points (ascending in x) rises from below zero to zero, by
/// linear interpolation. `None` if it starts at or above zero, or never reaches it.
#[must_use]
pub fn crossing(points: &[(f64, f64)]) -> Option<f64> {
    if points.first().is_none_or(|(_, y)| !y.is_finite() || *y >= 0.0) {
        return None;
    }
    let pair = points.windows(2).find(|pair| pair[1].1 >= 0.0)?;
    let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
    Some(x0 + (x1 - x0) * -y0 / (y1 - y0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_does_not_move_the_line() {
        let mut points: Vec<(f64, f64)> =
            [256.0, 512.0, 768.0, 1024.0, 2048.0, 4096.0, 8192.0].map(|n| (n, 40.0 + n / 64.0)).into();
        points[3].1 += 5000.0;
        let line = line(&points).expect("points");
        assert!((line.at_zero - 40.0).abs() < 1e-6, "{line:?}");
        assert!((1.0 / line.slope - 64.0).abs() < 1e-6, "{line:?}");
        assert!(line.misses(&points) > 50.0);
        points.remove(3);
        assert!(line.misses(&points) < 1e-9);
    }

    #[test]
    fn too_few_points_give_no_line() {
        for points in [&[][..], &[(1.0, 2.0)], &[(1.0, 2.0), (1.0, 3.0)], &[(1.0, 2.0), (2.0, f64::NAN)]] {
            assert_eq!(line(points), None, "{points:?}");
        }
    }

    #[test]
    fn a_crossing_lies_between_the_points_around_it() {
        assert_eq!(crossing(&[(0.0, -3.0), (0.5, -1.0), (1.0, 1.0)]), Some(0.75));
        assert_eq!(crossing(&[(0.0, -3.0), (0.5, 0.0), (1.0, -1.0)]), Some(0.5));
        assert_eq!(crossing(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(crossing(&[(0.0, -2.0), (1.0, -1.0)]), None);
        assert_eq!(crossing(&[]), None);
        assert_eq!(crossing(&[(0.0, f64::NAN), (1.0, 1.0)]), None);
    }
}
