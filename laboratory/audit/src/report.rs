//! The result of an audit as data: the printed JSON, and the source of the document.

use crate::wire::{Data, Request, hex};
use serde::{Deserialize, Serialize};

/// The longest input that `input_hex` contains in full, in bytes.
const MAX_WRITTEN_BYTES: usize = 1 << 20;

/// The result of an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The seed that reproduces all random choices.
    pub seed: u64,
    /// The implementations in the order in which they were requested.
    pub implementations: Vec<Implementation>,
}

/// The status of an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// No fault was found.
    Right,
    /// Right up to 65,535 bytes, the longest IP packet; wrong beyond.
    Limited,
    /// Wrong for shorter input too.
    Wrong,
    /// Its process crashed on an input, twice.
    Crashed,
    /// It did not answer in time, twice.
    TimedOut,
    /// It answered garbage, twice.
    Garbage,
    /// No fault was found, but the audit ended early; see the reason.
    Incomplete,
    /// It could not be audited; see the reason.
    Unusable,
}

impl Status {
    /// The status as printed.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Status::Right => "right",
            Status::Limited => "right to 65,535 bytes",
            Status::Wrong => "wrong",
            Status::Crashed => "crashed",
            Status::TimedOut => "timed out",
            Status::Garbage => "garbage",
            Status::Incomplete => "incomplete",
            Status::Unusable => "not audited",
        }
    }
}

/// The result for one implementation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Implementation {
    /// The name.
    pub name: String,
    /// The version, if known.
    pub version: Option<String>,
    /// How it was called: `crate`, `variant`, `object`, `command` or `libc`.
    pub kind: String,
    /// The form of a shared library's symbol, given or found by trial.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub form: Option<String>,
    /// The status.
    pub status: Status,
    /// Why it could not be audited, or not completely.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The results of the conformance vectors.
    pub vectors: Vectors,
    /// Requests sent, including the vectors.
    pub questions: u64,
    /// Calls made by verification in memory; 0 if there was none.
    pub calls: u64,
    /// The faults.
    pub faults: Vec<Fault>,
    /// Other remarks: what could not be tried, and observations that are not faults.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// Counts of conformance vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vectors {
    /// Answered correctly.
    pub passed: u32,
    /// Answered wrongly.
    pub failed: u32,
    /// Not sent or not answered; `by_file` has the reasons.
    pub skipped: u32,
    /// The counts for each file of vectors in order; empty if none were sent.
    #[serde(default)]
    pub by_file: Vec<FileCounts>,
}

/// Counts of the vectors of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCounts {
    /// The file name without its extension, such as `sums`.
    pub file: String,
    /// Answered correctly.
    pub passed: u32,
    /// Answered wrongly.
    pub failed: u32,
    /// Not answered, because the implementation has no such function.
    pub no_function: u32,
    /// Not sent, because the data is too long for this implementation.
    pub too_long: u32,
}

/// The outcome of one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorOutcome {
    /// Answered correctly.
    Passed,
    /// Answered wrongly.
    Failed,
    /// The implementation has no function for it.
    NoFunction,
    /// Its data is too long to be sent.
    TooLong,
}

impl Vectors {
    /// Counts a vector of a file.
    pub fn count(&mut self, file: &str, outcome: VectorOutcome) {
        let at = self.by_file.iter().position(|known| known.file == file).unwrap_or_else(|| {
            self.by_file.push(FileCounts { file: file.to_owned(), ..FileCounts::default() });
            self.by_file.len() - 1
        });
        let counts = &mut self.by_file[at];
        let (all, one) = match outcome {
            VectorOutcome::Passed => (&mut self.passed, &mut counts.passed),
            VectorOutcome::Failed => (&mut self.failed, &mut counts.failed),
            VectorOutcome::NoFunction => (&mut self.skipped, &mut counts.no_function),
            VectorOutcome::TooLong => (&mut self.skipped, &mut counts.too_long),
        };
        *all += 1;
        *one += 1;
    }
}

/// A fault with the smallest input found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// The class, such as `lost_carry` or `odd_length`.
    pub class: String,
    /// The input bytes; `null` if they are unknown or more than 1 MiB.
    pub input_hex: Option<String>,
    /// The input, described if it is long.
    pub input: String,
    /// The sum to which the input was added, if any: two bytes in memory order.
    pub seed: Option<String>,
    /// The correct answer.
    pub expected: String,
    /// The actual answer.
    pub got: String,
    /// The request, if it is short.
    pub request: Option<String>,
    /// A line for a bug report.
    pub report: String,
}

/// Describes bytes: all of them if they are few, a byte and a length if they are all equal, otherwise both
/// ends.
#[must_use]
pub fn in_words(data: &Data) -> String {
    let bytes = data.bytes();
    let count = |len: usize| format!("{} byte{}", grouped(len), if len == 1 { "" } else { "s" });
    if bytes.is_empty() {
        return "no bytes".to_owned();
    }
    if let [first, rest @ ..] = bytes.as_slice()
        && bytes.len() > 16
        && rest.iter().all(|byte| byte == first)
    {
        return format!("{} of {first:02x}", count(bytes.len()));
    }
    if bytes.len() <= 64 {
        return format!("{} {}", count(bytes.len()), hex(&bytes));
    }
    format!("{} {}..{}", count(bytes.len()), hex(&bytes[..16]), hex(&bytes[bytes.len() - 16..]))
}

/// A number with thousands separators.
#[must_use]
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The bytes for `input_hex`, unless there are too many.
#[must_use]
pub fn written_out(data: &Data) -> Option<String> {
    (data.len() <= MAX_WRITTEN_BYTES).then(|| hex(&data.bytes()))
}

/// A request in words, for the line of a bug report.
#[must_use]
pub fn question(request: &Request) -> String {
    match request {
        Request::Hello => "the name".to_owned(),
        Request::Sum(data) => format!("the checksum of {}", in_words(data)),
        Request::Pieces(pieces) => {
            let pieces: Vec<String> = pieces
                .iter()
                .map(|piece| if piece.len() <= 32 { piece.word(false) } else { in_words(piece) })
                .collect();
            format!("the checksum of the pieces {}", pieces.join(" | "))
        }
        Request::Onto { sum, data } => {
            format!("the checksum of {} added to the sum {}", in_words(data), hex(sum))
        }
        Request::Update { checksum, offset, old, new, .. } => {
            format!(
                "the checksum {}, updated for {} replaced by {} at offset {offset},",
                hex(checksum),
                hex(old),
                hex(new)
            )
        }
        Request::Pseudo { source, destination, protocol, length } => {
            format!(
                "the sum of the pseudo-header {source} {destination}, protocol {protocol}, length {length}"
            )
        }
        Request::Packet(_) | Request::Verify(_) => {
            let verb = if matches!(request, Request::Packet(_)) {
                "the checksum"
            } else {
                "the verdict on the checksum"
            };
            let line = request.line(false);
            format!("{verb} of the packet '{}'", line.split_once(' ').map_or("", |(_, rest)| rest))
        }
    }
}

impl Implementation {
    /// A result that contains only the name and kind.
    #[must_use]
    pub fn new(name: &str, kind: &str) -> Implementation {
        Implementation {
            name: name.to_owned(),
            version: None,
            kind: kind.to_owned(),
            form: None,
            status: Status::Right,
            reason: None,
            vectors: Vectors::default(),
            questions: 0,
            calls: 0,
            faults: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The name and version.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.clone(),
        }
    }

    /// The result of an implementation that could not be audited for this reason.
    #[must_use]
    pub fn unusable(self, reason: impl Into<String>) -> Implementation {
        Implementation { status: Status::Unusable, reason: Some(reason.into()), ..self }
    }

    /// The result of an audit that the user interrupted: it is not right, because not everything was asked.
    #[must_use]
    pub fn interrupted(self) -> Implementation {
        let status = match self.status {
            Status::Right => Status::Incomplete,
            status => status,
        };
        Implementation { status, reason: Some("interrupted".to_owned()), ..self }
    }
}

impl Audit {
    /// True if any implementation is wrong.
    #[must_use]
    pub fn is_any_wrong(&self) -> bool {
        let is_wrong = |one: &Implementation| {
            !matches!(one.status, Status::Right | Status::Incomplete | Status::Unusable)
        };
        self.implementations.iter().any(is_wrong)
    }

    /// A copy to be stored, without the bytes of long inputs, which are still described.
    #[must_use]
    pub fn without_long_input(&self) -> Audit {
        const LONGEST_DIGITS: usize = 2000;
        let mut kept = self.clone();
        for fault in kept.implementations.iter_mut().flat_map(|one| &mut one.faults) {
            fault.input_hex = fault.input_hex.take().filter(|digits| digits.len() <= LONGEST_DIGITS);
        }
        kept
    }

    /// True if any implementation could not be audited, or not completely.
    #[must_use]
    pub fn is_any_unusable(&self) -> bool {
        self.implementations.iter().any(|one| matches!(one.status, Status::Incomplete | Status::Unusable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_input_is_described() {
        assert_eq!(in_words(&Data::default()), "no bytes");
        assert_eq!(in_words(&Data::literal(&[1])), "1 byte 01");
        assert_eq!(in_words(&Data::repeated(&[0xff], 131_076)), "131,076 bytes of ff");
        let long = in_words(&Data::repeated(&[1, 2], 1000));
        assert!(long.starts_with("1,000 bytes 0102") && long.contains(".."), "{long}");
        assert_eq!(["7", "1,234", "1,234,567"].map(str::to_owned), [7, 1234, 1_234_567].map(grouped));
    }
}
