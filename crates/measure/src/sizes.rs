//! How many bytes each call gets: fixed, drawn from a range, or drawn from a real distribution.

use serde::{Deserialize, Serialize};

/// The sizes of a cell's calls, with the words the user wrote for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// As written on the command line: `1500`, `1..64`, `fleet:memcpy-A`.
    pub label: String,
    /// What a call's size is drawn from.
    pub draw: Draw,
}

/// What a call's size is drawn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// Always this many bytes.
    Fixed(u64),
    /// Every size from `low` to `high`, both included, equally often.
    Uniform {
        /// The smallest size.
        low: u64,
        /// The largest size.
        high: u64,
    },
    /// Sizes with their weights (any positive scale), ascending by size.
    Weighted(Vec<(u64, f64)>),
}

impl Sizes {
    /// A fixed size, labelled by its number.
    #[must_use]
    pub fn fixed(size_bytes: u64) -> Sizes {
        Sizes { label: size_bytes.to_string(), draw: Draw::Fixed(size_bytes) }
    }
}

/// A number of bytes as people write it: `40`, `4K`, `8M`, `1G` (binary multiples; `KiB`, `MiB`, `GiB` too).
///
/// # Errors
/// A sentence that says what is wrong with the word.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" | "B" => 0,
        "K" | "k" | "KiB" => 10,
        "M" | "m" | "MiB" => 20,
        "G" | "g" | "GiB" => 30,
        unit => return Err(format!("unknown unit '{unit}' in '{text}'; use K, M or G (1K is 1024 bytes)")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("'{text}' is not a number of bytes"))?;
    number.checked_shl(shift).filter(|n| n >> shift == number).ok_or_else(|| format!("'{text}' is too large"))
}
