//! Decides whether this build is slower than a base: measures the base's plan again until there is an answer
//! or the time is up.
//!
//! **Base.** Against the base's stored samples, only a difference larger than that between two runs of one
//! program can be detected (a standard deviation from some tenths of a percent to several percent). Against
//! the *program* that made the base, the workers of both programs alternate, with equal seeds, and each pair
//! of processes gives a ratio: time of day and other load are the same for both, and the remaining variation
//! between processes averages out as replicates are added.
//!
//! **Sequential testing.** The cells are [judged] after 4, 6, 9, 13, ... replicates. The k-th look has an
//! error probability of `5 % / (k (k + 1))`; over all looks these add up to 5 %. A cell fails only if its
//! bound exceeds the limit at that probability divided by the number of cells, so the gate fails with a
//! probability of at most 5 % if no cell is slower than the limit. The gate passes only if every cell does.
//! This needs no correction for the number of cells, because every cell slower than the limit would have to
//! be missed.
//!
//! [judged]: judge

mod plan;

pub use plan::{GatePlan, Wanted, choose};

use crate::failure::Failure;
use crate::interrupt;
use crate::measure::{self, MeasureContext, Measurement};
use crate::plan::RunPlan;
use crate::prove::{Proof, unsupported};
use crate::supervise::Supervisor;
use crate::thresholds::{Needs, Schedule};
use carryline_report::gate::GateVerdict;
use carryline_results::comparison::{Between, Evidence, Pairing, Row, differences, pairs};
use carryline_results::gather::{Gathered, Replicate};
use carryline_results::round::RoundRecord;
use carryline_statistics::{Difference, LEAST_FLOOR, Ratio, median_bounds, shuffle};
use carryline_variants::Family;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The error probability over all looks.
const ERROR: f64 = 0.05;
/// The number of replicates before the first look.
pub const FIRST_LOOK: u32 = 4;
/// The least time of a cell in one process.
const LEAST_FOR_A_CELL: Duration = Duration::from_millis(12);
const ENOUGH_FOR_A_CELL: Duration = Duration::from_millis(60);
/// The seed of the bootstrap.
const SEED: u64 = 1;

/// The result for a gated cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GatedCell {
    /// Its situation.
    pub situation: String,
    /// Its variant.
    pub variant: String,
    /// The variant's family.
    pub family: Family,
    /// Gross time divided by that of the base, with its 95 % interval.
    pub ratio: Option<Ratio>,
    /// The bounds on which the verdict rests, at the error probability of this look.
    pub bounds: Option<Bounds>,
    /// At the error probability of this look.
    pub verdict: GateVerdict,
}

/// A confidence interval of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The gate's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// No cell is slower than the limit allows.
    Held,
    /// A cell is slower than the limit allows.
    Regressed,
    /// There is no answer.
    Undecided,
}

/// The answer for the judged cells.
#[must_use]
pub fn answer(cells: &[GatedCell]) -> Answer {
    let any = |verdict| cells.iter().any(|cell| cell.verdict == verdict);
    if any(GateVerdict::Slower) {
        Answer::Regressed
    } else if cells.is_empty() || any(GateVerdict::Unknown) {
        Answer::Undecided
    } else {
        Answer::Held
    }
}

/// Judges the cells in `gated` (situation, variant) at look number `look`, from 1. The other rows only show
/// how much runs differ. `limit` is relative: 0.03 allows 3 % more time.
#[must_use]
pub fn judge(
    base: &[Row],
    new: &[Row],
    pairing: Pairing,
    gated: &BTreeSet<(String, String)>,
    limit: f64,
    look: u32,
) -> (Vec<GatedCell>, Between) {
    let pairs = pairs(base, new);
    let found = differences(&pairs, pairing, SEED);
    let between = match pairing {
        Pairing::None => Between::of(&pairs, &found),
        Pairing::Identical | Pairing::Replicates => Between::NOTHING,
    };
    let look = f64::from(look.max(1));
    let chance = ERROR / (look * (look + 1.0));
    let is_gated = |row: &Row| gated.contains(&(row.situation.clone(), row.variant.clone()));
    let rows = pairs.iter().zip(&found).filter(|((row, _), _)| is_gated(row));
    let count = rows.clone().count().max(1) as f64;
    let cells = rows.map(|((row, new), difference)| {
        let noise = between.at(row.reach);
        let (difference, between) = (difference.map(|difference| noise.corrected(difference)), noise.spread);
        // Order statistics give bounds without an assumption on the distribution: a routine may be fast in one process and
        // slow in the next. With too few pairs there are none.
        let at = |difference: &Difference, tail: f64| match (&new.evidence, &row.evidence, pairing) {
            (Evidence::Samples(new), Evidence::Samples(base), Pairing::Replicates) => {
                median_bounds(new, base, tail).unwrap_or((0.0, f64::INFINITY))
            }
            _ => difference.bounds(tail, between),
        };
        let bounds = difference.as_ref().map(|difference| {
            // Identical code may differ by this much even if the replicates agree.
            let low = at(difference, chance / count).0 / (1.0 + LEAST_FLOOR);
            Bounds { low, high: at(difference, chance).1 * (1.0 + LEAST_FLOOR) }
        });
        GatedCell {
            situation: row.situation.clone(),
            variant: row.variant.clone(),
            family: row.family,
            ratio: difference.map(|difference| difference.interval(between)),
            bounds,
            verdict: match bounds {
                Some(bounds) if bounds.low > 1.0 + limit => GateVerdict::Slower,
                Some(bounds) if bounds.high < 1.0 => GateVerdict::Faster,
                Some(bounds) if bounds.high < 1.0 + limit && bounds.low > 1.0 => GateVerdict::Allowed,
                Some(bounds) if bounds.high < 1.0 + limit => GateVerdict::Same,
                _ => GateVerdict::Unknown,
            },
        }
    });
    (cells.collect(), between)
}

/// Where and how long to measure.
pub struct GateContext<'a> {
    /// The workers and machine; `deadline` is when the gate must answer.
    pub measure: MeasureContext<'a>,
    /// The base's program, whose workers alternate with those of `measure`; `None` to measure only this build.
    pub against: Option<&'a Supervisor>,
}

/// The measurements of this build, and of the base's program if it takes part.
#[derive(Default)]
pub struct Measured {
    /// This build.
    pub new: Measurement,
    /// The base's program.
    pub old: Measurement,
    /// The number of replicates of each.
    pub replicates: u32,
    /// How often the cells were judged.
    pub looks: u32,
}

/// Measures replicates until `decided` returns true or the time is up. `decided` is called after 4, 6, 9, 13,
/// ... replicates, and once at the end, with the number of the look.
///
/// # Errors
/// Fails if a worker cannot be started or sends a message that cannot be read.
pub fn measure(
    plan: &RunPlan,
    proofs: &[Proof],
    gate: &GateContext<'_>,
    arrived: &mut dyn FnMut(&RoundRecord),
    decided: &mut dyn FnMut(&Measured, u32) -> bool,
) -> Result<Measured, Failure> {
    let mut measured = Measured::default();
    let MeasureContext { deadline, .. } = gate.measure;
    let lacks = |id: &_| unsupported(id).is_some();
    let kinds = Schedule::of(plan, &Needs::of(plan), |id| !lacks(id)).processes(1);
    let arms = if gate.against.is_some() { 2 } else { 1 };
    let cells: u32 = plan.situations.iter().map(|situation| situation.places() as u32).sum();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    let (mut next_look, mut longest) = (FIRST_LOOK, Duration::ZERO);
    let mut overhead = crate::forecast::overhead(plan.subjects().len()) * kinds;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let enough = measured.replicates >= FIRST_LOOK && left < longest * arms;
        if enough || interrupt::requested() {
            break;
        }
        let to_come = FIRST_LOOK.saturating_sub(measured.replicates).max(1) * arms;
        let share = (left / to_come).saturating_sub(overhead);
        let slice = share.clamp(LEAST_FOR_A_CELL * cells * kinds, ENOUGH_FOR_A_CELL * cells * kinds);
        let seed = rng.next_u64() & ((1 << 53) - 1);
        let mut order: Vec<bool> =
            [true, false].into_iter().filter(|old| !old || gate.against.is_some()).collect();
        shuffle(&mut rng, &mut order);
        for is_old in order {
            let begin = Instant::now();
            let context = MeasureContext {
                supervisor: gate.against.filter(|_| is_old).unwrap_or(gate.measure.supervisor),
                deadline: begin + slice + overhead,
                // Replicates below this measure the machine's limits.
                first_replicate: measure::LIMIT_REPLICATES + measured.replicates * kinds,
                ..gate.measure
            };
            let plan =
                RunPlan { replicates: 1, most_replicates: 1, budget: slice + overhead, seed, ..plan.clone() };
            let (into, keep): (&mut Measurement, bool) =
                if is_old { (&mut measured.old, false) } else { (&mut measured.new, true) };
            let part = measure::run(&plan, proofs, &context, &mut |record| {
                if keep {
                    arrived(record);
                }
            })?;
            add(into, part, kinds as usize);
            let took = begin.elapsed();
            longest = longest.max(took);
            overhead = took.saturating_sub(slice).min(Duration::from_secs(5));
        }
        measured.replicates += 1;
        if measured.replicates >= next_look {
            next_look += (next_look / 2).max(1);
            measured.looks += 1;
            if decided(&measured, measured.looks) {
                return Ok(measured);
            }
        }
    }
    measured.looks += 1;
    decided(&measured, measured.looks);
    Ok(measured)
}

/// Adds the processes of a replicate. A lost process gets a place too, so that equal places of the two
/// programs stay paired.
fn add(to: &mut Measurement, mut part: Measurement, kinds: usize) {
    let gathered = std::mem::take(&mut part.gathered);
    if to.gathered.is_empty() {
        to.gathered = gathered.iter().map(|new| Gathered::new(new.situation.clone())).collect();
    }
    for (to, mut new) in to.gathered.iter_mut().zip(gathered) {
        new.replicates.resize_with(kinds.max(new.replicates.len()), Replicate::default);
        to.replicates.append(&mut new.replicates);
        for (place, status, why) in new.lost {
            to.lose(place, status, why);
        }
    }
    to.absorb(part);
}

/// The rows of an outcome.
#[must_use]
pub fn rows(outcome: &Measurement) -> Vec<Row> {
    outcome.gathered.iter().flat_map(|gathered| Row::of_samples(gathered, None)).collect()
}

#[cfg(test)]
mod tests;
