//! [`Bytes`]: a part of a packet, of which the capture may contain only the beginning.

use crate::Skip;

/// A part of a packet: the captured bytes, and the length on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    captured: &'a [u8],
    original_bytes: u64,
}

impl<'a> Bytes<'a> {
    /// A packet as recorded in a capture. A length on the wire below the captured length is ignored.
    #[must_use]
    pub fn new(captured: &'a [u8], original_bytes: u64) -> Bytes<'a> {
        Bytes { captured, original_bytes: original_bytes.max(captured.len() as u64) }
    }

    /// The captured bytes; fewer than on the wire, or, after a [cut](Bytes::cut), possibly more.
    #[must_use]
    pub fn captured(&self) -> &'a [u8] {
        self.captured
    }

    /// The number of bytes on the wire.
    #[must_use]
    pub fn original_bytes(&self) -> u64 {
        self.original_bytes
    }

    /// All bytes on the wire, if all were captured.
    #[must_use]
    pub fn whole(&self) -> Option<&'a [u8]> {
        self.captured.get(..usize::try_from(self.original_bytes).ok()?)
    }

    /// The next `count` bytes, as a header.
    ///
    /// # Errors
    /// [`Skip::BadLength`] if the packet is shorter, [`Skip::HeadersCut`] if the snap length truncated it.
    pub fn header(&self, count: usize) -> Result<&'a [u8], Skip> {
        if (count as u64) > self.original_bytes {
            return Err(Skip::BadLength);
        }
        self.captured.get(..count).ok_or(Skip::HeadersCut)
    }

    /// The part after `count` bytes, whether captured or not.
    #[must_use]
    pub fn after(self, count: usize) -> Bytes<'a> {
        Bytes {
            captured: self.captured.get(count..).unwrap_or(&[]),
            original_bytes: self.original_bytes.saturating_sub(count as u64),
        }
    }

    /// The first `count` bytes; the rest is padding.
    ///
    /// # Errors
    /// [`Skip::BadLength`] if there were fewer on the wire.
    pub fn cut(self, count: u64) -> Result<Bytes<'a>, Skip> {
        if count > self.original_bytes {
            return Err(Skip::BadLength);
        }
        Ok(Bytes { original_bytes: count, ..self })
    }
}

/// The two bytes at `at` in network byte order.
///
/// # Panics
/// If `bytes` is too short; callers pass a header of fixed length.
pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
