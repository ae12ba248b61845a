//! The baseline and this project's own variant of each family.

use carryline_variants::{Family, Role, of};
use std::collections::BTreeMap;

/// The names that reports give special treatment, by family.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Roles {
    baselines: BTreeMap<Family, String>,
    ours: BTreeMap<Family, String>,
}

impl Roles {
    /// The roles declared in the collection.
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

    /// The given roles: families with a variant's name.
    #[must_use]
    pub fn new(baselines: &[(Family, &str)], ours: &[(Family, &str)]) -> Roles {
        let owned = |pairs: &[(Family, &str)]| {
            pairs.iter().map(|(family, name)| (*family, (*name).to_owned())).collect()
        };
        Roles { baselines: owned(baselines), ours: owned(ours) }
    }

    /// The baseline of ratios: what users of the family have today.
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
    fn the_collection_declares_ours() {
        let roles = Roles::of_collection();
        for family in Family::ALL {
            assert_eq!(roles.ours(family), Some("carryline"));
        }
    }
}
