//! Profiles: decisions that differ from one CPU model to the next.
//!
//! No feature bit states from which length a string instruction is faster, or when stores should be
//! non-temporal. Such decisions are stored in profiles, small files in a strict subset of TOML. Some are
//! built in, one per measured CPU, and the one for this CPU is active from the first call; unmeasured CPUs
//! get safe defaults, and the kernels of their nearest measured relative. A program can activate its own
//! profile, made for its machines:
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
//! rep_stosb_narrow_from_bytes = "never"
//! rep_stosb_scalar_from_bytes = "never"
//! rep_movsb_from_bytes = 65_536
//! rep_movsb_not_soon_from_bytes = "never"
//! rep_movsb_narrow_from_bytes = "never"
//! rep_movsb_scalar_from_bytes = "never"
//! rep_movsb_near_from_bytes = "never"
//! zero_non_temporal_from_bytes = 16_384
//! clzero_from_bytes = "never"
//! copy_non_temporal_from_bytes = 16_384
//! zero_prefetch_from_bytes = "never"
//! copy_prefetch_from_bytes = "never"
//! copy_prefetch_far_from_bytes = "never"
//! read_once_from_bytes = 8_192
//! sum_prefetch_from_bytes = 1_048_576
//! sum_prefetch_ahead_bytes = 2_048
//! sum_prefetch_far_from_bytes = 16_777_216
//! cache_share_bytes = "detected"
//! last_level_bytes = "detected"
//! "#;
//! tuning::apply(text)?;
//! let active = tuning::active();
//! assert_eq!((active.name(), active.origin()), ("our storage servers", Origin::Program));
//! assert!(active.decisions().any(|decision| decision == ("copy_non_temporal_from_bytes", 16_384)));
//! # Ok::<(), tuning::TuningError>(())
//! ```
//!
//! | section | key | value |
//! | --- | --- | --- |
//! | none | `version` | `1` |
//! | | `name` | the CPU's common name, at most 64 bytes |
//! | | `source` | the evidence for the numbers, in words; several lines between `"""` |
//! | | `run` | the run that they come from; optional |
//! | `[cpu]`; without it, the file is for every CPU | `vendor`; optional: `family`, and with it `models` | as in `/proc/cpuinfo`: `"AuthenticAMD"`, `26`, and the first and last model, `[0, 15]` |
//! | `[kernels]`; optional | `zero`, `copy`, `checksum`, `copy_and_sum` | the preferred kernel, like `"avx512_branched"` |
//! | `[decisions]` | all of the above | a number of bytes within the decision's bounds, `"never"` for a least length, or `"detected"` for a cache size |
//!
//! A file is complete: each decision must be present. Unknown, missing, duplicate or out-of-bounds entries
//! are errors that name the line, the word, and what is expected. Strings contain no backslashes and no
//! quotation marks. A format with other keys will have another `version`.
//!
//! # Threads
//!
//! A profile can be activated at any time, while other threads zero, copy and sum. Every kernel is correct
//! with every profile at every length, so the results are the same before, during and after the change.
//! During it, a call may see a mix of old and new numbers, which affects only its speed. Concurrent loads are
//! serialised.

pub(crate) mod active;
pub(crate) mod checked;

pub use active::{Active, Origin, active};
pub use checked::TuningError;

#[cfg(target_arch = "x86_64")]
pub(crate) use active::known;
pub(crate) use active::{decided, preferred};

/// Activates the profile in `text` in place of the previous one, even if the environment names that one.
/// Kernels are chosen again, except those that `CARRYLINE_FORCE` names. Not for signal handlers, nor for the child of
/// a `fork` of a program with several threads: it would wait for ever if another thread loaded a profile at the fork.
///
/// # Errors
/// If `text` is not a valid profile, is for other CPUs, or prefers a kernel that this CPU cannot run. The
/// previous profile then stays active. See [the module](self) for the format and an example.
///
/// ```
/// let error = carryline::tuning::apply("version = 2").unwrap_err();
/// assert_eq!(error.to_string(), "line 1: found 2; version must be 1, the only one this library supports");
/// ```
pub fn apply(text: &str) -> Result<(), TuningError> {
    checked::apply_bytes(text.as_bytes())
}

/// Activates the profile in the file `path`, as [`apply`] does with its text, and not where that must not be called.
///
/// # Errors
/// If the file cannot be read (the message does not name it), or as [`apply`].
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

/// The reason that [`load`] kept the previous profile.
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    Unreadable(std::io::Error),
    /// The profile is rejected.
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

/// The kind of the error that a path is not that of a regular file.
#[cfg(feature = "std")]
pub(crate) const NOT_A_FILE: std::io::ErrorKind = std::io::ErrorKind::InvalidInput;

/// The bytes of a file, up to one more than a profile may have. To open anything but a regular file could wait for
/// ever, as for the writer of a pipe.
#[cfg(feature = "std")]
pub(crate) fn read_file(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::new(NOT_A_FILE, "not a regular file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(checked::MOST_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
