//! What a worker answers while it measures a replicate, and what follows from each answer.

use super::Measurement;
use crate::members::{Places, place_members};
use crate::plan::RunPlan;
use crate::progress::Progress;
use crate::protocol::{MeasureAnswer, ProcessSetup};
use crate::prove::{self, ProofVerdict};
use crate::supervise::SuperviseError;
use crate::thresholds::id_in;
use carryline_results::Status;
use carryline_results::gather::Replicate;
use carryline_results::round::{Round, RoundRecord};
use carryline_sampler::limits;
use carryline_verification::subject::SubjectId;
use std::collections::HashMap;

/// The number of a replicate, and how many there are at least.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) replicate: u32,
    pub(super) least: u32,
}

/// Takes the answers of one worker.
pub(super) struct Answers<'a> {
    pub(super) plan: &'a RunPlan,
    pub(super) turn: Turn,
    pub(super) progress: &'a Progress,
    /// The job's subjects.
    pub(super) subjects: &'a [SubjectId],
    /// The places of the job's subjects in each of its situations.
    pub(super) places: &'a HashMap<u32, Places>,
    pub(super) outcome: &'a mut Measurement,
    /// By situation of the plan.
    pub(super) finished: &'a mut [bool],
    /// Receives every round.
    pub(super) arrived: &'a mut dyn FnMut(&RoundRecord),
    pub(super) taken: Taken,
}

/// What the answers leave for the replicate.
#[derive(Default)]
pub(super) struct Taken {
    /// The situations that have begun and not ended: their rounds, and the place of each member.
    begun: HashMap<u32, (Replicate, Vec<usize>)>,
    /// Subjects to exclude.
    pub(super) lost: Vec<(SubjectId, ProofVerdict)>,
    /// The first answer about a situation or subject that is not in the job.
    pub(super) stray: Option<SuperviseError>,
}

impl Taken {
    /// The rounds of the situations that have begun and not ended.
    pub(super) fn unfinished(self) -> impl Iterator<Item = (usize, Replicate)> {
        self.begun.into_iter().map(|(situation, (measured, _))| (situation as usize, measured))
    }
}

impl Answers<'_> {
    /// Takes an answer, unless one before it was stray.
    pub(super) fn take(&mut self, answer: MeasureAnswer) {
        if self.taken.stray.is_none() {
            self.taken.stray = self.accept(answer).err();
        }
    }

    /// # Errors
    /// If the answer is about a situation or subject that is not in the job.
    fn accept(&mut self, answer: MeasureAnswer) -> Result<(), SuperviseError> {
        if let Some(situation) = answer.situation()
            && !self.places.contains_key(&situation)
        {
            return Err(SuperviseError::Unannounced { situation });
        }
        match answer {
            MeasureAnswer::Setup(ProcessSetup { ticks_per_ns, pin_error, counter_error }) => {
                self.outcome.ticks_per_ns.push(ticks_per_ns);
                self.outcome.pin_error = pin_error;
                self.outcome.counter_error = counter_error;
            }
            MeasureAnswer::Limits(measured) => limits::merge(&mut self.outcome.limits, &measured),
            MeasureAnswer::Disturbance(disturbed) => self.outcome.disturb(disturbed),
            MeasureAnswer::Disproved { subject, counterexample } => {
                self.lose(subject, prove::failed_in_replicate(counterexample))?;
            }
            MeasureAnswer::Unproved { subject, reason } => {
                self.lose(subject, ProofVerdict::NotProved(reason))?;
            }
            MeasureAnswer::Begin { situation, members, steady } => self.begin(situation, &members, steady)?,
            MeasureAnswer::Round { situation, round } => self.round(situation, round)?,
            MeasureAnswer::End { situation, observed, wrong } => {
                let Some((mut measured, order)) = self.taken.begun.remove(&situation) else {
                    return Err(SuperviseError::Unannounced { situation });
                };
                let gathered = &mut self.outcome.gathered[situation as usize];
                let planned = &gathered.situation;
                for member in wrong {
                    let place = *order.get(member).ok_or(SuperviseError::NotInJob { subject: member })?;
                    let twin = || planned.twins.get(place - planned.subjects.len()).copied();
                    let subject = if place < planned.subjects.len() { Some(place) } else { twin() };
                    let name = subject.and_then(|subject| planned.subjects.get(subject));
                    let name = name.ok_or(SuperviseError::NotInJob { subject: member })?;
                    let reason = format!(
                        "right when verified, but its result was wrong after it was timed ({})",
                        planned.name
                    );
                    self.taken.lost.push((id_in(planned, name), ProofVerdict::WrongLater(reason)));
                }
                measured.observed = Some(observed);
                gathered.replicates.push(measured);
                self.finished[situation as usize] = true;
            }
            MeasureAnswer::Impossible { situation, reason } => {
                let index = situation as usize;
                self.finished[index] = true;
                for place in 0..self.plan.situations[index].subjects.len() {
                    self.outcome.gathered[index].lose(place, Status::Unsupported, reason.clone());
                }
            }
        }
        Ok(())
    }

    fn lose(&mut self, subject: usize, verdict: ProofVerdict) -> Result<(), SuperviseError> {
        let id = self.subjects.get(subject).ok_or(SuperviseError::NotInJob { subject })?;
        self.taken.lost.push((id.clone(), verdict));
        Ok(())
    }

    fn begin(&mut self, situation: u32, members: &[usize], steady: bool) -> Result<(), SuperviseError> {
        let name = &self.plan.situations[situation as usize].name;
        let Turn { replicate, least } = self.turn;
        self.progress.say(match self.plan.replicates {
            1 => name.clone(),
            _ if replicate >= least => format!("replicate {}: {name}", replicate + 1),
            _ => format!("replicate {} of {least}: {name}", replicate + 1),
        });
        let order = place_members(members, &self.places[&situation])
            .map_err(|subject| SuperviseError::NotInJob { subject })?;
        self.taken.begun.insert(situation, (Replicate { steady, ..Replicate::default() }, order));
        Ok(())
    }

    fn round(&mut self, situation: u32, mut round: Round) -> Result<(), SuperviseError> {
        let Some((measured, order)) = self.taken.begun.get_mut(&situation) else {
            return Err(SuperviseError::Unannounced { situation });
        };
        let planned = &self.plan.situations[situation as usize];
        let mut by_place = vec![f64::NAN; planned.places()];
        for (place, sample) in order.iter().zip(round.samples) {
            by_place[*place] = sample;
        }
        round.samples = by_place;
        let replicate = self.turn.replicate;
        let record = RoundRecord { situation: planned.name.clone(), replicate, round };
        (self.arrived)(&record);
        measured.rounds.push(record.round);
        Ok(())
    }
}
