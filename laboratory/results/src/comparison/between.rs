//! What two runs of one program differ by on this machine, from the rows that cannot have changed.

use super::row::{Reach, Row};
use carryline_statistics::{Difference, RunNoise, between_runs};
use serde::Serialize;

/// The spread that is assumed where too few rows tell: a standard deviation.
pub const ASSUMED_BETWEEN_RUNS: f64 = 0.015;
/// A shift common to all rows is taken for another clock or a busier hour up to this; beyond, it is a finding.
pub const MOST_SHIFT: f64 = 0.1;

/// By how much runs differ beyond what their replicates tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Between {
    /// Of cells in a core's own caches.
    pub core_caches: Noise,
    /// Of all others.
    pub beyond: Noise,
    /// How many rows that cannot have changed it rests on; 0 where it is assumed, or where there is none.
    pub controls: usize,
}

/// The noise of some cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Noise {
    /// The median ratio of the rows that cannot have changed.
    pub controls_ratio: f64,
    /// True if that is taken off all ratios: it is within [`MOST_SHIFT`] of 1.
    pub taken_off: bool,
    /// The standard deviation of what each row has by itself, relative.
    pub spread: f64,
}

impl Noise {
    const NONE: Noise = Noise { controls_ratio: 1.0, taken_off: false, spread: 0.0 };

    fn of(RunNoise { shift, spread }: RunNoise) -> Noise {
        let controls_ratio = shift.exp();
        Noise { controls_ratio, taken_off: shift.abs() <= MOST_SHIFT.ln_1p(), spread }
    }

    /// The difference without what all rows have in common.
    #[must_use]
    pub fn corrected(&self, difference: Difference) -> Difference {
        if self.taken_off { difference.without(self.controls_ratio.ln()) } else { difference }
    }
}

impl Between {
    /// Where rows were measured in turn, or are the same.
    pub const NOTHING: Between = Between { core_caches: Noise::NONE, beyond: Noise::NONE, controls: 0 };

    /// From rows of both runs and what they differ by. Rows of one reach speak for it where they are enough, else all
    /// together, else a spread is assumed.
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
            return Between { core_caches: assumed, beyond: assumed, controls: 0 };
        };
        let at = |reach| Noise::of(between_runs(&unchanged(Some(reach))).unwrap_or(together));
        Between { core_caches: at(Reach::Core), beyond: at(Reach::Far), controls: all.len() }
    }

    /// For a row of that reach.
    #[must_use]
    pub const fn at(&self, reach: Reach) -> &Noise {
        match reach {
            Reach::Core => &self.core_caches,
            Reach::Far => &self.beyond,
        }
    }
}
