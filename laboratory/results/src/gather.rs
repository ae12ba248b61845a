//! The raw samples of a run by situation, replicate and round, from workers or from the store.

use crate::Observed;
use crate::round::{Round, RoundRecord};
use carryline_conditions::Condition;
use carryline_variants::Family;
use serde::{Deserialize, Serialize};

/// A comparison: subjects of one family under one condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Situation {
    /// Short and unique in its run: `checksum 1500 hot`.
    pub name: String,
    /// The family of all subjects.
    pub family: Family,
    /// The condition under which they are measured.
    pub condition: Condition,
    /// The names of the subjects.
    pub subjects: Vec<String>,
    /// The index of the baseline, to which ratios are stated.
    pub baseline: Option<usize>,
    /// The indices of subjects that run twice, for the noise floor.
    pub twins: Vec<usize>,
    /// Its share of the time, relative to the other situations.
    pub weight: f64,
}

impl Situation {
    /// The place of the same C library function with other thresholds, if it takes part; see
    /// [`carryline_variants::c_library`].
    #[must_use]
    pub fn with_other_thresholds(&self, place: usize) -> Option<usize> {
        let variant = carryline_variants::find(self.family, self.subjects.get(place)?)?;
        let other = variant.with_other_thresholds()?;
        self.subjects.iter().position(|name| name == other.name)
    }

    /// The number of places in a round: the subjects, then the twins.
    #[must_use]
    pub fn places(&self) -> usize {
        self.subjects.len() + self.twins.len()
    }
}

/// The measurements of a situation by one worker process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replicate {
    /// Its rounds, in order.
    pub rounds: Vec<Round>,
    /// The conditions as observed.
    pub observed: Option<Observed>,
    /// False if the figures did not settle during warm-up.
    pub steady: bool,
}

/// All measurements of a situation.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// The situation.
    pub situation: Situation,
    /// The replicates, by worker process.
    pub replicates: Vec<Replicate>,
    /// Subjects without samples, with the reason: place, status and detail.
    pub lost: Vec<(usize, crate::Status, String)>,
}

impl Gathered {
    /// A situation without measurements.
    #[must_use]
    pub fn new(situation: Situation) -> Gathered {
        Gathered { situation, replicates: Vec::new(), lost: Vec::new() }
    }

    /// The situations of a plan with the rounds from a store, in the order of the plan. Lost subjects and
    /// observed conditions are not part of the rounds.
    #[must_use]
    pub fn restore(situations: Vec<Situation>, rounds: &[RoundRecord]) -> Vec<Gathered> {
        let mut gathered: Vec<Gathered> = situations.into_iter().map(Gathered::new).collect();
        for record in rounds {
            let Some(of) = gathered.iter_mut().find(|of| of.situation.name == record.situation) else {
                continue;
            };
            let replicate = record.replicate as usize;
            if of.replicates.len() <= replicate {
                of.replicates.resize_with(replicate + 1, Replicate::default);
            }
            let mut round = record.round.clone();
            round.samples.resize(of.situation.places(), f64::NAN);
            of.replicates[replicate].rounds.push(round);
        }
        gathered
    }

    /// True if any round is finished.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.replicates.iter().any(|replicate| !replicate.rounds.is_empty())
    }

    /// The gross samples of a place by replicate and round.
    #[must_use]
    pub fn gross(&self, place: usize) -> Vec<Vec<f64>> {
        self.by_round(|round| round.samples.get(place).copied().unwrap_or(f64::NAN))
    }

    /// The samples of the null call by replicate and round.
    #[must_use]
    pub fn null(&self) -> Vec<Vec<f64>> {
        self.by_round(|round| round.null_ticks)
    }

    fn by_round(&self, pick: impl Fn(&Round) -> f64) -> Vec<Vec<f64>> {
        self.replicates.iter().map(|replicate| replicate.rounds.iter().map(&pick).collect()).collect()
    }

    /// Records why a place has no samples; the first reason is kept.
    pub fn lose(&mut self, place: usize, status: crate::Status, detail: impl Into<String>) {
        if !self.lost.iter().any(|(lost, _, _)| *lost == place) {
            self.lost.push((place, status, detail.into()));
        }
    }

    /// The conditions observed by all replicates together.
    #[must_use]
    pub fn observed(&self) -> Option<Observed> {
        let mut seen = self.replicates.iter().filter_map(|replicate| replicate.observed.as_ref());
        let mut total = seen.next()?.clone();
        let mut count = 1.0;
        for more in seen {
            count += 1.0;
            total.calls += more.calls;
            total.size_min = total.size_min.min(more.size_min);
            total.size_max = total.size_max.max(more.size_max);
            total.size_mean += (more.size_mean - total.size_mean) / count;
            total.size_distinct_is_exact &=
                more.size_distinct_is_exact && more.size_distinct == total.size_distinct;
            total.size_distinct = total.size_distinct.max(more.size_distinct);
            total.dst_alignments = total.dst_alignments.max(more.dst_alignments);
            total.src_alignments = total.src_alignments.max(more.src_alignments);
            let mean = |total: Option<f64>, more: Option<f64>| {
                total.zip(more).map(|(total, more)| total + (more - total) / count)
            };
            total.near_alias = mean(total.near_alias, more.near_alias);
            total.hot_share = mean(total.hot_share, more.hot_share);
            total.beside_bytes = total.beside_bytes.zip(more.beside_bytes).map(|(a, b)| a + b);
            total.huge_bytes = total.huge_bytes.zip(more.huge_bytes).map(|(a, b)| a.min(b));
        }
        Some(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_sizes_is_exact_if_all_replicates_agree() {
        let of = |replicates: &[(u64, bool)]| {
            let situation = Situation {
                name: "s".to_owned(),
                family: Family::Zero,
                condition: Condition::plain(1),
                subjects: vec![],
                baseline: None,
                twins: vec![],
                weight: 1.0,
            };
            let mut gathered = Gathered::new(situation);
            for (size_distinct, size_distinct_is_exact) in replicates.iter().copied() {
                let observed = Observed { size_distinct, size_distinct_is_exact, ..Observed::default() };
                gathered.replicates.push(Replicate { observed: Some(observed), ..Replicate::default() });
            }
            gathered.observed().map(|observed| (observed.size_distinct, observed.size_distinct_is_exact))
        };
        assert_eq!(of(&[(2, true), (2, true)]), Some((2, true)));
        assert_eq!(of(&[(2, true), (3, true), (3, true)]), Some((3, false)));
        assert_eq!(of(&[(9, true), (9, false)]), Some((9, false)));
    }
}
