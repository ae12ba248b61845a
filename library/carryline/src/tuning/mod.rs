//! Profiles: what the library does differently from one CPU model to the next.
//!
//! No feature bit says from which length on a string instruction wins, or when stores should be non-temporal. Such
//! decisions stand in profiles, small files in a strict subset of TOML. Some are built in, one for each CPU that was
//! measured, and the one for this CPU is in force from the first call on; a CPU that nobody measured gets safe defaults.
//! A program can put its own in force, made for its machines:
//!
//! ```
//! use carryline::tuning::{self, Origin};
//! let text = r#"
//! version = 1
//! name = "our storage servers"
//! source = "measured on one of them, 2026-11-22"
//!
//! [decisions]
//! rep_stosb_from_bytes = "never"
//! rep_stosb_read_here_from_bytes = "never"
//! rep_stosb_not_soon_from_bytes = "never"
//! rep_movsb_from_bytes = 65_536
//! rep_movsb_not_soon_from_bytes = "never"
//! zero_non_temporal_from_bytes = 16_384
//! copy_non_temporal_from_bytes = 16_384
//! read_once_from_bytes = 8_192
//! sum_prefetch_from_bytes = 1_048_576
//! sum_prefetch_ahead_bytes = 2_048
//! cache_share_bytes = "detected"
//! last_level_bytes = "detected"
//! "#;
//! tuning::apply(text)?;
//! let active = tuning::active();
//! assert_eq!((active.name(), active.origin()), ("our storage servers", Origin::Program));
//! assert!(active.decisions().any(|decision| decision == ("rep_movsb_from_bytes", 65_536)));
//! # Ok::<(), tuning::TuningError>(())
//! ```
//!
//! | part of a file | key | value |
//! | --- | --- | --- |
//! | the beginning | `version` | `1` |
//! | | `name` | the CPU, as people call it, at most 64 bytes |
//! | | `source` | the evidence behind the numbers, in words; in several lines between `"""` |
//! | | `run` | the run that they come from; may be left out |
//! | `[cpu]`; left out, the file is for every CPU | `vendor`, `family`, `models` | as in `/proc/cpuinfo`: `"AuthenticAMD"`, `26`, and the first and the last model, `[0, 15]` |
//! | `[kernels]`; may be left out | `zero`, `copy`, `checksum`, `copy_and_sum` | the kernel that is preferred, like `"avx512_branched"` |
//! | `[decisions]` | all of those above | a number of bytes within the bounds of the decision; lengths from which on something is done: or `"never"`; sizes of caches: or `"detected"` |
//!
//! A file says everything: each decision must be there. What is unknown, missing, there twice or out of its bounds is an
//! error that names the line, the word, and what would be right. Strings have no backslashes and no quotation marks. A
//! format with other keys will have another `version`.
//!
//! # Threads
//!
//! A profile can be put in force at any time, while other threads zero, copy and sum. Every kernel is right with every
//! profile at every length, so that the results are the same before, after, and during the change, when a call may
//! see old and new numbers side by side. Only speed depends on them. Two loads at once come one after the other.

pub(crate) mod active;
pub(crate) mod checked;

pub use active::{Active, Origin, active};
pub use checked::TuningError;

pub(crate) use active::{decided, preferred};

/// Puts the profile in `text` in force, in place of the one before, also of one that the environment names. Kernels
/// are chosen anew; a kernel that `CARRYLINE_FORCE` names stays. Not for signal handlers.
///
/// # Errors
/// A text that is no profile, a profile for other CPUs, or one that prefers a kernel that this CPU cannot run. Then the
/// profile before stays in force. See [the module](self) for the format and an example.
///
/// ```
/// let error = carryline::tuning::apply("version = 2").unwrap_err();
/// assert_eq!(error.to_string(), "line 1: found 2; version must be 1, which this library knows");
/// ```
pub fn apply(text: &str) -> Result<(), TuningError> {
    checked::apply_bytes(text.as_bytes())
}

/// Puts the profile in the file `path` in force, as [`apply`] does with its text.
///
/// # Errors
/// A file that cannot be read, which the message does not name, and what [`apply`] refuses.
///
/// ```
/// use carryline::tuning::{self, LoadError};
/// match tuning::load("/nonexistent/tuning.toml") {
///     Err(LoadError::Unreadable(error)) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
///     other => panic!("{other:?}"),
/// }
/// ```
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub fn load(path: impl AsRef<std::path::Path>) -> Result<(), LoadError> {
    let bytes = read_file(path.as_ref()).map_err(LoadError::Unreadable)?;
    checked::apply_bytes(&bytes).map_err(LoadError::Refused)
}

/// Why [`load`] left the profile before in force.
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    Unreadable(std::io::Error),
    /// What it says is refused.
    Refused(TuningError),
}

#[cfg(feature = "std")]
impl core::fmt::Display for LoadError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            LoadError::Unreadable(error) => error.fmt(f),
            LoadError::Refused(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "std")]
impl core::error::Error for LoadError {}

/// The bytes of a file, one more at most than a profile has.
#[cfg(feature = "std")]
pub(crate) fn read_file(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(checked::MOST_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
