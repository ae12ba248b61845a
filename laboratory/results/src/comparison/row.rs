//! A cell as a comparison takes it: what is known of its time, whichever form its run was kept in.

use crate::gather::Gathered;
use crate::{Cell, Status};
use carryline_machine::environment::Level;
use carryline_statistics::{self as statistics, Estimate};
use carryline_variants::{Family, Role};

/// How far a cell's operands are: what differs from run to run is another matter in shared caches and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A core's own caches.
    Core,
    /// A shared cache, memory, or not known.
    Far,
}

impl Reach {
    /// Of operands at that level.
    #[must_use]
    pub const fn of(level: Option<Level>) -> Reach {
        match level {
            Some(Level::L1 | Level::L2) => Reach::Core,
            _ => Reach::Far,
        }
    }
}

/// What is known of a cell's gross time.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// Every sample, by replicate and round.
    Samples(Vec<Vec<f64>>),
    /// A median and its interval.
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

/// A cell of a run that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its situation's name.
    pub situation: String,
    /// Its variant's name.
    pub variant: String,
    /// What the variant does.
    pub family: Family,
    /// How far its operands are.
    pub reach: Reach,
    /// Its time.
    pub evidence: Evidence,
    /// Why there is none, in words.
    pub absent: Option<String>,
    /// The noise floor of its situation; `None` where no A/A pair was measured.
    pub noise_floor: Option<f64>,
}

impl Row {
    /// True if the other is the same cell.
    #[must_use]
    pub fn is_like(&self, other: &Row) -> bool {
        self.situation == other.situation && self.variant == other.variant && self.family == other.family
    }

    /// The rows of a result without its samples.
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

    /// Rows of a situation with its samples; `noise_floor` is the situation's.
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

    /// True if no change of the library, of the C library or of a plug-in can have changed the code of this row.
    #[must_use]
    pub fn is_control(&self) -> bool {
        carryline_variants::find(self.family, &self.variant).is_some_and(|variant| {
            variant.role != Role::Ours && variant.c_library.is_none() && variant.lands.is_none()
        })
    }
}
