//! The plan of a run: what is to be measured.

use carryline_results::gather::Situation;
use carryline_verification::subject::SubjectId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A run before it is carried out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunPlan {
    /// The comparisons.
    pub situations: Vec<Situation>,
    /// Plug-ins as on the command line, with their subjects.
    pub plugins: Vec<(String, SubjectId)>,
    /// The number of replicates, each a worker process of each kind, that run even if the time is up; see
    /// [`thresholds`](super::thresholds).
    pub replicates: u32,
    /// The most replicates if there is time: another replicate narrows an interval more than anything else.
    pub most_replicates: u32,
    /// The time for verification and measurement together.
    pub budget: Duration,
    /// The random seed.
    pub seed: u64,
    /// How long a worker may go without progress.
    pub patience: Duration,
}

impl RunPlan {
    /// All subjects without duplicates, in the order of first occurrence.
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
