//! The order of a situation's cells: the winner, what cannot be told from it, and the rest.
//!
//! Ties are not transitive: A may tie with B and B with C while A is faster than C. So every tie is kept as a
//! pair, and a rank says one thing only: rank 1 is the winner and all that tie with the winner; the next rank goes
//! to the leader of the others and all of them that tie with it, and so on. Ranks skip the cells before
//! them (1, 1, 3, ...).
//!
//! The leader of a group is not simply the lowest median: of that cell and those that tie with it, the leader is the
//! one whose time is surely the lowest, by the upper end of its interval. A cell that is fast in one process and ten
//! times slower in the next would else lead, and tie with everybody.

use super::compare::compare_samples;
use super::estimate::log_ratios;
use super::interval::Clean;
use super::unpaired::log_difference;
use super::{Order, ratio};
use crate::Ratio;

/// Where a cell stands in its situation.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// 1 for the winner and its ties; `None` for a cell without a sample.
    pub rank: Option<u32>,
    /// Its time over the baseline's; `None` like the rank.
    pub ratio_to_baseline: Option<Ratio>,
    /// Its time over the winner's; exactly 1 for the winner itself.
    pub ratio_to_winner: Option<Ratio>,
    /// Indices of the cells from which it cannot be distinguished, ascending, without its own.
    pub ties_with: Vec<usize>,
}

/// Ranks the cells of one situation by their ratios, paired where two share rounds, to a reference: the cell at index
/// `baseline`.
///
/// A cell is its samples by replicate and round, empty where it was not measured. Where another cell has more samples than
/// the baseline (which may be in every second process only), a cell with the most samples takes its place for the order,
/// so that every cell is paired with it. No ratio is given to a baseline without a sample.
/// `floor` is the situation's, from [`noise_floor`](super::noise_floor).
///
/// # Examples
/// ```
/// use carryline_statistics::rank;
/// let cell = |ticks: f64| vec![vec![ticks; 6]; 4];
/// let cells = [cell(100.0), cell(80.0), cell(80.1), vec![]];
/// let cells: Vec<&[Vec<f64>]> = cells.iter().map(Vec::as_slice).collect();
/// let standings = rank(&cells, 0, 0.01, 7);
/// assert_eq!(standings.iter().map(|s| s.rank).collect::<Vec<_>>(), [Some(3), Some(1), Some(1), None]);
/// assert_eq!(standings[1].ties_with, [2]);
/// ```
#[must_use]
pub fn rank(cells: &[&[Vec<f64>]], baseline: usize, floor: f64, seed: u64) -> Vec<Standing> {
    let nowhere = Standing { rank: None, ratio_to_baseline: None, ratio_to_winner: None, ties_with: vec![] };
    let mut standings = vec![nowhere; cells.len()];
    let Some(reference) = reference(cells, baseline) else { return standings };

    let mut order: Vec<(usize, f64)> = Vec::with_capacity(cells.len());
    for (index, cell) in cells.iter().enumerate() {
        let paired = log_ratios(cell, cells[reference]).map(|logs| {
            let log = logs.clean.median();
            if logs.turned { -log } else { log }
        });
        if let Some(log) = paired.or_else(|| log_difference(cell, cells[reference])) {
            order.push((index, log));
        }
    }
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let order: Vec<usize> = order.into_iter().map(|(index, _)| index).collect();

    for (place, &a) in order.iter().enumerate() {
        for &b in &order[place + 1..] {
            if compare_samples(cells[a], cells[b], floor, seed).unwrap_or(Order::Tie) == Order::Tie {
                standings[a].ties_with.push(b);
                standings[b].ties_with.push(a);
            }
        }
    }
    for standing in &mut standings {
        standing.ties_with.sort_unstable();
    }

    let upper_end: Vec<f64> = cells
        .iter()
        .map(|cell| ratio(cell, cells[reference], seed).map_or(f64::INFINITY, |ratio| ratio.high))
        .collect();
    let mut winner = None;
    let mut ranked = 0;
    for &fastest in &order {
        if standings[fastest].rank.is_some() {
            continue;
        }
        let leader = std::iter::once(fastest)
            .chain(standings[fastest].ties_with.iter().copied())
            .filter(|index| standings[*index].rank.is_none())
            .min_by(|a, b| upper_end[*a].total_cmp(&upper_end[*b]))
            .unwrap_or(fastest);
        winner = winner.or(Some(leader));
        let rank = ranked + 1;
        let group = std::iter::once(leader).chain(standings[leader].ties_with.clone());
        for index in group {
            if standings[index].rank.is_none() {
                standings[index].rank = Some(rank);
                ranked += 1;
            }
        }
    }

    for &index in &order {
        let to = |other: usize| ratio(cells[index], cells[other], seed);
        standings[index].ratio_to_baseline = if baseline < cells.len() { to(baseline) } else { None };
        standings[index].ratio_to_winner = match winner {
            Some(winner) if winner == index => Some(Ratio { median: 1.0, low: 1.0, high: 1.0 }),
            Some(winner) => to(winner),
            None => None,
        };
    }
    standings
}

/// What ratios for the order are formed to: the baseline if no cell has more samples; else, of the cells with the most,
/// the one that is fastest where it is slowest (a cell that some processes slow down would blur all others); else none.
fn reference(cells: &[&[Vec<f64>]], baseline: usize) -> Option<usize> {
    let samples =
        |cell: &[Vec<f64>]| cell.iter().flatten().filter(|ticks| ticks.is_finite() && **ticks > 0.0).count();
    let counts: Vec<usize> = cells.iter().map(|cell| samples(cell)).collect();
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    if counts.get(baseline) == Some(&most) {
        return Some(baseline);
    }
    let slowest = |index: usize| {
        let clean = Clean::new(cells[index].iter().cloned());
        clean.and_then(|clean| clean.medians().last().copied()).unwrap_or(f64::INFINITY)
    };
    let fullest = (0..cells.len()).filter(|index| counts[*index] == most);
    fullest.min_by(|a, b| slowest(*a).total_cmp(&slowest(*b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Samples = Vec<Vec<f64>>;

    fn flat(ticks: f64) -> Samples {
        vec![vec![ticks; 8]; 4]
    }

    fn ranks(cells: &[Samples], baseline: usize, floor: f64) -> Vec<Standing> {
        rank(&cells.iter().map(Vec::as_slice).collect::<Vec<_>>(), baseline, floor, 1)
    }

    #[test]
    fn competition_ranking_with_ties_that_are_not_transitive() {
        // Steps of 1.5 % with a floor of 2 %: each ties with its neighbours only.
        let cells = [flat(103.0), flat(100.0), flat(101.5), flat(104.5), flat(150.0)];
        let standings = ranks(&cells, 4, 0.02);
        let numbers: Vec<Option<u32>> = standings.iter().map(|s| s.rank).collect();
        assert_eq!(numbers, [Some(3), Some(1), Some(1), Some(3), Some(5)]);
        assert_eq!(standings[2].ties_with, [0, 1]);
        assert_eq!(standings[0].ties_with, [2, 3]);
        assert!(standings[4].ties_with.is_empty());
        let to_winner = standings[4].ratio_to_winner.expect("measured");
        assert!((to_winner.median - 1.5).abs() < 1e-12);
        assert_eq!(standings[1].ratio_to_winner, Some(Ratio { median: 1.0, low: 1.0, high: 1.0 }));
        let to_baseline = standings[1].ratio_to_baseline.expect("measured");
        assert!((to_baseline.median - 100.0 / 150.0).abs() < 1e-12);
    }

    #[test]
    fn without_the_baseline_the_order_stands_and_the_ratio_is_missing() {
        let standings = ranks(&[vec![], flat(100.0), flat(90.0)], 0, 0.01);
        assert_eq!(standings.iter().map(|s| s.rank).collect::<Vec<_>>(), [None, Some(2), Some(1)]);
        assert!(standings.iter().all(|s| s.ratio_to_baseline.is_none()));
        assert!(ranks(&[vec![], vec![vec![f64::NAN]]], 0, 0.01).iter().all(|s| s.rank.is_none()));
        assert!(ranks(&[], 0, 0.01).is_empty());
    }

    #[test]
    fn a_cell_of_other_rounds_is_ranked_by_what_its_processes_tell() {
        let late = |replicates: usize| {
            let mut late = vec![vec![f64::NAN; 8]; 4];
            late.extend(vec![vec![50.0; 8]; replicates]);
            late
        };
        // Four processes each say that it is twice as fast; one alone says next to nothing.
        let standings = ranks(&[flat(100.0), flat(95.0), late(4)], 0, 0.01);
        assert_eq!(standings.iter().map(|s| s.rank).collect::<Vec<_>>(), [Some(3), Some(2), Some(1)]);
        let standings = ranks(&[flat(70.0), flat(60.0), late(1)], 0, 0.01);
        assert_eq!(standings[2].ties_with, [0, 1]);
        assert_eq!(standings[0].ties_with, [2]);
    }

    #[test]
    fn a_baseline_in_every_second_process_is_compared_through_what_is_in_all() {
        // Processes differ by 20 %: the two baselines share none, and each is paired with the third.
        let level = |r: usize| 1.0 + 0.2 * (r % 5) as f64 / 4.0;
        let half = |ticks: f64, here: usize| -> Samples {
            (0..10).map(|r| vec![if r % 2 == here { ticks * level(r) } else { f64::NAN }; 8]).collect()
        };
        let all: Samples = (0..10).map(|r| vec![50.0 * level(r); 8]).collect();
        let standings = ranks(&[half(100.0, 0), half(200.0, 1), all], 0, 0.01);
        assert_eq!(standings.iter().map(|s| s.rank).collect::<Vec<_>>(), [Some(2), Some(3), Some(1)]);
        let paired = standings[2].ratio_to_baseline.expect("rounds in common");
        assert!(paired.high - paired.low < 0.01, "{paired:?}");
        let unpaired = standings[1].ratio_to_baseline.expect("samples");
        assert!(unpaired.low < 1.9 && unpaired.high > 2.1, "{unpaired:?}");
    }

    #[test]
    fn a_noisy_cell_ties_with_the_winner_it_cannot_be_told_from() {
        let noisy: Samples = [70.0, 130.0, 160.0, 110.0].map(|ticks| vec![ticks; 8]).into();
        let standings = ranks(&[flat(100.0), noisy, flat(110.0)], 0, 0.01);
        assert_eq!(standings.iter().map(|s| s.rank).collect::<Vec<_>>(), [Some(1), Some(1), Some(3)]);
        assert_eq!(standings[1].ties_with, [0, 2]);
    }
}
