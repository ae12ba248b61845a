//! The C library's rows, and the processes in which they are valid.
//!
//! glibc on x86-64 uses `rep movsb` and `rep stosb` for calls above a threshold. On some CPUs these are many
//! times slower than its own loops. The environment variable `GLIBC_TUNABLES` can raise the thresholds out of
//! reach, which newer versions do by default. Each function therefore has two rows: as installed, and with
//! raised thresholds (`..._no_rep`). The library reads the variable only when a process starts, so a process
//! has one of the two, and a row can be verified and timed only in a process started for it.

use crate::{Variant, of};

/// The thresholds for `rep movsb` and `rep stosb` of the C library in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Thresholds {
    /// Those that the user's programs get.
    AsInstalled,
    /// So high that no call reaches them.
    Raised,
}

/// The relation of a variant to the C library.
#[derive(Clone, Copy, Debug)]
pub enum CLibrary {
    /// It calls the C library as installed; a row with raised thresholds may exist.
    AsInstalled,
    /// It is the given row with raised thresholds.
    Raised(&'static Variant),
}

impl Variant {
    /// The thresholds in the processes for which its name is valid; `None` for a variant that does not call
    /// the C library and is the same in all processes.
    ///
    /// ```
    /// use carryline_variants::{Family, c_library::Thresholds, find};
    /// let thresholds = |name| find(Family::Copy, name).and_then(|variant| variant.thresholds());
    /// assert_eq!(thresholds("libc_memcpy"), Some(Thresholds::AsInstalled));
    /// assert_eq!(thresholds("libc_memcpy_no_rep"), Some(Thresholds::Raised));
    /// assert_eq!(thresholds("carryline"), None);
    /// ```
    #[must_use]
    pub fn thresholds(&self) -> Option<Thresholds> {
        self.c_library.map(|row| match row {
            CLibrary::AsInstalled => Thresholds::AsInstalled,
            CLibrary::Raised(_) => Thresholds::Raised,
        })
    }

    /// The row of the same function with the other thresholds, if this is a row of the C library.
    #[must_use]
    pub fn with_other_thresholds(&self) -> Option<&'static Variant> {
        match self.c_library? {
            CLibrary::Raised(as_installed) => Some(as_installed),
            CLibrary::AsInstalled => of(self.family()).iter().copied().find(
                |other| matches!(other.c_library, Some(CLibrary::Raised(row)) if core::ptr::eq(row, self)),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Role, all, find};

    #[test]
    fn c_library_rows_come_in_pairs() {
        for variant in all() {
            let raised = variant.thresholds() == Some(Thresholds::Raised);
            assert_eq!(variant.name.ends_with("_no_rep"), raised, "{}", variant.name);
            if variant.name.starts_with("libc_") || variant.name.starts_with("memcpy_then") {
                assert!(variant.thresholds().is_some(), "{}", variant.name);
            }
            let Some(other) = variant.with_other_thresholds() else { continue };
            assert_ne!(other.thresholds(), variant.thresholds());
            assert_eq!((other.family(), other.role), (variant.family(), variant.role));
            assert!(core::ptr::eq(other.with_other_thresholds().expect("a pair"), variant));
        }
    }

    #[test]
    fn baselines_that_call_the_c_library_have_two_rows() {
        for variant in all().filter(|variant| variant.role == Role::Baseline) {
            assert_eq!(variant.thresholds().is_some(), variant.with_other_thresholds().is_some());
        }
        assert!(
            find(crate::Family::Zero, "write_bytes").is_some_and(|v| v.with_other_thresholds().is_none())
        );
    }
}
