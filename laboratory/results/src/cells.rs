//! Computes cells from raw samples: estimates, paired ratios, ranks and ties, and each figure's share of its
//! limit.

use crate::gather::Gathered;
use crate::limits::{Throughput, bytes_ticks, raise_by};
use crate::{Cell, CycleBasis, Limit, NoiseFloor, Status};
use carryline_statistics::{self as statistics, Ratio};

/// The detail of a cell that was planned and has no samples.
pub const NO_TIME: &str = "no time was left";

/// A situation's cells and its noise floor, if A/A twins ran.
#[derive(Debug)]
pub struct Summary {
    /// One cell for each subject, in the situation's order.
    pub cells: Vec<Cell>,
    /// The noise floor, a relative difference.
    pub floor: Option<f64>,
    /// The ratios of the A/A pairs.
    pub twins: Vec<Ratio>,
}

/// The noise floor where no A/A pair was measured.
pub const FLOOR_WITHOUT_TWINS: f64 = 0.02;

/// Summarises a situation's samples; `limits` are those of the run, [raised](crate::limits::raise) by all its
/// variants.
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
    let limit_ticks = limit_ticks(gathered, limits, null_estimate.map(|null| null.median));

    let baseline = baseline(gathered, &gross, seed);
    let mut cells: Vec<Cell> = (0..count)
        .map(|place| {
            let lost = gathered.lost.iter().find(|(lost, _, _)| *lost == place);
            let estimate = if lost.is_none() { statistics::estimate(&gross[place], seed) } else { None };
            let net =
                estimate.and_then(|_| statistics::estimate(&statistics::net(&gross[place], &null), seed));
            let (status, detail) = match (lost, estimate) {
                (Some((_, status, detail)), _) => (*status, Some(detail.clone())),
                (None, Some(_)) => (Status::Ok, None),
                (None, None) => (Status::TimedOut, Some(NO_TIME.to_owned())),
            };
            let to_baseline = estimate.and(baseline).and_then(|baseline| {
                let ratio = statistics::ratio(&gross[place], &gross[baseline], seed)?;
                Some((ratio, situation.subjects[baseline].clone()))
            });
            Cell {
                situation: situation.name.clone(),
                variant: situation.subjects[place].clone(),
                family: situation.family,
                status,
                detail,
                condition: situation.condition.clone(),
                observed: observed.clone(),
                bytes_per_call,
                ticks_per_call: net,
                gross: estimate,
                cycles_per_call: net.zip(ticks_per_cycle).map(|(net, ticks)| net.median / ticks),
                basis: net
                    .and(ticks_per_cycle)
                    .map(|_| if counted { CycleBasis::Pmu } else { CycleBasis::Est }),
                bytes_per_cycle: estimate
                    .zip(ticks_per_cycle)
                    .filter(|(gross, _)| gross.median > 0.0)
                    .map(|(gross, ticks)| bytes_per_call / (gross.median / ticks)),
                // Rounding must not lift a cell at the limit above it.
                limit_share: estimate.zip(limit_ticks).map(|(gross, limit)| (limit / gross.median).min(1.0)),
                ratio_to_baseline: to_baseline.as_ref().map(|(ratio, _)| *ratio),
                baseline: to_baseline.map(|(_, name)| name),
                ratio_to_leader: None,
                rank: None,
                ties_with: Vec::new(),
            }
        })
        .collect();
    rank(
        &mut cells,
        &gross,
        baseline.or(situation.baseline).unwrap_or(0),
        floor.unwrap_or(FLOOR_WITHOUT_TWINS),
        seed,
    );
    Summary { cells, floor, twins }
}

/// The place of the baseline: the situation's own, or the same function with other thresholds (see
/// [`carryline_variants::c_library`]) if that is faster.
///
/// No process measures both. Each is compared, round by round, with a subject that all processes measure, and
/// the one with the lower ratio is chosen; if they tie, the choice changes speeds by less than the noise.
fn baseline(gathered: &Gathered, gross: &[Vec<Vec<f64>>], seed: u64) -> Option<usize> {
    let situation = &gathered.situation;
    let own = situation.baseline?;
    let both = std::iter::once(own).chain(situation.with_other_thresholds(own));
    let there: Vec<usize> = both
        .filter(|place| is_measured(gathered, *place) && statistics::estimate(&gross[*place], seed).is_some())
        .collect();
    let &[one, other] = there.as_slice() else { return there.first().copied() };
    let subjects = (0..situation.subjects.len()).filter(|place| is_measured(gathered, *place));
    let shares = |place: usize, with: usize| statistics::paired_ratio(&gross[place], &gross[with], seed);
    let paired = subjects
        .filter(|place| !there.contains(place))
        .filter_map(|place| Some((shares(one, place)?, shares(other, place)?)));
    // The subject whose ratios to both have the narrowest intervals.
    let width = |ratio: &Ratio| ratio.high / ratio.low;
    let sharpest = paired.min_by(|a, b| {
        let wider = |pair: &(Ratio, Ratio)| width(&pair.0).max(width(&pair.1));
        wider(a).total_cmp(&wider(b))
    });
    let one_is_faster = match sharpest {
        Some((one, other)) => one.median <= other.median,
        None => statistics::unpaired_ratio(&gross[one], &gross[other], seed)?.median <= 1.0,
    };
    Some(if one_is_faster { one } else { other })
}

fn is_measured(gathered: &Gathered, place: usize) -> bool {
    !gathered.lost.iter().any(|(lost, _, _)| *lost == place)
}

/// Ranks the measured cells.
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
        cell.ratio_to_leader = standing.ratio_to_leader;
        cell.ties_with = standing.ties_with.into_iter().map(|other| names[other].clone()).collect();
    }
}

/// The least time of a call of a situation: its bytes at the limits of their level, but at least a null call.
///
/// Independent calls overlap, so the longer of the two counts, not their sum. Both are estimates that are
/// lowered if a variant of the situation is faster.
fn limit_ticks(gathered: &Gathered, limits: &[Limit], null: Option<f64>) -> Option<f64> {
    let throughput = Throughput::of(gathered)?;
    let mut limits = limits.to_vec();
    raise_by(&mut limits, gathered, &throughput);
    let bytes = bytes_ticks(&limits, &throughput)?;
    let measured = (0..gathered.situation.subjects.len()).filter(|place| is_measured(gathered, *place));
    let fastest =
        measured.filter_map(|place| statistics::typical(&gathered.gross(place))).fold(null?, f64::min);
    Some(bytes.max(fastest))
}

/// The median of the rounds' ticks per core cycle; `None` if it is not known.
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
    use crate::Observed;
    use crate::gather::{Replicate, Situation};
    use crate::round::Round;
    use carryline_conditions::Condition;
    use carryline_machine::environment::Level;
    use carryline_variants::Family;

    /// Five replicates of ten rounds. Subject k takes `times[k]` ticks, with a small deterministic variation
    /// common to all members of a round and one of 0.1 % of its own.
    fn gathered(times: &[f64]) -> Gathered {
        let situation = Situation {
            name: "checksum 1500 hot".to_owned(),
            family: Family::Checksum,
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
                        number: 0,
                        multiplier: 1 + round % 2,
                        samples,
                        null_ticks: 4.0 * common,
                        ticks_per_cycle: 0.6,
                        counted: false,
                    }
                })
                .collect();
            let observed = Observed { size_mean: 1500.0, level: Level::L1, ..Observed::default() };
            gathered.replicates.push(Replicate { rounds, observed: Some(observed), steady: true });
        }
        gathered
    }

    fn limit(load: f64) -> Limit {
        Limit {
            level: Level::L1,
            buffer_bytes: 24 << 10,
            load,
            store: 100.0,
            nt_store: 50.0,
            load_by: None,
            store_by: None,
        }
    }

    #[test]
    fn no_row_exceeds_the_limit() {
        let shares = |times: &[f64], load: f64| -> Vec<f64> {
            let summary = summarise(&gathered(times), &[limit(load)], 1);
            summary.cells.iter().filter_map(|cell| cell.limit_share).collect()
        };
        // 1500 bytes at 100 per tick take 15; the second subject takes 10, so the limit is raised.
        let beaten = shares(&[52.0, 10.0, 20.0], 100.0);
        assert_eq!(beaten[1], 1.0);
        assert!((beaten[2] - 0.5).abs() < 0.01, "the others have the same limit: {beaten:?}");
        // Nothing takes less than a null call of 4 ticks, except a subject that was measured to.
        let quick = shares(&[52.0, 3.0, 6.0], 10_000.0);
        assert_eq!(quick[1], 1.0);
        assert!((quick[2] - 0.5).abs() < 0.01, "{quick:?}");
    }

    #[test]
    fn cells_that_tie_with_the_fastest_share_its_rank() {
        let limits = [limit(200.0)];
        let summary = summarise(&gathered(&[52.0, 10.0, 10.01, 20.0]), &limits, 1);
        let ranks: Vec<_> = summary.cells.iter().map(|cell| cell.rank).collect();
        assert_eq!(ranks, [Some(4), Some(1), Some(1), Some(3)]);
        assert_eq!(summary.cells[1].ties_with, ["v2"]);
        assert!(summary.cells[0].ties_with.is_empty());
        let ratio = summary.cells[3].ratio_to_baseline.expect("a baseline ran");
        assert!((ratio.median - 20.0 / 52.0).abs() < 0.01, "{ratio:?}");
        // 1500 bytes at 200 per tick.
        let share = summary.cells[1].limit_share.expect("a limit was measured");
        assert!((share - 7.5 / 10.15).abs() < 0.02, "{share}");
        let cycles = summary.cells[3].cycles_per_call.expect("ticks per cycle are known");
        assert!((cycles - 16.2 / 0.6).abs() < 0.5, "{cycles}");
        assert!(summary.floor.expect("a twin ran") < 0.02);
    }

    /// The C library's two rows in alternate replicates, and a routine in all of them; the variation between
    /// processes is the same for all members.
    fn two_libraries(as_installed: f64, raised: f64) -> Gathered {
        let names = ["libc_memcpy", "libc_memcpy_no_rep", "carryline"];
        let situation = Situation {
            name: "copy 4K hot".to_owned(),
            family: Family::Copy,
            condition: Condition::plain(4096),
            subjects: names.map(str::to_owned).to_vec(),
            baseline: Some(0),
            twins: vec![0, 1],
            weight: 1.0,
        };
        let mut gathered = Gathered::new(situation);
        for replicate in 0..10_u32 {
            let level = 1.0 + 0.1 * f64::from(replicate % 5);
            let here = |times: f64, kind: u32| {
                if replicate % 2 == kind { times * level } else { f64::NAN }
            };
            let round = Round {
                number: 0,
                multiplier: 1,
                samples: vec![
                    here(as_installed, 0),
                    here(raised, 1),
                    60.0 * level,
                    here(as_installed, 0),
                    here(raised, 1),
                ],
                null_ticks: 4.0,
                ticks_per_cycle: 0.6,
                counted: false,
            };
            let observed = Observed { size_mean: 4096.0, level: Level::L1, ..Observed::default() };
            gathered.replicates.push(Replicate {
                rounds: vec![round; 10],
                observed: Some(observed),
                steady: true,
            });
        }
        gathered
    }

    #[test]
    fn the_faster_of_the_c_librarys_rows_is_the_baseline() {
        for (as_installed, raised, baseline, speed) in
            [(120.0, 90.0, "libc_memcpy_no_rep", 1.5), (90.0, 120.0, "libc_memcpy", 1.5)]
        {
            let summary = summarise(&two_libraries(as_installed, raised), &[], 1);
            assert!(summary.cells.iter().all(|cell| cell.baseline.as_deref() == Some(baseline)));
            let ratio = summary.cells[2].ratio_to_baseline.expect("measured beside it");
            assert!((1.0 / ratio.median - speed).abs() < 1e-9 && ratio.high - ratio.low < 1e-9, "{ratio:?}");
            // The ratio of the two rows themselves is less certain, because no process has both.
            let slower = summary.cells.iter().find(|cell| cell.rank == Some(3)).expect("a last");
            let ratio = slower.ratio_to_baseline.expect("measured, if never beside it");
            assert!(ratio.low < 1.3 && ratio.high > 1.36, "{ratio:?}");
            assert_eq!(summary.twins.len(), 2, "one pair in the processes of each kind");
            assert!(summary.floor.expect("twins") < 0.01);
        }
    }

    #[test]
    fn a_baseline_without_its_other_row_is_used_alone() {
        let mut gathered = two_libraries(120.0, 90.0);
        gathered.lose(1, Status::Unsupported, "it has no such thresholds");
        let summary = summarise(&gathered, &[], 1);
        assert_eq!(summary.cells[2].baseline.as_deref(), Some("libc_memcpy"));
        assert_eq!(summary.cells[1].status, Status::Unsupported);
        assert!(summary.cells[1].baseline.is_none() && summary.cells[1].ratio_to_baseline.is_none());
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
