//! Conditions whose words have another meaning than when a run was stored, and what they are called now: `random` offsets
//! were what is now `random-line`, `cold:evict` was `cold:evict-once`, `cold:arena` and `mixed` used the same lines over and
//! over, sizes with a period ran too few times for predictors to learn them, and `read-later` read what was just written.

use crate::plan::RunPlan;
use carryline_conditions::{CacheMethod, Condition, Offsets, Then};
use carryline_results::RunResult;
use carryline_results::gather::{Gathered, Situation};
use carryline_results::round::RoundRecord;
use std::collections::BTreeMap;

/// Renames the situations of a result, so that they are not mistaken for today's.
pub(super) fn renamed(mut result: RunResult) -> RunResult {
    let mut renamed = BTreeMap::new();
    for cell in &mut result.cells {
        let name = current_name(&cell.situation, &mut cell.condition);
        let old = std::mem::replace(&mut cell.situation, name.clone());
        renamed.insert(old, name);
    }
    for (name, _) in result.noise_floor.iter_mut().flat_map(|floor| &mut floor.by_situation) {
        if let Some(current) = renamed.get(name) {
            name.clone_from(current);
        }
    }
    result
}

/// Renames the situations of a plan.
pub(super) fn plan(mut plan: RunPlan) -> RunPlan {
    plan.situations.iter_mut().for_each(rename);
    plan
}

/// The rounds of a plan by situation, these renamed.
pub(super) fn gathered(plan: &RunPlan, rounds: &[RoundRecord]) -> Vec<Gathered> {
    let mut gathered = Gathered::restore(plan.situations.clone(), rounds);
    gathered.iter_mut().for_each(|gathered| rename(&mut gathered.situation));
    gathered
}

/// The situations of a plan that have another name now, by the name they had.
pub(super) fn names(plan: &RunPlan) -> BTreeMap<&str, Situation> {
    let now = |situation: &Situation| {
        let mut now = situation.clone();
        rename(&mut now);
        now
    };
    let pairs = plan.situations.iter().map(|situation| (situation.name.as_str(), now(situation)));
    pairs.filter(|(name, now)| *name != now.name).collect()
}

fn rename(situation: &mut Situation) {
    situation.name = current_name(&situation.name, &mut situation.condition);
}

/// True for a condition that cannot be measured any more. `random-line` can be.
#[must_use]
pub fn is_past(condition: &Condition) -> bool {
    use CacheMethod::{ArenaReused, EvictOnce, MixedReused};
    let half_learned = condition.sizes.period.is_some() && !condition.sizes.learned;
    half_learned
        || matches!(condition.cache.method, EvictOnce | ArenaReused | MixedReused { .. })
        || matches!(condition.then, Then::ReadWrapped(_))
}

/// The name of a situation in today's words. The label of its sizes changes with it.
fn current_name(name: &str, condition: &mut Condition) -> String {
    let mut name = name.to_owned();
    if condition.offsets == Offsets::RandomInLine {
        name = name.replace("offset random ", "offset random-line ");
    }
    if condition.cache.method == CacheMethod::EvictOnce {
        name = name.replace("cold:evict:", "cold:evict-once:").replace("cold:evict ", "cold:evict-once ");
    }
    if condition.cache.method == CacheMethod::ArenaReused {
        name = name.replace("cold:arena:", "cold:arena-reused:").replace("cold:arena ", "cold:arena-reused ");
    }
    if let CacheMethod::MixedReused { hot_percent } = condition.cache.method {
        let mixed = format!("mixed:{hot_percent}");
        name = name.replace(&format!("{mixed} "), &format!("{mixed}-reused "));
    }
    if let Then::ReadWrapped(_) = condition.then {
        name = name.replace("read-later:", "read-later-wrapped:");
    }
    let sizes = &mut condition.sizes;
    if sizes.period.is_some() && !sizes.learned {
        let label = format!("{} (half learned)", sizes.label);
        name = name.replacen(&sizes.label, &label, 1);
        sizes.label = label;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_conditions::Cache;
    use carryline_conditions::sizes::Sizes;

    #[test]
    fn situations_whose_words_have_changed_their_meaning_are_renamed() {
        let condition = |learned, offsets| Condition {
            sizes: Sizes { learned, ..Sizes::parse_list("1..64/period:100").expect("sizes").remove(0) },
            offsets,
            ..Condition::plain(0)
        };
        let name = "copy 1..64/period:100 offset random hot independent";
        let half = "copy 1..64/period:100 (half learned) offset random hot independent";
        let line = "copy 1..64/period:100 offset random-line hot independent";
        for (learned, offsets, expected) in [
            (true, Offsets::Random, name),
            (false, Offsets::Random, half),
            (true, Offsets::RandomInLine, line),
        ] {
            let mut condition = condition(learned, offsets);
            assert_eq!(current_name(name, &mut condition), expected);
            assert_eq!(condition.sizes.label.contains("half"), !learned);
        }
        let mut later = Condition { then: Then::ReadWrapped(4096), ..Condition::plain(40) };
        let named = |word: &str| format!("zero 40 offset 0 hot independent then {word}:4096");
        assert_eq!(current_name(&named("read-later"), &mut later), named("read-later-wrapped"));
        for (word, now) in [
            ("cold:evict", "cold:evict-once"),
            ("cold:evict:src:single", "cold:evict-once:src:single"),
            ("cold:arena", "cold:arena-reused"),
            ("cold:arena:src", "cold:arena-reused:src"),
            ("mixed:50", "mixed:50-reused"),
            ("cold:clflush", "cold:clflush"),
        ] {
            let mut cache: Cache = word.parse().expect("a cache state");
            cache.method = match cache.method {
                CacheMethod::Evict => CacheMethod::EvictOnce,
                CacheMethod::Arena => CacheMethod::ArenaReused,
                CacheMethod::Mixed { hot_percent } => CacheMethod::MixedReused { hot_percent },
                method => method,
            };
            let mut old = Condition { cache, ..Condition::plain(40) };
            let name = |word: &str| format!("copy 40 offset 0 {word} independent");
            assert_eq!(current_name(&name(word), &mut old), name(now));
            assert_eq!(cache.to_string(), now);
        }
    }
}
