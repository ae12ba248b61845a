//! Properties of the statistics for arbitrary samples.

use carryline_statistics::{
    Order, compare, compare_samples, estimate, median, noise_floor, paired_ratio, quantile, rank,
};
use proptest::prelude::*;

type Samples = Vec<Vec<f64>>;

/// One to six replicates of up to 15 rounds, with missing samples.
fn samples() -> impl Strategy<Value = Samples> {
    let sample = prop_oneof![9 => 1.0..1000.0f64, 1 => Just(f64::NAN)];
    prop::collection::vec(prop::collection::vec(sample, 0..15), 1..7)
}

fn pair() -> impl Strategy<Value = (Samples, Samples)> {
    let sample = || prop_oneof![9 => 1.0..1000.0f64, 1 => Just(f64::NAN)];
    let rounds = prop::collection::vec((sample(), sample()), 0..15);
    prop::collection::vec(rounds, 1..7).prop_map(|replicates| {
        replicates.into_iter().map(|rounds| rounds.into_iter().unzip::<f64, f64, Vec<_>, Vec<_>>()).unzip()
    })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_median_lies_in_its_interval_and_in_the_range(samples in samples(), seed: u64) {
        let values: Vec<f64> = samples.iter().flatten().copied().filter(|v| v.is_finite()).collect();
        match estimate(&samples, seed) {
            None => prop_assert!(values.is_empty()),
            Some(e) => {
                let max = values.iter().copied().fold(0.0, f64::max);
                prop_assert!(0.0 <= e.low && e.low <= e.median && e.median <= e.high);
                prop_assert!(e.min <= e.median && e.median <= max);
                prop_assert!(values.contains(&e.min));
            }
        }
    }

    #[test]
    fn replicates_may_arrive_in_any_order((a, b) in pair(), seed: u64, turn in 0usize..6) {
        let turn = turn % a.len();
        let turned = |samples: &Samples| { let mut s = samples.clone(); s.rotate_left(turn); s.reverse(); s };
        prop_assert_eq!(estimate(&a, seed), estimate(&turned(&a), seed));
        prop_assert_eq!(paired_ratio(&a, &b, seed), paired_ratio(&turned(&a), &turned(&b), seed));
    }

    #[test]
    fn the_unit_does_not_matter((a, b) in pair(), seed: u64, unit in 0.01..100.0f64) {
        let scaled = |samples: &Samples| -> Samples {
            samples.iter().map(|rounds| rounds.iter().map(|t| t * unit).collect()).collect()
        };
        if let Some(e) = estimate(&a, seed) {
            let s = estimate(&scaled(&a), seed).expect("the same samples");
            prop_assert!(close(s.median, e.median * unit) && close(s.min, e.min * unit));
            prop_assert!(close(s.low, e.low * unit) && close(s.high, e.high * unit));
        }
        if let Some(r) = paired_ratio(&a, &b, seed) {
            let s = paired_ratio(&scaled(&a), &scaled(&b), seed).expect("the same rounds");
            prop_assert!(close(s.median, r.median) && close(s.low, r.low) && close(s.high, r.high));
        }
    }

    #[test]
    fn a_cell_against_itself_is_exactly_one(samples in samples(), seed: u64) {
        if let Some(ratio) = paired_ratio(&samples, &samples, seed) {
            prop_assert_eq!(ratio.median, 1.0);
            let measured = samples.iter().filter(|rounds| rounds.iter().any(|t| t.is_finite())).count();
            if measured >= 2 {
                prop_assert_eq!((ratio.low, ratio.high), (1.0, 1.0));
            } else {
                prop_assert!(ratio.low < 1.0 && ratio.high > 1.0);
            }
            prop_assert_eq!(compare(&ratio, noise_floor(&[ratio])), Order::Tie);
        }
    }

    #[test]
    fn swapping_the_cells_gives_the_reciprocal((a, b) in pair(), seed: u64, floor in 0.005..0.5f64) {
        if let Some(r) = paired_ratio(&a, &b, seed) {
            let back = paired_ratio(&b, &a, seed).expect("the same rounds");
            prop_assert!(close(back.median, 1.0 / r.median));
            prop_assert!(close(back.low, 1.0 / r.high) && close(back.high, 1.0 / r.low));
            let order = compare_samples(&a, &b, floor, seed).expect("the same rounds");
            prop_assert_eq!(compare_samples(&b, &a, floor, seed), Some(order.reversed()));
            prop_assert_eq!(order, compare(&r, floor));
        }
    }

    #[test]
    fn ties_are_mutual_and_ranks_are_complete(
        cells in prop::collection::vec(prop::collection::vec(prop::collection::vec(90.0..110.0f64, 6), 4), 1..8),
        seed: u64,
    ) {
        let views: Vec<&[Vec<f64>]> = cells.iter().map(Vec::as_slice).collect();
        let standings = rank(&views, 0, 0.01, seed);
        let winner = standings.iter().position(|s| s.rank == Some(1));
        prop_assert!(winner.is_some());
        for (index, standing) in standings.iter().enumerate() {
            for tie in &standing.ties_with {
                prop_assert!(*tie != index && standings[*tie].ties_with.contains(&index));
            }
            // A rank is one more than the number of cells ranked before it.
            let before = standings.iter().filter(|other| other.rank < standing.rank).count();
            prop_assert_eq!(standing.rank, Some(before as u32 + 1));
        }
    }

    #[test]
    fn quantiles_ascend_and_half_is_the_median(values in prop::collection::vec(-1e6..1e6f64, 1..40)) {
        let at: Vec<f64> = (0..=10).map(|i| quantile(&values, f64::from(i) / 10.0).expect("values")).collect();
        prop_assert!(at.windows(2).all(|pair| pair[0] <= pair[1]));
        prop_assert!(close(at[5], median(&values).expect("values")));
    }
}
