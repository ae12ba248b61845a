//! The conditions of a measurement, as data.
//!
//! No function is duplicated for a size, an alignment or a cache state: every combination of the fields below
//! is one [`Condition`], which the sampler prepares before each batch. The words that the command line
//! accepts for a field are in its `WORDS`, with their meanings.

mod beside;
pub mod cache;
pub mod capture;
pub mod fleet;
mod offsets;
pub mod sizes;

pub use beside::Beside;
pub use cache::{Cache, CacheMethod, ColdBatch, Operands};
use carryline_machine::arena::Pages;
use carryline_machine::words::{UnknownWord, beyond, is_whole_number, unknown};
pub use offsets::Offsets;

use crate::sizes::Sizes;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Everything that a cell holds fixed, except for the variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The bytes of each call.
    pub sizes: Sizes,
    /// The offsets of the buffers in their pages.
    pub offsets: Offsets,
    /// The state of the caches when a call begins.
    pub cache: Cache,
    /// The dependence between calls.
    pub dependence: Dependence,
    /// The pages on which the buffers are mapped.
    pub pages: Pages,
    /// The lengths of the buffers that make up one message, each at its own random alignment; empty for one
    /// buffer per call. `sizes` then holds their sum.
    pub segments: Vec<u32>,
    /// What follows each call within the timed region.
    pub then: Then,
    /// Load on another core.
    #[serde(default, skip_serializing_if = "Beside::is_nothing")]
    pub beside: Beside,
}

/// The dependence between successive calls. Figures of different dependence answer different questions; a
/// table never mixes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dependence {
    /// A call needs the result of the previous one: a sum is the next seed, or a buffer's address depends on
    /// a load of the last byte written. Shows the latency along this path.
    Chained,
    /// Calls may overlap. Shows throughput.
    Independent,
    /// A fence (`lfence`) before and after each call. Shows the latency from the first instruction to the
    /// last result.
    Fenced,
}

impl Dependence {
    /// The words of the command line and their meanings.
    pub const WORDS: &'static [(&'static str, &'static str)] = &[
        ("chained", "each call waits for the result of the previous one"),
        ("independent", "calls may overlap"),
        ("fenced", "a fence on both sides of every call"),
    ];

    /// All values, in the order of the words.
    pub const ALL: [Dependence; 3] = [Dependence::Chained, Dependence::Independent, Dependence::Fenced];

    /// The word of the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Dependence::Chained => "chained",
            Dependence::Independent => "independent",
            Dependence::Fenced => "fenced",
        }
    }
}

impl FromStr for Dependence {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match Dependence::ALL.into_iter().find(|d| d.word() == word) {
            Some(dependence) => Ok(dependence),
            None => unknown("dependence", word, Dependence::WORDS),
        }
    }
}

impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// What follows each call within the timed region: the cost of the state in which the call leaves the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Nothing: the result is never used.
    Nothing,
    /// The result is read line by line immediately.
    Read,
    /// The result is read after calls on other buffers have processed this many bytes.
    // Stored runs use "read_later" for what is now `ReadWrapped`, so this variant is stored under another name.
    #[serde(rename = "read_much_later")]
    ReadLater(u64),
    /// In a batch of that many calls the result just written was read, and at the beginning of longer ones what another
    /// routine had written. This was the meaning of `read-later` until 2026-11-29; only stored runs have it.
    #[serde(rename = "read_later")]
    ReadWrapped(u64),
    /// A separate working set of this many bytes is read line by line, which pays for what the call evicted
    /// from the caches. The null call's share is subtracted, so the net is the call plus the slowdown that it
    /// causes elsewhere.
    Victim(u64),
}

impl Then {
    /// The words of the command line and their meanings.
    pub const WORDS: &'static [(&'static str, &'static str)] = &[
        ("nothing", "the result is never used"),
        ("read", "the result is read immediately"),
        ("read-later:BYTES", "the result is read after that much other work, at least a byte"),
        ("victim:BYTES", "another working set of that size, at least a byte, is read after each call"),
    ];
}

impl FromStr for Then {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        const FIELD: &str = "word for what follows a call ('--then')";
        let bytes = |text: &str| carryline_machine::words::parse_bytes(text).ok().filter(|bytes| *bytes > 0);
        match word.split_once(':') {
            None if word == "nothing" => Ok(Then::Nothing),
            None if word == "read" => Ok(Then::Read),
            Some(("read-later", size)) if bytes(size).is_some() => {
                Ok(Then::ReadLater(bytes(size).unwrap_or(0)))
            }
            Some(("victim", size)) if bytes(size).is_some() => Ok(Then::Victim(bytes(size).unwrap_or(0))),
            Some(("read-later" | "victim", number)) if is_whole_number(number) => {
                beyond(FIELD, word, Then::WORDS, "BYTES is at least 1")
            }
            _ => unknown(FIELD, word, Then::WORDS),
        }
    }
}

impl fmt::Display for Then {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Then::Nothing => f.pad("nothing"),
            Then::Read => f.pad("read"),
            Then::ReadLater(bytes) => f.pad(&format!("read-later:{bytes}")),
            Then::ReadWrapped(bytes) => f.pad(&format!("read-later-wrapped:{bytes}")),
            Then::Victim(bytes) => f.pad(&format!("victim:{bytes}")),
        }
    }
}

impl Condition {
    /// The default condition: hot, independent and aligned, with a fixed size.
    #[must_use]
    pub fn plain(size_bytes: u64) -> Condition {
        Condition {
            sizes: Sizes::fixed(size_bytes),
            offsets: Offsets::ALIGNED,
            cache: Cache::HOT,
            dependence: Dependence::Independent,
            pages: Pages::Base,
            segments: Vec::new(),
            then: Then::Nothing,
            beside: Beside::Nothing,
        }
    }

    /// True if sizes with a period can repeat under this condition. A cold batch is too short, and what
    /// follows calls uses lists of its own.
    #[must_use]
    pub fn can_repeat(&self) -> bool {
        self.cache.is_hot() && self.segments.is_empty() && self.then == Then::Nothing
    }

    /// True if the size differs between calls.
    #[must_use]
    pub fn sizes_vary(&self) -> bool {
        !matches!(self.sizes.draw, sizes::Draw::Fixed(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_words_round_trip() {
        for word in ["nothing", "read", "read-later:4096", "victim:32768"] {
            assert_eq!(word.parse::<Then>().map(|t| t.to_string()), Ok(word.to_owned()));
        }
        for word in ["chained", "independent", "fenced"] {
            assert_eq!(word.parse::<Dependence>().map(|d| d.to_string()), Ok(word.to_owned()));
        }
        for word in ["4k", "huge"] {
            assert_eq!(word.parse::<Pages>().map(|p| p.to_string()), Ok(word.to_owned()));
        }
    }

    #[test]
    fn invalid_words_are_errors() {
        assert!("read-later:".parse::<Then>().is_err());
        for word in ["victim:0", "read-later:0", "read-later:-1"] {
            let error = word.parse::<Then>().expect_err(word).to_string();
            assert!(error.contains("BYTES is at least 1"), "{error}");
        }
    }
}
