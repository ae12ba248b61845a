//! One call per protocol: compute the checksum of a packet, or verify a received one. The rules common to all
//! are in the parent module's documentation.

use super::{Addresses, Checksum, Sum};

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// The bytes at the start of a packet that may just have been written: the longest IPv4 and TCP headers, and
/// a whole cache line.
const FRESH_BYTES: usize = 64;

/// The result of verifying a received UDP datagram.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[must_use]
pub enum UdpVerdict {
    /// The datagram is intact.
    Intact,
    /// The field is zero: the sender computed no checksum. Valid over IPv4 (RFC 768). Over IPv6 the datagram
    /// must be dropped (RFC 8200, section 8.1), unless it belongs to a tunnel that allows this (RFC 6935, RFC
    /// 6936).
    Absent,
    /// The datagram is damaged, shorter than its header, or longer than the pseudo-header can express.
    Damaged,
}

/// The checksum of an IPv4 header (RFC 791, section 3.1), over the number of bytes in its length field (IHL).
/// The checksum field is skipped, and so is a payload after the header.
///
/// # Panics
/// If `header` is shorter than its length field states, or that is less than 20 bytes; the message gives
/// both.
///
/// ```
/// let header = b"\x45\x00\x00\x1f\x03\x53\x40\x00\x40\x11\x00\x00\xc0\x00\x02\x01\xc0\x00\x02\x02";
/// assert_eq!(carryline::checksum::ipv4_header(header), [0xb3, 0x77]);
/// ```
#[inline]
#[track_caller]
pub fn ipv4_header(header: &[u8]) -> Checksum {
    match split_ipv4_header(header) {
        Some((first, options)) => {
            let (before, behind) = (&first[..10], &first[12..]);
            with_options(Sum::new().add_inline(before).add_inline(behind), options).finish()
        }
        None => no_ipv4_header(header),
    }
}

/// Whether a received IPv4 header is intact; a payload after it is skipped. A header shorter than 20 bytes or
/// than its length field states is not intact.
///
/// ```
/// use carryline::checksum::verify_ipv4_header;
/// let mut header = *b"\x45\x00\x00\x1f\x03\x53\x40\x00\x40\x11\xb3\x77\xc0\x00\x02\x01\xc0\x00\x02\x02";
/// assert!(verify_ipv4_header(&header));
/// header[1] = 0x10;
/// assert!(!verify_ipv4_header(&header));
/// assert!(!verify_ipv4_header(&header[..19]));
/// ```
#[inline]
#[must_use]
pub fn verify_ipv4_header(header: &[u8]) -> bool {
    split_ipv4_header(header)
        .is_some_and(|(first, options)| with_options(Sum::new().add_const(first), options).verify())
}

/// The checksum of a TCP segment (RFC 9293, section 3.1), header and data, with the pseudo-header of
/// `addresses`.
///
/// # Panics
/// If the pieces have more bytes than the pseudo-header can express: 65535 over IPv4, 2^32 - 1 over IPv6.
///
/// ```
/// // A SYN from 192.0.2.1, as Linux sent it.
/// let header = b"\xed\x52\x00\x50\x90\xf4\x7f\xf1\0\0\0\0\xa0\x02\xfa\xf0\0\0\0\0\
///     \x02\x04\x05\xb4\x04\x02\x08\x0a\xf1\x1f\x6e\x28\0\0\0\0\x01\x03\x03\x0a";
/// assert_eq!(carryline::checksum::tcp(([192, 0, 2, 1], [192, 0, 2, 2]), [&header[..], b""]), [0x6b, 0x37]);
/// ```
#[inline]
#[track_caller]
pub fn tcp<I>(addresses: impl Into<Addresses>, pieces: I) -> Checksum
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    transport(addresses.into(), TCP, pieces, 16).finish()
}

/// Whether a received TCP segment is intact.
///
/// ```
/// let segment = b"\xed\x52\x00\x50\x90\xf4\x7f\xf1\0\0\0\0\xa0\x02\xfa\xf0\x6b\x37\0\0\
///     \x02\x04\x05\xb4\x04\x02\x08\x0a\xf1\x1f\x6e\x28\0\0\0\0\x01\x03\x03\x0a";
/// assert!(carryline::checksum::verify_tcp(([192, 0, 2, 1], [192, 0, 2, 2]), [segment]));
/// assert!(!carryline::checksum::verify_tcp(([192, 0, 2, 1], [192, 0, 2, 3]), [segment]));
/// ```
#[inline]
#[must_use]
pub fn verify_tcp<I>(addresses: impl Into<Addresses>, pieces: I) -> bool
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    let (sum, len) = received(pieces);
    len >= 20 && with_pseudo_header(addresses.into(), TCP, sum, len).is_some_and(Sum::verify)
}

/// The checksum of a UDP datagram (RFC 768; over IPv6 RFC 8200, section 8.1), header and data, with the
/// pseudo-header of `addresses`. It is never `00 00`, which would mean that there is none.
///
/// # Panics
/// As [`tcp`].
///
/// ```
/// // From port 40053 to port 53, as Linux sent it.
/// let header = [0x9c, 0x75, 0x00, 0x35, 0x00, 0x0b, 0, 0];
/// let v4 = ([192, 0, 2, 1], [192, 0, 2, 2]);
/// assert_eq!(carryline::checksum::udp(v4, [&header[..], b"odd"]), [0x0b, 0xc5]);
/// ```
#[inline]
#[track_caller]
pub fn udp<I>(addresses: impl Into<Addresses>, pieces: I) -> Checksum
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    transport(addresses.into(), UDP, pieces, 6).finish_udp()
}

/// Whether a received UDP datagram is intact, damaged, or was sent without a checksum.
///
/// ```
/// use carryline::checksum::{UdpVerdict, verify_udp};
/// let v4 = ([192, 0, 2, 1], [192, 0, 2, 2]);
/// assert_eq!(verify_udp(v4, [b"\x9c\x75\x00\x35\x00\x0b\x0b\xc5odd"]), UdpVerdict::Intact);
/// assert_eq!(verify_udp(v4, [b"\x9c\x75\x00\x35\x00\x0b\x0b\xc5old"]), UdpVerdict::Damaged);
/// assert_eq!(verify_udp(v4, [b"\x9c\x75\x00\x35\x00\x0b\x00\x00odd"]), UdpVerdict::Absent);
/// ```
#[inline]
pub fn verify_udp<I>(addresses: impl Into<Addresses>, pieces: I) -> UdpVerdict
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    let mut field = [0; 2];
    let mut len = 0_usize;
    let mut sum = Sum::new();
    for piece in pieces {
        let piece = piece.as_ref();
        for (byte, place) in field.iter_mut().zip(6_usize..) {
            if let Some(found) = place.checked_sub(len).and_then(|index| piece.get(index)) {
                *byte = *found;
            }
        }
        sum = sum.add(piece);
        len = len.saturating_add(piece.len());
    }
    if len < 8 {
        return UdpVerdict::Damaged;
    }
    // First of all, because a datagram that is too long is none, whatever its field contains.
    match with_pseudo_header(addresses.into(), UDP, sum, len) {
        Some(_) if field == Checksum::NONE => UdpVerdict::Absent,
        Some(sum) if sum.verify() => UdpVerdict::Intact,
        _ => UdpVerdict::Damaged,
    }
}

/// The checksum of an ICMP message (RFC 792), header and data. There is no pseudo-header.
///
/// ```
/// // An echo reply with 17 bytes of data, as Linux sent it.
/// let message = b"\0\0\0\0\x12\x34\0\x01\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";
/// assert_eq!(carryline::checksum::icmp([message]), [0xa5, 0x8a]);
/// ```
#[inline]
pub fn icmp<I>(pieces: I) -> Checksum
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    without_field(pieces, 2).0.finish()
}

/// Whether a received ICMP message is intact.
///
/// ```
/// let message = b"\0\0\xa5\x8a\x12\x34\0\x01\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";
/// assert!(carryline::checksum::verify_icmp([message]));
/// assert!(!carryline::checksum::verify_icmp([&message[..24]]));
/// ```
#[inline]
#[must_use]
pub fn verify_icmp<I>(pieces: I) -> bool
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    let (sum, len) = received(pieces);
    len >= 4 && sum.verify()
}

/// The checksum of an ICMPv6 message (RFC 4443, section 2.3), header and data, with the pseudo-header of the
/// two addresses.
///
/// # Panics
/// If the pieces have more than 2^32 - 1 bytes.
///
/// ```
/// # use std::net::Ipv6Addr;
/// let (src, dst) = ("2001:db8::1".parse::<Ipv6Addr>()?, "2001:db8::2".parse::<Ipv6Addr>()?);
/// // An echo reply with 17 bytes of data, as Linux sent it.
/// let message = b"\x81\0\0\0\x12\x34\0\x01\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";
/// assert_eq!(carryline::checksum::icmpv6(src.octets(), dst.octets(), [message]), [0xc8, 0xc1]);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[inline]
#[track_caller]
pub fn icmpv6<I>(src: [u8; 16], dst: [u8; 16], pieces: I) -> Checksum
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    transport(Addresses::V6 { src, dst }, ICMPV6, pieces, 2).finish()
}

/// Whether a received ICMPv6 message is intact.
///
/// ```
/// # use std::net::Ipv6Addr;
/// let (src, dst) = ("2001:db8::1".parse::<Ipv6Addr>()?, "2001:db8::2".parse::<Ipv6Addr>()?);
/// let message = b"\x81\0\xc8\xc1\x12\x34\0\x01\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";
/// assert!(carryline::checksum::verify_icmpv6(src.octets(), dst.octets(), [message]));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[inline]
#[must_use]
pub fn verify_icmpv6<I>(src: [u8; 16], dst: [u8; 16], pieces: I) -> bool
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    let (sum, len) = received(pieces);
    len >= 4 && with_pseudo_header(Addresses::V6 { src, dst }, ICMPV6, sum, len).is_some_and(Sum::verify)
}

/// The first 20 bytes of an IPv4 header and its options, if `header` contains all of them.
#[inline]
fn split_ipv4_header(header: &[u8]) -> Option<(&[u8; 20], &[u8])> {
    let (first, behind) = header.split_first_chunk::<20>()?;
    let header_bytes = usize::from(first[0] & 0x0f) * 4;
    Some((first, behind.get(..header_bytes.checked_sub(20)?)?))
}

/// Adds the options; most headers have none.
#[inline]
fn with_options(sum: Sum, options: &[u8]) -> Sum {
    if options.is_empty() { sum } else { sum.add_fresh(options) }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_ipv4_header(header: &[u8]) -> ! {
    let stated = header.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
    panic!(
        "{} bytes with an IPv4 header length of {stated}: a header has at least 20 bytes, and as many as it states",
        header.len()
    )
}

/// The sum of pseudo-header, header and data, without the checksum field.
#[inline]
#[track_caller]
fn transport<I>(addresses: Addresses, protocol: u8, pieces: I, field: usize) -> Sum
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    let (sum, len) = without_field(pieces, field);
    match with_pseudo_header(addresses, protocol, sum, len) {
        Some(sum) => sum,
        None => too_long(len),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn too_long(bytes: usize) -> ! {
    panic!("{bytes} bytes do not fit into the length of a pseudo-header: 16 bits over IPv4, 32 over IPv6")
}

#[inline]
fn with_pseudo_header(addresses: Addresses, protocol: u8, sum: Sum, len: usize) -> Option<Sum> {
    Some(addresses.pseudo_header(protocol, len)?.combine(sum))
}

/// The sum and number of the bytes, with the two bytes at `field` counted as zero.
#[inline]
fn without_field<I>(pieces: I, field: usize) -> (Sum, usize)
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    let mut sum = Sum::new();
    let mut len = 0_usize;
    for piece in pieces {
        let piece = piece.as_ref();
        // The part of this piece that is in the field, and the part after the fresh header bytes.
        let from = field.saturating_sub(len).min(piece.len());
        let to = (field + 2).saturating_sub(len).min(piece.len());
        let fresh = FRESH_BYTES.saturating_sub(len).clamp(to, piece.len());
        sum = sum.add_fresh(&piece[..from]).add_zeros(to - from).add_fresh(&piece[to..fresh]);
        if fresh < piece.len() {
            sum = sum.add(&piece[fresh..]);
        }
        len = len.saturating_add(piece.len());
    }
    (sum, len)
}

/// The sum and number of the bytes of received data.
#[inline]
fn received<I>(pieces: I) -> (Sum, usize)
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    pieces.into_iter().fold((Sum::new(), 0_usize), |(sum, len), piece| {
        let piece = piece.as_ref();
        (sum.add(piece), len.saturating_add(piece.len()))
    })
}
