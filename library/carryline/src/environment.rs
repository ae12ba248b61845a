//! Settings from a program's environment variables: crate feature `environment`.
//!
//! - `CARRYLINE_MASK=avx512f,erms` hides CPU features and the features that depend on them, to run the code
//!   for a weaker CPU on a stronger one. It cannot add features.
//! - `CARRYLINE_FORCE=avx2` selects the kernel of this name for every function that has one. The other
//!   functions are unaffected: `CARRYLINE_FORCE=adc` changes checksums but not copies.
//! - `CARRYLINE_TUNING=FILE` loads a profile from a file, as [`tuning::load`](crate::tuning::load) does.
//!   `CARRYLINE_TUNING=builtin:NAME` selects a built-in profile, for whichever CPU: `builtin:unmeasured` has
//!   the safe defaults.
//!
//! `CARRYLINE_MASK` and `CARRYLINE_TUNING` are read at the first call, `CARRYLINE_FORCE` at the first call of each kind
//! (zeroing, copying, summing, and copying with a sum) and again whenever the program loads a profile. The program
//! must not change them meanwhile: some kinds would use the old value and some the new one.
//!
//! Unknown names, kernels that this CPU cannot run, and rejected profiles are ignored, with one message on standard
//! error. A program that wants to reject such settings calls [`check`] first. In a program with more rights than its
//! user, such as a set-user-ID one, the variables are ignored, because the user could name any file.
//!
//! The feature is off by default: the variables then have no effect.

use crate::cpu::{self, Features};
use crate::dispatch::{Function, kernels};
use crate::profile::Profile;
use crate::tuning::{NOT_A_FILE, TuningError, checked, read_file};
use crate::word::Word;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;

/// Checks that `CARRYLINE_MASK`, `CARRYLINE_FORCE` and `CARRYLINE_TUNING` are valid, for programs that reject
/// invalid settings with their own message and exit status.
///
/// # Errors
/// A mask with an unknown feature, a kernel name that no function has, a kernel that this CPU, as masked,
/// cannot run, or a profile that cannot be read or is rejected.
///
/// ```
/// if let Err(error) = carryline::environment::check() {
///     eprintln!("{error}");
///     std::process::exit(2);
/// }
/// ```
pub fn check() -> Result<(), EnvironmentError> {
    cpu::mask_from_environment().map_err(|error| EnvironmentError(Fault::Mask(error)))?;
    with_force(|force| check_force(force?, cpu::features()))?;
    with_tuning(|profile| profile.map(|_| ()))
}

/// The value of a variable; none in a program with more rights than its user.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    if has_more_rights_than_its_user() { None } else { std::env::var_os(name) }
}

/// Whether the kernel started the program with more rights than those of the user who started it.
fn has_more_rights_than_its_user() -> bool {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    {
        const AT_SECURE: core::ffi::c_ulong = 23;
        unsafe extern "C" {
            safe fn getauxval(entry: core::ffi::c_ulong) -> core::ffi::c_ulong;
        }
        getauxval(AT_SECURE) != 0
    }
    #[cfg(any(
        target_os = "macos",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly"
    ))]
    {
        unsafe extern "C" {
            safe fn issetugid() -> core::ffi::c_int;
        }
        issetugid() != 0
    }
    #[cfg(not(any(
        all(any(target_os = "linux", target_os = "android"), not(miri)),
        target_os = "macos",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly"
    )))]
    {
        false
    }
}

/// Calls `then` with the value of `CARRYLINE_FORCE`; `None` if it is unset or empty.
pub(crate) fn with_force<T>(then: impl FnOnce(Result<Option<&str>, EnvironmentError>) -> T) -> T {
    let Some(value) = variable("CARRYLINE_FORCE") else { return then(Ok(None)) };
    match value.to_str().map(str::trim) {
        None => then(Err(EnvironmentError(Fault::Unknown { word: word(&value), usable: cpu::features() }))),
        Some("") => then(Ok(None)),
        Some(name) => then(Ok(Some(name))),
    }
}

/// Calls `then` with the profile that `CARRYLINE_TUNING` names; `None` if it is unset or empty.
pub(crate) fn with_tuning<T>(then: impl FnOnce(Result<Option<&Profile<'_>>, EnvironmentError>) -> T) -> T {
    let value = variable("CARRYLINE_TUNING").unwrap_or_default();
    if value.is_empty() {
        return then(Ok(None));
    }
    let error = |reason| EnvironmentError(Fault::Tuning { value: word(&value), reason });
    let rejected = |rejection| error(Reason::Rejected(rejection));
    if let Some(name) = value.to_str().and_then(|value| value.strip_prefix("builtin:")) {
        return then(checked::read_built_in(name).map(Some).map_err(rejected));
    }
    match read_file(Path::new(&value)) {
        Ok(bytes) => then(checked::read(&bytes).as_ref().map(Some).map_err(|rejection| rejected(*rejection))),
        Err(unreadable) if unreadable.kind() == NOT_A_FILE => then(Err(error(Reason::NotAFile))),
        Err(unreadable) => then(Err(error(Reason::Unreadable(unreadable.kind())))),
    }
}

fn word(value: &OsStr) -> Word {
    Word::new(&value.to_string_lossy())
}

/// Reports that a variable is ignored, once per `reported`. Errors in writing to standard error are ignored.
#[cold]
pub(crate) fn ignore(reported: &AtomicBool, error: &dyn fmt::Display) {
    if !reported.swap(true, Ordering::Relaxed) {
        let _ = writeln!(std::io::stderr(), "carryline: ignored: {error}");
    }
}

/// The environment names an unknown kernel or feature, or a profile that is rejected. The message names the
/// word and the valid ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EnvironmentError(Fault);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Mask(cpu::UnknownFeature),
    Unknown { word: Word, usable: Features },
    Missing { function: Function, kernel: &'static str, missing: Features, usable: Features },
    Tuning { value: Word, reason: Reason },
}

/// Why a profile is not used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    Unreadable(io::ErrorKind),
    NotAFile,
    Rejected(TuningError),
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usable = match &self.0 {
            Fault::Mask(error) => return error.fmt(f),
            Fault::Tuning { value, reason: Reason::Unreadable(io::ErrorKind::NotFound) } => {
                return write!(
                    f,
                    "CARRYLINE_TUNING={value}: no such file; 'builtin:NAME' selects a built-in profile"
                );
            }
            Fault::Tuning { value, reason: Reason::Unreadable(kind) } => {
                return write!(f, "CARRYLINE_TUNING={value}: {kind}");
            }
            Fault::Tuning { value, reason: Reason::NotAFile } => {
                return write!(f, "CARRYLINE_TUNING={value}: not a regular file");
            }
            Fault::Tuning { value, reason: Reason::Rejected(error) } => {
                return write!(f, "CARRYLINE_TUNING={value}: {error}");
            }
            Fault::Unknown { word, usable } => {
                write!(f, "CARRYLINE_FORCE={word} names no kernel")?;
                usable
            }
            Fault::Missing { function, kernel, missing, usable } => {
                write!(f, "CARRYLINE_FORCE={kernel}: the {} kernel needs", function.name())?;
                missing.names().try_for_each(|name| write!(f, " {name}"))?;
                f.write_str(", which this CPU lacks or CARRYLINE_MASK hides")?;
                usable
            }
        };
        f.write_str("; usable here:")?;
        distinct_names()
            .filter(|name| check_force(Some(name), *usable).is_ok())
            .try_for_each(|name| write!(f, " {name}"))
    }
}

impl core::error::Error for EnvironmentError {}

/// Every kernel of every function, as (function, name, needs).
fn all_kernels() -> impl Iterator<Item = (Function, &'static str, Features)> {
    Function::ALL
        .into_iter()
        .flat_map(|function| kernels(function).map(move |(name, needs)| (function, name, needs)))
}

/// Every kernel name once, in the order of first appearance.
fn distinct_names() -> impl Iterator<Item = &'static str> {
    all_kernels().enumerate().filter_map(|(index, (_, name, _))| {
        all_kernels().take(index).all(|(_, earlier, _)| earlier != name).then_some(name)
    })
}

/// Whether `force` names a kernel, and every kernel of this name can run with `features`.
pub(crate) fn check_force(force: Option<&str>, features: Features) -> Result<(), EnvironmentError> {
    let Some(word) = force else { return Ok(()) };
    let mut named = all_kernels().filter(|(_, name, _)| *name == word).peekable();
    if named.peek().is_none() {
        return Err(EnvironmentError(Fault::Unknown { word: Word::new(word), usable: features }));
    }
    match named.find(|(_, _, needs)| !features.contains(*needs)) {
        Some((function, kernel, needs)) => Err(EnvironmentError(Fault::Missing {
            function,
            kernel,
            missing: needs.without(features),
            usable: features,
        })),
        None => Ok(()),
    }
}
