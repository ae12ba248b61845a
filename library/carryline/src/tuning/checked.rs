//! Profiles from outside: whether this CPU can go by them, and why not.

use super::active::{Origin, replace};
use crate::cpu::{self, Features, Model};
use crate::dispatch::{Function, kernels};
use crate::profile::{ParseError, Profile, built_in, built_in_names, parse};
use crate::word::Word;
use core::fmt;

/// No file is larger.
pub const MOST_FILE_BYTES: usize = 16 << 10;

/// [`apply`](super::apply) for the bytes of a file.
///
/// # Errors
/// As [`apply`](super::apply), and bytes that are not UTF-8.
///
/// ```
/// use carryline::internals::tuning::apply_bytes;
/// assert_eq!(apply_bytes(b"# \xff").unwrap_err().to_string(), "line 1: this is not UTF-8");
/// ```
pub fn apply_bytes(bytes: &[u8]) -> Result<(), TuningError> {
    let profile = read(bytes)?;
    replace(&profile, Origin::Program);
    Ok(())
}

/// Puts a built-in profile in force, whatever CPU it is for; where this one cannot run its kernels, others do.
///
/// # Errors
/// A name that no built-in profile has. The message names all.
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

/// The profile in the bytes of a file, if this CPU can go by it.
pub(crate) fn read(bytes: &[u8]) -> Result<Profile<'_>, TuningError> {
    if bytes.len() > MOST_FILE_BYTES {
        return Err(TuningError(Refusal::TooLarge));
    }
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let lines = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        TuningError(Refusal::NotUtf8(lines as u32 + 1))
    })?;
    let profile = parse(text)?;
    check_cpu(&profile, Model::here())?;
    check_kernels(&profile, cpu::features())?;
    Ok(profile)
}

/// The built-in profile of a name.
pub(crate) fn read_built_in(name: &str) -> Result<&'static Profile<'static>, TuningError> {
    built_in(name).ok_or_else(|| TuningError(Refusal::NotBuiltIn(Word::new(name))))
}

/// Whether the profile is for this CPU.
fn check_cpu(profile: &Profile<'_>, here: Option<Model>) -> Result<(), TuningError> {
    match profile.cpu {
        Some(cpu) if !here.is_some_and(|here| cpu.contain(here)) => {
            let (name, vendor) = (Word::new(profile.name), cpu.vendor);
            Err(TuningError(Refusal::OtherCpu { name, vendor, family: cpu.family, models: cpu.models }))
        }
        _ => Ok(()),
    }
}

/// Whether a CPU with these features can run the kernels that the profile prefers.
fn check_kernels(profile: &Profile<'_>, features: Features) -> Result<(), TuningError> {
    for function in Function::ALL {
        let Some(kernel) = profile.kernel(function) else { continue };
        let needs = kernels(function).find(|(name, _)| *name == kernel).map(|(_, needs)| needs);
        if !needs.is_some_and(|needs| features.contains(needs)) {
            let missing = needs.map_or(Features::NONE, |needs| needs.without(features));
            return Err(TuningError(Refusal::Kernel { function, kernel, missing }));
        }
    }
    Ok(())
}

/// Why a profile is refused. The message names the line and the word, or this CPU and the one that the profile is for,
/// and says what would be right.
///
/// ```
/// let error = carryline::tuning::apply("version = 1\nnam = \"mine\"").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 2: nam is no key of the part before the first [section]; known are version name source run"
/// );
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TuningError(Refusal);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refusal {
    /// More bytes than are read.
    TooLarge,
    /// The line that is no text.
    NotUtf8(u32),
    Parse(ParseError),
    /// The profile is for other CPUs, of this vendor, family and models, than this one.
    OtherCpu {
        name: Word,
        vendor: [u8; 12],
        family: u32,
        models: [u32; 2],
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
            Refusal::TooLarge => write!(f, "a profile has at most {MOST_FILE_BYTES} bytes"),
            Refusal::NotUtf8(line) => write!(f, "line {line}: this is not UTF-8"),
            Refusal::Parse(error) => error.fmt(f),
            Refusal::OtherCpu { name, vendor, family, models: [first, last] } => {
                let vendor = vendor.escape_ascii();
                write!(f, "the profile '{name}' is for {vendor} family {family} models {first} to {last}")?;
                match Model::here() {
                    Some(here) => write!(f, "; this CPU is {here}"),
                    None => f.write_str("; this CPU has no such numbers"),
                }
            }
            Refusal::Kernel { function, kernel, missing } => {
                write!(f, "the {} kernel {kernel} ", function.name())?;
                if missing.is_empty() {
                    return f.write_str("is not there on this architecture");
                }
                f.write_str("needs")?;
                missing.names().try_for_each(|name| write!(f, " {name}"))?;
                f.write_str(", which this CPU lacks or CARRYLINE_MASK hides")
            }
            Refusal::NotBuiltIn(word) => {
                write!(f, "no built-in profile is named {word}; known are")?;
                built_in_names().try_for_each(|name| write!(f, " {name}"))
            }
        }
    }
}

impl core::error::Error for TuningError {}

impl From<ParseError> for TuningError {
    fn from(error: ParseError) -> TuningError {
        TuningError(Refusal::Parse(error))
    }
}
