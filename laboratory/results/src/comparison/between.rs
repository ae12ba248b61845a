//! What two runs of one program differ by on this machine, from the rows that cannot have changed.

use super::row::{Reach, Row};
use carryline_statistics::{Difference, between_runs};
use serde::Serialize;

/// What is assumed, as a standard deviation, where too few rows tell.
pub const ASSUMED_BETWEEN_RUNS: f64 = 0.015;

/// By how much runs differ beyond what their replicates tell: standard deviations, relative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Between {
    /// Of cells in a core's own caches.
    pub core_caches: f64,
    /// Of all others.
    pub beyond: f64,
    /// How many rows that cannot have changed it rests on; 0 where it is assumed, or where there is none.
    pub controls: usize,
}

impl Between {
    /// What was assumed.
    const ASSUMED: Between =
        Between { core_caches: ASSUMED_BETWEEN_RUNS, beyond: ASSUMED_BETWEEN_RUNS, controls: 0 };

    /// From rows of both runs and what they differ by. Rows of one reach speak for it where they are enough, else all
    /// together, else a value is assumed.
    #[must_use]
    pub fn of(pairs: &[(&Row, &Row)], found: &[Option<Difference>]) -> Between {
        let unchanged = |reach: Option<Reach>| -> Vec<Difference> {
            let rows = pairs.iter().zip(found);
            let wanted =
                rows.filter(|((row, _), _)| row.is_control() && reach.is_none_or(|reach| row.reach == reach));
            wanted.filter_map(|(_, found)| *found).collect()
        };
        let all = unchanged(None);
        let Some(together) = between_runs(&all) else { return Between::ASSUMED };
        let at = |reach| between_runs(&unchanged(Some(reach))).unwrap_or(together);
        Between { core_caches: at(Reach::Core), beyond: at(Reach::Far), controls: all.len() }
    }

    /// For a row of that reach.
    #[must_use]
    pub const fn at(&self, reach: Reach) -> f64 {
        match reach {
            Reach::Core => self.core_caches,
            Reach::Far => self.beyond,
        }
    }
}
