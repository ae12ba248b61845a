//! Measures one replicate.

use super::{Answers, find};
use crate::protocol::{Disturbed, MeasureAnswer, MeasureJob, ProcessSetup, SituationJob};
use carryline_conditions::Condition;
use carryline_machine::counters::CycleCounter;
use carryline_machine::disturbance::Disturbance;
use carryline_machine::{clock, process};
use carryline_results::round::Round;
use carryline_sampler::{Bench, BenchError, Buffers, MOST_ROUNDS, limits};
use carryline_statistics::shuffle;
use carryline_verification::status::{Now, Phase, StatusPage};
use carryline_verification::{self as verify, Depth, Failure, Verified};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::{Duration, Instant};

/// Verifies the job's subjects in this process, and measures its situations in random order.
pub(super) fn measure(job: &MeasureJob, answers: &Answers<'_, MeasureJob>, status: &StatusPage) {
    let mut allowed = process::allowed_cpus();
    let pin_error = job.cpu.and_then(|cpu| process::pin(cpu).err());
    let ticks_per_ns = clock::ticks_per_ns(Duration::from_millis(5));
    let mut counter = CycleCounter::open();
    let counter_error = counter.as_ref().err().cloned();
    answers.send(MeasureAnswer::Setup(ProcessSetup { ticks_per_ns, pin_error, counter_error }));

    let subjects = find(&job.subjects, &job.plugins, status);
    let mut proved: Vec<Option<Verified<'_>>> = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        let verified = match subject {
            Ok(subject) => verify::prove(subject, Depth::Replicate, job.seed, status, index as u64),
            Err(reason) => {
                answers.send(MeasureAnswer::Unproved { subject: index, reason: reason.clone() });
                proved.push(None);
                continue;
            }
        };
        proved.push(match verified {
            Ok((verified, _)) => Some(verified),
            Err(Failure::Wrong(counterexample)) => {
                answers.send(MeasureAnswer::Disproved { subject: index, counterexample });
                None
            }
            Err(failure) => {
                answers.send(MeasureAnswer::Unproved { subject: index, reason: failure.to_string() });
                None
            }
        });
    }

    let mut disturbance = Disturbance::now();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(job.seed);
    let mut buffers = Buffers::new(rng.next_u64());
    allowed.extend(job.cpu.filter(|cpu| !allowed.contains(cpu)));
    buffers.set_cpus(job.cpu, allowed);
    if !job.limits.is_empty() {
        status.set(Now { phase: Phase::Limits as u64, subject: u64::MAX, ..Now::default() });
        let levels = &job.limits;
        let measured = match buffers.for_limits(limits::largest_buffer(&job.caches, levels), status) {
            Ok(arena) => limits::measure(&job.caches, levels, arena, ticks_per_ns, status),
            Err(_) => Vec::new(),
        };
        answers.send(MeasureAnswer::Limits(measured));
    }

    let mut order: Vec<&SituationJob> = job.situations.iter().collect();
    shuffle(&mut rng, &mut order);
    let deadline = Instant::now() + Duration::from_millis(job.total_ms);
    let mut weight_left: f64 = order.iter().map(|situation| situation.weight).sum();
    for situation in order {
        let left = deadline.saturating_duration_since(Instant::now());
        let slice = left.mul_f64((situation.weight / weight_left.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0));
        weight_left -= situation.weight;
        let seed = rng.next_u64();
        let run = Replicate { job, proved: &proved, answers, status, ticks_per_ns };
        if let Err(error) =
            run.situation(situation, slice, seed, &mut buffers, counter.as_mut().ok(), &mut disturbance)
        {
            answers.send(MeasureAnswer::Impossible { situation: situation.index, reason: error.to_string() });
        }
    }
    answers.send(MeasureAnswer::Disturbance(disturbed(&disturbance)));
}

/// The disturbances so far.
pub(super) fn disturbed(disturbance: &Disturbance) -> Disturbed {
    let (involuntary_switches, stolen) = disturbance.since();
    let additions_per_cycle = disturbance.additions_per_cycle().to_vec();
    Disturbed { involuntary_switches, stolen, additions_per_cycle }
}

struct Replicate<'a> {
    job: &'a MeasureJob,
    proved: &'a [Option<Verified<'a>>],
    answers: &'a Answers<'a, MeasureJob>,
    status: &'a StatusPage,
    ticks_per_ns: f64,
}

/// The least number of rounds of a situation even if the time is up, so that every replicate has a median.
pub(super) const LEAST_ROUNDS: u32 = 3;

impl Replicate<'_> {
    fn situation(
        &self,
        situation: &SituationJob,
        slice: Duration,
        seed: u64,
        buffers: &mut Buffers,
        mut counter: Option<&mut CycleCounter>,
        disturbance: &mut Disturbance,
    ) -> Result<(), BenchError> {
        let begin = Instant::now();
        let condition: &Condition = &situation.condition;
        let members: Vec<usize> = situation
            .members
            .iter()
            .copied()
            .filter(|m| self.proved.get(*m).is_some_and(Option::is_some))
            .collect();
        let verified: Vec<(&Verified<'_>, u64)> = members
            .iter()
            .filter_map(|member| self.proved[*member].as_ref().map(|proved| (proved, *member as u64)))
            .collect();
        let mut bench =
            Bench::new(situation.family, condition, &verified, buffers, &self.job.caches, seed, self.status)?;
        let steady = bench.calibrate(slice, self.ticks_per_ns, self.status);
        self.answers.send(MeasureAnswer::Begin { situation: situation.index, members, steady });

        let mut round = Round::of(bench.members());
        let mut longest = Duration::ZERO;
        for number in 0..MOST_ROUNDS {
            let left = slice.saturating_sub(begin.elapsed());
            if number >= LEAST_ROUNDS && left < longest {
                break;
            }
            let started = Instant::now();
            bench.round(&mut round, counter.as_deref_mut(), self.status);
            disturbance.sample();
            longest = longest.max(started.elapsed());
            self.answers.send(MeasureAnswer::Round { situation: situation.index, round: round.clone() });
        }
        let wrong = bench.recheck(self.status);
        self.answers.send(MeasureAnswer::End {
            situation: situation.index,
            observed: bench.observed(),
            wrong,
        });
        Ok(())
    }
}
