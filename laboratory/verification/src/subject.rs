//! What is proved and timed: a variant of the collection, or a routine of the user's own.

use carryline::internals::cpu::Features;
use carryline_variants::landing::Landing;
use carryline_variants::{Family, Lengths, Role, Variant};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A subject's name in plans, results and the store: its family and its name in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SubjectId {
    /// The family's name, see [`Family::name`].
    pub family: String,
    /// The variant's name, or `plugin:SYMBOL`.
    pub name: String,
}

impl fmt::Display for SubjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.family, self.name)
    }
}

/// Something with a routine.
#[derive(Debug)]
pub struct Subject {
    /// Unique within its family.
    pub name: String,
    /// The code that is verified.
    pub routine: Landing,
    /// What a timed loop calls; see [`carryline_variants::landing`].
    pub landing: Landing,
    /// Features it needs.
    pub needs: Features,
    /// Lengths it supports.
    pub lengths: Lengths,
    /// Why it is known to be wrong.
    pub known_bad: Option<String>,
    /// What it is among the others; `None` for a plug-in.
    pub role: Option<Role>,
}

impl Subject {
    /// A variant of the collection.
    #[must_use]
    pub fn of_variant(variant: &'static Variant) -> Subject {
        Subject {
            name: variant.name.to_owned(),
            routine: variant.routine.into(),
            landing: variant.landing(),
            needs: variant.needs,
            lengths: variant.lengths,
            known_bad: variant.known_bad.map(str::to_owned),
            role: Some(variant.role),
        }
    }

    /// The family, from the routine's signature.
    #[must_use]
    pub const fn family(&self) -> Family {
        self.routine.family()
    }

    /// The name in plans and results.
    #[must_use]
    pub fn id(&self) -> SubjectId {
        SubjectId { family: self.family().name().to_owned(), name: self.name.clone() }
    }

    /// True if the CPU, as masked, can run it.
    #[must_use]
    pub fn runs_here(&self) -> bool {
        carryline::internals::cpu::features().contains(self.needs)
    }
}
