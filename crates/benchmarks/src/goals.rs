//! Every goal. One file for each part of the library.

pub mod checksum;
pub mod memory;

use crate::goal::{Goal, Part};
use anyhow::bail;
use carryline_measure::nearest::{did_you_mean, nearest};

/// Every goal, in the order of the document.
#[must_use]
pub fn all() -> Vec<Goal> {
    [checksum::goals(), memory::goals()].concat()
}

/// The goals that words of `--only` mean: a part of the library, a goal, or the beginning of several goals' names up to
/// a hyphen; all, without a word.
///
/// # Errors
/// A word that means none.
pub fn only(words: &[String]) -> anyhow::Result<Vec<Goal>> {
    let all = all();
    let means = |word: &str, goal: &Goal| {
        goal.part.word() == word
            || goal.id.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    for word in words {
        if !all.iter().any(|goal| means(word, goal)) {
            let parts = Part::ALL.map(Part::word);
            let known = parts.into_iter().chain(all.iter().map(|goal| goal.id.as_str()));
            let near = did_you_mean(&nearest(word, known));
            bail!("no goal '{word}'{near}; 'cargo xtask benchmarks goals' lists them");
        }
    }
    let wanted = |goal: &Goal| words.is_empty() || words.iter().any(|word| means(word, goal));
    Ok(all.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Against, is_ours};
    use carryline_measure::sizes::Sizes;
    use std::collections::HashSet;

    #[test]
    fn every_goal_is_sound() {
        let mut ids = HashSet::new();
        for goal in all() {
            assert!(ids.insert(goal.id.clone()), "{} stands twice", goal.id);
            assert!(is_ours(goal.ours) && goal.want > 0.0 && !goal.source.is_empty(), "{}", goal.id);
            assert!(!goal.cells.sizes.is_empty(), "{}", goal.id);
            Sizes::parse_list(&goal.cells.sizes.join(",")).unwrap_or_else(|e| panic!("{}: {e}", goal.id));
            let known = |family, name| carryline_variants::find(family, name).is_some();
            match goal.against {
                Against::Variant(name) => assert!(known(goal.cells.family(), name), "{}: {name}", goal.id),
                Against::Elsewhere(family, name) => {
                    assert!(known(family, name) && goal.cells.families.contains(&family), "{}", goal.id);
                }
                Against::Limit => assert!(goal.want < 1.0, "{}: no share", goal.id),
                Against::BestPeer | Against::Null(_) | Against::OursAt(_) | Against::TwoPasses => {}
            }
            if let Some(name) = goal.also {
                assert!(known(goal.cells.family(), name), "{}: {name}", goal.id);
            }
        }
    }

    #[test]
    fn words_mean_parts_goals_and_beginnings() {
        let count = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            only(&words).map(|goals| goals.len()).unwrap_or(0)
        };
        assert_eq!(count(&[]), all().len());
        assert_eq!(count(&["checksum"]) + count(&["memory"]), all().len());
        assert!(count(&["checksum-1500"]) >= 3);
        assert_eq!(count(&["checksum-1500-kernel"]), 1);
        assert_eq!(count(&["checksum-15"]), 0);
        let error = only(&["chksum".to_owned()]).expect_err("no such goal").to_string();
        assert!(error.contains("'chksum'") && error.contains("'checksum'"), "{error}");
    }
}
