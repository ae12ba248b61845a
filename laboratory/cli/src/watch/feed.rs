//! Measures for the screen: runs one replicate after the other until told to stop, sends each round as it
//! arrives, and stores the rounds like those of every run.
//!
//! A replicate is one worker process that measures all columns, or two (see
//! [`carryline_engine::thresholds`]). A pause ends the current replicate; its rounds still count. A subject
//! that loses its worker is excluded, as in every run, until the screen restarts.

use crate::prepared::Prepared;
use carryline_engine::failure::Failure;
use carryline_engine::interrupt;
use carryline_engine::last_level;
use carryline_engine::machine::Here;
use carryline_engine::measure::{self, MeasureContext, Measurement};
use carryline_engine::plan::RunPlan;
use carryline_engine::progress::Progress;
use carryline_engine::prove::{self, Proof};
use carryline_engine::session::{self, Finished, Keeper};
use carryline_engine::thresholds::{Needs, Schedule};
use carryline_report::units::Factors;
use carryline_results::round::Round;
use carryline_results::{Status, Warning, cells};
use carryline_statistics as statistics;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Time of the first replicate, short so that figures appear soon, and of each later one.
const FIRST: Duration = Duration::from_millis(2500);
const LATER: Duration = Duration::from_secs(6);
/// The number of replicates kept: enough for narrow intervals in limited memory.
const KEPT: u32 = 64;
/// How long to wait while paused; ten times as long after a replicate without rounds.
const REST: Duration = Duration::from_millis(50);

/// Requests from the screen.
#[derive(Debug, Default)]
pub struct Control {
    /// Stop measuring.
    pub stop: AtomicBool,
    /// Pause.
    pub paused: AtomicBool,
    /// The user interrupted.
    pub interrupted: AtomicBool,
}

impl Control {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || interrupt::requested()
    }

    fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }
}

/// Messages to the screen.
#[derive(Debug)]
pub enum Event {
    /// A round of a column.
    Round(usize, Round),
    /// A worker process has ended.
    Replicate {
        /// Column, place in the column, and reason of subjects without figures.
        lost: Vec<(usize, usize, String)>,
        /// The units of a tick, if known.
        factors: Factors,
        /// Whether it measured all columns.
        whole: bool,
    },
    /// A remark for the user.
    Remark(String),
}

/// What to measure, and how.
pub struct Feed<'a> {
    /// The columns; replicates and budget are those of a run that repeats the measurement.
    pub plan: RunPlan,
    /// The command line of such a run.
    pub command: Vec<String>,
    /// The subjects, and how to start workers.
    pub prepared: &'a Prepared,
    /// The machine.
    pub here: &'a Here,
    /// Whether to store the rounds.
    pub save: bool,
    /// The database; `None` for the default.
    pub db: Option<&'a Path>,
    /// Warnings known before the measurement.
    pub warnings: Vec<Warning>,
    /// Receives the current step.
    pub progress: &'a Progress,
}

impl Feed<'_> {
    /// Measures until told to stop, and returns the run; `None` without a round.
    ///
    /// # Errors
    /// If no worker can be started.
    pub fn run(self, control: &Control, events: &Sender<Event>) -> Result<Option<Finished>, Failure> {
        let begin = Instant::now();
        let environment = serde_json::to_value(&self.here.environment)?;
        let mut keeper: Option<Keeper> = None;
        let mut total = Measurement::default();
        let mut proofs: Vec<Proof> = self.plan.subjects().into_iter().filter_map(unsupported).collect();
        let stop = || control.is_stopped() || control.is_paused();
        // The receiver is gone only at the end, when its messages no longer matter.
        let tell = |event| drop(events.send(event));
        // If the C library has two rows, a replicate takes a process for each.
        let needs = Needs::of(&self.plan);
        let schedule =
            Schedule::of(&self.plan, &needs, |id| !proofs.iter().any(|proof| proof.subject == *id));
        let each = schedule.processes(1);
        let (here, cpu) = (self.here, self.prepared.cpu);
        let caches =
            last_level::measured(here, &self.plan, cpu, &self.prepared.supervisor, self.progress, &stop)?;
        let mut number = 0;
        while !control.is_stopped() {
            if control.is_paused() {
                std::thread::sleep(REST);
                continue;
            }
            self.progress.say("starting and verifying a worker");
            let plan = RunPlan {
                replicates: 1,
                most_replicates: 1,
                seed: self.plan.seed.wrapping_add(u64::from(number)),
                ..self.plan.clone()
            };
            let kept = number < KEPT;
            let mut rounds = 0;
            let context = MeasureContext {
                supervisor: &self.prepared.supervisor,
                caches,
                cpu,
                deadline: Instant::now() + if number == 0 { FIRST } else { LATER } * each,
                progress: self.progress,
                first_replicate: number * each,
                stop: &stop,
            };
            let outcome = measure::run(&plan, &proofs, &context, &mut |record| {
                let column = self.plan.situations.iter().position(|s| s.name == record.situation);
                rounds += 1;
                if kept {
                    keeper.get_or_insert_with(|| self.begin(&environment, &tell)).keep(record);
                }
                if let Some(column) = column {
                    tell(Event::Round(column, record.round.clone()));
                }
            })?;
            let stopped = stop();
            proofs.extend(outcome.fallen.iter().cloned());
            tell(replicate_event(&outcome, !stopped));
            for how in outcome.lost.iter().chain(&outcome.restarted) {
                tell(Event::Remark(format!("a worker process ended {how}; the next one continues")));
            }
            if kept {
                join(&mut total, outcome);
            }
            if rounds > 0 {
                number += 1;
                if number == KEPT {
                    tell(Event::Remark(format!("{KEPT} replicates are saved; later ones are only shown")));
                }
            } else if !stopped {
                std::thread::sleep(10 * REST);
            }
        }
        total.interrupted = interrupt::requested() || control.interrupted.load(Ordering::Relaxed);
        (number > 0).then(|| self.end(total, keeper, begin.elapsed())).transpose()
    }

    /// Starts to store rounds.
    fn begin(&self, environment: &serde_json::Value, tell: &dyn Fn(Event)) -> Keeper {
        let store = self.save.then(|| session::open_store(self.db));
        let store = match store.transpose() {
            Ok(store) => store,
            Err(error) => {
                tell(Event::Remark(format!("results are not saved: {error}")));
                None
            }
        };
        // A plan is plain data: names, numbers and lists.
        let plan = serde_json::to_value(&self.plan).unwrap_or_default();
        Keeper::begin_as(self.command.clone(), store, self.plan.seed, environment, plan)
    }

    /// Assembles the run and stores its result.
    fn end(self, outcome: Measurement, keeper: Option<Keeper>, took: Duration) -> Result<Finished, Failure> {
        // The budget is the time that it took.
        let plan = RunPlan { budget: took, ..self.plan };
        let id = keeper.as_ref().and_then(Keeper::id);
        let result = session::assemble(&plan, self.here, self.warnings, &outcome, id, took)?;
        let mut trouble = None;
        if let Some(mut keeper) = keeper {
            keeper.end(&result, outcome.interrupted);
            trouble = keeper.trouble();
        }
        let mut finished = session::finish(result, Vec::new(), outcome, &self.prepared.selection);
        finished.undone.extend(trouble);
        Ok(finished)
    }
}

fn unsupported(subject: carryline_verification::subject::SubjectId) -> Option<Proof> {
    Some(Proof { verdict: prove::unsupported(&subject)?, subject })
}

/// The event at the end of a replicate.
fn replicate_event(outcome: &Measurement, whole: bool) -> Event {
    let lost = outcome.gathered.iter().enumerate().flat_map(|(column, gathered)| {
        gathered.lost.iter().map(move |(place, status, reason)| (column, *place, one_line(*status, reason)))
    });
    let factors = Factors {
        ticks_per_cycle: cells::ticks_per_cycle(&outcome.gathered),
        ticks_per_ns: statistics::median(&outcome.ticks_per_ns),
    };
    Event::Replicate { lost: lost.collect(), factors, whole }
}

/// Why a subject has no figures, in one line.
fn one_line(status: Status, reason: &str) -> String {
    let word = match status {
        Status::Crashed => "crashed: ",
        Status::TimedOut => "hung: ",
        Status::Wrong => "wrong: ",
        Status::NotVerified => "not verified: ",
        Status::Ok | Status::Unsupported => "",
    };
    // The bytes of a counterexample are long; its end states the result.
    let end = reason.rsplit("expected ").next().filter(|end| end.len() < reason.len());
    let text = end.map_or_else(|| reason.to_owned(), |end| format!("expected {end}"));
    format!("{word}{}", text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Adds the outcome of a replicate to the total.
fn join(total: &mut Measurement, mut more: Measurement) {
    if !total.gathered.is_empty() {
        for (all, new) in total.gathered.iter_mut().zip(std::mem::take(&mut more.gathered)) {
            all.replicates.extend(new.replicates);
            for (place, status, reason) in new.lost {
                all.lose(place, status, reason);
            }
        }
    }
    total.absorb(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_conditions::Condition;
    use carryline_results::gather::{Gathered, Replicate, Situation};
    use carryline_variants::Family;

    fn outcome(lost: bool) -> Measurement {
        let mut gathered = Gathered::new(Situation {
            name: "zero 4K".to_owned(),
            family: Family::Zero,
            condition: Condition::plain(4096),
            subjects: vec!["a".to_owned(), "b".to_owned()],
            baseline: None,
            twins: Vec::new(),
            weight: 1.0,
        });
        gathered.replicates.push(Replicate::default());
        if lost {
            gathered.lose(
                1,
                Status::Crashed,
                "256 bytes at offset 0, bytes 00\n(256 bytes): expected a return, got SIGKILL",
            );
        }
        Measurement { gathered: vec![gathered], ticks_per_ns: vec![2.0], ..Measurement::default() }
    }

    #[test]
    fn replicates_of_a_situation_are_joined() {
        let mut total = Measurement::default();
        for lost in [false, true, true] {
            join(&mut total, outcome(lost));
        }
        assert_eq!(total.gathered.len(), 1);
        assert_eq!(total.gathered[0].replicates.len(), 3);
        assert_eq!(total.gathered[0].lost.len(), 1);
        assert_eq!(total.ticks_per_ns.len(), 3);
    }

    #[test]
    fn a_lost_subject_is_reported_with_column_and_place() {
        let Event::Replicate { lost, factors, whole } = replicate_event(&outcome(true), true) else {
            panic!("a replicate's end")
        };
        assert_eq!(lost, [(0, 1, "crashed: expected a return, got SIGKILL".to_owned())]);
        assert_eq!((factors.ticks_per_ns, whole), (Some(2.0), true));
    }
}
