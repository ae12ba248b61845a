//! How an examination ended, and what follows for the implementation.

use super::Examiner;
use crate::class::Class;
use crate::client::ClientError;
use crate::report::{Fault, Implementation, Status};

/// Why an examination ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The user interrupted it.
    Interrupted,
    /// A request timed out twice.
    Hang,
    /// Too many requests were not answered.
    Errors,
    /// Too many requests were answered only when they were repeated.
    Unreliable,
}

/// The status that follows from the faults.
pub fn status(faults: &[Fault]) -> Status {
    let is = |fault: &Fault, class: Class| fault.class == class.word();
    if faults.is_empty() {
        Status::Right
    } else if faults.iter().all(|fault| is(fault, Class::LongInput)) {
        Status::Limited
    } else if faults.iter().all(|fault| is(fault, Class::Crash)) {
        Status::Crashed
    } else if faults.iter().all(|fault| is(fault, Class::TimedOut)) {
        Status::TimedOut
    } else if faults.iter().all(|fault| is(fault, Class::Garbage)) {
        Status::Garbage
    } else {
        Status::Wrong
    }
}

impl Examiner<'_> {
    /// The row with its status, and the reason if the examination ended early.
    pub(super) fn conclude(&self, row: Implementation) -> Implementation {
        let found = status(&row.faults);
        let incomplete = if row.faults.is_empty() { Status::Incomplete } else { found };
        let last = |errors: &[ClientError]| errors.last().map_or_else(String::new, ToString::to_string);
        let (status, reason) = match self.end {
            None if self.answered == 0 && row.faults.is_empty() => {
                return row.unusable("it answered no request");
            }
            None => return Implementation { status: found, ..row },
            Some(End::Interrupted) => return Implementation { status: found, ..row }.interrupted(),
            Some(End::Hang) => {
                (Status::TimedOut, "abandoned after a request that timed out twice".to_owned())
            }
            Some(End::Errors) => {
                let status = match self.errors.last() {
                    Some(ClientError::Died { .. }) => Status::Crashed,
                    Some(ClientError::TimedOut) => Status::TimedOut,
                    Some(ClientError::Garbage(_)) => Status::Garbage,
                    _ => found,
                };
                let (count, last) = (self.errors.len(), last(&self.errors));
                (status, format!("abandoned after {count} requests without an answer; the last: {last}"))
            }
            Some(End::Unreliable) => {
                let (count, last) = (self.flukes.len(), last(&self.flukes));
                (
                    incomplete,
                    format!(
                        "unreliable: {count} requests were answered only when they were repeated; the last \
                         after: {last}"
                    ),
                )
            }
        };
        Implementation { status, reason: Some(reason), ..row }
    }
}
