//! The size distributions of a fleet, used by goals of several tiers.

use crate::goal::Cells;
use carryline_conditions::fleet;
use carryline_variants::Family::{self, Copy, Zero};

/// The beginning of the names of these distributions among sizes.
pub(crate) const PREFIX: &str = "fleet:";

/// Our variant that allows overlap, like memmove.
pub(crate) const OVERLAPPING: &str = "carryline_overlapping";

/// The size distributions of one function of the C library.
pub struct Sets {
    /// The function.
    pub function: &'static str,
    /// Our variant.
    pub ours: &'static str,
    /// The C library's variant.
    pub libc: &'static str,
    family: Family,
}

/// The functions.
pub const ALL: [Sets; 3] = [
    Sets { function: "memcpy", ours: "carryline", libc: "libc_memcpy", family: Copy },
    Sets { function: "memmove", ours: OVERLAPPING, libc: "libc_memmove", family: Copy },
    Sets { function: "memset", ours: "carryline", libc: "libc_memset", family: Zero },
];

impl Sets {
    /// Sizes that no predictor can learn, at random offsets.
    #[must_use]
    pub fn drawn(&self) -> Cells {
        self.cells("")
    }

    /// 4096 sizes repeated in order, at random offsets.
    #[must_use]
    pub fn learnt(&self) -> Cells {
        self.cells("/period:4096")
    }

    fn cells(&self, ending: &str) -> Cells {
        let of = |name: &&&str| name.strip_prefix(self.function).is_some_and(|rest| rest.starts_with('-'));
        let sets = fleet::NAMES.iter().filter(of).map(|name| format!("{PREFIX}{name}{ending}"));
        Cells::hot(self.family, sets).random()
    }
}
