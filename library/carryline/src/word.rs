//! A short word stored inline, so that errors can quote the environment without an allocator.

use core::fmt::{self, Write as _};

const CAPACITY_BYTES: usize = 32;

/// The first bytes of a word. A longer one is cut at a character boundary and shown with an ellipsis; control
/// characters are escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    bytes: [u8; CAPACITY_BYTES],
    len: u8,
    cut: bool,
}

impl Word {
    pub(crate) const fn new(text: &str) -> Word {
        let mut len = if text.len() < CAPACITY_BYTES { text.len() } else { CAPACITY_BYTES };
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        let mut bytes = [0; CAPACITY_BYTES];
        bytes.split_at_mut(len).0.copy_from_slice(text.as_bytes().split_at(len).0);
        Word { bytes, len: len as u8, cut: len < text.len() }
    }

    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.as_str().chars() {
            match character.is_control() {
                true => write!(f, "{}", character.escape_default())?,
                false => f.write_char(character)?,
            }
        }
        if self.cut { f.write_str("...") } else { Ok(()) }
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Word;

    #[test]
    fn long_words_are_cut_between_characters() {
        assert_eq!(Word::new("avx2").to_string(), "avx2");
        assert_eq!(Word::new(&"x".repeat(32)).to_string(), "x".repeat(32));
        assert_eq!(Word::new(&"x".repeat(33)).to_string(), "x".repeat(32) + "...");
        let long = "x".repeat(31) + "\u{e9}";
        assert_eq!(Word::new(&long).to_string(), "x".repeat(31) + "...");
        assert_eq!(Word::new("a\nb\u{7}\u{e9}").to_string(), "a\\nb\\u{7}\u{e9}");
    }
}
