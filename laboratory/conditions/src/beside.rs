//! Load on another core while calls are timed.

use carryline_machine::words::{UnknownWord, unknown};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Load on another core while calls are timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beside {
    /// None.
    #[default]
    Nothing,
    /// Another core repeatedly reads and writes a buffer too large to cache, so caches and memory are shared.
    Stream,
}

impl Beside {
    /// The words of the command line and their meanings.
    pub const WORDS: &'static [(&'static str, &'static str)] = &[
        ("nothing", "the other cores are unused"),
        ("stream", "another core reads and writes a buffer too large to cache"),
    ];

    /// True if there is no load on another core.
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
            _ => unknown("word for the work of another core ('--beside')", word, Beside::WORDS),
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
    fn words_round_trip_and_an_error_names_the_valid_ones() {
        for (word, _) in Beside::WORDS {
            assert_eq!(word.parse::<Beside>().map(|beside| beside.to_string()), Ok((*word).to_owned()));
        }
        let error = "streams".parse::<Beside>().expect_err("not a word");
        assert!(error.to_string().contains("--beside") && error.to_string().contains("stream"), "{error}");
    }

    #[test]
    fn a_condition_stored_without_the_field_has_no_load() {
        let plain = Condition::plain(64);
        let mut stored = serde_json::to_value(&plain).expect("JSON");
        assert!(stored.get("beside").is_none(), "{stored}");
        assert_eq!(serde_json::from_value::<Condition>(stored.clone()).expect("a condition"), plain);
        stored["beside"] = serde_json::json!("stream");
        let loaded: Condition = serde_json::from_value(stored).expect("a condition");
        assert_eq!(loaded, Condition { beside: Beside::Stream, ..plain });
    }
}
