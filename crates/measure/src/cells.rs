//! From raw samples to cells: estimates, paired ratios, ranks and ties, and each figure's share of its limit.

use crate::condition::{Dependence, Then};
use crate::gather::Gathered;
use crate::results::{Cell, Limit, NoiseFloor, Ratio, Status};
use crate::statistics;
use carryline_variants::Family;

/// A situation's cells and its noise floor, if A/A twins ran.
#[derive(Debug)]
pub struct Summary {
    /// One cell for each subject, in the situation's order.
    pub cells: Vec<Cell>,
    /// The relative difference within which everything ties.
    pub floor: Option<f64>,
    /// The A/A pairs' ratios.
    pub twins: Vec<Ratio>,
}

/// Below which difference two variants tie where no A/A pair was measured.
pub const FLOOR_WITHOUT_TWINS: f64 = 0.02;

/// Puts a situation's samples together.
#[must_use]
pub fn summarise(gathered: &Gathered, limits: &[Limit], seed: u64) -> Summary {
    let situation = &gathered.situation;
    let count = situation.subjects.len();
    let gross: Vec<Vec<Vec<f64>>> = (0..situation.places()).map(|place| gathered.gross(place)).collect();
    let null = gathered.null();
    let observed = gathered.observed();
    let ticks_per_cycle = ticks_per_cycle(std::slice::from_ref(gathered));
    let counted = gathered.replicates.iter().flat_map(|r| &r.rounds).any(|round| round.counted);

    let twins: Vec<Ratio> = situation
        .twins
        .iter()
        .enumerate()
        .filter(|(_, subject)| is_measured(gathered, **subject))
        .filter_map(|(k, subject)| statistics::paired_ratio(&gross[count + k], &gross[*subject], seed))
        .collect();
    let floor = (!twins.is_empty()).then(|| statistics::noise_floor(&twins));

    let bytes_per_call = match &observed {
        Some(observed) => observed.size_mean,
        None if situation.condition.segments.is_empty() => situation.condition.sizes.mean(),
        None => situation.condition.segments.iter().map(|len| f64::from(*len)).sum(),
    };
    let null_estimate = statistics::estimate(&null, seed);
    let limit_ticks = observed.as_ref().and_then(|observed| {
        let throughput = situation.condition.dependence == Dependence::Independent
            && situation.condition.then == Then::Nothing;
        let bytes = limit_ticks(
            Family::from_name(&situation.family)?,
            gathered,
            bytes_per_call,
            &observed.level,
            limits,
        )?;
        // Calls that do not wait for each other overlap: the slower of call and bytes decides, not their sum.
        throughput.then_some(bytes.max(null_estimate?.median))
    });

    let mut cells: Vec<Cell> = (0..count)
        .map(|place| {
            let lost = gathered.lost.iter().find(|(lost, _, _)| *lost == place);
            let estimate = if lost.is_none() { statistics::estimate(&gross[place], seed) } else { None };
            let net =
                estimate.and_then(|_| statistics::estimate(&statistics::net(&gross[place], &null), seed));
            let (status, detail) = match (lost, estimate) {
                (Some((_, status, detail)), _) => (*status, Some(detail.clone())),
                (None, Some(_)) => (Status::Ok, None),
                (None, None) => (Status::TimedOut, Some("no time was left to measure it".to_owned())),
            };
            let baseline = situation.baseline.filter(|baseline| is_measured(gathered, *baseline));
            Cell {
                situation: situation.name.clone(),
                variant: situation.subjects[place].clone(),
                family: situation.family.clone(),
                status,
                detail,
                condition: situation.condition.clone(),
                observed: observed.clone(),
                bytes_per_call,
                ticks_per_call: net,
                gross: estimate,
                cycles_per_call: net.zip(ticks_per_cycle).map(|(net, ticks)| net.median / ticks),
                basis: net.and(ticks_per_cycle).map(|_| if counted { "pmu" } else { "est" }.to_owned()),
                bytes_per_cycle: estimate
                    .zip(ticks_per_cycle)
                    .filter(|(gross, _)| gross.median > 0.0)
                    .map(|(gross, ticks)| bytes_per_call / (gross.median / ticks)),
                limit_share: estimate.zip(limit_ticks).map(|(gross, limit)| limit / gross.median),
                ratio_to_baseline: estimate
                    .and(baseline)
                    .and_then(|baseline| statistics::paired_ratio(&gross[place], &gross[baseline], seed)),
                rank: None,
                ties_with: Vec::new(),
            }
        })
        .collect();
    rank(&mut cells, &gross, situation.baseline.unwrap_or(0), floor.unwrap_or(FLOOR_WITHOUT_TWINS), seed);
    Summary { cells, floor, twins }
}

fn is_measured(gathered: &Gathered, place: usize) -> bool {
    !gathered.lost.iter().any(|(lost, _, _)| *lost == place)
}

/// Ranks the measured cells by their paired ratios.
fn rank(cells: &mut [Cell], gross: &[Vec<Vec<f64>>], baseline: usize, floor: f64, seed: u64) {
    let samples: Vec<&[Vec<f64>]> = cells
        .iter()
        .zip(gross)
        .map(|(cell, samples)| if cell.gross.is_some() { &samples[..] } else { &[] })
        .collect();
    let standings = statistics::rank(&samples, baseline, floor, seed);
    let names: Vec<String> = cells.iter().map(|cell| cell.variant.clone()).collect();
    for (cell, standing) in cells.iter_mut().zip(standings) {
        cell.rank = standing.rank;
        cell.ties_with = standing.ties_with.into_iter().map(|other| names[other].clone()).collect();
    }
}

/// The least time that a call's bytes take at the limits of the level they come from: reads and writes go on side by
/// side, so the slower of the two decides.
fn limit_ticks(
    family: Family,
    gathered: &Gathered,
    bytes: f64,
    level: &str,
    limits: &[Limit],
) -> Option<f64> {
    let cache = gathered.situation.condition.cache;
    let limit = limits.iter().find(|limit| limit.level == level)?;
    if !cache.is_hot() && cache.operands != crate::condition::Operands::Both {
        return None;
    }
    let read = if family.reads() { bytes / limit.load } else { 0.0 };
    let written = if family.writes() { bytes / limit.store.max(limit.nt_store) } else { 0.0 };
    Some(read.max(written))
}

/// The median of the rounds' ticks per core cycle; `None` where the machine does not tell.
#[must_use]
pub fn ticks_per_cycle(gathered: &[Gathered]) -> Option<f64> {
    let rounds = gathered.iter().flat_map(|g| &g.replicates).flat_map(|replicate| &replicate.rounds);
    let known: Vec<f64> = rounds.map(|round| round.ticks_per_cycle).filter(|ratio| *ratio > 0.0).collect();
    statistics::median(&known)
}

/// The run's noise floor from those of its situations.
#[must_use]
pub fn noise_floor(summaries: &[(String, Summary)]) -> Option<NoiseFloor> {
    let by_situation: Vec<(String, f64)> =
        summaries.iter().filter_map(|(name, summary)| Some((name.clone(), summary.floor?))).collect();
    let relative = by_situation.iter().map(|(_, floor)| *floor).reduce(f64::max)?;
    let pairs = summaries.iter().map(|(_, summary)| summary.twins.len() as u32).sum();
    Some(NoiseFloor { relative, pairs, by_situation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;
    use crate::gather::{Replicate, Round, Situation};
    use crate::results::Observed;

    /// Five replicates of ten rounds; subject k takes `times[k]` ticks with a small deterministic wobble that hits all
    /// members of a round alike, except for a wobble of its own of 0.1 %.
    fn gathered(times: &[f64]) -> Gathered {
        let situation = Situation {
            name: "checksum 1500 hot".to_owned(),
            family: "checksum".to_owned(),
            condition: Condition::plain(1500),
            subjects: (0..times.len()).map(|k| format!("v{k}")).collect(),
            baseline: Some(0),
            twins: vec![0],
            weight: 1.0,
        };
        let mut gathered = Gathered::new(situation);
        for replicate in 0..5_u32 {
            let rounds = (0..10_u32)
                .map(|round| {
                    let common = 1.0 + 0.03 * f64::from((replicate * 7 + round * 5) % 11) / 11.0;
                    let own = |k: usize| {
                        1.0 + 0.001 * ((replicate as usize * 3 + round as usize * 5 + k * 7) % 13) as f64
                            / 13.0
                    };
                    let mut samples: Vec<f64> =
                        times.iter().enumerate().map(|(k, t)| t * common * own(k)).collect();
                    samples.push(times[0] * common * own(times.len()));
                    Round {
                        multiplier: 1 + round % 2,
                        samples,
                        null_ticks: 4.0 * common,
                        ticks_per_cycle: 0.6,
                        counted: false,
                    }
                })
                .collect();
            let observed = Observed { size_mean: 1500.0, level: "L1".to_owned(), ..Observed::default() };
            gathered.replicates.push(Replicate { rounds, observed: Some(observed), steady: true });
        }
        gathered
    }

    #[test]
    fn the_fastest_leads_and_what_cannot_be_told_apart_shares_its_rank() {
        let limits =
            [Limit { level: "L1".into(), buffer_bytes: 24 << 10, load: 200.0, store: 100.0, nt_store: 50.0 }];
        let summary = summarise(&gathered(&[52.0, 10.0, 10.01, 20.0]), &limits, 1);
        let ranks: Vec<_> = summary.cells.iter().map(|cell| cell.rank).collect();
        assert_eq!(ranks, [Some(4), Some(1), Some(1), Some(3)]);
        assert_eq!(summary.cells[1].ties_with, ["v2"]);
        assert!(summary.cells[0].ties_with.is_empty());
        let ratio = summary.cells[3].ratio_to_baseline.expect("a baseline ran");
        assert!((ratio.median - 20.0 / 52.0).abs() < 0.01, "{ratio:?}");
        // 1500 bytes at 200 a tick.
        let share = summary.cells[1].limit_share.expect("a limit was measured");
        assert!((share - 7.5 / 10.15).abs() < 0.02, "{share}");
        let cycles = summary.cells[3].cycles_per_call.expect("ticks per cycle are known");
        assert!((cycles - 16.2 / 0.6).abs() < 0.5, "{cycles}");
        assert!(summary.floor.expect("a twin ran") < 0.02);
    }

    #[test]
    fn a_lost_subject_keeps_its_reason_and_is_not_ranked() {
        let mut gathered = gathered(&[52.0, 10.0]);
        gathered.lose(1, Status::Crashed, "SIGSEGV");
        let summary = summarise(&gathered, &[], 1);
        assert_eq!((summary.cells[1].status, summary.cells[1].rank), (Status::Crashed, None));
        assert_eq!(summary.cells[1].detail.as_deref(), Some("SIGSEGV"));
        assert_eq!(summary.cells[0].rank, Some(1));
        assert!(summary.cells[0].limit_share.is_none());
    }
}
