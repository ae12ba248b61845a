//! Profiles: decisions that depend on the CPU's model and on no feature bit, as data, and the files that hold
//! them. [`tuning`](crate::tuning) activates them.

mod built_in;
mod decision;
mod error;
mod parse;
mod reader;
#[cfg(all(test, feature = "std"))]
mod tests;

pub use built_in::{named as built_in, names as built_in_names, of_model as built_in_for};
pub(crate) use decision::PREFETCH_FAR_LEAST_BYTES;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use decision::SUM_PREFETCH_LEAST_BYTES;
pub use decision::{DETECTED, Decision, Decisions, NEVER};
pub use error::ParseError;
pub(crate) use parse::kernel_names;
pub use parse::parse;

use crate::cpu::Model;
use crate::dispatch::Function;
use core::fmt;

/// The file version that this library reads and writes.
pub const VERSION: u32 = 1;

/// The length of the longest name, so that it can be stored without an allocator.
pub const NAME_MOST_BYTES: usize = 64;

/// The best choices for a CPU. [`Display`](fmt::Display) writes it as a file, which [`parse`](parse()) reads.
///
/// ```
/// use carryline::internals::tuning::{built_in, parse};
/// let profile = built_in("amd-zen5").unwrap();
/// let text = profile.to_string();
/// assert!(text.starts_with("version = 1\nname = \"AMD Zen 5"));
/// assert_eq!(parse(&text).as_ref(), Ok(profile));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile<'a> {
    /// The CPU's common name, in one line of at most [`NAME_MOST_BYTES`]. As in all strings of a file,
    /// quotation marks, backslashes and control characters are not allowed.
    pub name: &'a str,
    /// The evidence for the values, in words, in one or several lines.
    pub source: &'a str,
    /// The laboratory run that the values come from.
    pub run: Option<&'a str>,
    /// The CPUs that it applies to; `None` for all.
    pub cpu: Option<Models>,
    /// The kernel that each function prefers to those above it in its list, in the order of
    /// [`Function::ALL`].
    pub kernels: [Option<&'static str>; Function::ALL.len()],
    /// The values of the decisions.
    pub decisions: Decisions,
}

/// The CPUs of one vendor, or of one of its families, or a range of models in a family, as numbered by [`Model`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Models {
    /// The vendor, as in [`Model::vendor`].
    pub vendor: [u8; 12],
    /// The family; `None` for all, including those to come.
    pub family: Option<u32>,
    /// The first and the last model; `None` for all. Files have it only with a family.
    pub models: Option<[u32; 2]>,
}

impl Models {
    /// Whether a model is one of them.
    ///
    /// ```
    /// use carryline::internals::cpu::Model;
    /// use carryline::internals::tuning::Models;
    /// let zen5 = Models { vendor: *b"AuthenticAMD", family: Some(26), models: Some([0, 15]) };
    /// assert!(zen5.contains(Model { vendor: *b"AuthenticAMD", family: 26, model: 2 }));
    /// assert!(!zen5.contains(Model { vendor: *b"AuthenticAMD", family: 26, model: 16 }));
    /// ```
    #[must_use]
    pub fn contains(&self, model: Model) -> bool {
        self.vendor == model.vendor
            && self.family.is_none_or(|family| family == model.family)
            && self.models.is_none_or(|[first, last]| (first..=last).contains(&model.model))
    }
}

/// Exactly this model.
impl From<Model> for Models {
    fn from(Model { vendor, family, model }: Model) -> Models {
        Models { vendor, family: Some(family), models: Some([model; 2]) }
    }
}

/// `AuthenticAMD family 26 models 0 to 15`.
impl fmt::Display for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.vendor.escape_ascii())?;
        if let Some(family) = self.family {
            write!(f, " family {family}")?;
        }
        if let Some([first, last]) = self.models {
            write!(f, " models {first} to {last}")?;
        }
        Ok(())
    }
}

impl Profile<'_> {
    /// The kernel that a function prefers, if any.
    #[must_use]
    pub fn kernel(&self, function: Function) -> Option<&'static str> {
        self.kernels[function as usize]
    }
}

impl fmt::Display for Profile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "version = {VERSION}\nname = \"{}\"", self.name)?;
        if self.source.contains('\n') {
            writeln!(f, "source = \"\"\"\n{}\"\"\"", self.source)?;
        } else {
            writeln!(f, "source = \"{}\"", self.source)?;
        }
        if let Some(run) = self.run {
            writeln!(f, "run = \"{run}\"")?;
        }
        if let Some(Models { vendor, family, models }) = self.cpu {
            writeln!(f, "\n[cpu]\nvendor = \"{}\"", vendor.escape_ascii())?;
            if let Some(family) = family {
                writeln!(f, "family = {family}")?;
            }
            if let Some([first, last]) = models {
                writeln!(f, "models = [{first}, {last}]")?;
            }
        }
        if self.kernels.iter().any(Option::is_some) {
            writeln!(f, "\n[kernels]")?;
        }
        for function in Function::ALL {
            if let Some(kernel) = self.kernel(function) {
                writeln!(f, "{} = \"{kernel}\"", function.name())?;
            }
        }
        writeln!(f, "\n[decisions]")?;
        for decision in Decision::ALL {
            let value = Value(*decision, self.decisions.get(*decision));
            writeln!(f, "# {}\n{} = {value}", decision.meaning(), decision.name())?;
        }
        Ok(())
    }
}

/// A decision's value as written in a file.
struct Value(Decision, usize);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Value(decision, bytes) = *self;
        match decision.word() {
            Some((word, of_word)) if bytes == of_word => write!(f, "\"{word}\""),
            _ => write_grouped(f, bytes),
        }
    }
}

/// `1_048_576`.
fn write_grouped(f: &mut fmt::Formatter<'_>, number: usize) -> fmt::Result {
    match number {
        1000.. => {
            write_grouped(f, number / 1000)?;
            write!(f, "_{:03}", number % 1000)
        }
        _ => write!(f, "{number}"),
    }
}
