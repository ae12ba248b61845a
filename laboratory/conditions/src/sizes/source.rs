//! Draws sizes at the same small cost for every distribution.

use super::{Draw, Sizes};
use rand_core::Rng;

/// Sizes prepared for drawing: one random number, at most one table look-up, no loop.
///
/// Weighted sizes use Walker's alias method with Vose's construction: each column of the table yields its own
/// size up to a threshold, and one other size above it.
#[derive(Clone, Debug)]
pub struct SizeSource(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Fixed(u64),
    Uniform { low: u64, span: u128 },
    Alias(Vec<Column>),
}

#[derive(Clone, Copy, Debug)]
struct Column {
    /// A draw whose fraction (of 2^64) is at most this gives `own`, any other gives `other`.
    threshold: u64,
    own: u64,
    other: u64,
}

impl SizeSource {
    /// Prepares the table.
    ///
    /// # Panics
    /// Panics if [`Sizes::check`] fails.
    #[must_use]
    pub fn new(sizes: &Sizes) -> SizeSource {
        if let Err(error) = sizes.check() {
            panic!("{error}");
        }
        SizeSource(match &sizes.draw {
            Draw::Fixed(size) => Kind::Fixed(*size),
            Draw::Uniform { low, high } => {
                Kind::Uniform { low: *low, span: u128::from(*high) - u128::from(*low) + 1 }
            }
            Draw::Weighted(sizes) => Kind::Alias(alias_table(&super::drawn(sizes).collect::<Vec<_>>())),
        })
    }

    /// Draws one size.
    #[inline]
    pub fn draw<R: Rng + ?Sized>(&self, random: &mut R) -> u64 {
        match &self.0 {
            Kind::Fixed(size) => *size,
            // The upper half of the product is uniform in 0..span, with an error of at most span / 2^64.
            Kind::Uniform { low, span } => low + ((u128::from(random.next_u64()) * span) >> 64) as u64,
            Kind::Alias(columns) => {
                // The same product: its upper half selects the column, its lower half is the fraction within
                // the column.
                let product = u128::from(random.next_u64()) * columns.len() as u128;
                let column = columns[(product >> 64) as usize];
                if product as u64 <= column.threshold { column.own } else { column.other }
            }
        }
    }
}

/// Vose's construction: columns of equal area, each of which takes a light size and is filled up by a heavy
/// one.
fn alias_table(sizes: &[(u64, f64)]) -> Vec<Column> {
    let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    let mut area: Vec<f64> = sizes.iter().map(|(_, weight)| weight / total * sizes.len() as f64).collect();
    let mut columns: Vec<Column> =
        sizes.iter().map(|(size, _)| Column { threshold: u64::MAX, own: *size, other: *size }).collect();
    let (mut light, mut heavy): (Vec<usize>, Vec<usize>) = (0..sizes.len()).partition(|&i| area[i] < 1.0);
    while let (Some(&small), Some(&large)) = (light.last(), heavy.last()) {
        light.pop();
        // A float-to-integer cast saturates, so an area that rounds up to 1 fills the column.
        columns[small].threshold = (area[small] * 18_446_744_073_709_551_616.0) as u64;
        columns[small].other = sizes[large].0;
        area[large] -= 1.0 - area[small];
        if area[large] < 1.0 {
            heavy.pop();
            light.push(large);
        }
    }
    // The remaining columns have area 1 up to rounding, and yield only their own sizes.
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::BTreeMap;

    fn counts(sizes: &Sizes, draws: u64) -> BTreeMap<u64, u64> {
        let source = SizeSource::new(sizes);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(20_260_101);
        let mut counts = BTreeMap::new();
        for _ in 0..draws {
            *counts.entry(source.draw(&mut random)).or_insert(0) += 1;
        }
        counts
    }

    /// Pearson's statistic over the sizes expected at least ten times, and the degrees of freedom.
    fn chi_square(counts: &BTreeMap<u64, u64>, expected: &[(u64, f64)], draws: u64) -> (f64, f64) {
        let total: f64 = expected.iter().map(|(_, weight)| weight).sum();
        let mut statistic = 0.0;
        let mut cells = 0;
        for (size, weight) in expected {
            let wanted = weight / total * draws as f64;
            if wanted >= 10.0 {
                let seen = counts.get(size).copied().unwrap_or(0) as f64;
                statistic += (seen - wanted).powi(2) / wanted;
                cells += 1;
            }
        }
        (statistic, f64::from(cells - 1))
    }

    /// A chi-square has mean k and variance 2k: accepts five standard deviations either way.
    fn assert_fits(sizes: &Sizes, expected: &[(u64, f64)], draws: u64) {
        let counts = counts(sizes, draws);
        assert!(
            counts.keys().all(|size| expected.iter().any(|(known, weight)| known == size && *weight > 0.0))
        );
        let (statistic, freedom) = chi_square(&counts, expected, draws);
        let tolerance = 5.0 * (2.0 * freedom).sqrt();
        assert!(
            (statistic - freedom).abs() < tolerance,
            "{}: {statistic} with {freedom} degrees",
            sizes.label
        );
    }

    #[test]
    fn fleet_distributions_are_drawn_as_published() {
        for name in crate::fleet::NAMES {
            let expected = crate::fleet::distribution(name).expect("a known name");
            let sizes = Sizes::new(name, Draw::Weighted(expected.clone()));
            assert_fits(&sizes, &expected, 1 << 20);
        }
    }

    #[test]
    fn a_range_is_drawn_uniformly_and_inclusively() {
        let sizes = Sizes::new("1..64", Draw::Uniform { low: 1, high: 64 });
        let expected: Vec<(u64, f64)> = (1..=64).map(|size| (size, 1.0)).collect();
        assert_fits(&sizes, &expected, 1 << 20);
        assert_eq!(counts(&sizes, 10_000).len(), 64);
    }

    #[test]
    fn very_different_weights_are_respected() {
        let expected = [(1, 1e-3), (2, 1.0), (3, 0.0), (5, 1e6), (7, 30.0)];
        let sizes = Sizes::new("lopsided", Draw::Weighted(expected.to_vec()));
        assert_fits(&sizes, &expected, 1 << 22);
        assert!(!counts(&sizes, 1 << 20).contains_key(&3));
    }

    #[test]
    fn one_size_and_the_widest_range_work() {
        let one = Sizes::new("one", Draw::Weighted(vec![(9, 0.1)]));
        assert_eq!(counts(&one, 1000), BTreeMap::from([(9, 1000)]));
        assert_eq!(counts(&Sizes::fixed(0), 10), BTreeMap::from([(0, 10)]));
        let all = Sizes::new("all", Draw::Uniform { low: 0, high: u64::MAX });
        let upper = counts(&all, 1000).into_keys().filter(|size| *size > u64::MAX / 2).count();
        assert!((400..600).contains(&upper));
    }

    #[test]
    #[should_panic(expected = "is zero or too large")]
    fn an_empty_distribution_panics() {
        let _ = SizeSource::new(&Sizes::new("none", Draw::Weighted(Vec::new())));
    }
}
