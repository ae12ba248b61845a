//! [`Checksum`]: a finished checksum, as the two bytes of the packet field.

use core::fmt;

/// A finished Internet checksum: the two bytes of the field, in wire order. It is deliberately not an
/// integer. Libraries that return a `u16` differ in its meaning (host or network order, complemented or not),
/// and the compiler cannot tell them apart. These bytes are copied unchanged:
///
/// ```
/// use carryline::checksum::{self, Checksum};
/// let mut header = *b"\x45\x00\x00\x3c\x1c\x46\x40\x00\x40\x06\x00\x00\xac\x10\x0a\x63\xac\x10\x0a\x0c";
/// let finished: Checksum = checksum::internet(&header);
/// header[10..12].copy_from_slice(&finished.0);
/// assert_eq!(header[10..12], [0xb1, 0xe6]);
/// assert_eq!(finished.to_string(), "b1e6");
/// assert!(checksum::Sum::new().add(&header).verify());
/// ```
/// If a number is needed, `u16::from(checksum)` is the value that RFCs and packet dumps show, with the first
/// byte as the high one, on every machine. It is not what a 16-bit C field holds on a little-endian machine.
///
/// ```
/// # use carryline::checksum::Checksum;
/// assert_eq!(u16::from(Checksum([0xb1, 0xe6])), 0xb1e6);
/// assert_eq!(Checksum::from(0xb1e6_u16), [0xb1, 0xe6]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a checksum does nothing until its bytes are in the packet"]
#[repr(transparent)]
pub struct Checksum(
    /// The bytes of the field, the first one first.
    pub [u8; 2],
);

impl Checksum {
    /// The field of a UDP datagram sent without a checksum (RFC 768).
    pub const NONE: Checksum = Checksum([0, 0]);

    /// The complement of a folded sum in the machine's byte order.
    pub(super) const fn from_folded(folded: u16) -> Checksum {
        Checksum((!folded).to_ne_bytes())
    }

    /// The folded sum of which this is the complement, in the machine's byte order.
    pub(super) const fn folded(self) -> u16 {
        !u16::from_ne_bytes(self.0)
    }

    /// A computed 0 as UDP sends it: all ones, the other representation of 0, because a field of 0 means that
    /// there is no checksum (RFC 768).
    pub(super) const fn sent_by_udp(self) -> Checksum {
        if let [0, 0] = self.0 { Checksum([0xff, 0xff]) } else { self }
    }
}

impl From<[u8; 2]> for Checksum {
    fn from(bytes: [u8; 2]) -> Checksum {
        Checksum(bytes)
    }
}

impl From<Checksum> for [u8; 2] {
    fn from(checksum: Checksum) -> [u8; 2] {
        checksum.0
    }
}

/// From the number that packet dumps show: the high byte comes first.
impl From<u16> for Checksum {
    fn from(number: u16) -> Checksum {
        Checksum(number.to_be_bytes())
    }
}

/// The number that packet dumps show: the first byte is the high one.
impl From<Checksum> for u16 {
    fn from(checksum: Checksum) -> u16 {
        u16::from_be_bytes(checksum.0)
    }
}

impl AsRef<[u8]> for Checksum {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl PartialEq<[u8; 2]> for Checksum {
    fn eq(&self, bytes: &[u8; 2]) -> bool {
        self.0 == *bytes
    }
}

impl PartialEq<Checksum> for [u8; 2] {
    fn eq(&self, checksum: &Checksum) -> bool {
        *self == checksum.0
    }
}

/// The bytes in hexadecimal, the first one first, as packet dumps show them.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}{:02x}", self.0[0], self.0[1])
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({self})")
    }
}
