//! Order statistics: median, quantiles and a robust measure of scatter.
//!
//! Callers must remove non-finite values: a `NaN` sorts to an end and shifts the result.

/// The median; the mean of the two middle values if their number is even. `None` for no values.
///
/// # Examples
/// ```
/// use carryline_statistics::median;
/// assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
/// assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
/// assert_eq!(median(&[]), None);
/// ```
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    median_in_place(&mut values.to_vec())
}

/// [`median`] that reorders the values instead of allocating.
pub fn median_in_place(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if odd {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(lower + (upper - lower) / 2.0)
}

/// The quantile at `share` (0 to 1), interpolated linearly between the two nearest values. `None` for no
/// values.
///
/// # Examples
/// ```
/// use carryline_statistics::quantile;
/// assert_eq!(quantile(&[10.0, 30.0, 20.0], 0.25), Some(15.0));
/// assert_eq!(quantile(&[7.0], 0.9), Some(7.0));
/// ```
#[must_use]
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, share)
}

/// [`quantile`] of values in ascending order.
#[must_use]
pub fn quantile_of_sorted(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

/// The standard deviation of a normal distribution with the same median difference between successive values.
/// A trend and rare outliers hardly affect it. `None` for fewer than two values.
pub(super) fn successive_scatter(series: &[f64]) -> Option<f64> {
    let steps: Vec<f64> = series.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    // 1.4826: quartile of the normal distribution; sqrt 2: scatter of a difference relative to that of one
    // value.
    median(&steps).map(|step| step * 1.4826 / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_match_hand_calculation() {
        assert_eq!(median(&[5.0]), Some(5.0));
        assert_eq!(median(&[9.0, -1.0]), Some(4.0));
        assert_eq!(median(&[2.0, 2.0, 2.0, 100.0]), Some(2.0));
        assert_eq!(median(&[1.0, 7.0, 3.0, 9.0, 5.0, 11.0]), Some(6.0));
    }

    #[test]
    fn quantiles_match_hand_calculation() {
        let values = [4.0, 1.0, 3.0, 2.0, 5.0];
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 0.5), Some(3.0));
        assert_eq!(quantile(&values, 0.875), Some(4.5));
        assert_eq!(quantile(&values, 1.0), Some(5.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn a_trend_does_not_count_as_scatter() {
        let ramp: Vec<f64> = (0..50).map(|i| 100.0 + f64::from(i) * 0.001).collect();
        assert!(successive_scatter(&ramp).expect("50 values") < 0.0011);
        assert_eq!(successive_scatter(&[1.0]), None);
        // Steps of 2, 2, 2: 2 * 1.4826 / sqrt 2.
        let zigzag = successive_scatter(&[1.0, 3.0, 1.0, 3.0]).expect("4 values");
        assert!((zigzag - 2.096_712).abs() < 1e-5, "{zigzag}");
    }
}
