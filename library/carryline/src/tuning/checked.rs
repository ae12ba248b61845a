//! Profiles from outside: checks that this CPU can use them.

use super::active::{Origin, replace};
use crate::cpu::{self, Features, Model};
use crate::dispatch::{Function, kernels};
use crate::profile::{Models, ParseError, Profile, built_in, built_in_names, parse};
use crate::word::Word;
use core::fmt;

/// The size of the largest file.
pub const MOST_FILE_BYTES: usize = 16 << 10;

/// [`apply`](super::apply) for the bytes of a file.
///
/// # Errors
/// As [`apply`](super::apply), and if the bytes are not UTF-8.
///
/// ```
/// use carryline::internals::tuning::apply_bytes;
/// assert_eq!(apply_bytes(b"# \xff").unwrap_err().to_string(), "line 1: invalid UTF-8");
/// ```
pub fn apply_bytes(bytes: &[u8]) -> Result<(), TuningError> {
    let profile = read(bytes)?;
    replace(&profile, Origin::Program);
    Ok(())
}

/// Activates a built-in profile, for whichever CPU. Kernels that this CPU cannot run are replaced by others. Not where
/// [`apply`](super::apply) must not be called.
///
/// # Errors
/// A name that no built-in profile has. The message lists all names.
///
/// ```
/// use carryline::internals::tuning::apply_built_in;
/// apply_built_in("amd-zen3")?;
/// assert!(carryline::tuning::active().name().contains("Zen 3"));
/// assert!(apply_built_in("zen").unwrap_err().to_string().contains("amd-zen3"));
/// # Ok::<(), carryline::tuning::TuningError>(())
/// ```
pub fn apply_built_in(name: &str) -> Result<(), TuningError> {
    replace(read_built_in(name)?, Origin::Program);
    Ok(())
}

/// The bytes of a file as the text of a profile, which is not parsed.
///
/// # Errors
/// If they are more than [`MOST_FILE_BYTES`], or not UTF-8.
pub fn text_of(bytes: &[u8]) -> Result<&str, TuningError> {
    if bytes.len() > MOST_FILE_BYTES {
        return Err(TuningError(Rejection::TooLarge));
    }
    core::str::from_utf8(bytes).map_err(|error| {
        let lines = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        TuningError(Rejection::NotUtf8(lines as u32 + 1))
    })
}

/// Parses the profile in the bytes of a file and checks it against this CPU, without activating it.
///
/// # Errors
/// As [`apply_bytes`].
pub fn read(bytes: &[u8]) -> Result<Profile<'_>, TuningError> {
    let profile = parse(text_of(bytes)?)?;
    check_cpu(&profile, Model::here())?;
    check_kernels(&profile, cpu::features())?;
    Ok(profile)
}

/// The built-in profile with this name.
pub(crate) fn read_built_in(name: &str) -> Result<&'static Profile<'static>, TuningError> {
    built_in(name).ok_or_else(|| TuningError(Rejection::NotBuiltIn(Word::new(name))))
}

/// Checks that the profile is for this CPU.
fn check_cpu(profile: &Profile<'_>, here: Option<Model>) -> Result<(), TuningError> {
    match profile.cpu {
        Some(cpu) if !here.is_some_and(|here| cpu.contains(here)) => {
            Err(TuningError(Rejection::OtherCpu { name: Word::new(profile.name), cpu }))
        }
        _ => Ok(()),
    }
}

/// Checks that a CPU with these features can run the kernels that the profile prefers.
fn check_kernels(profile: &Profile<'_>, features: Features) -> Result<(), TuningError> {
    for function in Function::ALL {
        let Some(kernel) = profile.kernel(function) else { continue };
        let needs = kernels(function).find(|(name, _)| *name == kernel).map(|(_, needs)| needs);
        if !needs.is_some_and(|needs| features.contains(needs)) {
            let missing = needs.map_or(Features::NONE, |needs| needs.without(features));
            return Err(TuningError(Rejection::Kernel { function, kernel, missing }));
        }
    }
    Ok(())
}

/// The reason that a profile is rejected. The message names the line, the word and what is expected, or this
/// CPU and the one that the profile is for.
///
/// ```
/// let error = carryline::tuning::apply("version = 1\nnam = \"mine\"").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 2: unknown key nam in the part before the first [section]; known: version name source run"
/// );
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TuningError(Rejection);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rejection {
    /// Larger than [`MOST_FILE_BYTES`].
    TooLarge,
    /// The line that is not UTF-8.
    NotUtf8(u32),
    Parse(ParseError),
    /// The profile is for these CPUs, not for this one.
    OtherCpu {
        name: Word,
        cpu: Models,
    },
    /// A kernel that this CPU cannot run.
    Kernel {
        function: Function,
        kernel: &'static str,
        missing: Features,
    },
    /// No built-in profile has this name.
    NotBuiltIn(Word),
}

impl fmt::Display for TuningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Rejection::TooLarge => write!(f, "the profile is larger than {MOST_FILE_BYTES} bytes"),
            Rejection::NotUtf8(line) => write!(f, "line {line}: invalid UTF-8"),
            Rejection::Parse(error) => error.fmt(f),
            Rejection::OtherCpu { name, cpu } => {
                write!(f, "the profile '{name}' is for {cpu}")?;
                match Model::here() {
                    Some(here) => write!(f, "; this CPU is {here}"),
                    None => f.write_str("; this CPU has no model number"),
                }
            }
            Rejection::Kernel { function, kernel, missing } => {
                write!(f, "the {} kernel {kernel} ", function.name())?;
                if missing.is_empty() {
                    return f.write_str("does not exist on this architecture");
                }
                f.write_str("needs")?;
                missing.names().try_for_each(|name| write!(f, " {name}"))?;
                f.write_str(", which this CPU lacks or CARRYLINE_MASK hides")
            }
            Rejection::NotBuiltIn(word) => {
                write!(f, "no built-in profile is named {word}; known:")?;
                built_in_names().try_for_each(|name| write!(f, " {name}"))
            }
        }
    }
}

impl core::error::Error for TuningError {}

impl From<ParseError> for TuningError {
    fn from(error: ParseError) -> TuningError {
        TuningError(Rejection::Parse(error))
    }
}
