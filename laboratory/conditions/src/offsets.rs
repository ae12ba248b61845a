//! The offsets of a call's buffers in their pages.

use carryline_machine::words::{UnknownWord, beyond, is_whole_number, unknown};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The offsets at which buffers begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offsets {
    /// The same for every call, in bytes past a line boundary, up to 4095, so that distances modulo a page
    /// can be chosen too.
    Fixed {
        /// The destination's offset.
        dst: u16,
        /// The source's offset.
        src: u16,
    },
    /// Random for each call and buffer, from the whole page: 0 to 4095.
    // Stored runs use "random" for what is now `RandomInLine`, so this variant is stored under another name.
    #[serde(rename = "random_page")]
    Random,
    /// The source begins anywhere in a page; the destination is 1 to 63 bytes above or below it modulo 4096.
    /// Random for each call.
    Alias,
    /// Random for each call and buffer, 0 to 63. Hot buffers begin on a page boundary, so the buffers of a
    /// call are always within 63 bytes of each other modulo 4096. This was the meaning of `random` until it
    /// became clear that few programs have such buffers.
    #[serde(rename = "random")]
    RandomInLine,
    /// Every buffer ends at the end of a page. Nothing is mapped after the page of a hot one.
    End,
}

impl Offsets {
    /// All buffers on a line boundary.
    pub const ALIGNED: Offsets = Offsets::Fixed { dst: 0, src: 0 };
    /// The largest offset that can be requested.
    pub const MOST: u16 = 4095;
    /// The largest distance modulo 4096 that [`Offsets::Alias`] draws.
    pub const ALIAS_MOST: u16 = 63;
    /// The words of the command line and their meanings.
    pub const WORDS: &'static [(&'static str, &'static str)] = &[
        ("N", "every buffer begins N bytes (0 to 4095) past a page boundary"),
        ("D:S", "the destination begins D bytes past a page boundary, the source S"),
        ("random", "drawn for every call and buffer from the whole page (0 to 4095)"),
        ("alias", "the destination 1 to 63 bytes above or below the source modulo 4096"),
        ("random-line", "drawn for every call and buffer, 0 to 63 past the same page offset"),
        ("end", "every buffer ends at a page boundary; nothing is mapped after a hot one"),
    ];

    /// True if the offsets differ between calls.
    #[must_use]
    pub const fn vary(self) -> bool {
        match self {
            Offsets::Random | Offsets::Alias | Offsets::RandomInLine => true,
            Offsets::Fixed { .. } | Offsets::End => false,
        }
    }
}

impl FromStr for Offsets {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "random" => return Ok(Offsets::Random),
            "alias" => return Ok(Offsets::Alias),
            "random-line" => return Ok(Offsets::RandomInLine),
            "end" => return Ok(Offsets::End),
            _ => {}
        }
        let (dst, src) = word.split_once(':').unwrap_or((word, word));
        match (dst.parse::<u16>(), src.parse::<u16>()) {
            (Ok(dst), Ok(src)) if dst <= Offsets::MOST && src <= Offsets::MOST => {
                Ok(Offsets::Fixed { dst, src })
            }
            _ if is_whole_number(dst) && is_whole_number(src) => {
                beyond("offset", word, Offsets::WORDS, "an offset is from 0 to 4095")
            }
            _ => unknown("offset", word, Offsets::WORDS),
        }
    }
}

impl fmt::Display for Offsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Offsets::Fixed { dst, src } if dst == src => f.pad(&dst.to_string()),
            Offsets::Fixed { dst, src } => f.pad(&format!("{dst}:{src}")),
            Offsets::Random => f.pad("random"),
            Offsets::Alias => f.pad("alias"),
            Offsets::RandomInLine => f.pad("random-line"),
            Offsets::End => f.pad("end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_offsets_round_trip() {
        for word in ["0", "13", "4095", "0:13", "random", "alias", "random-line", "end"] {
            assert_eq!(word.parse::<Offsets>().map(|o| o.to_string()), Ok(word.to_owned()));
        }
        for word in ["4096", "-1", "0:4096", "99999999999999999999"] {
            let error = word.parse::<Offsets>().expect_err("beyond the range").to_string();
            assert!(error.contains(word) && error.contains("0 to 4095"), "{error}");
        }
        let error = "any".parse::<Offsets>().expect_err("no number").to_string();
        assert!(!error.contains("4095") && error.contains("random-line"), "{error}");
    }

    #[test]
    fn stored_random_offsets_keep_their_old_meaning() {
        let old: Offsets = serde_json::from_str("\"random\"").expect("offsets of an old run");
        assert_eq!((old, old.to_string().as_str()), (Offsets::RandomInLine, "random-line"));
        for offsets in [Offsets::Random, Offsets::Alias, Offsets::RandomInLine, Offsets::End] {
            let text = serde_json::to_string(&offsets).expect("JSON");
            assert_eq!(text == "\"random\"", offsets == Offsets::RandomInLine, "{text}");
            assert_eq!(serde_json::from_str::<Offsets>(&text).ok(), Some(offsets));
        }
    }
}
