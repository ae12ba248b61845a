//! What is to be measured, before anything is.

use carryline_results::gather::Situation;
use carryline_verification::subject::SubjectId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A run to be made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The comparisons.
    pub situations: Vec<Situation>,
    /// Plug-ins, as on the command line, with the subjects they are.
    pub plugins: Vec<(String, SubjectId)>,
    /// Worker processes of each kind that measure everything again, whatever the time; see
    /// [`thresholds`](super::thresholds).
    pub replicates: u32,
    /// The same at most, where time is left: nothing sharpens an interval like another replicate.
    pub most_replicates: u32,
    /// Time for verification and measurement together.
    pub budget: Duration,
    /// Seed of everything random.
    pub seed: u64,
    /// How long a worker may make no progress.
    pub patience: Duration,
}

impl Plan {
    /// Every subject once, in the order of first occurrence.
    pub fn subjects(&self) -> Vec<SubjectId> {
        let mut ids: Vec<SubjectId> = Vec::new();
        for situation in &self.situations {
            for name in &situation.subjects {
                let id = SubjectId { family: situation.family, name: name.clone() };
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        ids
    }
}
