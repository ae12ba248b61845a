//! Selects what to measure again from a base's plan: the gated rows and, as controls, rows that cannot have
//! changed.

use crate::plan::RunPlan;
use carryline_results::comparison::Row;
use carryline_results::gather::Situation;
use carryline_variants::{Family, Role};
use std::collections::BTreeSet;

/// The most control rows of a situation.
const CONTROLS: usize = 3;

/// A predicate on rows, by family and variant.
pub type Wanted<'a> = dyn Fn(Family, &str) -> bool + 'a;

/// A plan for a gate.
#[derive(Clone, Debug)]
pub struct GatePlan {
    /// What to measure.
    pub plan: RunPlan,
    /// The gated rows: situations and variants.
    pub gated: BTreeSet<(String, String)>,
}

/// Selects from a base's plan. `wanted` selects the rows to gate; by default the library's own and plug-ins,
/// or all rows if there are none of these. `controls` adds rows that cannot have changed. Rows without a
/// figure in the base are left out.
#[must_use]
pub fn choose(plan: &RunPlan, base: &[Row], wanted: Option<&Wanted<'_>>, controls: bool) -> GatePlan {
    let ours =
        |family, name: &str| carryline_variants::find(family, name).is_none_or(|v| v.role == Role::Ours);
    let all = |_: Family, _: &str| true;
    let any_ours = base.iter().any(|row| ours(row.family, &row.variant));
    let default: &Wanted<'_> = if any_ours { &ours } else { &all };
    let wanted = wanted.unwrap_or(default);
    let row = |situation: &Situation, name: &String| {
        base.iter()
            .find(|row| row.situation == situation.name && row.variant == *name && row.absent.is_none())
    };
    let mut gated = BTreeSet::new();
    let mut situations = Vec::new();
    for situation in &plan.situations {
        let known: Vec<&Row> = situation.subjects.iter().filter_map(|name| row(situation, name)).collect();
        let is_wanted = |row: &&Row| wanted(row.family, &row.variant);
        if !known.iter().any(is_wanted) {
            continue;
        }
        let mut beside = if controls { CONTROLS } else { 0 };
        let mut takes_part = |row: &&Row| {
            let control = !is_wanted(row) && row.is_control() && beside > 0;
            beside -= usize::from(control);
            control || is_wanted(row)
        };
        let subjects: Vec<String> =
            known.into_iter().filter(|row| takes_part(row)).map(|row| row.variant.clone()).collect();
        let names = subjects.iter().filter(|name| wanted(situation.family, name));
        gated.extend(names.map(|name| (situation.name.clone(), name.clone())));
        situations.push(Situation { subjects, baseline: None, twins: Vec::new(), ..situation.clone() });
    }
    let used = |id: &carryline_verification::subject::SubjectId| {
        situations
            .iter()
            .any(|situation| situation.family == id.family && situation.subjects.contains(&id.name))
    };
    // A worker loads every plug-in in its job.
    let plugins = plan.plugins.iter().filter(|(_, id)| used(id)).cloned().collect();
    GatePlan { plan: RunPlan { situations, plugins, ..plan.clone() }, gated }
}
