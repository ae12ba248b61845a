//! Presents pairwise verdicts as groups: the compact letter display of multiple comparisons.
//!
//! Ties are not transitive, so a partition cannot represent them, but overlapping groups can: two cells share
//! a group exactly if no difference was found between them. The algorithm is insert and absorb (H.-P. Piepho,
//! "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons", J. Comput. Graph. Stat.
//! 13(2), 2004): one group of all cells is split at every pair that differs, groups contained in others are
//! absorbed, and groups that add no tie are removed.

/// The groups of `count` cells, each in ascending order, sorted by their first members; every cell is in at
/// least one. `differ` tells whether two cells differ; the first has the lower index.
///
/// # Examples
/// ```
/// use carryline_statistics::letter_groups;
/// // 0 and 2 differ, and 3 differs from all; 1 differs from neither 0 nor 2.
/// let differ = |a, b| b == 3 || (a, b) == (0, 2);
/// assert_eq!(letter_groups(4, differ), [vec![0, 1], vec![1, 2], vec![3]]);
/// ```
#[must_use]
pub fn letter_groups(count: usize, differ: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![];
    }
    let mut groups = vec![vec![true; count]];
    for a in 0..count {
        for b in a + 1..count {
            if differ(a, b) {
                insert(&mut groups, a, b);
            }
        }
    }
    let members = |group: &Vec<bool>| (0..count).filter(|cell| group[*cell]).collect::<Vec<_>>();
    let mut groups: Vec<Vec<usize>> = groups.iter().map(members).collect();
    groups.sort_unstable();
    groups
}

/// Splits every group that holds both cells. Invariant: two cells not yet known to differ share a group.
fn insert(groups: &mut Vec<Vec<bool>>, a: usize, b: usize) {
    let (both, mut kept): (Vec<_>, Vec<_>) = groups.drain(..).partition(|group| group[a] && group[b]);
    for group in both {
        for leaving in [a, b] {
            let mut part = group.clone();
            part[leaving] = false;
            // Absorption: a part contained in a kept group is dropped.
            if !kept.iter().any(|kept| is_within(&part, kept)) {
                kept.push(part);
            }
        }
    }
    // Removing redundant groups at every step keeps their number below that of pairs.
    kept.sort_by_key(|group| group.iter().filter(|member| **member).count());
    let mut at = 0;
    while at < kept.len() {
        match is_redundant(&kept, at) {
            true => _ = kept.remove(at),
            false => at += 1,
        }
    }
    *groups = kept;
}

fn is_within(part: &[bool], whole: &[bool]) -> bool {
    part.iter().zip(whole).all(|(part, whole)| !part || *whole)
}

/// True if each pair of its members, and each single member, is in another group too.
fn is_redundant(groups: &[Vec<bool>], at: usize) -> bool {
    let others = || groups.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, group)| group);
    let members: Vec<usize> = (0..groups[at].len()).filter(|cell| groups[at][*cell]).collect();
    members
        .iter()
        .enumerate()
        .all(|(place, &a)| members[place..].iter().all(|&b| others().any(|group| group[a] && group[b])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn share(groups: &[Vec<usize>], a: usize, b: usize) -> bool {
        groups.iter().any(|group| group.contains(&a) && group.contains(&b))
    }

    #[test]
    fn two_cells_share_a_group_exactly_if_they_tie() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(15);
        for trial in 0..300_u64 {
            let count = (rng.next_u64() % 14) as usize;
            let often = 1 + trial % 9;
            let verdicts: Vec<bool> = (0..count * count).map(|_| rng.next_u64() % 10 < often).collect();
            let differ = |a: usize, b: usize| verdicts[a * count + b];
            let groups = letter_groups(count, differ);
            for a in 0..count {
                assert!(share(&groups, a, a), "{a} has no letter: {groups:?}");
                for b in a + 1..count {
                    assert_eq!(share(&groups, a, b), !differ(a, b), "{a} and {b} in {groups:?}");
                }
            }
            let within = |one: &Vec<usize>, other: &Vec<usize>| one.iter().all(|cell| other.contains(cell));
            for (at, one) in groups.iter().enumerate() {
                let absorbed = groups.iter().enumerate().any(|(k, other)| k != at && within(one, other));
                assert!(!absorbed, "{one:?} in {groups:?}");
            }
        }
    }

    #[test]
    fn ties_between_neighbours_give_overlapping_pairs() {
        let groups = letter_groups(5, |a, b| b - a > 1);
        assert_eq!(groups, [[0, 1], [1, 2], [2, 3], [3, 4]]);
    }

    #[test]
    fn equal_cells_share_one_group_and_different_ones_have_their_own() {
        assert_eq!(letter_groups(3, |_, _| false), [[0, 1, 2]]);
        assert_eq!(letter_groups(3, |_, _| true), [[0], [1], [2]]);
        assert!(letter_groups(0, |_, _| true).is_empty());
    }

    #[test]
    fn many_differing_pairs_do_not_multiply_the_groups() {
        // Twenty disjoint pairs of cells that differ: two to the power of twenty groups if redundant ones
        // were kept.
        let groups = letter_groups(40, |a, b| a / 2 == b / 2);
        assert!(groups.len() < 40 * 39 / 2, "{}", groups.len());
        assert!((0..40).all(|a| (a + 1..40).all(|b| share(&groups, a, b) == (a / 2 != b / 2))));
    }
}
