//! Which places of a situation each subject of a job fills.

use carryline_conditions::Condition;
use carryline_variants::Lengths;
use std::collections::HashMap;

/// The places of each subject of a job: its own first, then its twin's.
pub(crate) type Places = HashMap<usize, Vec<usize>>;

/// The place of each member of a round.
///
/// # Errors
/// The first member that has no place, or that occurs more often than it has places.
pub(crate) fn place_members(members: &[usize], places: &Places) -> Result<Vec<usize>, usize> {
    let mut used: HashMap<usize, usize> = HashMap::new();
    let place = |member: &usize| {
        let turn = used.entry(*member).or_default();
        *turn += 1;
        places.get(member).and_then(|places| places.get(*turn - 1)).copied().ok_or(*member)
    };
    members.iter().map(place).collect()
}

/// Why a variant that supports only some lengths cannot take part.
pub(crate) fn unsupported_size(lengths: Lengths, condition: &Condition) -> Option<String> {
    let (low, high) = if condition.segments.is_empty() {
        (condition.sizes.min(), condition.sizes.max())
    } else {
        let longest = condition.segments.iter().copied().max().unwrap_or(0);
        (condition.segments.iter().copied().min().unwrap_or(0).into(), longest.into())
    };
    let covered = |len: u64| usize::try_from(len).is_ok_and(|len| lengths.contains(len));
    if covered(low) && covered(high) {
        return None;
    }
    Some(match lengths {
        Lengths::Any => return None,
        Lengths::UpTo(most) => format!("it supports at most {most} bytes"),
        Lengths::Only(only) | Lengths::OnlyUnseeded(only) => format!("it supports {only} bytes only"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_fills_its_own_place() {
        let places: Places = HashMap::from([(4, vec![0, 3]), (7, vec![1]), (9, vec![2])]);
        assert_eq!(place_members(&[4, 7, 9, 4], &places), Ok(vec![0, 1, 2, 3]));
        assert_eq!(place_members(&[9, 4, 4], &places), Ok(vec![2, 0, 3]));
        assert_eq!(place_members(&[4, 7, 7], &places), Err(7), "it has one place");
        assert_eq!(place_members(&[4, 5], &places), Err(5));
    }

    #[test]
    fn unsupported_lengths_are_refused() {
        let condition = Condition::plain(1500);
        assert!(unsupported_size(Lengths::Only(40), &condition).is_some());
        assert!(unsupported_size(Lengths::UpTo(1499), &condition).is_some());
        assert!(unsupported_size(Lengths::UpTo(1500), &condition).is_none());
    }
}
