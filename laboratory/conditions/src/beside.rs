//! What another core does while calls are timed.

use carryline_machine::words::{UnknownWord, unknown};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What another core does while calls are timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beside {
    /// No work of ours.
    #[default]
    Nothing,
    /// It reads and writes a buffer too large to cache, again and again: cache and memory are shared.
    Stream,
}

impl Beside {
    /// The words of the command line.
    pub const WORDS: &'static [(&'static str, &'static str)] = &[
        ("nothing", "the other cores are unused"),
        ("stream", "another core reads and writes a buffer too large to cache"),
    ];

    /// True if the other cores are left alone.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        matches!(self, Beside::Nothing)
    }
}

impl FromStr for Beside {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "nothing" => Ok(Beside::Nothing),
            "stream" => Ok(Beside::Stream),
            _ => unknown("work of another core ('--beside')", word, Beside::WORDS),
        }
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Beside::Nothing => "nothing",
            Beside::Stream => "stream",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Condition;

    #[test]
    fn every_word_reads_back_and_a_wrong_one_names_the_right_ones() {
        for (word, _) in Beside::WORDS {
            assert_eq!(word.parse::<Beside>().map(|beside| beside.to_string()), Ok((*word).to_owned()));
        }
        let error = "streams".parse::<Beside>().expect_err("not a word");
        assert!(error.to_string().contains("--beside") && error.to_string().contains("stream"), "{error}");
    }

    #[test]
    fn a_condition_stored_without_it_has_nothing_beside() {
        let plain = Condition::plain(64);
        let mut stored = serde_json::to_value(&plain).expect("JSON");
        assert!(stored.get("beside").is_none(), "{stored}");
        assert_eq!(serde_json::from_value::<Condition>(stored.clone()).expect("a condition"), plain);
        stored["beside"] = serde_json::json!("stream");
        let company: Condition = serde_json::from_value(stored).expect("a condition");
        assert_eq!(company, Condition { beside: Beside::Stream, ..plain });
    }
}
