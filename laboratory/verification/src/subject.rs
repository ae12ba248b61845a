//! The subjects of verification and timing: a variant of the collection, or a user's routine.

use crate::standard::Standard;
use crate::trace::{Executed, TraceError};
use carryline::internals::cpu::Features;
use carryline_variants::landing::Landing;
use carryline_variants::{Family, Lengths, Variant};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A subject's name in plans, results and the store: its family, and its name within it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SubjectId {
    /// The family.
    pub family: Family,
    /// The variant's name, or `plugin:SYMBOL`.
    pub name: String,
}

impl fmt::Display for SubjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.family, self.name)
    }
}

/// A named routine. The verified and the timed code belong together, so a subject cannot be assembled
/// manually:
///
/// ```compile_fail,E0451
/// use carryline::internals::cpu::Features;
/// use carryline_variants::{Family, Lengths, find};
/// use carryline_verification::subject::Subject;
/// let [right, wrong] = ["reference", "known_bad"].map(|name| find(Family::Checksum, name).unwrap());
/// let subject = Subject {
///     name: "mine".to_owned(),
///     routine: right.landing(),
///     landing: wrong.landing(),
///     needs: Features::NONE,
///     lengths: Lengths::Any,
/// };
/// ```
#[derive(Debug)]
pub struct Subject {
    name: String,
    /// The family's own routine.
    pub(crate) routine: Landing,
    /// The code that a timed loop calls, if it differs from `routine`; see [`carryline_variants::landing`].
    pub(crate) landing: Landing,
    pub(crate) needs: Features,
    pub(crate) lengths: Lengths,
    /// The function of the C standard whose requirements it must also meet.
    pub(crate) standard: Option<Standard>,
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
            standard: None,
        }
    }

    /// A routine outside the collection, for any length on any CPU.
    #[must_use]
    pub fn of_routine(name: impl Into<String>, routine: impl Into<Landing>) -> Subject {
        let routine = routine.into();
        Subject {
            name: name.into(),
            routine,
            landing: routine,
            needs: Features::NONE,
            lengths: Lengths::Any,
            standard: None,
        }
    }

    /// Requires the behaviour that the C standard specifies for a function, including overlap and the
    /// returned address.
    #[must_use]
    pub fn of_standard(self, standard: Standard) -> Subject {
        Subject { standard: Some(standard), ..self }
    }

    /// Restricts the subject to these lengths.
    #[must_use]
    pub fn with_lengths(self, lengths: Lengths) -> Subject {
        Subject { lengths, ..self }
    }

    /// Renames the subject.
    #[must_use]
    pub fn named(self, name: &str) -> Subject {
        Subject { name: name.to_owned(), ..self }
    }

    /// The name, unique within the family.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lengths it supports.
    #[must_use]
    pub const fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// The family, from the routine's signature.
    #[must_use]
    pub const fn family(&self) -> Family {
        self.routine.family()
    }

    /// The id in plans and results.
    #[must_use]
    pub fn id(&self) -> SubjectId {
        SubjectId { family: self.family(), name: self.name.clone() }
    }

    /// The instructions that one timed call executes; see [`crate::trace`]. The call is not verified.
    ///
    /// # Errors
    /// As [`crate::trace::follow`].
    pub fn follow(&self, len: usize) -> Result<Executed, TraceError> {
        crate::trace::follow(self.landing, len)
    }

    /// Whether the CPU, as masked, can run it.
    #[must_use]
    pub fn runs_here(&self) -> bool {
        carryline::internals::cpu::features().contains(self.needs)
    }
}
