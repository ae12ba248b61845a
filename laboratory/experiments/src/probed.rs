//! The command's side of probes: runs them in several worker processes and forms a figure for each series.

use super::context::Context;
use anyhow::Context as _;
use carryline_engine::failure::Failure;
use carryline_engine::interrupt;
use carryline_engine::measure::Measurement;
use carryline_engine::probe::{Series, Unusable};
use carryline_engine::protocol::{ProbeAnswer, ProbeJob, ProcessSetup};
use carryline_engine::supervise::End;
use carryline_machine::process;
use carryline_results::claims::{Figure, Unit};
use carryline_results::round::{Round, RoundRecord};
use carryline_statistics as statistics;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::{Duration, Instant};

/// The results of a probe.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    /// The series that each round samples.
    pub series: Vec<Series>,
    /// The series that the first successful replicate could not measure, with reasons.
    pub unusable: Vec<Unusable>,
    /// Why there are no figures, or fewer replicates than requested.
    pub reason: Option<String>,
    /// Ticks per nanosecond.
    pub ticks_per_ns: Option<f64>,
    /// Ticks per core cycle; `None` if unknown on this machine.
    pub ticks_per_cycle: Option<f64>,
    /// The samples by replicate, round and series.
    samples: Vec<Vec<Vec<f64>>>,
    /// The facts of each successful replicate.
    facts: Vec<serde_json::Value>,
    twins: Vec<(usize, usize)>,
    name: String,
    parameters: serde_json::Value,
    seed: u64,
}

impl Context<'_> {
    /// Runs a probe (see [`carryline_engine::probe`]) within a share (0 to 1) of this experiment's time, in
    /// as many worker processes as cells get. If a worker crashes, hangs or reports that the machine cannot
    /// run the probe, the reason is in [`Probed::reason`].
    ///
    /// # Errors
    /// If no worker can be started.
    pub fn probe(&self, name: &str, parameters: &impl Serialize, share: f64) -> Result<Probed, Failure> {
        self.probe_in(name, parameters, share, self.replicates)
    }

    /// The same in the given number of worker processes.
    ///
    /// # Errors
    /// As [`Context::probe`].
    pub fn probe_in(
        &self,
        name: &str,
        parameters: &impl Serialize,
        share: f64,
        replicates: u32,
    ) -> Result<Probed, Failure> {
        let deadline = Instant::now() + self.budget.mul_f64(share.clamp(0.0, 1.0));
        let parameters = crate::json(parameters);
        let mut found = Probed {
            name: name.to_owned(),
            parameters: parameters.clone(),
            seed: self.seed,
            ..Probed::default()
        };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let _kept_off = self.cpu.map(process::keep_off);
        let (mut rates, mut cycles) = (Vec::new(), Vec::new());
        for replicate in 0..replicates {
            if interrupt::requested() {
                break;
            }
            self.say(&format!("{name}, replicate {} of {replicates}", replicate + 1));
            let left = deadline.saturating_duration_since(Instant::now()) / (replicates - replicate);
            let job = ProbeJob {
                name: name.to_owned(),
                parameters: parameters.clone(),
                replicate,
                seed: rng.next_u64(),
                total_ms: left.max(Duration::from_millis(20)).as_millis() as u64,
                cpu: self.cpu,
                caches: self.here.caches,
            };
            let mut rounds: Vec<Vec<f64>> = Vec::new();
            let mut reason = None;
            let mut outcome = Measurement::default();
            let padding = (job.seed % 4096) as usize;
            let end = self.supervisor.run(job, padding, &interrupt::requested, &mut |answer| {
                self.progress.tick();
                match answer {
                    ProbeAnswer::Setup(ProcessSetup { ticks_per_ns, pin_error, .. }) => {
                        rates.push(ticks_per_ns);
                        outcome.ticks_per_ns.push(ticks_per_ns);
                        outcome.pin_error = pin_error;
                    }
                    ProbeAnswer::Begin { series, twins } => (found.series, found.twins) = (series, twins),
                    ProbeAnswer::Round(round) => {
                        cycles.push(round.ticks_per_cycle);
                        rounds.push(round.samples.clone());
                        self.keep(name, replicate, round);
                    }
                    ProbeAnswer::End { facts, unusable } => {
                        if found.facts.is_empty() {
                            found.unusable = unusable;
                        }
                        found.facts.push(facts);
                    }
                    ProbeAnswer::Impossible { reason: why } => reason = Some(why),
                    ProbeAnswer::Disturbance(disturbed) => outcome.disturb(disturbed),
                }
            })?;
            let ended = match end {
                End::Done | End::Stopped => None,
                lost => Some(format!("the worker process ended {}", lost.how())),
            };
            if !rounds.is_empty() {
                found.samples.push(rounds);
            }
            self.total.borrow_mut().outcome.absorb(outcome);
            // The next replicate would probably fail the same way, and take as long to do so.
            if let Some(why) = reason.or(ended) {
                found.reason = Some(why);
                break;
            }
        }
        cycles.retain(|ticks| *ticks > 0.0);
        found.ticks_per_ns = statistics::median(&rates);
        found.ticks_per_cycle = statistics::median(&cycles);
        Ok(found)
    }

    fn keep(&self, name: &str, replicate: u32, round: Round) {
        let situation = format!("{}: special {name}", self.id);
        self.keeper.borrow_mut().keep(&RoundRecord { situation, replicate, round });
    }
}

impl Probed {
    /// The facts of each successful replicate.
    ///
    /// # Errors
    /// If the facts do not have the type `F`, which is a bug.
    pub fn facts<F: DeserializeOwned>(&self) -> Result<Vec<F>, Failure> {
        let read = |facts: &serde_json::Value| {
            F::deserialize(facts).with_context(|| format!("the facts of the probe {}: {facts}", self.name))
        };
        Ok(self.facts.iter().map(read).collect::<Result<_, _>>()?)
    }

    /// The facts of the first successful replicate.
    ///
    /// # Errors
    /// As [`Probed::facts`].
    pub fn first_facts<F: DeserializeOwned>(&self) -> Result<Option<F>, Failure> {
        Ok(self.facts()?.into_iter().next())
    }

    /// The reason if no replicate succeeded.
    pub fn failed(&self) -> Option<&str> {
        self.reason.as_deref().filter(|_| self.facts.is_empty())
    }

    /// The noise floor: the relative difference up to which two series tie, from the A/A pairs if there are
    /// any.
    pub fn floor(&self) -> f64 {
        let pair = |(a, b): &(usize, usize)| {
            statistics::paired_ratio(&self.by_series(*a), &self.by_series(*b), self.seed)
        };
        let pairs: Vec<_> = self.twins.iter().filter_map(pair).collect();
        if pairs.is_empty() {
            carryline_results::cells::FLOOR_WITHOUT_TWINS
        } else {
            statistics::noise_floor(&pairs)
        }
    }

    fn by_series(&self, index: usize) -> Vec<Vec<f64>> {
        let sample = |round: &Vec<f64>| round.get(index).copied().unwrap_or(f64::NAN);
        self.samples.iter().map(|rounds| rounds.iter().map(sample).collect()).collect()
    }

    /// A series as a figure in its own unit, or the reason if there is none.
    pub fn figure(&self, series: &str) -> Result<Figure, String> {
        let reason = || self.reason.clone().unwrap_or_else(|| "nothing was sampled".to_owned());
        if let Some(reason) = self.unusable(series) {
            return Err(reason);
        }
        let index =
            self.series.iter().position(|known| known.name == series).ok_or_else(|| match &self.reason {
                Some(reason) => reason.clone(),
                None => format!("there is no series '{series}'"),
            })?;
        let set = format!("probe {} {} {}", self.name, self.parameters, self.series[index].unit);
        Figure::sampled(self.series[index].unit, self.by_series(index), Some(&set), self.floor(), self.seed)
            .ok_or_else(reason)
    }

    /// The reason that the probe gave for not measuring this series, by the beginning of its name.
    fn unusable(&self, series: &str) -> Option<String> {
        let found = self.unusable.iter().find(|unusable| series.starts_with(&unusable.series))?;
        Some(found.reason.clone())
    }

    /// A series of ticks in core cycles.
    pub fn cycles(&self, series: &str) -> Result<Figure, String> {
        let figure = self.figure(series)?;
        let per_cycle =
            self.ticks_per_cycle.ok_or("the length of a core cycle is unknown on this machine")?;
        Ok(figure.scaled(1.0 / per_cycle, Unit::CyclesEst))
    }

    /// A series of ticks in nanoseconds.
    pub fn ns(&self, series: &str) -> Result<Figure, String> {
        let figure = self.figure(series)?;
        let per_ns = self.ticks_per_ns.ok_or("the clock's rate is unknown")?;
        Ok(figure.scaled(1.0 / per_ns, Unit::Ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Facts {
        pages: u64,
    }

    #[test]
    fn an_error_in_facts_names_the_probe_and_the_field() {
        let found = |facts| Probed { name: "faults".to_owned(), facts: vec![facts], ..Probed::default() };
        let right = found(serde_json::json!({ "pages": 64 })).first_facts();
        assert_eq!(right.expect("its own"), Some(Facts { pages: 64 }));
        let error = found(serde_json::json!({ "page": 64 })).first_facts::<Facts>().expect_err("not its own");
        let text = error.to_string();
        assert!(text.contains("the probe faults") && text.contains("missing field `pages`"), "{text}");
    }
}
