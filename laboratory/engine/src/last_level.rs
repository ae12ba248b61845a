//! How much of the last cache level is available to a run: see [`carryline_sampler::last_level`].

use crate::machine::Here;
use crate::plan::RunPlan;
use crate::progress::Progress;
use crate::protocol::LastLevelJob;
use crate::supervise::{SuperviseError, Supervisor};
use carryline_machine::environment::CacheSizes;
use carryline_sampler::{hot_bytes, last_level};

/// The machine's caches, with the part of the last level that is available if a hot cell of the plan may exceed it. Where the
/// worker ends early or there is no memory for cells in memory, the reported size is believed.
///
/// # Errors
/// If the worker cannot be started.
pub fn measured(
    here: &Here,
    plan: &RunPlan,
    cpu: Option<usize>,
    supervisor: &Supervisor,
    progress: &Progress,
    stop: &dyn Fn() -> bool,
) -> Result<CacheSizes, SuperviseError> {
    let caches = here.caches;
    let Some(most_bytes) = largest_within(&caches, plan) else { return Ok(caches) };
    progress.say("measuring the share of the last-level cache");
    let mut held_bytes = None;
    let stop = || {
        progress.tick();
        stop()
    };
    supervisor.run(LastLevelJob { most_bytes, cpu, caches }, 0, &stop, &mut |answer| {
        held_bytes = answer.held_bytes;
    })?;
    let measured = CacheSizes { l3_held: held_bytes, ..caches };
    let has_room = here.has_room_for(&plan.situations, &measured);
    Ok(if has_room { measured } else { caches })
}

/// The bytes of the largest hot cell that the reported last level holds; `None` if all surely fit into a part of it.
fn largest_within(caches: &CacheSizes, plan: &RunPlan) -> Option<u64> {
    let smallest = last_level::smallest(caches)?;
    let situations = plan.situations.iter();
    let bytes = situations.filter_map(|planned| hot_bytes(planned.family, &planned.condition, caches));
    bytes.filter(|bytes| *bytes <= caches.l3 && *bytes > smallest).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard;
    use carryline_conditions::Condition;
    use carryline_variants::Family;
    use std::time::Duration;

    fn plan(family: Family, sizes: &[u64]) -> RunPlan {
        let subjects = |_| (vec!["carryline".to_owned()], Some(0));
        let planned = |bytes: &u64| standard::situation(family, Condition::plain(*bytes), 1.0, &subjects);
        RunPlan {
            situations: sizes.iter().map(planned).collect(),
            plugins: Vec::new(),
            replicates: 1,
            most_replicates: 1,
            budget: Duration::from_secs(1),
            seed: 1,
            patience: Duration::from_secs(1),
        }
    }

    #[test]
    fn only_cells_that_may_exceed_the_level_need_it() {
        let caches = CacheSizes { l1: 48 << 10, l2: 2 << 20, l3: 480 << 20, l3_held: None };
        let largest = |family, mib: &[u64]| {
            let sizes: Vec<u64> = mib.iter().map(|mib| mib << 20).collect();
            largest_within(&caches, &plan(family, &sizes)).map(|bytes| bytes >> 20)
        };
        assert_eq!(largest(Family::Checksum, &[1, 8]), None, "held by any part of the level");
        assert_eq!(largest(Family::Checksum, &[1, 128, 64]), Some(128));
        assert_eq!(largest(Family::Copy, &[8]), Some(16), "both buffers");
        assert_eq!(largest(Family::Checksum, &[16, 512]), Some(16), "512 MiB are in memory anyway");
    }
}
