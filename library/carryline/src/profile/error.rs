//! Errors in the text of a profile.

use super::decision::Decision;
use super::parse::{Section, kernel_names};
use crate::dispatch::Function;
use crate::word::Word;
use core::fmt;

/// A text that is not a valid profile: the line, the word there, and what is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParseError {
    pub(super) line: u32,
    pub(super) word: Word,
    pub(super) fault: Fault,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Something else is expected here.
    Expected(&'static str),
    UnknownSection,
    UnknownKey(Section),
    /// The section or key occurred before.
    Repeated,
    /// The section does not have this key.
    Missing(Section),
    /// The requirement on the value.
    Value(&'static str),
    /// The value of a decision is out of bounds.
    Decision(Decision),
    /// No kernel of the function has this name.
    Kernel(Function),
}

impl ParseError {
    /// The fault without details, for the compiler's message about a built-in file.
    pub(super) const fn summary(&self) -> &'static str {
        match self.fault {
            Fault::Expected(expected) => expected,
            Fault::UnknownSection => "an unknown section",
            Fault::UnknownKey(_) => "an unknown key",
            Fault::Repeated => "a duplicate section or key",
            Fault::Missing(_) => "a key is missing",
            Fault::Value(requirement) => requirement,
            Fault::Decision(decision) => decision.name(),
            Fault::Kernel(_) => "an unknown kernel",
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { line, word, fault } = self;
        write!(f, "line {line}: ")?;
        match *fault {
            Fault::Expected(expected) => write!(f, "found {word}, expected {expected}"),
            Fault::UnknownSection => {
                write!(f, "unknown section [{word}]; known: [cpu] [kernels] [decisions]")
            }
            Fault::UnknownKey(section) => {
                write!(f, "unknown key {word} in {}; known:", InBrackets(section))?;
                (0..).map_while(|index| section.key(index)).try_for_each(|key| write!(f, " {key}"))
            }
            Fault::Repeated => write!(f, "duplicate {word}"),
            Fault::Missing(section) => write!(f, "missing {word} in {}", InBrackets(section)),
            Fault::Value(requirement) => write!(f, "found {word}; {requirement}"),
            Fault::Decision(decision) => {
                let (name, unit) = (decision.name(), decision.unit());
                let (least, most) = decision.bounds().into_inner();
                write!(f, "found {word}; {name} must be {least} to {most} {unit}")?;
                decision.word().map_or(Ok(()), |(instead, _)| write!(f, ", or \"{instead}\""))
            }
            Fault::Kernel(function) => {
                write!(f, "found {word}; the kernels of {} are", function.name())?;
                kernel_names(function).iter().try_for_each(|name| write!(f, " \"{name}\""))
            }
        }
    }
}

/// A section as written in the file.
struct InBrackets(Section);

impl fmt::Display for InBrackets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Section::Top => f.write_str("the part before the first [section]"),
            section => write!(f, "[{}]", section.name()),
        }
    }
}

impl core::error::Error for ParseError {}
