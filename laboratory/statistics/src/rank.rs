//! Ranks the cells of a situation: the winner, the cells that tie with it, and the rest.
//!
//! Ties are not transitive: A may tie with B and B with C although A is faster than C. Every tie is therefore
//! kept as a pair, and ranks are simple: rank 1 is the winner and all cells that tie with it; the next rank
//! is the leader of the remaining cells and those that tie with it, and so on. A rank counts the cells before
//! it (1, 1, 3, ...).
//!
//! The leader of a group is not the cell with the lowest median but, among that cell and those that tie with
//! it, the one with the lowest upper end of its interval. Otherwise a cell that is fast in one process and
//! ten times slower in the next would lead, and tie with all others.

use super::compare::compare_samples;
use super::estimate::log_ratios;
use super::interval::Clean;
use super::unpaired::log_difference;
use super::{Order, ratio};
use crate::Ratio;

/// The result of ranking one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// 1 for the winner and its ties; `None` for a cell without samples.
    pub rank: Option<u32>,
    /// Its time as a multiple of the baseline's; `None` if either has no sample.
    pub ratio_to_baseline: Option<Ratio>,
    /// Its time as a multiple of the winner's, who leads rank 1; exactly 1 for the winner.
    pub ratio_to_leader: Option<Ratio>,
    /// Indices of the other cells that it ties with, in ascending order.
    pub ties_with: Vec<usize>,
}

/// Ranks the cells of one situation by their ratios to a reference, normally the cell at index `baseline`;
/// ratios are paired if the cells share rounds.
///
/// A cell is its samples by replicate and round, empty if it was not measured. If another cell has more
/// samples than the baseline (which may run only in every second process), the reference is one of the cells
/// with the most samples, so that every cell is paired with it. If the baseline has no sample, no ratio to it
/// is given. `floor` is the situation's, from [`noise_floor`](super::noise_floor).
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
    let unranked = Standing { rank: None, ratio_to_baseline: None, ratio_to_leader: None, ties_with: vec![] };
    let mut standings = vec![unranked; cells.len()];
    let Some(reference) = reference(cells, baseline) else { return standings };

    let mut order: Vec<(usize, f64)> = Vec::with_capacity(cells.len());
    for (index, cell) in cells.iter().enumerate() {
        let paired = log_ratios(cell, cells[reference]).map(|logs| {
            let log = logs.clean.median();
            if logs.negated { -log } else { log }
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
        standings[index].ratio_to_leader = match winner {
            Some(winner) if winner == index => Some(Ratio { median: 1.0, low: 1.0, high: 1.0 }),
            Some(winner) => to(winner),
            None => None,
        };
    }
    standings
}

/// The cell to which ratios are formed for the order: the baseline if no cell has more samples; otherwise,
/// among the cells with the most samples, the one with the fastest slowest replicate (a cell that is slow in
/// some processes would widen all ratios). `None` if there are no samples.
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
    fn ranks_with_ties_that_are_not_transitive() {
        // Steps of 1.5 % with a floor of 2 %: each cell ties only with its neighbours.
        let cells = [flat(103.0), flat(100.0), flat(101.5), flat(104.5), flat(150.0)];
        let standings = ranks(&cells, 4, 0.02);
        let numbers: Vec<Option<u32>> = standings.iter().map(|s| s.rank).collect();
        assert_eq!(numbers, [Some(3), Some(1), Some(1), Some(3), Some(5)]);
        assert_eq!(standings[2].ties_with, [0, 1]);
        assert_eq!(standings[0].ties_with, [2, 3]);
        assert!(standings[4].ties_with.is_empty());
        let to_winner = standings[4].ratio_to_leader.expect("measured");
        assert!((to_winner.median - 1.5).abs() < 1e-12);
        assert_eq!(standings[1].ratio_to_leader, Some(Ratio { median: 1.0, low: 1.0, high: 1.0 }));
        let to_baseline = standings[1].ratio_to_baseline.expect("measured");
        assert!((to_baseline.median - 100.0 / 150.0).abs() < 1e-12);
    }

    #[test]
    fn without_a_baseline_cells_are_ranked_but_have_no_ratio() {
        let standings = ranks(&[vec![], flat(100.0), flat(90.0)], 0, 0.01);
        assert_eq!(standings.iter().map(|s| s.rank).collect::<Vec<_>>(), [None, Some(2), Some(1)]);
        assert!(standings.iter().all(|s| s.ratio_to_baseline.is_none()));
        assert!(ranks(&[vec![], vec![vec![f64::NAN]]], 0, 0.01).iter().all(|s| s.rank.is_none()));
        assert!(ranks(&[], 0, 0.01).is_empty());
    }

    #[test]
    fn a_cell_without_common_rounds_is_ranked_by_its_processes() {
        let late = |replicates: usize| {
            let mut late = vec![vec![f64::NAN; 8]; 4];
            late.extend(vec![vec![50.0; 8]; replicates]);
            late
        };
        // Four processes agree that it is twice as fast; one alone is hardly evidence.
        let standings = ranks(&[flat(100.0), flat(95.0), late(4)], 0, 0.01);
        assert_eq!(standings.iter().map(|s| s.rank).collect::<Vec<_>>(), [Some(3), Some(2), Some(1)]);
        let standings = ranks(&[flat(70.0), flat(60.0), late(1)], 0, 0.01);
        assert_eq!(standings[2].ties_with, [0, 1]);
        assert_eq!(standings[0].ties_with, [2]);
    }

    #[test]
    fn baselines_in_alternate_processes_are_compared_through_a_common_cell() {
        // Processes differ by 20 %. The two baselines share none; each is paired with the third cell.
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
    fn a_noisy_cell_ties_with_the_winner() {
        let noisy: Samples = [70.0, 130.0, 160.0, 110.0].map(|ticks| vec![ticks; 8]).into();
        let standings = ranks(&[flat(100.0), noisy, flat(110.0)], 0, 0.01);
        assert_eq!(standings.iter().map(|s| s.rank).collect::<Vec<_>>(), [Some(1), Some(1), Some(3)]);
        assert_eq!(standings[1].ties_with, [0, 2]);
    }
}
