//! [`Bytes`]: a part of a packet, of which the capture may have kept the beginning only.

use crate::Skip;

/// A part of a packet: the captured bytes, and how many there were on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    captured: &'a [u8],
    original_bytes: u64,
}

impl<'a> Bytes<'a> {
    /// A packet as a record of a capture has it. A length on the wire that is below what was captured is not believed.
    #[must_use]
    pub fn new(captured: &'a [u8], original_bytes: u64) -> Bytes<'a> {
        Bytes { captured, original_bytes: original_bytes.max(captured.len() as u64) }
    }

    /// What was captured; there may be fewer bytes than on the wire, or, behind a [cut](Bytes::cut), more.
    #[must_use]
    pub fn captured(&self) -> &'a [u8] {
        self.captured
    }

    /// How many bytes there were on the wire.
    #[must_use]
    pub fn original_bytes(&self) -> u64 {
        self.original_bytes
    }

    /// All bytes that were on the wire, if all were captured.
    #[must_use]
    pub fn whole(&self) -> Option<&'a [u8]> {
        self.captured.get(..usize::try_from(self.original_bytes).ok()?)
    }

    /// The next `count` bytes: a header.
    ///
    /// # Errors
    /// [`Skip::BadLength`] if the packet is shorter, [`Skip::HeadersCut`] if the snap length cut it.
    pub fn header(&self, count: usize) -> Result<&'a [u8], Skip> {
        if (count as u64) > self.original_bytes {
            return Err(Skip::BadLength);
        }
        self.captured.get(..count).ok_or(Skip::HeadersCut)
    }

    /// What is behind `count` bytes, captured or not.
    #[must_use]
    pub fn after(self, count: usize) -> Bytes<'a> {
        Bytes {
            captured: self.captured.get(count..).unwrap_or(&[]),
            original_bytes: self.original_bytes.saturating_sub(count as u64),
        }
    }

    /// The first `count` bytes: what is behind them is padding.
    ///
    /// # Errors
    /// [`Skip::BadLength`] if there were not as many on the wire.
    pub fn cut(self, count: u64) -> Result<Bytes<'a>, Skip> {
        if count > self.original_bytes {
            return Err(Skip::BadLength);
        }
        Ok(Bytes { original_bytes: count, ..self })
    }
}

/// The two bytes at `at` in network order.
///
/// # Panics
/// If `bytes` ends before them: callers have taken a header of a fixed length.
pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
