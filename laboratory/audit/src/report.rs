//! What an audit found, as data: the JSON that is printed is this, and so is what the document is made of.

use crate::wire::{Data, Request, hex};
use serde::{Deserialize, Serialize};

/// Inputs up to this length are written out in full in `input_hex`.
const MOST_WRITTEN_BYTES: usize = 1 << 20;

/// Everything that was audited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// What was drawn is drawn again with this seed.
    pub seed: u64,
    /// One entry for each, in the order in which they were asked for.
    pub implementations: Vec<Implementation>,
}

/// What became of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// No fault was found.
    Right,
    /// Right up to 65,535 bytes, the longest IP packet; wrong beyond.
    Limited,
    /// Wrong.
    Wrong,
    /// Its process died at an input, twice.
    Crashed,
    /// It did not answer in time, twice.
    TimedOut,
    /// It answered garbage, twice.
    Garbage,
    /// It could not be audited: see the reason.
    Unusable,
}

impl Status {
    /// As on the screen.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Status::Right => "right",
            Status::Limited => "right to 65,535 bytes",
            Status::Wrong => "wrong",
            Status::Crashed => "crashed",
            Status::TimedOut => "timed out",
            Status::Garbage => "garbage",
            Status::Unusable => "not audited",
        }
    }
}

/// One implementation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Implementation {
    /// What it calls itself.
    pub name: String,
    /// Its version, where it says one.
    pub version: Option<String>,
    /// How it was reached: `crate`, `object`, `command`, `libc`.
    pub kind: String,
    /// The form of a shared library's symbol: given, or found by trial.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub form: Option<String>,
    /// What became of it.
    pub status: Status,
    /// Why it could not be audited, or not to the end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The conformance vectors.
    pub vectors: Vectors,
    /// Questions besides the vectors.
    pub questions: u64,
    /// Calls of the verification in memory; 0 where there was none.
    pub calls: u64,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// What else is to be said: what could not be tried, and observations that are no faults.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// How many of the conformance vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vectors {
    /// Answered rightly.
    pub passed: u32,
    /// Answered wrongly.
    pub failed: u32,
    /// Not asked or not answered: `by_file` says why.
    pub skipped: u32,
    /// The same for each file of vectors, in the order in which they are asked; none where none were asked.
    #[serde(default)]
    pub by_file: Vec<OfFile>,
}

/// How many vectors of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfFile {
    /// Its name without the ending: `sums`.
    pub file: String,
    /// Answered rightly.
    pub passed: u32,
    /// Answered wrongly.
    pub failed: u32,
    /// Not answered: the implementation has no function for them.
    pub no_function: u32,
    /// Not asked: their data is longer than what is sent to this implementation.
    pub too_long: u32,
}

/// What came of one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Answered rightly.
    Passed,
    /// Answered wrongly.
    Failed,
    /// The implementation has no function for it.
    NoFunction,
    /// Its data is longer than what is sent.
    TooLong,
}

impl Vectors {
    /// Counts a vector of that file.
    pub fn count(&mut self, file: &str, asked: Asked) {
        let at = self.by_file.iter().position(|known| known.file == file).unwrap_or_else(|| {
            self.by_file.push(OfFile { file: file.to_owned(), ..OfFile::default() });
            self.by_file.len() - 1
        });
        let of_file = &mut self.by_file[at];
        let (all, one) = match asked {
            Asked::Passed => (&mut self.passed, &mut of_file.passed),
            Asked::Failed => (&mut self.failed, &mut of_file.failed),
            Asked::NoFunction => (&mut self.skipped, &mut of_file.no_function),
            Asked::TooLong => (&mut self.skipped, &mut of_file.too_long),
        };
        *all += 1;
        *one += 1;
    }
}

/// A fault, with the smallest input that was found to show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind it is: `lost_carry`, `odd_length` and so on.
    pub class: String,
    /// The input's bytes; `null` where they are unknown or more than 1 MiB.
    pub input_hex: Option<String>,
    /// The input in words where it is long.
    pub input: String,
    /// The sum that it was summed onto, if any: two bytes in memory order.
    pub seed: Option<String>,
    /// The right answer.
    pub expected: String,
    /// What was answered.
    pub got: String,
    /// The question as it was asked, where it is short.
    pub request: Option<String>,
    /// One line for a bug report.
    pub report: String,
}

/// Bytes in words: all of them if they are few, a pattern and a length if they repeat, else the ends.
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

/// A number with commas.
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

/// The bytes for `input_hex`.
#[must_use]
pub fn written_out(data: &Data) -> Option<String> {
    (data.len() <= MOST_WRITTEN_BYTES).then(|| hex(&data.bytes()))
}

/// What was asked, in words, for the line of a bug report.
#[must_use]
pub fn question(request: &Request) -> String {
    match request {
        Request::Hello => "its name".to_owned(),
        Request::Sum(data) => format!("the checksum of {}", in_words(data)),
        Request::Pieces(pieces) => {
            let pieces: Vec<String> = pieces
                .iter()
                .map(|piece| if piece.len() <= 32 { piece.word(false) } else { in_words(piece) })
                .collect();
            format!("the checksum of the pieces {}", pieces.join(" | "))
        }
        Request::Onto { sum, data } => {
            format!("the checksum of {} onto the sum {}", in_words(data), hex(sum))
        }
        Request::Update { checksum, offset, old, new, .. } => {
            format!(
                "the checksum {} after {} at offset {offset} has become {}",
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
    /// One of which nothing is known yet.
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

    /// Name and version.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.clone(),
        }
    }

    /// The same, not audited for that reason.
    #[must_use]
    pub fn unusable(self, reason: impl Into<String>) -> Implementation {
        Implementation { status: Status::Unusable, reason: Some(reason.into()), ..self }
    }
}

impl Audit {
    /// True if some implementation is wrong.
    #[must_use]
    pub fn is_any_wrong(&self) -> bool {
        self.implementations.iter().any(|one| !matches!(one.status, Status::Right | Status::Unusable))
    }

    /// The same for a file that is kept: the bytes of long input, which the words describe, are left out.
    #[must_use]
    pub fn without_long_input(&self) -> Audit {
        const LONGEST_DIGITS: usize = 2000;
        let mut kept = self.clone();
        for fault in kept.implementations.iter_mut().flat_map(|one| &mut one.faults) {
            fault.input_hex = fault.input_hex.take().filter(|digits| digits.len() <= LONGEST_DIGITS);
        }
        kept
    }

    /// True if some could not be audited.
    #[must_use]
    pub fn is_any_unusable(&self) -> bool {
        self.implementations.iter().any(|one| one.status == Status::Unusable)
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
