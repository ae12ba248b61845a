//! Tests the rules for faster, slower and tie on simulated situations with known differences.
//!
//! The noise is that of a shared machine: heavy-tailed scatter of each sample, interruptions that mostly
//! stretch all cells of a round, drift over the rounds, an effect of layout per process common to all cells,
//! and a small one of each cell's own. The floor comes from one to three A/A pairs of the same situation.

use carryline_statistics::{
    Order, Standing, below, compare, compare_samples, estimate, noise_floor, paired_ratio, rank,
    unpaired_ratio,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

type Samples = Vec<Vec<f64>>;

struct Chance(Xoshiro256PlusPlus);

impl Chance {
    fn seeded(seed: u64) -> Chance {
        Chance(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn whole(&mut self, low: usize, high: usize) -> usize {
        low + below(&mut self.0, high - low + 1)
    }

    fn happens(&mut self, probability: f64) -> bool {
        self.uniform(0.0, 1.0) < probability
    }

    /// Box-Muller transform.
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.uniform(1e-300, 1.0), self.uniform(0.0, std::f64::consts::TAU));
        (-2.0 * radius.ln()).sqrt() * angle.cos()
    }

    /// One draw in ten is three times as wide.
    fn heavy_tailed(&mut self) -> f64 {
        let width = if self.happens(0.1) { 3.0 } else { 1.0 };
        self.normal() * width
    }
}

#[derive(Clone, Copy, Debug)]
struct Setting {
    replicates: usize,
    rounds: usize,
    /// Scatter of each sample.
    sample_sigma: f64,
    /// Scatter common to all cells of a replicate.
    layout_sigma: f64,
    /// Scatter of one cell between replicates.
    cell_sigma: f64,
}

impl Setting {
    fn drawn(chance: &mut Chance) -> Setting {
        Setting {
            replicates: chance.whole(4, 6),
            rounds: chance.whole(8, 20),
            sample_sigma: chance.uniform(0.01, 0.03),
            layout_sigma: chance.uniform(0.01, 0.02),
            cell_sigma: 0.003,
        }
    }
}

/// The samples of a situation with one cell for each true cost.
fn situation(chance: &mut Chance, setting: Setting, costs: &[f64]) -> Vec<Samples> {
    let mut cells = vec![Samples::new(); costs.len()];
    for _ in 0..setting.replicates {
        let layout = (chance.normal() * setting.layout_sigma).exp();
        let levels: Vec<f64> =
            costs.iter().map(|cost| cost * layout * (chance.normal() * setting.cell_sigma).exp()).collect();
        let slope = chance.uniform(-0.1, 0.1);
        let mut replicate = vec![Vec::new(); costs.len()];
        for round in 0..setting.rounds {
            let drift = 1.0 + slope * round as f64 / setting.rounds as f64;
            let (interrupted, stretch) = (chance.happens(0.06), chance.uniform(1.2, 4.0));
            for (level, rounds) in levels.iter().zip(&mut replicate) {
                let mut ticks = level * drift * (chance.heavy_tailed() * setting.sample_sigma).exp();
                if interrupted && chance.happens(0.9) {
                    ticks *= stretch;
                }
                if chance.happens(0.01) {
                    ticks *= chance.uniform(1.2, 4.0);
                }
                rounds.push(ticks);
            }
        }
        for (cell, rounds) in cells.iter_mut().zip(replicate) {
            cell.push(rounds);
        }
    }
    cells
}

/// The situation's noise floor from its first `pairs` pairs of cells.
fn floor_of(cells: &[Samples], pairs: usize, seed: u64) -> f64 {
    let ratios: Vec<_> = cells
        .chunks(2)
        .take(pairs)
        .map(|pair| paired_ratio(&pair[0], &pair[1], seed).expect("full rounds"))
        .collect();
    noise_floor(&ratios)
}

const AA_PAIRS: usize = 6;
const PLANTED_PAIRS: usize = 6;

/// The fractions of A/A pairs called different, and of planted 5 % slowdowns called slower.
fn error_rates(seed: u64, trials: u64, setting: impl Fn(&mut Chance) -> Setting) -> (f64, f64) {
    let mut chance = Chance::seeded(seed);
    let (mut called_different, mut called_slower) = (0, 0);
    for trial in 0..trials {
        let setting = setting(&mut chance);
        let floor_pairs = chance.whole(1, 3);
        let mut costs = vec![100.0; 2 * (floor_pairs + AA_PAIRS)];
        costs.extend([105.0, 100.0].repeat(PLANTED_PAIRS));
        let cells = situation(&mut chance, setting, &costs);
        let floor = floor_of(&cells, floor_pairs, trial);
        for (index, pair) in cells.chunks(2).enumerate().skip(floor_pairs) {
            let order = compare_samples(&pair[0], &pair[1], floor, trial).expect("full rounds");
            if index < floor_pairs + AA_PAIRS {
                called_different += usize::from(order != Order::Tie);
            } else {
                called_slower += usize::from(order == Order::Slower);
            }
        }
    }
    let share = |count: usize, of: usize| count as f64 / (of as u64 * trials) as f64;
    (share(called_different, AA_PAIRS), share(called_slower, PLANTED_PAIRS))
}

#[test]
fn equal_cells_rarely_differ_and_five_percent_is_found() {
    let (different, slower) = error_rates(1, 1000, Setting::drawn);
    assert!(different <= 0.02, "{different} of A/A pairs called different");
    assert!(slower >= 0.95, "{slower} of planted slowdowns found");
}

#[test]
fn the_false_positive_rate_holds_in_extreme_settings() {
    for (replicates, rounds, sample_sigma, cell_sigma) in [
        (4, 8, 0.01, 0.003),
        (4, 20, 0.01, 0.003),
        (6, 20, 0.01, 0.003),
        (4, 20, 0.01, 0.006),
        (3, 8, 0.03, 0.003),
    ] {
        let setting = Setting { replicates, rounds, sample_sigma, layout_sigma: 0.02, cell_sigma };
        let (different, _) = error_rates(2, 400, |_| setting);
        assert!(different <= 0.02, "{different} of A/A pairs called different: {setting:?}");
    }
}

#[test]
fn the_full_bootstrap_has_the_same_error_rates() {
    let mut chance = Chance::seeded(3);
    let (mut different, mut slower) = (0, 0);
    const TRIALS: u64 = 300;
    for trial in 0..TRIALS {
        let setting = Setting::drawn(&mut chance);
        let cells = situation(&mut chance, setting, &[100.0, 100.0, 100.0, 100.0, 105.0, 100.0]);
        let floor = floor_of(&cells, 1, trial);
        let order = |a: usize, b: usize| {
            compare(&paired_ratio(&cells[a], &cells[b], trial).expect("full rounds"), floor)
        };
        different += u64::from(order(2, 3) != Order::Tie);
        slower += u64::from(order(4, 5) == Order::Slower);
    }
    assert!(different * 50 <= TRIALS, "{different} of {TRIALS} A/A pairs called different");
    assert!(slower * 100 >= 95 * TRIALS, "{slower} of {TRIALS} planted slowdowns found");
}

#[test]
fn intervals_of_few_replicates_cover_the_truth() {
    const TRIALS: u64 = 300;
    for replicates in [3, 4, 5, 8] {
        let mut chance = Chance::seeded(4 + replicates as u64);
        let (mut ratio_covers, mut estimate_covers) = (0, 0);
        for trial in 0..TRIALS {
            // Little scatter within the rounds: only the replicates show how far off the figure may be.
            let setting =
                Setting { replicates, rounds: 10, sample_sigma: 0.002, layout_sigma: 0.02, cell_sigma: 0.01 };
            let cells = situation(&mut chance, setting, &[107.0, 100.0]);
            let ratio = paired_ratio(&cells[0], &cells[1], trial).expect("full rounds");
            ratio_covers += u64::from(ratio.low <= 1.07 && 1.07 <= ratio.high);
            // Without drift the true median of a cell is its cost.
            let level = |chance: &mut Chance| 100.0 * (1.0 + 0.02 * chance.normal());
            let flat: Samples = (0..replicates).map(|_| vec![level(&mut chance); 10]).collect();
            let estimate = estimate(&flat, trial).expect("samples");
            estimate_covers += u64::from(estimate.low <= 100.0 && 100.0 <= estimate.high);
        }
        // 95 % of 300 less two standard errors of the trial itself.
        assert!(ratio_covers >= 277, "{replicates} replicates: ratio covered {ratio_covers} of {TRIALS}");
        assert!(estimate_covers >= 277, "{replicates} replicates: covered {estimate_covers} of {TRIALS}");
    }
}

/// The winner is selected for the lowest time, which favours chance: cells equal to it must still tie, and a
/// second run must agree.
#[test]
fn equal_cells_tie_with_the_winner_and_runs_agree() {
    const EQUALS: usize = 8;
    const TRIALS: u64 = 60;
    let mut chance = Chance::seeded(9);
    let (mut lost, mut agreements) = (0, 0);
    let mut previous: Option<Vec<Standing>> = None;
    for trial in 0..TRIALS {
        let setting = Setting::drawn(&mut chance);
        // An A/A pair, equals, and some that are 3 % slower: between tie and slower.
        let mut costs = vec![100.0; 2 + EQUALS];
        costs.extend([103.0; 4]);
        let cells = situation(&mut chance, setting, &costs);
        let floor = floor_of(&cells, 1, trial);
        let views: Vec<&[Vec<f64>]> = cells[2..].iter().map(Vec::as_slice).collect();
        let standings = rank(&views, 0, floor, trial);
        lost += standings[..EQUALS].iter().filter(|standing| standing.rank != Some(1)).count();
        let lowest =
            |s: &Standing| s.ratio_to_leader.is_some_and(|ratio| ratio.low == 1.0 && ratio.high == 1.0);
        let winner = standings.iter().position(lowest).expect("a winner");
        if let Some(previous) = previous {
            agreements += u64::from(previous[winner].rank == Some(1));
        }
        previous = Some(standings);
    }
    assert!(lost * 100 <= 4 * EQUALS * TRIALS as usize, "{lost} equals called slower than the winner");
    assert!(agreements * 100 >= 95 * (TRIALS - 1), "{agreements} of {} runs agree", TRIALS - 1);
}

#[test]
fn the_interval_of_an_unpaired_ratio_covers_the_truth() {
    const TRIALS: u64 = 200;
    const TRUTH: f64 = 1.05;
    let mut chance = Chance::seeded(11);
    let (mut covered, mut wider) = (0, 0);
    for trial in 0..TRIALS {
        let each = chance.whole(4, 6);
        let setting = Setting { replicates: 2 * each, ..Setting::drawn(&mut chance) };
        let cells = situation(&mut chance, setting, &[TRUTH * 100.0, 100.0]);
        // The two cells run in alternate processes.
        let half = |cell: &Samples, kind: usize| -> Samples {
            let here = |(number, rounds): (usize, &Vec<f64>)| {
                if number % 2 == kind { rounds.clone() } else { vec![f64::NAN; rounds.len()] }
            };
            cell.iter().enumerate().map(here).collect()
        };
        let (a, b) = (half(&cells[0], 0), half(&cells[1], 1));
        assert!(paired_ratio(&a, &b, trial).is_none());
        let ratio = unpaired_ratio(&a, &b, trial).expect("samples on both sides");
        covered += u64::from(ratio.low <= TRUTH && TRUTH <= ratio.high);
        let paired = paired_ratio(&cells[0], &cells[1], trial).expect("full rounds");
        wider += u64::from(ratio.high / ratio.low > paired.high / paired.low);
    }
    let share = covered as f64 / TRIALS as f64;
    assert!(share >= 0.93, "{share}");
    assert!(wider > TRIALS * 9 / 10, "only {wider} of {TRIALS} are wider than a paired one of all processes");
}
