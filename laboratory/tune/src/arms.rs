//! Measures the same cells in several arms: worker processes that differ only in their environment.
//!
//! The library's profile and the C library's tunables are fixed when a process starts. Two settings can
//! therefore be compared only across processes, which differ in memory layout and in when they run. Three
//! things separate these differences from that of the settings:
//!
//! - Each round also times a routine that no setting affects (the anchor), and the sample is the ratio of the
//!   subject to the anchor. Clock changes and disturbances of a whole process cancel out.
//! - Each replicate runs the arms in a new random order, with the same seed, so that all arms have the same
//!   offsets, order of cells and stack depth.
//! - One arm runs twice, under two names. The difference between these two is the noise floor of the
//!   comparison.

use carryline_conditions::Condition;
use carryline_engine::failure::Failure;
use carryline_engine::measure::{self, MeasureContext};
use carryline_engine::plan::RunPlan;
use carryline_engine::progress::Progress;
use carryline_engine::standard;
use carryline_engine::supervise::Supervisor;
use carryline_engine::{forecast, interrupt};
use carryline_machine::environment::CacheSizes;
use carryline_results::gather::Gathered;
use carryline_statistics::{self as statistics, Ratio};
use carryline_variants::Family;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A setting, as the environment of worker processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The name in progress messages and errors.
    pub label: String,
    /// Variables and their values.
    pub environment: Vec<(String, String)>,
}

/// What every arm times.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The family.
    pub family: Family,
    /// The variant affected by the settings.
    pub subject: &'static str,
    /// The condition of the calls.
    pub condition: Condition,
}

/// Where and how to measure.
pub struct Lab<'a> {
    /// How workers are started.
    pub supervisor: &'a Supervisor,
    /// The machine's caches.
    pub caches: CacheSizes,
    /// The logical CPU to measure on.
    pub cpu: Option<usize>,
    /// Shows progress to the user.
    pub progress: &'a Progress,
    /// The random seed.
    pub seed: u64,
    /// How much slower a decision may be under some condition if it is faster overall: a fraction of the
    /// time, or 0.
    pub may_cost: f64,
    /// Why some cells could not be measured: one sentence for each reason.
    pub lost: RefCell<BTreeSet<String>>,
}

/// The times of one cell in one arm, by replicate and round: the subject's ticks divided by the anchor's in
/// the same round.
pub type Times = Vec<Vec<f64>>;

/// The times of all arms.
pub struct Timings {
    /// By arm and cell.
    pub times: Vec<Vec<Times>>,
    /// Replicates of each arm.
    pub replicates: u32,
}

/// The least number of replicates of a comparison, even if the time runs out.
pub const LEAST_REPLICATES: u32 = 3;
/// The largest number of replicates: more narrow an interval little.
const MOST_REPLICATES: u32 = 24;
/// The least time of a cell in one process: warm-up, calibration, and the least number of rounds.
const LEAST_FOR_A_CELL: Duration = Duration::from_millis(12);
/// The most time of a cell in one process while there is time for another replicate.
const ENOUGH_FOR_A_CELL: Duration = Duration::from_millis(60);

/// The routine beside which a family's subjects are timed: the first of a list of preferences that runs on
/// this CPU.
#[must_use]
pub fn anchor(family: Family) -> &'static str {
    let preferred: &[&'static str] = match family {
        Family::Zero | Family::Copy => &["avx2", "sse2", "reference"],
        Family::Checksum => &["adc_2_streams", "words16_c", "reference"],
        Family::CopyChecksum => &["fused", "reference"],
    };
    let runs =
        |name: &&&str| carryline_variants::find(family, name).is_some_and(|variant| variant.runs_here());
    preferred.iter().find(runs).copied().unwrap_or("reference")
}

/// Measures every cell in every arm, replicate by replicate, until the time is up.
///
/// # Errors
/// Fails if a worker cannot be started or sends a message that cannot be read.
pub fn measure(lab: &Lab<'_>, arms: &[Arm], cells: &[Cell], time: Duration) -> Result<Timings, Failure> {
    let deadline = Instant::now() + time;
    let mut found = Timings { times: vec![vec![Vec::new(); cells.len()]; arms.len()], replicates: 0 };
    if cells.is_empty() || arms.is_empty() {
        return Ok(found);
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(lab.seed);
    // The time of a process besides its cells: an estimate at first.
    let mut overhead = forecast::overhead(2 * families(cells));
    let mut longest = Duration::ZERO;
    for replicate in 0..MOST_REPLICATES {
        let left = deadline.saturating_duration_since(Instant::now());
        let enough = replicate >= LEAST_REPLICATES && left < longest * arms.len() as u32;
        if enough || interrupt::requested() {
            break;
        }
        let processes = (LEAST_REPLICATES.saturating_sub(replicate)).max(1) * arms.len() as u32;
        let share = (left / processes).saturating_sub(overhead);
        let slice =
            share.clamp(LEAST_FOR_A_CELL * cells.len() as u32, ENOUGH_FOR_A_CELL * cells.len() as u32);
        let seed = rng.next_u64() & ((1 << 53) - 1);
        let mut order: Vec<usize> = (0..arms.len()).collect();
        statistics::shuffle(&mut rng, &mut order);
        for arm in order {
            lab.progress.say(format!("{}, replicate {}", arms[arm].label, replicate + 1));
            let begin = Instant::now();
            let gathered = process(lab, &arms[arm], cells, slice + overhead, replicate, seed)?;
            longest = longest.max(begin.elapsed());
            overhead = begin.elapsed().saturating_sub(slice).min(Duration::from_secs(5));
            for (cell, gathered) in gathered.iter().enumerate() {
                let (of_subject, of_anchor) = (gathered.gross(0), gathered.gross(1));
                let ratios = of_subject.iter().flatten().zip(of_anchor.iter().flatten()).map(|(a, b)| a / b);
                found.times[arm][cell].push(ratios.collect());
            }
        }
        found.replicates = replicate + 1;
    }
    Ok(found)
}

/// The number of families among the cells.
fn families(cells: &[Cell]) -> usize {
    Family::ALL.into_iter().filter(|family| cells.iter().any(|cell| cell.family == *family)).count()
}

/// One worker process of an arm.
fn process(
    lab: &Lab<'_>,
    arm: &Arm,
    cells: &[Cell],
    time: Duration,
    replicate: u32,
    seed: u64,
) -> Result<Vec<Gathered>, Failure> {
    let supervisor = Supervisor { environment: arm.environment.clone(), ..lab.supervisor.clone() };
    let situations = cells.iter().map(|cell| {
        let pair = |family| (vec![cell.subject.to_owned(), anchor(family).to_owned()], None);
        let mut situation = standard::situation(cell.family, cell.condition.clone(), 1.0, &pair);
        // The noise floor comes from the arm that runs twice.
        situation.twins.clear();
        situation.name = format!("{} {}", cell.subject, situation.name);
        situation
    });
    let plan = RunPlan {
        situations: situations.collect(),
        plugins: Vec::new(),
        replicates: 1,
        most_replicates: 1,
        budget: time,
        seed,
        patience: supervisor.patience,
    };
    let context = MeasureContext {
        supervisor: &supervisor,
        caches: lab.caches,
        cpu: lab.cpu,
        deadline: Instant::now() + time,
        progress: lab.progress,
        // Replicates below this measure the machine's limits.
        first_replicate: measure::LIMIT_REPLICATES + replicate,
        stop: &interrupt::requested,
    };
    let outcome = measure::run(&plan, &[], &context, &mut |_| {})?;
    let mut lost = lab.lost.borrow_mut();
    for gathered in &outcome.gathered {
        let name = &gathered.situation.name;
        lost.extend(gathered.lost.iter().map(|(_, _, why)| format!("{name} could not be measured: {why}")));
    }
    lost.extend(outcome.lost.iter().map(|how| format!("a worker process ended {how}, twice")));
    drop(lost);
    Ok(outcome.gathered)
}

impl Timings {
    /// The time of a cell in `arm` divided by its time in arm `to`; `None` if either has no sample.
    #[must_use]
    pub fn ratio(&self, cell: usize, arm: usize, to: usize, seed: u64) -> Option<Ratio> {
        // Rounds of different processes cannot be paired, replicates can: their medians are.
        let by_replicate = |arm: usize| -> Times {
            self.times[arm][cell]
                .iter()
                .map(|rounds| statistics::median(rounds).into_iter().collect())
                .collect()
        };
        statistics::paired_ratio(&by_replicate(arm), &by_replicate(to), seed)
    }

    /// The typical time of a cell in an arm, as a multiple of the anchor's; `None` if there is no such arm or
    /// sample.
    #[must_use]
    pub fn typical(&self, cell: usize, arm: usize) -> Option<f64> {
        statistics::typical(self.times.get(arm)?.get(cell)?)
    }

    /// The mean logarithm of the typical times of some cells in an arm; `None` if a cell has none, or `cells`
    /// is empty.
    #[must_use]
    pub fn mean_log(&self, cells: &[usize], arm: usize) -> Option<f64> {
        let logs: Vec<f64> =
            cells.iter().map(|cell| self.typical(*cell, arm).map(f64::ln)).collect::<Option<_>>()?;
        (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
    }
}
