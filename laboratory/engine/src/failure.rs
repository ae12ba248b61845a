//! The errors that end a command, and their exit statuses.

use std::fmt;

/// Exit statuses, as documented in the help.
pub mod status {
    /// Not everything requested could be done.
    pub const FAILED: u8 = 1;
    /// Unusable arguments or input.
    pub const USAGE: u8 = 2;
    /// Something is wrong, and was found wrong again.
    pub const WRONG: u8 = 3;
    /// Slower than the base.
    pub const REGRESSED: u8 = 4;
    /// No answer: the machine is too noisy, the time ran out, or a routine did not return in time.
    pub const UNDECIDED: u8 = 5;
    /// The runs to compare are not comparable.
    pub const UNLIKE: u8 = 6;
    /// Interrupted.
    pub const INTERRUPTED: u8 = 130;
}

/// An error with its exit status.
#[derive(Debug)]
pub enum Failure {
    /// The user can correct it: exit 2.
    Usage(String),
    /// The runs to compare are not comparable: exit 6.
    Unlike(String),
    /// Anything else: exit 1.
    Other(anyhow::Error),
}

impl Failure {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Usage(_) => status::USAGE,
            Failure::Unlike(_) => status::UNLIKE,
            Failure::Other(_) => status::FAILED,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) | Failure::Unlike(text) => f.write_str(text),
            Failure::Other(error) => write!(f, "{error:#}"),
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Other(error.into())
    }
}

/// A usage error with this message.
pub fn usage(text: impl Into<String>) -> Failure {
    Failure::Usage(text.into())
}
