//! The bytes of each call: fixed, from a range, or from a real distribution.

mod histogram;
mod parse;
mod source;

pub use histogram::ErrorPosition;
pub use parse::{FORMS, SizeError, SkippedPackets};
pub use source::SizeSource;

use serde::{Deserialize, Serialize};

/// The sizes of a cell's calls, with the user's word for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// As written on the command line: `1500`, `1..64`, `fleet:memcpy-A`.
    pub label: String,
    /// The distribution of the sizes.
    pub draw: Draw,
    /// The number of calls after which the sizes repeat in the same order, which a branch predictor can
    /// learn; `None` if they never repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<u32>,
    /// Whether there is a period and the branch predictors had learned it: its calls run [`LEARNING_PASSES`]
    /// times untimed before each batch. False in runs stored before 2026-11-23, in which they ran twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub learned: bool,
}

/// How often the calls of a period run untimed before each batch, because the batches of the other members
/// make the branch predictors forget them. Copies of `fleet:memcpy-A/period:4096` by AVX2 on Zen 5, in rounds
/// of 15 members, take 11.1 ticks after 2 passes (glibc's 8.9), 7.6 after 8 (8.2), 6.6 after 32 (7.2) and 6.5
/// after 128 (7.2). In rounds of two members, 2 passes suffice.
pub const LEARNING_PASSES: usize = 32;

/// The longest period: its list takes one mebibyte.
pub const MOST_PERIOD: u32 = 1 << 16;

/// The largest size that can be asked for, in bytes: the addresses of a process on x86-64, 128 TiB.
pub const MOST_SIZE: u64 = 1 << 47;

/// The size, if it is not above [`MOST_SIZE`].
fn possible(size: u64) -> Result<u64, String> {
    if size <= MOST_SIZE {
        return Ok(size);
    }
    Err(format!(
        "{size} bytes are more than a process has addresses for; the limit is {MOST_SIZE} bytes (128 TiB)"
    ))
}

/// A distribution of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// Always this many bytes.
    Fixed(u64),
    /// Every size from `low` to `high`, inclusive, with equal probability.
    Uniform {
        /// The smallest size.
        low: u64,
        /// The largest size.
        high: u64,
    },
    /// Sizes with their weights (on any positive scale), in ascending order of size.
    Weighted(Vec<(u64, f64)>),
}

impl Sizes {
    /// Sizes that never repeat in the same order.
    #[must_use]
    pub fn new(label: impl Into<String>, draw: Draw) -> Sizes {
        Sizes { label: label.into(), draw, period: None, learned: false }
    }

    /// A fixed size, with the number as its label.
    #[must_use]
    pub fn fixed(size_bytes: u64) -> Sizes {
        Sizes::new(size_bytes.to_string(), Draw::Fixed(size_bytes))
    }

    /// True if both draw the same sizes in the same way, whatever their labels.
    #[must_use]
    pub fn draws_as(&self, other: &Sizes) -> bool {
        self.draw == other.draw && self.period == other.period && self.learned == other.learned
    }

    /// The smallest size that can be drawn.
    #[must_use]
    pub fn min(&self) -> u64 {
        match &self.draw {
            Draw::Fixed(size) => *size,
            Draw::Uniform { low, .. } => *low,
            Draw::Weighted(sizes) => drawn(sizes).map(|(size, _)| size).min().unwrap_or(0),
        }
    }

    /// The largest size that can be drawn.
    #[must_use]
    pub fn max(&self) -> u64 {
        match &self.draw {
            Draw::Fixed(size) => *size,
            Draw::Uniform { high, .. } => *high,
            Draw::Weighted(sizes) => drawn(sizes).map(|(size, _)| size).max().unwrap_or(0),
        }
    }

    /// The mean size, in bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match &self.draw {
            Draw::Fixed(size) => *size as f64,
            Draw::Uniform { low, high } => *low as f64 / 2.0 + *high as f64 / 2.0,
            Draw::Weighted(sizes) => {
                let total: f64 = drawn(sizes).map(|(_, weight)| weight).sum();
                drawn(sizes).map(|(size, weight)| size as f64 * (weight / total)).sum()
            }
        }
    }

    /// The share of the bytes that belongs to calls of at least `least` bytes; 1 if there are no bytes.
    #[must_use]
    pub fn share_of_bytes_from(&self, least: u64) -> f64 {
        // The mean of a range times the number of its sizes.
        let range = |low: u64, high: u64| match low <= high {
            true => (low as f64 + high as f64) / 2.0 * (high as f64 - low as f64 + 1.0),
            false => 0.0,
        };
        let bytes = |least: u64| match &self.draw {
            Draw::Fixed(size) => range(least.max(*size), *size),
            Draw::Uniform { low, high } => range(least.max(*low), *high),
            Draw::Weighted(sizes) => drawn(sizes)
                .filter(|(size, _)| *size >= least)
                .map(|(size, weight)| size as f64 * weight)
                .sum(),
        };
        let all = bytes(0);
        if all > 0.0 { bytes(least) / all } else { 1.0 }
    }

    /// Tests whether sizes can be drawn. Sizes from [`Sizes::parse_list`] always pass; this is for sizes from
    /// a store or a message.
    ///
    /// # Errors
    /// An invalid period; a range that ends before it begins; weights that are negative, not finite, not in
    /// ascending order of size, or all zero.
    pub fn check(&self) -> Result<(), SizeError> {
        let fault = |reason: &str| {
            Err(SizeError::NothingToDraw { word: self.label.clone(), reason: reason.to_owned() })
        };
        match &self.draw {
            _ if self.period.is_some_and(|period| !(2..=MOST_PERIOD).contains(&period)) => {
                fault("the period is less than 2 or too long")
            }
            Draw::Fixed(_) => Ok(()),
            Draw::Uniform { low, high } if low <= high => Ok(()),
            Draw::Uniform { .. } => fault("the range ends before it begins"),
            Draw::Weighted(sizes) => {
                let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
                if sizes.iter().any(|(_, weight)| !weight.is_finite() || *weight < 0.0) {
                    fault("a weight is negative or not finite")
                } else if sizes.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                    fault("the sizes are not in ascending order")
                } else if !total.is_normal() {
                    fault("the sum of the weights is zero or too large")
                } else {
                    Ok(())
                }
            }
        }
    }
}

/// The sizes that can be drawn: those with a positive weight.
fn drawn(sizes: &[(u64, f64)]) -> impl Iterator<Item = (u64, f64)> + '_ {
    sizes.iter().copied().filter(|(_, weight)| *weight > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(sizes: &[(u64, f64)]) -> Sizes {
        Sizes::new("w", Draw::Weighted(sizes.to_vec()))
    }

    #[test]
    fn minimum_maximum_and_mean_ignore_sizes_without_weight() {
        let fixed = Sizes::fixed(1500);
        assert_eq!((fixed.min(), fixed.max(), fixed.mean()), (1500, 1500, 1500.0));
        let range = Sizes::new("r", Draw::Uniform { low: 1, high: 64 });
        assert_eq!((range.min(), range.max(), range.mean()), (1, 64, 32.5));
        let some = weighted(&[(0, 0.0), (10, 3.0), (40, 1.0), (99, 0.0)]);
        assert_eq!((some.min(), some.max(), some.mean()), (10, 40, 17.5));
    }

    #[test]
    fn large_sizes_have_their_share_of_the_bytes() {
        let some = weighted(&[(10, 3.0), (40, 1.0), (99, 0.0)]);
        assert_eq!(
            [0, 10, 11, 40, 41].map(|least| some.share_of_bytes_from(least)),
            [1.0, 1.0, 40.0 / 70.0, 40.0 / 70.0, 0.0]
        );
        let range = Sizes::new("r", Draw::Uniform { low: 1, high: 4 });
        assert_eq!([1, 3, 5].map(|least| range.share_of_bytes_from(least)), [1.0, 0.7, 0.0]);
        let fixed = Sizes::fixed(8);
        assert_eq!([8, 9].map(|least| fixed.share_of_bytes_from(least)), [1.0, 0.0]);
        assert_eq!(Sizes::fixed(0).share_of_bytes_from(1), 1.0);
    }

    #[test]
    fn sizes_from_outside_are_checked() {
        assert!(weighted(&[(1, 0.5), (2, 0.5)]).check().is_ok());
        assert!(weighted(&[]).check().is_err());
        assert!(weighted(&[(1, 0.0)]).check().is_err());
        assert!(weighted(&[(1, -1.0), (2, 3.0)]).check().is_err());
        assert!(weighted(&[(1, f64::NAN)]).check().is_err());
        assert!(weighted(&[(1, 1e308), (2, 1e308)]).check().is_err());
        assert!(weighted(&[(2, 1.0), (1, 1.0)]).check().is_err());
        assert!(Sizes::new("r", Draw::Uniform { low: 2, high: 1 }).check().is_err());
    }
}
