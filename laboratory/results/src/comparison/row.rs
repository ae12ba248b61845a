//! A cell in the form in which runs are compared, whether its run stored samples or only estimates.

use crate::gather::Gathered;
use crate::{Cell, Status};
use carryline_machine::environment::Level;
use carryline_statistics::{self as statistics, Estimate};
use carryline_variants::{Family, Role};

/// Where a cell's operands are; shared caches and memory vary more from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// In a core's own caches.
    Core,
    /// In a shared cache or in memory, or unknown.
    Far,
}

impl Reach {
    /// The reach of operands at this level.
    #[must_use]
    pub const fn of(level: Option<Level>) -> Reach {
        match level {
            Some(Level::L1 | Level::L2) => Reach::Core,
            _ => Reach::Far,
        }
    }
}

/// The data on a cell's gross time.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// All samples, by replicate and round.
    Samples(Vec<Vec<f64>>),
    /// A median with its interval.
    Estimate(Estimate),
    /// Nothing.
    Nothing,
}

impl Evidence {
    /// The estimate.
    #[must_use]
    pub fn estimate(&self, seed: u64) -> Option<Estimate> {
        match self {
            Evidence::Samples(samples) => statistics::estimate(samples, seed),
            Evidence::Estimate(estimate) => Some(*estimate),
            Evidence::Nothing => None,
        }
    }

    /// The median.
    #[must_use]
    pub fn typical(&self) -> Option<f64> {
        match self {
            Evidence::Samples(samples) => statistics::typical(samples),
            Evidence::Estimate(estimate) => Some(estimate.median),
            Evidence::Nothing => None,
        }
    }
}

/// A cell of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its situation's name.
    pub situation: String,
    /// Its variant's name.
    pub variant: String,
    /// The variant's family.
    pub family: Family,
    /// Where its operands are.
    pub reach: Reach,
    /// The data on its gross time.
    pub evidence: Evidence,
    /// Why there is none, as text.
    pub absent: Option<String>,
    /// The noise floor of its situation; `None` if no A/A pair was measured.
    pub noise_floor: Option<f64>,
}

impl Row {
    /// True if `other` is the same cell of another run.
    #[must_use]
    pub fn is_like(&self, other: &Row) -> bool {
        self.situation == other.situation && self.variant == other.variant && self.family == other.family
    }

    /// The row of a cell without samples.
    #[must_use]
    pub fn of_cell(cell: &Cell, noise_floor: Option<f64>) -> Row {
        Row {
            situation: cell.situation.clone(),
            variant: cell.variant.clone(),
            family: cell.family,
            reach: Reach::of(cell.observed.as_ref().map(|observed| observed.level)),
            evidence: cell.gross.map_or(Evidence::Nothing, Evidence::Estimate),
            absent: (cell.status != Status::Ok).then(|| cell.detail.clone()).flatten(),
            noise_floor,
        }
    }

    /// The rows of a situation with its samples and its noise floor.
    #[must_use]
    pub fn of_samples(gathered: &Gathered, noise_floor: Option<f64>) -> Vec<Row> {
        let situation = &gathered.situation;
        let reach = Reach::of(gathered.observed().map(|observed| observed.level));
        let row = |(place, name): (usize, &String)| {
            let samples = gathered.gross(place);
            let lost = gathered.lost.iter().find(|(lost, _, _)| *lost == place);
            let any = samples.iter().flatten().any(|ticks| ticks.is_finite() && *ticks > 0.0);
            let measured = lost.is_none() && any;
            Row {
                situation: situation.name.clone(),
                variant: name.clone(),
                family: situation.family,
                reach,
                evidence: if measured { Evidence::Samples(samples) } else { Evidence::Nothing },
                absent: lost.map(|(_, _, why)| why.clone()),
                noise_floor,
            }
        };
        situation.subjects.iter().enumerate().map(row).collect()
    }

    /// True if no change of our library, the C library or a plug-in can have changed the code of this row.
    #[must_use]
    pub fn is_control(&self) -> bool {
        carryline_variants::find(self.family, &self.variant).is_some_and(|variant| {
            variant.role != Role::Ours && variant.c_library.is_none() && variant.lands.is_none()
        })
    }
}
