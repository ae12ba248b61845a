//! The state of the caches when a call begins, and the method that prepares it.

use carryline_machine::words::{UnknownWord, beyond, is_whole_number, unknown};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How the cache state is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMethod {
    /// The same buffers repeatedly, written and read before each batch.
    Hot,
    /// Each line of the buffers is flushed, followed by a fence.
    Clflush,
    /// A buffer larger than the last-level cache is read [`EVICTING_PASSES`] times between batches.
    // Stored runs use "evict" for what is now `EvictOnce`, so this variant is stored under another name.
    #[serde(rename = "evict_twice")]
    Evict,
    /// That buffer was read once between batches, which left part of the lines in the last level. This was the
    /// meaning of `cold:evict` until 2026-11-25; only stored runs have it.
    #[serde(rename = "evict")]
    EvictOnce,
    /// Each call gets lines of a buffer too large to cache, all of which are used before any is used again.
    // Stored under another name for the same reason, and so is `Mixed`.
    #[serde(rename = "arena_in_turn")]
    Arena,
    /// The next page or pages of such a buffer, but any lines of them, so that buffers much shorter than a page
    /// or two used few lines, over and over. This was the meaning of `cold:arena` until 2026-11-25.
    #[serde(rename = "arena")]
    ArenaReused,
    /// Each buffer of each call is hot at random, otherwise fresh lines as with [`CacheMethod::Arena`].
    #[serde(rename = "mixed_in_turn")]
    Mixed {
        /// The probability of being hot in percent, 1 to 99.
        hot_percent: u8,
    },
    /// The same with the lines of [`CacheMethod::ArenaReused`]. This was the meaning of `mixed` until 2026-11-25.
    #[serde(rename = "mixed")]
    MixedReused {
        /// The probability of being hot in percent, 1 to 99.
        hot_percent: u8,
    },
}

/// How often the buffer of [`CacheMethod::Evict`] is read. On Zen 5, one pass over twice the last level left 8 to
/// 21 % of the lines there, two left 2 to 4 % (METHODOLOGY.md, "Evicted").
pub const EVICTING_PASSES: usize = 2;

/// The buffers of a call to which the cache state applies; the others are hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operands {
    /// Every buffer of the call.
    Both,
    /// Only the source.
    Source,
    /// Only the destination.
    Destination,
}

/// How many cold calls follow each other in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColdBatch {
    /// Not part of the condition: hot cells, and cold cells of runs from when the batch depended on the
    /// available time.
    #[default]
    Unstated,
    /// A stream of calls. Their number depends only on sizes and caches, and is part of the result.
    Stream,
    /// One isolated call.
    Single,
}

/// The state of the caches when a call begins, with the method that prepares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cache {
    /// The method that prepares the state.
    pub method: CacheMethod,
    /// The buffers to which it applies. Always `Both` if hot or mixed.
    pub operands: Operands,
    /// How many cold calls follow each other.
    #[serde(default, skip_serializing_if = "ColdBatch::is_unstated")]
    pub batch: ColdBatch,
}

impl ColdBatch {
    /// True if the batch is not part of the condition.
    #[must_use]
    pub const fn is_unstated(&self) -> bool {
        matches!(self, ColdBatch::Unstated)
    }
}

impl Cache {
    /// All buffers in the nearest level that holds them.
    pub const HOT: Cache =
        Cache { method: CacheMethod::Hot, operands: Operands::Both, batch: ColdBatch::Unstated };

    /// The words of the command line and their meanings.
    pub const WORDS: &'static [(&'static str, &'static str)] = &[
        ("hot", "the same buffers repeatedly"),
        ("cold:clflush", "every line flushed, then a fence; a stream of calls that miss"),
        (
            "cold:evict",
            "a buffer larger than the last cache level read twice in between; a stream of calls that miss",
        ),
        ("cold:arena", "fresh lines of a buffer too large to cache; a stream of calls that miss"),
        ("cold:METHOD:single", "cold by that method, one isolated call"),
        ("cold:METHOD:src", "the source cold by that method, the destination hot"),
        ("cold:METHOD:dst", "the destination cold by that method, the source hot"),
        (
            "mixed:P",
            "each buffer of each call hot with a probability of P percent (1 to 99), else fresh lines as in cold:arena",
        ),
    ];

    /// A stream of calls whose buffers are not cached.
    #[must_use]
    pub const fn cold(method: CacheMethod) -> Cache {
        Cache { method, operands: Operands::Both, batch: ColdBatch::Stream }
    }

    /// True if all buffers are hot.
    #[must_use]
    pub fn is_hot(&self) -> bool {
        self.method == CacheMethod::Hot
    }

    /// The probability in percent that a buffer is hot, for mixed states.
    #[must_use]
    pub const fn mixed(&self) -> Option<u8> {
        match self.method {
            CacheMethod::Mixed { hot_percent } | CacheMethod::MixedReused { hot_percent } => {
                Some(hot_percent)
            }
            _ => None,
        }
    }
}

impl FromStr for Cache {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let wrong = || unknown("cache state", word, Cache::WORDS);
        if word == "hot" {
            return Ok(Cache::HOT);
        }
        if word == "cold" {
            let methods = "how is part of the name: cold:clflush, cold:evict or cold:arena";
            return beyond("cache state", word, Cache::WORDS, methods);
        }
        if let Some(percent) = word.strip_prefix("mixed:") {
            let plain = percent.bytes().all(|byte| byte.is_ascii_digit());
            return match percent.parse::<u8>() {
                Ok(hot_percent @ 1..=99) if plain => Ok(Cache::cold(CacheMethod::Mixed { hot_percent })),
                _ if is_whole_number(percent) => {
                    beyond("cache state", word, Cache::WORDS, "P is from 1 to 99")
                }
                _ => wrong(),
            };
        }
        let mut parts = word.split(':');
        let method = match (parts.next(), parts.next()) {
            (Some("cold"), Some("clflush")) => CacheMethod::Clflush,
            (Some("cold"), Some("evict")) => CacheMethod::Evict,
            (Some("cold"), Some("arena")) => CacheMethod::Arena,
            _ => return wrong(),
        };
        let mut cache = Cache::cold(method);
        for part in parts {
            match part {
                "src" if cache.operands == Operands::Both => cache.operands = Operands::Source,
                "dst" if cache.operands == Operands::Both => cache.operands = Operands::Destination,
                "single" if cache.batch == ColdBatch::Stream => cache.batch = ColdBatch::Single,
                _ => return wrong(),
            }
        }
        Ok(cache)
    }
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = match self.method {
            CacheMethod::Hot => "hot",
            CacheMethod::Clflush => "cold:clflush",
            CacheMethod::Evict => "cold:evict",
            CacheMethod::EvictOnce => "cold:evict-once",
            CacheMethod::Arena => "cold:arena",
            CacheMethod::ArenaReused => "cold:arena-reused",
            CacheMethod::Mixed { hot_percent } => return f.pad(&format!("mixed:{hot_percent}")),
            CacheMethod::MixedReused { hot_percent } => {
                return f.pad(&format!("mixed:{hot_percent}-reused"));
            }
        };
        let operands = match self.operands {
            Operands::Both => "",
            Operands::Source => ":src",
            Operands::Destination => ":dst",
        };
        let batch = match self.batch {
            ColdBatch::Single => ":single",
            ColdBatch::Unstated if !self.is_hot() => ":batch-not-stated",
            ColdBatch::Unstated | ColdBatch::Stream => "",
        };
        f.pad(&format!("{method}{operands}{batch}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_states_round_trip() {
        for word in [
            "hot",
            "cold:clflush",
            "cold:evict:src",
            "cold:arena:dst",
            "cold:clflush:single",
            "cold:evict:src:single",
            "mixed:1",
            "mixed:99",
        ] {
            assert_eq!(word.parse::<Cache>().map(|c| c.to_string()), Ok(word.to_owned()));
        }
        assert_eq!("cold:evict:single:src".parse::<Cache>(), "cold:evict:src:single".parse());
    }

    #[test]
    fn an_invalid_word_is_named_with_the_valid_ones() {
        for word in [
            "",
            "warm",
            "cold",
            "cold:",
            "cold:flush",
            "cold:clflush:both",
            "cold:evict:src:x",
            "cold:evict:src:dst",
            "cold:evict:single:single",
            "hot:single",
            "mixed",
            "mixed:",
            "mixed:0",
            "mixed:100",
            "mixed:+5",
            "mixed:50:src",
        ] {
            let error = word.parse::<Cache>().expect_err("not a cache state");
            assert!(error.to_string().contains("cold:clflush"), "{error}");
            let is_number = ["mixed:0", "mixed:100"].contains(&word);
            assert_eq!(error.to_string().contains("1 to 99"), is_number, "{error}");
        }
    }

    #[test]
    fn a_cold_state_stored_without_a_batch_differs_from_current_ones() {
        let old: Cache =
            serde_json::from_str(r#"{"method":"clflush","operands":"both"}"#).expect("an old state");
        assert_eq!(old.to_string(), "cold:clflush:batch-not-stated");
        assert!(["cold:clflush", "cold:clflush:single"].iter().all(|word| word.parse() != Ok(old)));
        let hot: Cache = serde_json::from_str(r#"{"method":"hot","operands":"both"}"#).expect("an old state");
        assert_eq!(hot, Cache::HOT);
        for word in ["hot", "cold:arena:dst:single", "cold:evict:src", "mixed:30"] {
            let cache: Cache = word.parse().expect("a state");
            let text = serde_json::to_string(&cache).expect("JSON");
            assert_eq!(serde_json::from_str::<Cache>(&text).ok(), Some(cache), "{text}");
        }
    }

    #[test]
    fn a_state_stored_when_arenas_used_the_same_lines_over_and_over_differs_from_the_current_one() {
        for (stored, word, now) in [
            (
                r#"{"method":"arena","operands":"destination","batch":"stream"}"#,
                "cold:arena:dst",
                "cold:arena-reused:dst",
            ),
            (
                r#"{"method":{"mixed":{"hot_percent":50}},"operands":"both","batch":"stream"}"#,
                "mixed:50",
                "mixed:50-reused",
            ),
        ] {
            let old: Cache = serde_json::from_str(stored).expect("an old state");
            assert_eq!(old.to_string(), now);
            assert_ne!(word.parse(), Ok(old));
            assert!(now.parse::<Cache>().is_err(), "it cannot be measured any more");
        }
    }

    #[test]
    fn a_state_stored_when_the_evicting_buffer_was_read_once_differs_from_the_current_one() {
        let old: Cache = serde_json::from_str(r#"{"method":"evict","operands":"source","batch":"single"}"#)
            .expect("an old state");
        assert_eq!(old.to_string(), "cold:evict-once:src:single");
        assert_ne!("cold:evict:src:single".parse(), Ok(old));
        assert!(old.to_string().parse::<Cache>().is_err(), "it cannot be measured any more");
    }
}
