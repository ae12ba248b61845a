//! Measures the replicates: worker processes, one after the other, each of which measures everything with a
//! layout of its own.

mod answers;

use self::answers::{Answers, Taken, Turn};
use super::members::{Places, unsupported_size};
use super::plan::RunPlan;
use super::progress::Progress;
use super::prove::{self, Proof, ProofVerdict};
use super::thresholds::{Needs, Schedule, id_in};
use crate::forecast;
use crate::interrupt;
use crate::protocol::{Disturbed, MeasureJob, SituationJob};
use crate::supervise::{End, SuperviseError, Supervisor};
use carryline_machine::environment::{CacheSizes, Level};
use carryline_machine::process;
use carryline_results::gather::{Gathered, Situation};
use carryline_results::round::RoundRecord;
use carryline_results::{Limit, Status};
use carryline_sampler::{level_of, limits};
use carryline_variants::c_library::Thresholds;
use carryline_verification::subject::SubjectId;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The results of all replicates.
#[derive(Default)]
pub struct Measurement {
    /// By situation, in plan order.
    pub gathered: Vec<Gathered>,
    /// The machine's limits: the best of all replicates.
    pub limits: Vec<Limit>,
    /// As [`CacheSizes::l3_held`].
    pub l3_held: Option<u64>,
    /// Ticks per nanosecond, by replicate.
    pub ticks_per_ns: Vec<f64>,
    /// Why workers could not be pinned to their CPU.
    pub pin_error: Option<String>,
    /// Why cycles were not counted.
    pub counter_error: Option<String>,
    /// Involuntary context switches of workers while they measured.
    pub involuntary_switches: u64,
    /// The fraction of the machine's time stolen by the hypervisor: the maximum over replicates.
    pub stolen: f64,
    /// The independent additions that the core executed in a cycle, by round of all replicates.
    pub additions_per_cycle: Vec<f64>,
    /// The causes of replicates that ended early, outside every subject.
    pub lost: Vec<String>,
    /// The causes of single deaths of workers, through no fault of a subject; the workers were started again.
    pub restarted: Vec<String>,
    /// Subjects that were found wrong, crashed or hung during the measurement, with the findings.
    pub fallen: Vec<Proof>,
    /// True if the user interrupted it.
    pub interrupted: bool,
}

impl Measurement {
    /// Adds the disturbances of a worker.
    pub fn disturb(&mut self, disturbed: Disturbed) {
        let Disturbed { involuntary_switches, stolen, additions_per_cycle } = disturbed;
        self.involuntary_switches += involuntary_switches;
        self.stolen = self.stolen.max(stolen);
        self.additions_per_cycle.extend(additions_per_cycle);
    }

    /// Adds the results of another measurement of the same run.
    pub fn absorb(&mut self, other: Measurement) {
        self.gathered.extend(other.gathered);
        limits::merge(&mut self.limits, &other.limits);
        self.l3_held = self.l3_held.or(other.l3_held);
        self.ticks_per_ns.extend(other.ticks_per_ns);
        self.pin_error = self.pin_error.take().or(other.pin_error);
        self.counter_error = self.counter_error.take().or(other.counter_error);
        self.involuntary_switches += other.involuntary_switches;
        self.stolen = self.stolen.max(other.stolen);
        self.additions_per_cycle.extend(other.additions_per_cycle);
        self.lost.extend(other.lost);
        self.restarted.extend(other.restarted);
        self.fallen.extend(other.fallen);
        self.interrupted |= other.interrupted;
    }
}

/// The number of replicates that measure the limits. The best result counts for all, because filling the
/// memory is slow.
pub const LIMIT_REPLICATES: u32 = 2;

/// Where and how long to measure.
pub struct MeasureContext<'a> {
    /// How workers are started.
    pub supervisor: &'a Supervisor,
    /// The machine's caches.
    pub caches: CacheSizes,
    /// The logical CPU to measure on.
    pub cpu: Option<usize>,
    /// When the measurement must end.
    pub deadline: Instant,
    /// Shows progress to the user.
    pub progress: &'a Progress,
    /// The number of the first replicate; above 0 if the measurement continues a run.
    pub first_replicate: u32,
    /// Whether to stop now; called about twenty times a second.
    pub stop: &'a dyn Fn() -> bool,
}

/// The state of a measurement.
struct Run<'a> {
    plan: &'a RunPlan,
    context: &'a MeasureContext<'a>,
    outcome: Measurement,
    subjects: Vec<SubjectId>,
    /// The kind of process that each subject needs.
    needs: Needs,
    /// The least number of processes.
    processes: u32,
    /// Subjects that are excluded from now on, with the reason.
    out: HashMap<SubjectId, (Status, String)>,
}

/// Measures the plan with the subjects that passed verification. `arrived` receives every round as it comes.
pub fn run(
    plan: &RunPlan,
    proofs: &[Proof],
    context: &MeasureContext<'_>,
    arrived: &mut dyn FnMut(&RoundRecord),
) -> Result<Measurement, SuperviseError> {
    let gathered = plan.situations.iter().cloned().map(Gathered::new).collect();
    let outcome = Measurement { gathered, l3_held: context.caches.l3_held, ..Measurement::default() };
    let out =
        proofs.iter().filter_map(|proof| Some((proof.subject.clone(), exclusion(&proof.verdict)?))).collect();
    let mut run =
        Run { plan, context, outcome, subjects: plan.subjects(), needs: Needs::of(plan), processes: 0, out };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    let schedule = Schedule::of(plan, &run.needs, |id| !run.out.contains_key(id));
    run.processes = schedule.processes(plan.replicates);
    let least = context.first_replicate + schedule.processes(plan.replicates);
    let most = context.first_replicate + schedule.processes(plan.most_replicates.max(plan.replicates));
    // The time before a replicate measures: an estimate at first, then that of the last replicate of its
    // kind.
    let guess = forecast::overhead(run.subjects.len());
    let mut overheads: HashMap<Thresholds, Duration> = HashMap::new();
    let _kept_off = context.cpu.map(process::keep_off);
    let mut longest = Duration::ZERO;
    for number in context.first_replicate..most {
        let time = context.deadline.saturating_duration_since(Instant::now());
        if (context.stop)() || number >= least && time < longest {
            break;
        }
        // After the least number, replicates of all kinds in turn.
        let until = if number < least { least } else { number + schedule.processes(1) };
        let left = time.mul_f64(schedule.share(number, until));
        let begin = Instant::now();
        let kind = schedule.kind(number);
        let time = left.saturating_sub(overheads.get(&kind).copied().unwrap_or(guess.min(left / 2)));
        run.replicate(kind, number, rng.next_u64(), time, arrived)?;
        overheads.insert(kind, begin.elapsed().saturating_sub(time).min(left));
        longest = longest.max(begin.elapsed());
        let to_come = longest.saturating_mul(least.saturating_sub(number + 1)).max(Duration::from_millis(1));
        context.progress.expect_left(context.deadline.saturating_duration_since(Instant::now()).max(to_come));
    }
    run.outcome.interrupted = interrupt::requested();
    for gathered in &mut run.outcome.gathered {
        for place in 0..gathered.situation.subjects.len() {
            let id = id_in(&gathered.situation, &gathered.situation.subjects[place]);
            if let Some((status, detail)) = run.out.get(&id) {
                gathered.lose(place, *status, detail.clone());
            }
        }
    }
    Ok(run.outcome)
}

/// The status and reason that exclude a subject with this verdict; `None` if it is measured.
fn exclusion(verdict: &ProofVerdict) -> Option<(Status, String)> {
    match verdict {
        ProofVerdict::Proved(_) => None,
        ProofVerdict::Wrong(found) => Some((Status::Wrong, found.to_string())),
        ProofVerdict::WrongLater(reason) => Some((Status::Wrong, reason.clone())),
        ProofVerdict::Crashed(found) => Some((Status::Crashed, found.to_string())),
        ProofVerdict::TimedOut(found) => Some((Status::TimedOut, found.to_string())),
        ProofVerdict::Unsupported(reason) => Some((Status::Unsupported, reason.clone())),
        ProofVerdict::NotProved(reason) => Some((Status::NotVerified, reason.clone())),
    }
}

impl Run<'_> {
    /// Measures one replicate. If its worker dies, starts it again, without the subject at fault if there is
    /// one.
    fn replicate(
        &mut self,
        kind: Thresholds,
        replicate: u32,
        seed: u64,
        time: Duration,
        arrived: &mut dyn FnMut(&RoundRecord),
    ) -> Result<(), SuperviseError> {
        let deadline = Instant::now() + time;
        let mut finished = vec![false; self.plan.situations.len()];
        // Every second death of a worker excludes a subject or ends the replicate.
        let mut first_death: Option<Death> = None;
        for _attempt in 0..=2 * self.subjects.len() {
            let (job, places) = self.job(kind, replicate, seed, deadline, &finished);
            if job.situations.is_empty() {
                return Ok(());
            }
            let subjects = job.subjects.clone();
            let MeasureContext { supervisor, progress, stop, .. } = *self.context;
            let ticking = || {
                progress.tick();
                stop()
            };
            let mut answers = Answers {
                plan: self.plan,
                turn: Turn { replicate, least: self.processes },
                progress,
                subjects: &subjects,
                places: &places,
                outcome: &mut self.outcome,
                finished: &mut finished,
                arrived: &mut *arrived,
                taken: Taken::default(),
            };
            let padding = (seed % 4096) as usize;
            let end =
                supervisor.run_with(kind, job, padding, &ticking, &mut |answer| answers.take(answer))?;
            let mut taken = answers.taken;
            if let Some(error) = taken.stray {
                return Err(error);
            }
            for (id, verdict) in std::mem::take(&mut taken.lost) {
                self.lose(id, verdict);
            }
            if matches!(end, End::Done | End::Stopped) {
                // Interrupted during a situation: its finished rounds count.
                for (situation, measured) in taken.unfinished() {
                    self.outcome.gathered[situation].replicates.push(measured);
                }
                if let Some(death) = first_death {
                    self.died_once(death);
                }
                return Ok(());
            }
            let death = Death { culprit: culprit(&end, &subjects).cloned(), end };
            first_death = match first_death {
                // Try again: an accident or a signal from outside is unlikely to happen twice.
                None => Some(death),
                Some(first) => match (&first.culprit, &death.culprit) {
                    (Some(before), Some(id)) if before == id => {
                        self.lose(id.clone(), prove::blame(&first.end, &death.end, id.family, seed));
                        None
                    }
                    (Some(_), Some(_)) => Some(death),
                    // No subject is at fault, so there is none to exclude: this replicate ends here.
                    _ => {
                        self.outcome.lost.push(death.end.how());
                        return Ok(());
                    }
                },
            };
        }
        Ok(())
    }

    /// Records a death that did not happen again. A subject that crashed is excluded, because the cause is
    /// unknown.
    fn died_once(&mut self, Death { end, culprit }: Death) {
        let how = end.how();
        match (end, culprit) {
            (End::Crashed { .. } | End::Exited { .. }, Some(id)) => {
                let why = format!("a worker process that measured it ended {how}, but another one did not");
                self.lose(id, ProofVerdict::NotProved(why));
            }
            _ => self.outcome.restarted.push(how),
        }
    }

    /// The cache levels of the plan's operands.
    fn levels(&self, caches: &CacheSizes) -> Vec<Level> {
        let mut levels: Vec<Level> = Vec::new();
        for situation in &self.plan.situations {
            let level = level_of(situation.family, &situation.condition, caches);
            if level != Level::Mixed && !levels.contains(&level) {
                levels.push(level);
            }
        }
        levels
    }

    fn lose(&mut self, id: SubjectId, verdict: ProofVerdict) {
        if let Some(reason) = exclusion(&verdict) {
            self.out.entry(id.clone()).or_insert(reason);
            self.outcome.fallen.push(Proof { subject: id, verdict });
        }
    }

    /// The job of a replicate of this kind for the unfinished situations, and the places of the job's
    /// subjects in each situation.
    fn job(
        &mut self,
        kind: Thresholds,
        replicate: u32,
        seed: u64,
        deadline: Instant,
        finished: &[bool],
    ) -> (MeasureJob, HashMap<u32, Places>) {
        let takes_part = |id: &SubjectId| !self.out.contains_key(id);
        let here = |planned: &&Situation| {
            kind == Thresholds::AsInstalled || self.needs.raised_in(planned, takes_part)
        };
        let in_job = |id: &&SubjectId| {
            let situations = &mut self.plan.situations.iter().filter(here);
            takes_part(id)
                && self.needs.allow(id, kind)
                && situations
                    .any(|planned| planned.family == id.family && planned.subjects.contains(&id.name))
        };
        let subjects: Vec<SubjectId> = self.subjects.iter().filter(in_job).cloned().collect();
        let mut situations = Vec::new();
        let mut places = HashMap::new();
        for (index, planned) in self.plan.situations.iter().enumerate() {
            if finished[index] || !here(&planned) {
                continue;
            }
            let mut members = Vec::new();
            let mut of_subject: Places = HashMap::new();
            for place in 0..planned.places() {
                let subject =
                    planned.twins.get(place.wrapping_sub(planned.subjects.len())).copied().unwrap_or(place);
                let name = &planned.subjects[subject];
                if let Some(variant) = carryline_variants::find(planned.family, name)
                    && let Some(reason) = unsupported_size(variant.lengths, &planned.condition)
                {
                    self.outcome.gathered[index].lose(subject, Status::Unsupported, reason);
                    continue;
                }
                let id = id_in(planned, name);
                if let Some(in_job) = subjects.iter().position(|known| *known == id) {
                    members.push(in_job);
                    of_subject.entry(in_job).or_default().push(place);
                }
            }
            if !members.is_empty() {
                let (family, condition) = (planned.family, planned.condition.clone());
                let weight = planned.weight;
                situations.push(SituationJob { index: index as u32, family, condition, members, weight });
                places.insert(index as u32, of_subject);
            }
        }
        let total_ms = deadline.saturating_duration_since(Instant::now()).as_millis() as u64;
        let plugins = self.plan.plugins.clone();
        let MeasureContext { caches, cpu, .. } = *self.context;
        let limits = if replicate < LIMIT_REPLICATES { self.levels(&caches) } else { Vec::new() };
        (MeasureJob { plugins, subjects, situations, replicate, seed, total_ms, cpu, limits, caches }, places)
    }
}

/// The death of a worker, and the subject that it was calling.
struct Death {
    end: End,
    culprit: Option<SubjectId>,
}

/// The subject that a worker was calling when it died, if that subject may be the cause.
fn culprit<'s>(end: &End, subjects: &'s [SubjectId]) -> Option<&'s SubjectId> {
    subjects.get(usize::try_from(end.now()?.subject).ok()?)
}
