//! The pseudo-headers of TCP, UDP and ICMPv6, which their checksums cover in addition to the segment.

use super::Sum;

impl Sum {
    /// The sum of the IPv4 pseudo-header (RFC 768 and RFC 9293, section 3.1): source, destination, a zero
    /// byte, the protocol (6 TCP, 17 UDP), and the length in bytes of transport header and data.
    ///
    /// Addresses are in packet order, as `Ipv4Addr::octets` returns them.
    ///
    /// ```
    /// use carryline::checksum::{Checksum, Sum};
    /// // A UDP datagram with 3 bytes of data, as Linux sent it.
    /// let datagram = b"\x9c\x75\x00\x35\x00\x0b\x0b\xc5odd";
    /// assert!(Sum::pseudo_v4([192, 0, 2, 1], [192, 0, 2, 2], 17, 11).add(datagram).verify());
    /// ```
    #[inline]
    pub const fn pseudo_v4(src: [u8; 4], dst: [u8; 4], protocol: u8, len: u16) -> Sum {
        let [high, low] = len.to_be_bytes();
        Sum::new().add_const(&src).add_const(&dst).add_const(&[0, protocol, high, low])
    }

    /// The sum of the IPv6 pseudo-header (RFC 8200, section 8.1): source, destination, the length in bytes of
    /// upper-layer header and data in 32 bits, three zero bytes, and the protocol (6 TCP, 17 UDP, 58 ICMPv6).
    /// With a routing header, the destination is the final one: in transit it is in that header, not in the
    /// IPv6 header. `next_header` is the upper layer's number, even if extension headers precede it.
    ///
    /// ```
    /// use carryline::checksum::Sum;
    /// let (src, dst) = ("2001:db8::1".parse::<std::net::Ipv6Addr>()?, "2001:db8::2".parse::<std::net::Ipv6Addr>()?);
    /// // A UDP datagram with 3 bytes of data, as Linux sent it.
    /// let datagram = b"\x9c\x75\x00\x35\x00\x0b\x34\x54odd";
    /// assert!(Sum::pseudo_v6(src.octets(), dst.octets(), 11, 17).add(datagram).verify());
    /// # Ok::<(), std::net::AddrParseError>(())
    /// ```
    #[inline]
    pub const fn pseudo_v6(src: [u8; 16], dst: [u8; 16], len: u32, next_header: u8) -> Sum {
        Sum::new().add_const(&src).add_const(&dst).add_const(&len.to_be_bytes()).add_const(&[
            0,
            0,
            0,
            next_header,
        ])
    }
}
