//! Who is who in a family: what rankings compare with, and which variant is this project's own.

use carryline_variants::{Family, Role, of};
use std::collections::BTreeMap;

/// The names that reports single out, by family.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Roles {
    baselines: BTreeMap<Family, String>,
    ours: BTreeMap<Family, String>,
}

impl Roles {
    /// As the collection declares them.
    #[must_use]
    pub fn of_collection() -> Roles {
        let named = |role: Role| {
            let first = |family: Family| of(family).iter().find(|variant| variant.role == role);
            Family::ALL
                .into_iter()
                .filter_map(|family| Some((family, first(family)?.name.to_owned())))
                .collect()
        };
        Roles { baselines: named(Role::Baseline), ours: named(Role::Ours) }
    }

    /// As given: families with a variant's name.
    #[must_use]
    pub fn new(baselines: &[(Family, &str)], ours: &[(Family, &str)]) -> Roles {
        let owned = |pairs: &[(Family, &str)]| {
            pairs.iter().map(|(family, name)| (*family, (*name).to_owned())).collect()
        };
        Roles { baselines: owned(baselines), ours: owned(ours) }
    }

    /// What a user of the family has today, which ratios compare with.
    #[must_use]
    pub fn baseline(&self, family: Family) -> Option<&str> {
        self.baselines.get(&family).map(String::as_str)
    }

    /// The `carryline` crate's own function in the family.
    #[must_use]
    pub fn ours(&self, family: Family) -> Option<&str> {
        self.ours.get(&family).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collection_says_which_is_ours() {
        let roles = Roles::of_collection();
        for family in Family::ALL {
            assert_eq!(roles.ours(family), Some("carryline"));
        }
    }
}
