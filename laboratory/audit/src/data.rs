//! Bytes, as they are named in requests.

const BLOCK_BYTES: usize = 64 << 10;

/// Bytes, described in parts: each a pattern repeated, cut off after its length.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Data(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    pattern: Vec<u8>,
    len: usize,
}

impl Data {
    /// These bytes.
    #[must_use]
    pub fn literal(bytes: &[u8]) -> Data {
        let part = Part { pattern: bytes.to_vec(), len: bytes.len() };
        Data(if bytes.is_empty() { Vec::new() } else { vec![part] })
    }

    /// The pattern again and again, `len` bytes of it.
    #[must_use]
    pub fn repeated(pattern: &[u8], len: usize) -> Data {
        Data(if pattern.is_empty() || len == 0 {
            Vec::new()
        } else {
            vec![Part { pattern: pattern.to_vec(), len }]
        })
    }

    /// The same with other data behind it.
    #[must_use]
    pub fn then(mut self, other: Data) -> Data {
        self.0.extend(other.0);
        self
    }

    /// How many bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|part| part.len).sum()
    }

    /// True for no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len());
        for part in &self.0 {
            // Long data a block at a time, not a pattern of a few bytes.
            let block = part.pattern.repeat((BLOCK_BYTES.min(part.len) / part.pattern.len()).max(1));
            let end = all.len() + part.len;
            while all.len() + block.len() <= end {
                all.extend_from_slice(&block);
            }
            all.extend_from_slice(&block[..end - all.len()]);
        }
        all
    }

    /// As one word: hexadecimal digits, or with `repeat` also `PATTERN*BYTES`, parts joined by `+`; `-` for no bytes.
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

    /// Reads such a word.
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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// The bytes that pairs of hexadecimal digits mean.
#[must_use]
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_what_its_parts_say() {
        let data = Data::repeated(&[1, 2, 3], 7).then(Data::literal(&[9]));
        assert_eq!(data.bytes(), [1, 2, 3, 1, 2, 3, 1, 9]);
        assert_eq!(
            (data.len(), data.word(true).as_str(), data.word(false).as_str()),
            (8, "010203*7+09", "0102030102030109")
        );
    }
}
