//! CRC-32 (the one of IEEE 802.3, reflected, polynomial 0xedb88320) over fields.
//!
//! Finds every change of up to 32 neighbouring bits, so every damaged byte. Not for speed and not against malice.

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 { remainder >> 1 ^ 0xedb8_8320 } else { remainder >> 1 };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
};

/// A sum that grows field by field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crc32(u32);

impl Crc32 {
    pub const fn new() -> Crc32 {
        Crc32(u32::MAX)
    }

    /// The bytes alone, as the standard has it.
    pub fn bytes(mut self, bytes: &[u8]) -> Crc32 {
        for byte in bytes {
            self.0 = self.0 >> 8 ^ TABLE[usize::from(self.0 as u8 ^ byte)];
        }
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

    pub const fn sum(self) -> u32 {
        !self.0
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

    #[test]
    fn fields_keep_their_borders() {
        let sum = |a: &[u8], b: &[u8]| Crc32::new().field(a).field(b).sum();
        assert_ne!(sum(b"ab", b"c"), sum(b"a", b"bc"));
    }
}
