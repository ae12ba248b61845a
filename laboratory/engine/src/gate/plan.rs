//! What of a base's plan is measured again: the rows that a change of the library can have made slower, and some beside them
//! that it cannot.

use crate::plan::Plan;
use carryline_results::comparison::Row;
use carryline_results::gather::Situation;
use carryline_variants::{Family, Role};
use std::collections::BTreeSet;

/// Rows that cannot have changed, at most, in each situation: they tell what runs differ by.
const CONTROLS: usize = 3;

/// Which rows are meant, by family and name.
pub type Wanted<'a> = dyn Fn(Family, &str) -> bool + 'a;

/// A plan for a gate.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// What is measured.
    pub plan: Plan,
    /// What is gated: situations and variants.
    pub gated: BTreeSet<(String, String)>,
}

/// Chooses from a base's plan. `wanted` says which rows are gated; without it, the library's own and plug-ins, or all where
/// there are none of these. With `controls`, rows are measured beside them that cannot have changed. Only rows that the base
/// has a figure for take part.
#[must_use]
pub fn choose(plan: &Plan, base: &[Row], wanted: Option<&Wanted<'_>>, controls: bool) -> Chosen {
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
    // A worker loads every plug-in that it is given.
    let plugins = plan.plugins.iter().filter(|(_, id)| used(id)).cloned().collect();
    Chosen { plan: Plan { situations, plugins, ..plan.clone() }, gated }
}
