//! CRC-32 (IEEE 802.3: reflected, polynomial 0xedb88320) over fields.
//!
//! It detects every change of up to 32 neighbouring bits, hence every damaged byte. It is no protection
//! against tampering.

use crc32fast::Hasher;

/// A checksum that is extended field by field.
#[derive(Clone, Debug)]
pub(super) struct Crc32(Hasher);

impl Crc32 {
    pub fn new() -> Crc32 {
        Crc32(Hasher::new())
    }

    /// Adds bytes without a length, as in the standard.
    pub fn bytes(mut self, bytes: &[u8]) -> Crc32 {
        self.0.update(bytes);
        self
    }

    /// Adds a field of any length, preceded by its length, so that bytes cannot move between fields.
    pub fn field(self, bytes: &[u8]) -> Crc32 {
        self.number(bytes.len() as i64).bytes(bytes)
    }

    /// Adds a number of the database.
    pub fn number(self, number: i64) -> Crc32 {
        self.bytes(&number.to_le_bytes())
    }

    pub fn sum(self) -> u32 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_check_value_matches() {
        assert_eq!(Crc32::new().bytes(b"123456789").sum(), 0xcbf4_3926);
        assert_eq!(Crc32::new().sum(), 0);
    }

    /// Existing files contain this checksum.
    #[test]
    fn the_checksum_of_fields_is_unchanged() {
        assert_eq!(Crc32::new().field(b"run").number(-7).field(b"").sum(), 0x7e38_665e);
    }

    #[test]
    fn field_boundaries_matter() {
        let sum = |a: &[u8], b: &[u8]| Crc32::new().field(a).field(b).sum();
        assert_ne!(sum(b"ab", b"c"), sum(b"a", b"bc"));
    }
}
