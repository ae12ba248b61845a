//! Parses words from the command line: byte counts, and errors for unknown words.

/// A word that is not valid for a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {field} '{word}'{}; known: {known}", range.map_or(String::new(), |range| format!(": {range}")))]
pub struct UnknownWord {
    /// The name of the field, such as `cache state` or `dependence`.
    pub field: &'static str,
    /// The word.
    pub word: String,
    /// The valid words.
    pub known: String,
    /// The range of the word's number, if the word is wrong only because its number is beyond it.
    pub range: Option<&'static str>,
}

/// The error for a word that is not valid for a field.
///
/// # Errors
/// Always [`UnknownWord`], with the valid words.
pub fn unknown<T>(field: &'static str, word: &str, words: &[(&str, &str)]) -> Result<T, UnknownWord> {
    let known = words.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
    Err(UnknownWord { field, word: word.to_owned(), known, range: None })
}

/// The error for a word with a number beyond its range.
///
/// # Errors
/// Always [`UnknownWord`], with the range and the valid words.
pub fn beyond<T>(
    field: &'static str,
    word: &str,
    words: &[(&str, &str)],
    range: &'static str,
) -> Result<T, UnknownWord> {
    unknown(field, word, words).map_err(|error| UnknownWord { range: Some(range), ..error })
}

/// True for a whole number, which may be negative.
#[must_use]
pub fn is_whole_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of bytes: `40`, `4K`, `8M`, `1G` (binary multiples; also `KiB`, `MiB`, `GiB`).
///
/// # Errors
/// A sentence about what is wrong with the text.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit())) {
        return Err(format!("'{text}' is negative; numbers of bytes cannot be"));
    }
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(format!("'{text}' is not a number of bytes"));
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" | "B" => 0,
        "K" | "k" | "KiB" => 10,
        "M" | "m" | "MiB" => 20,
        "G" | "g" | "GiB" => 30,
        unit => return Err(format!("unknown unit '{unit}' in '{text}'; use K, M or G (1K is 1024 bytes)")),
    };
    let too_large = || format!("'{text}' is too large: numbers of bytes are below 2^64");
    let number: u64 = match digits.parse() {
        Ok(number) => number,
        Err(_) if digits.bytes().all(|byte| byte.is_ascii_digit()) => return Err(too_large()),
        Err(_) => return Err(format!("'{text}' is not a number of bytes")),
    };
    number.checked_shl(shift).filter(|n| n >> shift == number).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_parsed_with_their_units() {
        let good = [("40", 40), ("4K", 4096), ("4KiB", 4096), ("8M", 8 << 20), ("1G", 1 << 30), ("7B", 7)];
        for (text, bytes) in good {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "4X", "1.5K", "-1", "+1", "99999999999999999999", "18446744073709551615K"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        for text in ["99999999999999999999", "18446744073709551616", "18446744073709551615K"] {
            assert!(parse_bytes(text).expect_err(text).contains("below 2^64"), "{text}");
        }
        assert!(parse_bytes("-5").expect_err("negative").contains("negative"));
    }
}
