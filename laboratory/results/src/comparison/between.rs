//! The noise between two runs of one program on this machine, from rows that cannot have changed.

use super::row::{Reach, Row};
use carryline_statistics::{Difference, LEAST_CONTROLS, RunNoise, between_runs};
use serde::Serialize;

/// The spread assumed if there are too few such rows: a standard deviation.
pub const ASSUMED_BETWEEN_RUNS: f64 = 0.015;
/// A common shift of all rows up to this is attributed to another clock or load; a larger one is a finding.
pub const MOST_SHIFT: f64 = 0.1;

/// The noise between runs beyond the scatter of their replicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Between {
    /// For cells in a core's own caches.
    pub core_caches: Noise,
    /// For all other cells.
    pub beyond: Noise,
    /// The number of rows that cannot have changed; 0 if there is no noise.
    pub controls: usize,
    /// True if these are too few to measure the noise, so that a spread is assumed.
    pub assumed: bool,
}

/// The noise of a group of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Noise {
    /// The median ratio of the rows that cannot have changed.
    pub controls_ratio: f64,
    /// True if it is removed from all ratios: it is within [`MOST_SHIFT`] of 1.
    pub taken_off: bool,
    /// The relative standard deviation of the rows around that ratio.
    pub spread: f64,
}

impl Noise {
    const NONE: Noise = Noise { controls_ratio: 1.0, taken_off: false, spread: 0.0 };

    fn of(RunNoise { shift, spread }: RunNoise) -> Noise {
        let controls_ratio = shift.exp();
        Noise { controls_ratio, taken_off: shift.abs() <= MOST_SHIFT.ln_1p(), spread }
    }

    /// The difference with the common shift removed.
    #[must_use]
    pub fn corrected(&self, difference: Difference) -> Difference {
        if self.taken_off { difference.without(self.controls_ratio.ln()) } else { difference }
    }
}

impl Between {
    /// No noise: the runs are identical, or their replicates were measured alternately.
    pub const NOTHING: Between =
        Between { core_caches: Noise::NONE, beyond: Noise::NONE, controls: 0, assumed: false };

    /// Estimates the noise from the rows of both runs and their differences. The rows of one reach are used
    /// for it if there are enough, otherwise all rows together; if these are too few, a spread is assumed.
    #[must_use]
    pub fn of(pairs: &[(&Row, &Row)], found: &[Option<Difference>]) -> Between {
        let unchanged = |reach: Option<Reach>| -> Vec<Difference> {
            let is_wanted = |row: &Row| row.is_control() && reach.is_none_or(|reach| row.reach == reach);
            let rows = pairs.iter().zip(found).filter(|((row, _), _)| is_wanted(row));
            rows.filter_map(|(_, found)| *found).collect()
        };
        let all = unchanged(None);
        let Some(together) = between_runs(&all) else {
            let assumed = Noise { spread: ASSUMED_BETWEEN_RUNS, ..Noise::NONE };
            return Between { core_caches: assumed, beyond: assumed, controls: all.len(), assumed: true };
        };
        let at = |reach| Noise::of(between_runs(&unchanged(Some(reach))).unwrap_or(together));
        Between { core_caches: at(Reach::Core), beyond: at(Reach::Far), controls: all.len(), assumed: false }
    }

    /// Why the noise is assumed, if it is.
    #[must_use]
    pub fn lack(&self) -> Option<String> {
        self.assumed.then(|| {
            let only = if self.controls == 0 { "none" } else { &format!("only {}", self.controls) };
            format!("assumed: {only} of the {LEAST_CONTROLS} rows needed that cannot have changed")
        })
    }

    /// The noise of a row of this reach.
    #[must_use]
    pub const fn at(&self, reach: Reach) -> &Noise {
        match reach {
            Reach::Core => &self.core_caches,
            Reach::Far => &self.beyond,
        }
    }
}
