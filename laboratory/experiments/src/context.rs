//! The interface of an experiment to the engine: cells, probes in worker processes, verification.

use carryline_conditions::Condition;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::machine::Here;
use carryline_engine::measure::{self, MeasureContext, Measurement};
use carryline_engine::plan::RunPlan;
use carryline_engine::progress::Progress;
use carryline_engine::prove::{self, Proof};
use carryline_engine::session::Keeper;
use carryline_engine::supervise::Supervisor;
use carryline_engine::{interrupt, standard};
use carryline_results::cells::{self, Summary};
use carryline_results::claims::{Figure, Unit};
use carryline_results::gather::{Gathered, Situation};
use carryline_results::{Cell, limits};
use carryline_statistics as statistics;
use carryline_variants::Family;
use carryline_verification::subject::SubjectId;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The context of an experiment.
pub struct Context<'a> {
    /// The machine.
    pub here: &'a Here,
    /// True if the user asked for a quick run, with fewer replicates and less time. Experiments may then omit
    /// rows.
    pub quick: bool,
    /// The time for this experiment.
    pub budget: Duration,
    /// The random seed.
    pub seed: u64,
    /// The chain of buffers given on the command line, if any.
    pub chain: Option<&'a [u32]>,
    /// The number of layouts of a chain, each with its own alignments.
    pub chain_repeats: u32,
    pub(super) id: &'static str,
    pub(super) supervisor: &'a Supervisor,
    pub(super) cpu: Option<usize>,
    pub(super) replicates: u32,
    pub(super) progress: &'a Progress,
    pub(super) keeper: &'a RefCell<Keeper>,
    /// The plan and measurements of all experiments of the run.
    pub(super) total: &'a RefCell<Total>,
}

/// The plan and measurements of all experiments of a run.
#[derive(Default)]
pub struct Total {
    /// Every situation.
    pub situations: Vec<Situation>,
    /// Their measurements.
    pub outcome: Measurement,
}

/// Whether a time includes the call overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The call overhead is included.
    Gross,
    /// The null call of the same round is subtracted.
    Net,
}

/// The unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum In {
    /// Ticks of the time-stamp counter.
    Ticks,
    /// Core cycles, either counted or estimated from a chain of dependent additions.
    Cycles,
    /// Nanoseconds.
    Ns,
}

impl Context<'_> {
    /// A comparison of these variants of a family under a condition. The first is the baseline, and runs
    /// twice for the noise floor. Variants that this build lacks (the list depends on architecture and crate
    /// features) are left out.
    pub fn situation(&self, family: Family, condition: Condition, variants: &[&str]) -> Situation {
        let there = |name: &&&str| carryline_variants::find(family, name).is_some();
        let names: Vec<String> = variants.iter().filter(there).map(|name| (*name).to_owned()).collect();
        let baseline = (!names.is_empty()).then_some(0);
        let mut situation = standard::situation(family, condition, 1.0, &|_| (names.clone(), baseline));
        situation.name = format!("{}: {}", self.id, situation.name);
        situation
    }

    /// Measures situations within a share (0 to 1) of this experiment's time. Every variant is verified in
    /// the worker process before it is timed there. A variant that the CPU cannot run, that is wrong, crashes
    /// or hangs becomes a missing figure with the reason.
    ///
    /// # Errors
    /// If memory is short or no worker can be started.
    pub fn measure(&self, situations: Vec<Situation>, share: f64) -> Result<Measured, Failure> {
        self.here.check_memory(&situations)?;
        let budget = self.budget.mul_f64(share.clamp(0.0, 1.0));
        let plan = RunPlan {
            situations,
            plugins: Vec::new(),
            replicates: self.replicates,
            most_replicates: self.replicates,
            budget,
            seed: self.seed,
            patience: self.supervisor.patience,
        };
        let unsupported: Vec<Proof> = plan
            .subjects()
            .into_iter()
            .filter_map(|subject| Some(Proof { verdict: prove::unsupported(&subject)?, subject }))
            .collect();
        let ground = MeasureContext {
            supervisor: self.supervisor,
            caches: self.here.caches,
            cpu: self.cpu,
            deadline: Instant::now() + budget,
            progress: self.progress,
            first_replicate: 0,
            stop: &interrupt::requested,
        };
        let outcome = measure::run(&plan, &unsupported, &ground, &mut |record| {
            self.keeper.borrow_mut().keep(record);
        })?;
        let mut limits = outcome.limits.clone();
        limits::raise(&mut limits, &outcome.gathered);
        let summaries =
            outcome.gathered.iter().map(|gathered| cells::summarise(gathered, &limits, plan.seed)).collect();
        let measured = Measured {
            gathered: outcome.gathered.clone(),
            summaries,
            ticks_per_ns: statistics::median(&outcome.ticks_per_ns),
            seed: plan.seed,
        };
        let mut total = self.total.borrow_mut();
        total.situations.extend(plan.situations);
        total.outcome.absorb(outcome);
        Ok(measured)
    }

    /// Runs the full verification of variants, such as those known to be wrong, in worker processes.
    ///
    /// # Errors
    /// If no worker can be started.
    pub fn prove(&self, family: Family, variants: &[&str]) -> Result<Vec<Proof>, Failure> {
        let subject = |name: &&str| SubjectId { family, name: (*name).to_owned() };
        let subjects: Vec<SubjectId> = variants.iter().map(subject).collect();
        Ok(prove::all(self.supervisor, &[], &subjects, self.seed, self.progress)?)
    }

    /// Shows the current activity, on a terminal.
    pub fn say(&self, what: &str) {
        self.progress.say(format!("{}: {what}", self.id));
    }

    /// An error that ends this experiment; the reason is printed in its place.
    pub fn impossible(&self, reason: impl Into<String>) -> Failure {
        usage(reason)
    }
}

/// The engine's measurements for an experiment.
pub struct Measured {
    gathered: Vec<Gathered>,
    summaries: Vec<Summary>,
    ticks_per_ns: Option<f64>,
    seed: u64,
}

impl Measured {
    /// The time of a variant in a situation, given by its index in the list that was measured, or the reason
    /// if there is no time. Times of one situation are paired round by round when a ratio is formed.
    pub fn time(&self, situation: usize, variant: &str, basis: Basis, unit: In) -> Result<Figure, String> {
        let gathered = self.gathered.get(situation).ok_or("no such situation")?;
        let place = gathered.situation.subjects.iter().position(|name| name == variant);
        let place = place.ok_or_else(|| format!("this build has no variant {variant}"))?;
        if let Some((_, _, reason)) = gathered.lost.iter().find(|(lost, _, _)| *lost == place) {
            return Err(reason.clone());
        }
        let samples = match basis {
            Basis::Gross => gathered.gross(place),
            Basis::Net => statistics::net(&gathered.gross(place), &gathered.null()),
        };
        self.figure(situation, samples, basis, unit)
    }

    /// The time of the null call in that situation.
    pub fn null(&self, situation: usize, unit: In) -> Result<Figure, String> {
        let gathered = self.gathered.get(situation).ok_or("no such situation")?;
        self.figure(situation, gathered.null(), Basis::Gross, unit)
    }

    fn figure(
        &self,
        situation: usize,
        samples: Vec<Vec<f64>>,
        basis: Basis,
        unit: In,
    ) -> Result<Figure, String> {
        let gathered = &self.gathered[situation];
        let floor = self.summaries[situation].floor.unwrap_or(cells::FLOOR_WITHOUT_TWINS);
        let set = format!("{} {basis:?}", gathered.situation.name);
        let ticks =
            Figure::sampled(Unit::Ticks, samples, Some(&set), floor, self.seed).ok_or(cells::NO_TIME)?;
        match unit {
            In::Ticks => Ok(ticks),
            In::Cycles => match cells::ticks_per_cycle(std::slice::from_ref(gathered)) {
                Some(ticks_per_cycle) => Ok(ticks.scaled(1.0 / ticks_per_cycle, self.cycles_unit(situation))),
                None => Err("the length of a core cycle is unknown on this machine".to_owned()),
            },
            In::Ns => match self.ticks_per_ns {
                Some(ticks_per_ns) => Ok(ticks.scaled(1.0 / ticks_per_ns, Unit::Ns)),
                None => Err("the clock's rate is unknown".to_owned()),
            },
        }
    }

    fn cycles_unit(&self, situation: usize) -> Unit {
        let counted = |g: &Gathered| g.replicates.iter().flat_map(|r| &r.rounds).all(|round| round.counted);
        if counted(&self.gathered[situation]) { Unit::CyclesPmu } else { Unit::CyclesEst }
    }

    /// The cell of a variant: status, limit share, rank, bytes.
    pub fn cell(&self, situation: usize, variant: &str) -> Option<&Cell> {
        self.summaries.get(situation)?.cells.iter().find(|cell| cell.variant == variant)
    }
}
