//! Bytes in the notation of requests.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

const BLOCK_BYTES: usize = 64 << 10;

/// Bytes in parts, each of which is a pattern that is repeated up to its length.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Data(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    pattern: Vec<u8>,
    len: usize,
}

impl Data {
    /// The given bytes.
    #[must_use]
    pub fn literal(bytes: &[u8]) -> Data {
        let part = Part { pattern: bytes.to_vec(), len: bytes.len() };
        Data(if bytes.is_empty() { Vec::new() } else { vec![part] })
    }

    /// The pattern repeated up to `len` bytes.
    #[must_use]
    pub fn repeated(pattern: &[u8], len: usize) -> Data {
        Data(if pattern.is_empty() || len == 0 {
            Vec::new()
        } else {
            vec![Part { pattern: pattern.to_vec(), len }]
        })
    }

    /// This data followed by other data.
    #[must_use]
    pub fn then(mut self, other: Data) -> Data {
        self.0.extend(other.0);
        self
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|part| part.len).sum()
    }

    /// True if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len());
        for part in &self.0 {
            // Long data is copied in large blocks instead of patterns of a few bytes.
            let block = part.pattern.repeat((BLOCK_BYTES.min(part.len) / part.pattern.len()).max(1));
            let end = all.len() + part.len;
            while all.len() + block.len() <= end {
                all.extend_from_slice(&block);
            }
            all.extend_from_slice(&block[..end - all.len()]);
        }
        all
    }

    /// The data as one word: hexadecimal digits or, with `repeat`, also `PATTERN*BYTES`, with parts joined by
    /// `+`; `-` if empty.
    #[must_use]
    pub fn word(&self, repeat: bool) -> String {
        if self.is_empty() {
            return "-".to_owned();
        }
        if !repeat {
            return hex(&self.bytes());
        }
        let part = |part: &Part| match part.pattern.len() == part.len {
            true => hex(&part.pattern),
            false => format!("{}*{}", hex(&part.pattern), part.len),
        };
        self.0.iter().map(part).collect::<Vec<_>>().join("+")
    }

    /// Parses such a word.
    #[must_use]
    pub fn read(word: &str) -> Option<Data> {
        if word == "-" {
            return Some(Data::default());
        }
        let mut parts = Vec::new();
        for text in word.split('+') {
            let (digits, len) = match text.split_once('*') {
                Some((digits, len)) => (digits, Some(len.parse().ok()?)),
                None => (text, None),
            };
            let pattern = unhex(digits).filter(|pattern| !pattern.is_empty())?;
            let len = len.unwrap_or(pattern.len());
            parts.push(Part { pattern, len });
        }
        Some(Data(parts))
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Bytes from pairs of hexadecimal digits.
#[must_use]
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_repeated_and_concatenated() {
        let data = Data::repeated(&[1, 2, 3], 7).then(Data::literal(&[9]));
        assert_eq!(data.bytes(), [1, 2, 3, 1, 2, 3, 1, 9]);
        assert_eq!(
            (data.len(), data.word(true).as_str(), data.word(false).as_str()),
            (8, "010203*7+09", "0102030102030109")
        );
    }
}
