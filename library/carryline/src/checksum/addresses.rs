//! [`Addresses`]: the source and destination of an IPv4 or IPv6 packet.

use super::Sum;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The source and destination of a packet, for the pseudo-header.
///
/// Convertible from pairs of addresses, or of bytes in packet order:
///
/// ```
/// use carryline::checksum::Addresses;
/// use std::net::Ipv4Addr;
/// let of_bytes = Addresses::from(([192, 0, 2, 1], [192, 0, 2, 2]));
/// assert_eq!(of_bytes, Addresses::from((Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2))));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Addresses {
    /// IPv4.
    V4 {
        /// The sender's address.
        src: [u8; 4],
        /// The receiver's address.
        dst: [u8; 4],
    },
    /// IPv6.
    V6 {
        /// The sender's address.
        src: [u8; 16],
        /// The receiver's address; with a routing header, the final one.
        dst: [u8; 16],
    },
}

impl Addresses {
    /// The source and destination if both have the same IP version, otherwise `None`.
    ///
    /// ```
    /// # use carryline::checksum::Addresses;
    /// let (v4, v6) = ("192.0.2.1".parse()?, "2001:db8::1".parse()?);
    /// assert!(Addresses::new(v4, v4).is_some() && Addresses::new(v4, v6).is_none());
    /// # Ok::<(), std::net::AddrParseError>(())
    /// ```
    #[must_use]
    pub const fn new(src: IpAddr, dst: IpAddr) -> Option<Addresses> {
        match (src, dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                Some(Addresses::V4 { src: src.octets(), dst: dst.octets() })
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                Some(Addresses::V6 { src: src.octets(), dst: dst.octets() })
            }
            _ => None,
        }
    }

    /// The sum of the pseudo-header; `None` if the length does not fit into it.
    #[inline]
    pub(super) fn pseudo_header(self, protocol: u8, len: usize) -> Option<Sum> {
        match self {
            Addresses::V4 { src, dst } => Some(Sum::pseudo_v4(src, dst, protocol, u16::try_from(len).ok()?)),
            Addresses::V6 { src, dst } => Some(Sum::pseudo_v6(src, dst, u32::try_from(len).ok()?, protocol)),
        }
    }
}

impl From<([u8; 4], [u8; 4])> for Addresses {
    fn from((src, dst): ([u8; 4], [u8; 4])) -> Addresses {
        Addresses::V4 { src, dst }
    }
}

impl From<([u8; 16], [u8; 16])> for Addresses {
    fn from((src, dst): ([u8; 16], [u8; 16])) -> Addresses {
        Addresses::V6 { src, dst }
    }
}

impl From<(Ipv4Addr, Ipv4Addr)> for Addresses {
    fn from((src, dst): (Ipv4Addr, Ipv4Addr)) -> Addresses {
        Addresses::V4 { src: src.octets(), dst: dst.octets() }
    }
}

impl From<(Ipv6Addr, Ipv6Addr)> for Addresses {
    fn from((src, dst): (Ipv6Addr, Ipv6Addr)) -> Addresses {
        Addresses::V6 { src: src.octets(), dst: dst.octets() }
    }
}
