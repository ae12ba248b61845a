//! Evaluates goals on stored results.
//!
//! Every goal is one ratio that must be at least the goal's: the opponent's time over ours, or the share of a
//! limit. Ratios are of gross times, and paired by round if both are in one situation; across situations of
//! one run they are formed from the medians of the replicates, each a process of its own.

use crate::goal::{Against, Goal, Over, is_ours, is_peer};
use crate::mean::{Part, Processes, mean_of};
use crate::stored::{Stored, StoredSituation};
use carryline_conditions::Then;
use carryline_statistics::{Estimate, Order, Ratio, compare, estimate, median, paired_ratio};
use carryline_variants::Family;
use serde::{Deserialize, Serialize};

/// The seed of the intervals of means.
pub(crate) const MEAN_SEED: u64 = 1;

/// The noise floor of a situation without one of its own, as in the ranking.
pub(crate) const FLOOR_WITHOUT_TWINS: f64 = 0.02;

/// A goal in one of its cells.
#[derive(Clone, Debug, PartialEq)]
pub struct CellFinding {
    /// The size, as in the goal.
    pub size: String,
    /// Our time.
    pub ours: Estimate,
    /// The opponent.
    pub opponent: String,
    /// Its median time.
    pub opponent_ticks: f64,
    /// Its time over ours, or the share of a limit.
    pub ratio: Ratio,
    /// The ratio to the other variant that the goal shows.
    pub also: Option<(String, Ratio)>,
    /// The noise floor: the relative difference up to which everything is a tie.
    pub floor: f64,
    /// The time of a routine at the machine's limit, if one was measured.
    pub limit_ticks: Option<f64>,
    /// The processes that measured the ratio, if it was formed in each.
    pub processes: Processes,
}

/// The verdict on a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalVerdict {
    /// Significantly at least as fast as required; or a tie that suffices, see [`Goal::is_reached_by_a_tie`].
    Reached,
    /// Not distinguishable from the required ratio.
    Tie,
    /// Slower than required.
    Missed {
        /// By this factor minus one.
        by: f64,
        /// The ratio of a routine at the machine's own limit, if even that misses the goal.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        at_most: Option<f64>,
    },
    /// Not measured, with the reason.
    NotMeasured(String),
}

/// A goal with its evaluation.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The goal.
    pub goal: Goal,
    /// The cells, the lowest ratio first, but for the one that decides, which comes before them; empty if the goal cannot
    /// be judged.
    pub cells: Vec<CellFinding>,
    /// The ratio that is judged: the worst cell's, or the mean of all.
    pub ratio: Option<Ratio>,
    /// The verdict.
    pub verdict: GoalVerdict,
}

/// Judges goals, in their order.
#[must_use]
pub fn judge(goals: &[Goal], stored: &Stored) -> Vec<Finding> {
    goals.iter().map(|goal| finding(goal, stored)).collect()
}

fn finding(goal: &Goal, stored: &Stored) -> Finding {
    let found: Result<Vec<CellFinding>, String> =
        judged_sizes(goal, stored).into_iter().map(|size| cell(goal, size, stored)).collect();
    let mut cells = match found {
        Ok(cells) => cells,
        Err(reason) => {
            return Finding {
                goal: goal.clone(),
                cells: vec![],
                ratio: None,
                verdict: GoalVerdict::NotMeasured(reason),
            };
        }
    };
    // Of the worst cells, a noisy one must not hide one that is missed beyond doubt.
    let severity = |cell: &CellFinding| match (goal.over, verdict(goal, &cell.ratio, cell.floor)) {
        (Over::Mean, _) => 0,
        (Over::Worst, GoalVerdict::Missed { .. }) => 0,
        (Over::Worst, GoalVerdict::Tie) => 1,
        (Over::Worst, _) => 2,
    };
    cells.sort_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
    bring_forward(&mut cells, severity);
    let judged = match goal.over {
        Over::Worst => cells.first().map(|cell| (cell.ratio, cell.floor)),
        Over::Mean => mean_of(&cells.iter().map(part).collect::<Vec<_>>(), MEAN_SEED),
    };
    let mut verdict = judged
        .map_or(GoalVerdict::NotMeasured("it has no cell".to_owned()), |(ratio, floor)| {
            verdict(goal, &ratio, floor)
        });
    if let (GoalVerdict::Missed { at_most, .. }, Over::Worst, Some(cell)) =
        (&mut verdict, goal.over, cells.first())
    {
        *at_most = cell.limit_ticks.map(|limit| cell.opponent_ticks / limit).filter(|most| *most < goal.want);
    }
    Finding { goal: goal.clone(), cells, ratio: judged.map(|(ratio, _)| ratio), verdict }
}

/// Moves the first element with the least key to the front; the others keep their order.
fn bring_forward<T>(elements: &mut [T], key: impl Fn(&T) -> u8) {
    if let Some((first, _)) = elements.iter().enumerate().min_by_key(|(_, element)| key(element)) {
        elements[..=first].rotate_right(1);
    }
}

fn part(cell: &CellFinding) -> Part {
    Part { ratio: cell.ratio, floor: cell.floor, processes: cell.processes.clone() }
}

/// The sizes of a goal. A share of a limit is judged where the buffers lie in one cache level: sizes at which
/// a part lies in the next level are left out, unless no other is measured.
fn judged_sizes<'a>(goal: &'a Goal, stored: &Stored) -> Vec<&'a String> {
    let family = goal.cells.family();
    let is_in_one_level = |size: &str| {
        let found = stored.find(family, size, &goal.cells).and_then(|found| found.cell(goal.ours).ok());
        found.and_then(|cell| cell.observed.as_ref()).is_none_or(|observed| !observed.between)
    };
    let all = goal.cells.sizes.iter();
    let (whole, parted): (Vec<_>, Vec<_>) =
        all.partition(|size| goal.against != Against::Limit || is_in_one_level(size));
    if whole.is_empty() { parted } else { whole }
}

fn verdict(goal: &Goal, ratio: &Ratio, floor: f64) -> GoalVerdict {
    let want = goal.want;
    let scaled = Ratio { median: ratio.median / want, low: ratio.low / want, high: ratio.high / want };
    match compare(&scaled, floor) {
        // For times, above 1 is slower; here it is more than required.
        Order::Slower => GoalVerdict::Reached,
        Order::Tie if goal.is_reached_by_a_tie(ratio) => GoalVerdict::Reached,
        Order::Tie => GoalVerdict::Tie,
        Order::Faster => GoalVerdict::Missed { by: 1.0 / scaled.median - 1.0, at_most: None },
    }
}

fn cell(goal: &Goal, size: &str, stored: &Stored) -> Result<CellFinding, String> {
    let family = goal.cells.family();
    let find = |family: Family| {
        stored.find(family, size, &goal.cells).ok_or_else(|| format!("{family} {size} is not measured"))
    };
    let here = find(family)?;
    let seed = stored.runs[here.run].seed;
    let ours = here.cell(goal.ours)?;
    let gross = ours.gross.ok_or("no figure")?;
    let floor = here.floor.unwrap_or(FLOOR_WITHOUT_TWINS);
    let paired = |variant: &str| {
        let ratio = paired_ratio(&here.samples(variant), &here.samples(goal.ours), seed);
        ratio.ok_or_else(|| format!("{variant} shares no round with {}", goal.ours))
    };
    let in_cell = |variant: &str| {
        let variant = here.better_row(variant);
        let ticks = here.cell(variant)?.gross.map_or(f64::NAN, |gross| gross.median);
        Ok::<_, String>((variant.to_owned(), ticks, paired(variant)?))
    };
    let (opponent, opponent_ticks, ratio) = match goal.against {
        Against::Variant(variant) => in_cell(variant)?,
        Against::BestOf(names) => {
            let rows: Vec<&str> = names.iter().map(|name| here.better_row(name)).collect();
            let best = here.fastest(|name| rows.contains(&name));
            in_cell(&best.ok_or_else(|| format!("none of {} is there", names.join(", ")))?.variant)?
        }
        Against::BestPeer => {
            let peer = here.fastest(|name| is_peer(family, name)).ok_or("no peer is there")?;
            in_cell(&peer.variant)?
        }
        Against::Elsewhere(other, variant) => {
            let there = same_run(here, find(other)?)?;
            elsewhere(here, goal.ours, &[(there, there.better_row(variant))], 0.0, seed)?
        }
        Against::TwoPasses => {
            let copy = same_run(here, find(Family::Copy)?)?;
            let sum = same_run(here, find(Family::Checksum)?)?;
            let best = sum.fastest(|name| !is_ours(name)).ok_or("no other checksum is there")?;
            elsewhere(
                here,
                goal.ours,
                &[(copy, copy.better_row("libc_memcpy")), (sum, &best.variant)],
                0.0,
                seed,
            )?
        }
        Against::Limit => {
            let share = ours.limit_share.ok_or("no limit was measured")?;
            let ticks = share * gross.median;
            // A share of a limit cannot exceed 1.
            let ratio = Ratio { median: share, low: ticks / gross.high, high: (ticks / gross.low).min(1.0) };
            ("the limit".to_owned(), ticks, ratio)
        }
        Against::Null(hundredths) => {
            let allowance = f64::from(hundredths) / 100.0;
            let mut null = here.gathered.null();
            null.iter_mut().flatten().for_each(|ticks| *ticks += allowance);
            let ratio = paired_ratio(&null, &here.samples(goal.ours), seed).ok_or("no null call")?;
            let ticks = estimate(&null, seed).map_or(f64::NAN, |null| null.median);
            (format!("null + {allowance}"), ticks, ratio)
        }
        Against::OursAt(hundredths) => {
            let offsets = goal.cells.also_at.ok_or("no other offsets are requested")?;
            let mut there = goal.cells.clone();
            there.also_at = Some(std::mem::replace(&mut there.condition.offsets, offsets));
            let found = stored.find(family, size, &there);
            let other =
                found.ok_or_else(|| format!("{family} {size} at offset {offsets} is not measured"))?;
            let allowance = f64::from(hundredths) / 100.0;
            let others = [(same_run(here, other)?, goal.ours)];
            let (_, ticks, ratio) = elsewhere(here, goal.ours, &others, allowance, seed)?;
            (format!("at offset {offsets} + {allowance}"), ticks, ratio)
        }
    };
    // If something follows the call, the limit of the call alone does not apply.
    let alone = goal.against != Against::Limit && goal.cells.condition.then == Then::Nothing;
    let limit_ticks = ours.limit_share.filter(|_| alone).map(|share| share * gross.median);
    let processes = Processes::of(here.run, &here.samples(&opponent), &here.samples(goal.ours));
    // Shown if it was measured; it has no effect on the verdict.
    let also = goal.also.map(|variant| here.better_row(variant));
    let also = also.and_then(|variant| Some((variant.to_owned(), paired(variant).ok()?)));
    Ok(CellFinding {
        size: size.to_owned(),
        ours: gross,
        opponent,
        opponent_ticks,
        ratio,
        also,
        floor,
        limit_ticks,
        processes,
    })
}

/// Fails if the two situations are of different runs, which form no ratio.
fn same_run<'a>(here: &StoredSituation, other: &'a StoredSituation) -> Result<&'a StoredSituation, String> {
    let name = &other.gathered.situation.name;
    if other.run == here.run { Ok(other) } else { Err(format!("{name} was measured in another run")) }
}

/// The ratio of the sum of the times in other situations, plus `allowance` ticks, to our variant in this one.
///
/// Times are added by replicate, over those that have the first part: a row of the C library is measured only
/// in every second process. If such a process has not measured another part, the median of those that have is
/// used.
fn elsewhere(
    here: &StoredSituation,
    ours: &str,
    others: &[(&StoredSituation, &str)],
    allowance: f64,
    seed: u64,
) -> Result<(String, f64, Ratio), String> {
    let replicates = |samples: Vec<Vec<f64>>| -> Vec<f64> {
        samples.iter().map(|rounds| median(rounds).unwrap_or(f64::NAN)).collect()
    };
    let mut total: Vec<f64> = Vec::new();
    let mut names = Vec::new();
    let mut ticks = allowance;
    for (situation, variant) in others {
        ticks += situation.cell(variant)?.gross.map_or(f64::NAN, |gross| gross.median);
        let medians = replicates(situation.samples(variant));
        total = match total.is_empty() {
            true => medians.iter().map(|median| median + allowance).collect(),
            false => {
                let known: Vec<f64> = medians.iter().copied().filter(|median| median.is_finite()).collect();
                let typical = median(&known).unwrap_or(f64::NAN);
                let part = |at: usize| medians.get(at).copied().filter(|m| m.is_finite()).unwrap_or(typical);
                total.iter().enumerate().map(|(at, sum)| sum + part(at)).collect()
            }
        };
        names.push(*variant);
    }
    let alone = |medians: Vec<f64>| -> Vec<Vec<f64>> { medians.into_iter().map(|m| vec![m]).collect() };
    let ours = alone(replicates(here.samples(ours)));
    let ratio = paired_ratio(&alone(total), &ours, seed).ok_or("no replicate has both")?;
    Ok((names.join(" + "), ticks, ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{self, Cells};

    /// The verdict on a ratio with its interval, against the C library and against a limit.
    fn verdicts(want: f64, [low, median, high]: [f64; 3], floor: f64) -> [GoalVerdict; 2] {
        [Against::Variant("libc_memset"), Against::Limit].map(|against| {
            let cells = Cells::hot(Family::Zero, ["64"]);
            let goal = Goal::new("g", goal::Part::Memory, cells, against, want, "a test");
            verdict(&goal, &Ratio { median, low, high }, floor)
        })
    }

    #[test]
    fn verdicts_respect_interval_and_floor() {
        use GoalVerdict::{Missed, Reached, Tie};
        assert_eq!(verdicts(1.9, [1.95, 2.0, 2.05], 0.01), [Reached, Reached]);
        assert_eq!(verdicts(1.9, [1.85, 2.0, 2.15], 0.01), [Tie, Tie]);
        let [Missed { by, .. }, _] = verdicts(2.0, [1.59, 1.6, 1.61], 0.01) else {
            panic!("1.6 is less than 2")
        };
        assert!((by - 0.25).abs() < 1e-12, "{by}");
    }

    #[test]
    fn a_tie_reaches_no_slower_if_it_is_near_and_narrow() {
        use GoalVerdict::{Reached, Tie};
        assert_eq!(verdicts(1.0, [0.97, 1.0, 1.03], 0.01), [Reached, Tie]);
        assert_eq!(verdicts(1.0, [0.9, 0.985, 1.03], 0.01), [Reached, Tie]);
        assert_eq!(verdicts(1.0, [0.89, 0.985, 1.03], 0.01), [Tie, Tie], "too wide");
        assert_eq!(verdicts(1.0, [0.95, 0.97, 1.03], 0.01), [Tie, Tie], "too far below");
        assert_eq!(verdicts(1.0, [0.6, 0.9, 1.03], 0.3), [Tie, Tie]);
    }

    #[test]
    fn a_cell_that_decides_comes_before_noisier_ones() {
        let mut cells = [('a', 1), ('b', 0), ('c', 2), ('d', 0)];
        bring_forward(&mut cells, |(_, severity)| *severity);
        assert_eq!(cells.map(|(name, _)| name), ['b', 'a', 'c', 'd']);
    }

    #[test]
    fn a_tie_reaches_an_allowance_only_as_a_whole() {
        use GoalVerdict::{Reached, Tie};
        let within_a_floor = [0.96, 0.97, 0.98];
        assert_eq!(verdicts(1.0 / 1.05, within_a_floor, 0.05), [Reached, Tie]);
        assert_eq!(verdicts(1.0 / 1.05, [0.95, 0.97, 0.98], 0.05), [Tie, Tie]);
        assert_eq!(verdicts(1.0 / 1.15, [0.64, 0.96, 1.44], 0.01), [Tie, Tie]);
    }
}
