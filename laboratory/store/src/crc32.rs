//! CRC-32 (the one of IEEE 802.3, reflected, polynomial 0xedb88320) over fields.
//!
//! Finds every change of up to 32 neighbouring bits, so every damaged byte. Not against malice.

use crc32fast::Hasher;

/// A sum that grows field by field.
#[derive(Clone, Debug)]
pub(super) struct Crc32(Hasher);

impl Crc32 {
    pub fn new() -> Crc32 {
        Crc32(Hasher::new())
    }

    /// The bytes alone, as the standard has it.
    pub fn bytes(mut self, bytes: &[u8]) -> Crc32 {
        self.0.update(bytes);
        self
    }

    /// A field of any length: its length first, so that bytes cannot move from one field to the next.
    pub fn field(self, bytes: &[u8]) -> Crc32 {
        self.number(bytes.len() as i64).bytes(bytes)
    }

    /// A number of the database.
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
    fn the_standards_check_value() {
        assert_eq!(Crc32::new().bytes(b"123456789").sum(), 0xcbf4_3926);
        assert_eq!(Crc32::new().sum(), 0);
    }

    /// What files hold that exist.
    #[test]
    fn the_sum_of_fields_stays_what_it_is() {
        assert_eq!(Crc32::new().field(b"run").number(-7).field(b"").sum(), 0x7e38_665e);
    }

    #[test]
    fn fields_keep_their_borders() {
        let sum = |a: &[u8], b: &[u8]| Crc32::new().field(a).field(b).sum();
        assert_ne!(sum(b"ab", b"c"), sum(b"a", b"bc"));
    }
}
