use super::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CONTROLS: [&str; 4] = ["adc_1_stream", "adc_2_streams", "words16_c", "reference"];
const ALL: [&str; 6] = ["adc_1_stream", "adc_2_streams", "words16_c", "reference", "carryline", "mine"];
const SITUATIONS: usize = 8;

/// Approximately normal, with variance 1.
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).sum::<f64>() - 6.0
}

/// A run whose cells vary with the run (`between`), with each of its five processes and with each round.
fn run(seed: u64, names: &[&str], between: f64, factor: impl Fn(usize, &str) -> f64) -> Vec<Row> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rows = Vec::new();
    // The clock frequency during the run.
    let clock = (between * 2.0 * normal(&mut rng)).exp();
    for situation in 0..SITUATIONS {
        for (k, name) in names.iter().enumerate() {
            let level =
                20.0 * clock * (k + 1) as f64 * factor(situation, name) * (between * normal(&mut rng)).exp();
            let mut process = || {
                let level = level * (0.004 * normal(&mut rng)).exp();
                (0..6).map(|_| level * (0.01 * normal(&mut rng)).exp()).collect()
            };
            rows.push(Row {
                situation: format!("checksum {situation}"),
                variant: (*name).to_owned(),
                family: Family::Checksum,
                reach: Reach::Core,
                evidence: Evidence::Samples((0..5).map(|_| process()).collect()),
                absent: None,
                noise_floor: Some(0.01),
            });
        }
    }
    rows
}

const fn unchanged(_: usize, _: &str) -> f64 {
    1.0
}

#[test]
fn runs_of_one_program_rarely_differ() {
    // Runs vary three times as much as their processes: judged alone, at 5 %, rows would differ in most
    // comparisons.
    let (mut wrong, mut alone) = (0, 0);
    const COMPARISONS: u64 = 40;
    for seed in 0..COMPARISONS {
        let found = compare(
            &run(2 * seed, &ALL, 0.012, unchanged),
            &run(2 * seed + 1, &ALL, 0.012, unchanged),
            Pairing::None,
            seed,
        );
        assert_eq!(found.between_runs.controls, SITUATIONS * CONTROLS.len());
        let different = found.with(Verdict::Slower).count() + found.with(Verdict::Faster).count();
        wrong += u64::from(different > 0);
        alone += found.cells.iter().filter(|cell| cell.p_value.is_some_and(|p| p < RATE)).count();
    }
    // 5 % of 40 are 2; more than 5 has a probability of 1 in 70.
    assert!(wrong <= 5, "{wrong} of {COMPARISONS}");
    assert!(
        alone as f64 > 0.01 * (COMPARISONS as usize * SITUATIONS * ALL.len()) as f64,
        "the comparisons are not trivial: {alone}"
    );
}

#[test]
fn without_controls_the_noise_between_runs_is_assumed() {
    let of = |seed| run(seed, &["carryline", "mine"], 0.005, unchanged);
    let mut wrong = 0;
    for seed in 0..40 {
        let found = compare(&of(2 * seed), &of(2 * seed + 1), Pairing::None, seed);
        assert_eq!(
            (found.between_runs.controls, found.between_runs.core_caches.spread),
            (0, ASSUMED_BETWEEN_RUNS)
        );
        wrong += u64::from(matches!(found.verdict, Verdict::Slower | Verdict::Faster));
    }
    assert!(wrong <= 5, "{wrong} of 40");
}

#[test]
fn too_few_controls_are_counted_and_the_noise_is_assumed() {
    let of = |seed| {
        let mut rows = run(seed, &["mine", CONTROLS[0]], 0.005, unchanged);
        rows.retain(|row| !row.is_control() || row.situation.ends_with(['0', '1', '2', '3']));
        rows
    };
    let rows = of(1);
    let controls = rows.iter().filter(|row| row.is_control()).count();
    assert!((1..8).contains(&controls), "{controls}");
    let between = compare(&rows, &of(2), Pairing::None, 1).between_runs;
    assert_eq!((between.controls, between.assumed), (controls, true));
    let lack = between.lack().expect("too few");
    assert_eq!(lack, format!("assumed: only {controls} of the 8 rows needed that cannot have changed"));
    assert_eq!(Between::NOTHING.lack(), None);
}

#[test]
fn a_row_that_became_slower_is_found_among_many() {
    for seed in 0..5 {
        let slower = |situation, name: &str| if situation == 3 && name == "carryline" { 1.15 } else { 1.0 };
        let base = run(100 + seed, &ALL, 0.008, unchanged);
        let found = compare(&base, &run(200 + seed, &ALL, 0.008, slower), Pairing::None, seed);
        let rows: Vec<(&str, &str)> =
            found.with(Verdict::Slower).map(|cell| (&*cell.situation, &*cell.variant)).collect();
        assert_eq!(rows, [("checksum 3", "carryline")], "{seed}");
        assert_eq!(found.verdict, Verdict::Slower);
        let back = compare(&run(200 + seed, &ALL, 0.008, slower), &base, Pairing::None, seed);
        assert_eq!((back.with(Verdict::Faster).count(), back.verdict), (1, Verdict::Faster));
    }
}

#[test]
fn alternating_processes_have_no_noise_between_runs() {
    // Two programs measured alternately: noise of 5 % over minutes affects both.
    let of = |factor: f64, name: &str| -> Vec<Row> {
        let mut rows = run(7, &[name], 0.0, |_, _| factor);
        for row in &mut rows {
            let Evidence::Samples(samples) = &mut row.evidence else { continue };
            for (replicate, rounds) in samples.iter_mut().enumerate() {
                rounds.iter_mut().for_each(|ticks| *ticks *= 1.0 + 0.05 * (replicate % 3) as f64);
            }
        }
        rows
    };
    let found = compare(&of(1.0, "mine"), &of(1.03, "mine"), Pairing::Replicates, 1);
    assert_eq!(found.with(Verdict::Slower).count(), SITUATIONS);
    let apart = compare(&of(1.0, "mine"), &of(1.03, "mine"), Pairing::None, 1);
    assert_eq!(apart.with(Verdict::Slower).count(), 0);
}

#[test]
fn a_run_is_the_same_as_itself_however_noisy() {
    let mut rows = run(1, &ALL, 0.5, unchanged);
    rows[0].noise_floor = Some(0.4);
    rows[1].evidence = Evidence::Nothing;
    rows[1].absent = Some("the CPU lacks adx".to_owned());
    let found = compare(&rows, &rows, Pairing::Identical, 1);
    assert_eq!((found.verdict, found.with(Verdict::Same).count()), (Verdict::Same, rows.len() - 1));
    assert!(found.cells[0].ratio.is_some_and(|ratio| ratio.median == 1.0 && ratio.high == 1.0));
    assert_eq!(found.cells[1].detail.as_deref(), Some("in the base: the CPU lacks adx"));
}

#[test]
fn a_wide_interval_or_a_high_floor_is_unknown_and_not_same() {
    let mut base = run(1, &["mine"], 0.0, unchanged);
    let mut other = run(2, &["mine"], 0.0, unchanged);
    base[0].noise_floor = Some(0.08);
    other[1].evidence = Evidence::Samples(vec![vec![20.0; 30]]);
    other.truncate(3);
    let found = compare(&base, &other, Pairing::Replicates, 1);
    let verdicts: Vec<Verdict> = found.cells.iter().map(|cell| cell.verdict).collect();
    assert_eq!(verdicts, [Verdict::Unknown, Verdict::Unknown, Verdict::Same]);
    assert_eq!((found.only_in_base, found.only_in_other), (SITUATIONS - 3, 0));
    assert_eq!(found.verdict, Verdict::Unknown);
    assert_eq!(compare(&base, &[], Pairing::None, 1).verdict, Verdict::Unknown);
}

#[test]
fn estimates_suffice_without_samples() {
    let with = |median: f64| -> Vec<Row> {
        let estimate =
            carryline_statistics::Estimate { median, low: median * 0.99, high: median * 1.01, min: median };
        let mut rows = run(1, &ALL, 0.0, unchanged);
        rows.iter_mut().for_each(|row| row.evidence = Evidence::Estimate(estimate));
        rows
    };
    let found = compare(&with(100.0), &with(130.0), Pairing::None, 1);
    // Even rows that cannot have changed take 30 % more time, which no clock explains.
    assert_eq!((found.verdict, found.with(Verdict::Slower).count()), (Verdict::Slower, found.cells.len()));
    assert!(!found.between_runs.core_caches.taken_off, "{:?}", found.between_runs);
    let found = compare(&with(100.0), &with(106.0), Pairing::None, 1);
    assert_eq!((found.verdict, found.with(Verdict::Same).count()), (Verdict::Same, found.cells.len()));
    assert!((found.between_runs.core_caches.controls_ratio - 1.06).abs() < 1e-9);
    let mut other = with(100.0);
    other
        .iter_mut()
        .filter(|row| !row.is_control())
        .for_each(|row| row.evidence = with(130.0)[0].evidence.clone());
    assert_eq!(compare(&with(100.0), &other, Pairing::None, 1).with(Verdict::Slower).count(), 2 * SITUATIONS);
}
