//! All goals: one file for each part of a tier's goals, and for goals of every tier.

pub mod avx2;
pub mod checksum;
pub mod fleet;
pub mod memory;
pub mod sizes;
pub mod sse2;
pub mod traps;

use crate::goal::{Goal, Part};
use crate::tier::Tier;
use anyhow::bail;
use carryline_machine::nearest::{did_you_mean, nearest};

/// Every goal of a tier, in the order of the document.
#[must_use]
pub fn all(tier: Tier) -> Vec<Goal> {
    let own = match tier {
        Tier::Avx512 => [checksum::goals(), memory::goals()].concat(),
        Tier::Avx2 => avx2::goals(),
        Tier::Sse2 => sse2::goals(),
    };
    [own, sizes::goals(), traps::goals(tier)].concat()
}

/// The goals of a tier that the values of `--only` select: a part of the library, a goal, or a prefix of
/// several goals' names that ends before a hyphen; all goals without a value. Values that select only goals
/// of other tiers select nothing.
///
/// # Errors
/// If a value selects no goal of any tier.
pub fn only(words: &[String], tier: Tier) -> anyhow::Result<Vec<Goal>> {
    let means = |word: &str, goal: &Goal| {
        goal.part.word() == word
            || goal.id.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    for word in words {
        let every: Vec<Goal> = Tier::ALL.into_iter().flat_map(all).collect();
        if !every.iter().any(|goal| means(word, goal)) {
            let parts = Part::ALL.map(Part::word);
            let known = parts.into_iter().chain(every.iter().map(|goal| goal.id.as_str()));
            let near = did_you_mean(&nearest(word, known));
            bail!("no goal '{word}'{near}; 'cargo xtask benchmarks goals' lists them");
        }
    }
    let wanted = |goal: &Goal| words.is_empty() || words.iter().any(|word| means(word, goal));
    Ok(all(tier).into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Against, is_ours};
    use carryline_conditions::sizes::Sizes;
    use std::collections::HashSet;

    #[test]
    fn goals_are_well_formed() {
        let mut ids = HashSet::new();
        for (tier, goal) in
            Tier::ALL.into_iter().flat_map(|tier| all(tier).into_iter().map(move |g| (tier, g)))
        {
            assert!(ids.insert((tier, goal.id.clone())), "{tier}: duplicate goal {}", goal.id);
            assert!(is_ours(goal.ours) && goal.want > 0.0 && !goal.source.is_empty(), "{}", goal.id);
            assert!(!goal.cells.sizes.is_empty(), "{}", goal.id);
            Sizes::parse_list(&goal.cells.sizes.join(",")).unwrap_or_else(|e| panic!("{}: {e}", goal.id));
            let known = |family, name| carryline_variants::find(family, name).is_some();
            match goal.against {
                Against::Variant(name) => assert!(known(goal.cells.family(), name), "{}: {name}", goal.id),
                Against::BestOf(names) => {
                    assert!(names.iter().all(|name| known(goal.cells.family(), name)), "{}", goal.id);
                }
                Against::Elsewhere(family, name) => {
                    assert!(known(family, name) && goal.cells.families.contains(&family), "{}", goal.id);
                }
                Against::Limit => assert!(goal.want < 1.0, "{}: no share", goal.id),
                Against::BestPeer | Against::Null(_) | Against::OursAt(_) | Against::TwoPasses => {}
            }
            // Other projects' libraries are not part of this build.
            let peers = ["stringzilla", "etherparse", "s2n_quic"];
            let mut own = goal.cells.variants.iter().filter(|name| !peers.contains(&name.as_str()));
            let checked = own.all(|name| goal.cells.families.iter().any(|family| known(*family, name)));
            assert!(checked, "{}: {:?}", goal.id, goal.cells.variants);
            if let Some(name) = goal.also {
                assert!(known(goal.cells.family(), name), "{}: {name}", goal.id);
            }
        }
    }

    #[test]
    fn words_select_parts_goals_and_prefixes() {
        let count = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            only(&words, Tier::Avx512).map(|goals| goals.len()).unwrap_or(0)
        };
        assert_eq!(count(&[]), all(Tier::Avx512).len());
        assert_eq!(count(&["checksum"]) + count(&["memory"]), all(Tier::Avx512).len());
        assert!(count(&["checksum-1500"]) >= 3);
        assert_eq!(count(&["checksum-1500-kernel"]), 1);
        assert_eq!(count(&["checksum-15"]), 0);
        assert_eq!(count(&["checksum-9000-limit"]), 0, "a goal of another tier");
        assert!(only(&["checksum-9000-limit".to_owned()], Tier::Avx512).is_ok());
        let error = only(&["chksum".to_owned()], Tier::Avx512).expect_err("no such goal").to_string();
        assert!(error.contains("'chksum'") && error.contains("'checksum'"), "{error}");
    }
}
