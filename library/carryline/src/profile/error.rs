//! Why a text is no profile.

use super::decision::Decision;
use super::parse::{Section, kernel_names};
use crate::dispatch::Function;
use crate::word::Word;
use core::fmt;

/// A text that is no profile: the line, the word there, and what would be right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParseError {
    pub(super) line: u32,
    pub(super) word: Word,
    pub(super) fault: Fault,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Something else should be there.
    Expected(&'static str),
    UnknownSection,
    UnknownKey(Section),
    /// The section or the key came before.
    Repeated,
    /// The section has not this key.
    Missing(Section),
    /// What the value must be.
    Value(&'static str),
    /// The value of a decision is not within its bounds.
    Decision(Decision),
    /// No kernel of the function has this name.
    Kernel(Function),
}

impl ParseError {
    /// The fault without its particulars, for the compiler's message about a built-in file.
    pub(super) const fn summary(&self) -> &'static str {
        match self.fault {
            Fault::Expected(what) => what,
            Fault::UnknownSection => "an unknown section",
            Fault::UnknownKey(_) => "an unknown key",
            Fault::Repeated => "a section or key that is there twice",
            Fault::Missing(_) => "a key is missing",
            Fault::Value(right) => right,
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
            Fault::Expected(what) => write!(f, "found {word}, expected {what}"),
            Fault::UnknownSection => {
                write!(f, "[{word}] is no section; known are [cpu] [kernels] [decisions]")
            }
            Fault::UnknownKey(section) => {
                write!(f, "{word} is no key of {}; known are", InBrackets(section))?;
                (0..).map_while(|index| section.key(index)).try_for_each(|key| write!(f, " {key}"))
            }
            Fault::Repeated => write!(f, "{word} is there a second time"),
            Fault::Missing(section) => write!(f, "{} has no {word}", InBrackets(section)),
            Fault::Value(right) => write!(f, "found {word}; {right}"),
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

/// A section as it stands in the file.
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
