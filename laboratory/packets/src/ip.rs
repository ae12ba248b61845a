//! IP headers with their extensions: the payload, and the addresses that its checksum covers.

use crate::Skip;
use crate::bytes::{Bytes, be16};
use crate::link::Version;
use carryline::checksum::Addresses;
use etherparse::{
    IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6FragmentHeader, Ipv6FragmentHeaderSlice, Ipv6Header,
    Ipv6HeaderSlice, TcpHeader, UdpHeader, ip_number,
};

/// An IP packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Source and destination in the header.
    pub addresses: Addresses,
    /// The IPv4 header with its options, all of which its checksum covers.
    pub ipv4_header: Option<&'a [u8]>,
    /// The payload.
    pub payload: Result<Payload<'a>, Opaque>,
}

/// The payload of an IP packet.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    /// The protocol of the header after all extensions.
    pub protocol: IpNumber,
    /// That header and the bytes after it, without padding.
    pub bytes: Bytes<'a>,
    /// Source and final destination; `None` if the latter is hidden in a routing header of an unknown type.
    pub ends: Option<Addresses>,
}

/// An IP packet whose payload or its end cannot be determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// The reason.
    pub why: Skip,
    /// The protocol, if the payload starts with its header.
    pub protocol: Option<IpNumber>,
}

/// Parses an IP packet.
///
/// # Errors
/// [`Skip::BadLength`] or [`Skip::HeadersCut`] if the header is incomplete.
pub fn packet<'a>(version: Version, packet: Bytes<'a>) -> Result<Packet<'a>, Skip> {
    match version {
        Version::V4 => ipv4(packet),
        Version::V6 => ipv6(packet),
    }
}

impl<'a> Payload<'a> {
    /// The bytes that a TCP, UDP, ICMP or ICMPv6 checksum covers; for UDP, up to the end given by its length.
    ///
    /// # Errors
    /// [`Skip::OtherTransport`], or the reason the lengths are invalid.
    pub fn transport(&self) -> Result<(Transport, Bytes<'a>), Skip> {
        let transport = Transport::of_payload(self).ok_or(Skip::OtherTransport)?;
        if self.bytes.original_bytes() < transport.least_bytes() {
            return Err(Skip::BadLength);
        }
        if transport != Transport::Udp {
            return Ok((transport, self.bytes));
        }
        // RFC 768: UDP has its own length.
        let datagram_bytes = u64::from(be16(self.bytes.header(UdpHeader::LEN)?, 4));
        if datagram_bytes < transport.least_bytes() {
            return Err(Skip::BadLength);
        }
        Ok((transport, self.bytes.cut(datagram_bytes)?))
    }
}

/// The transports whose checksums are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// RFC 9293.
    Tcp,
    /// RFC 768.
    Udp,
    /// RFC 792, over IPv4 only.
    Icmp,
    /// RFC 4443, over IPv6 only.
    Icmpv6,
}

impl Transport {
    fn of(protocol: IpNumber, version: Version) -> Option<Transport> {
        Some(match (protocol, version) {
            (ip_number::TCP, _) => Transport::Tcp,
            (ip_number::UDP, _) => Transport::Udp,
            (ip_number::ICMP, Version::V4) => Transport::Icmp,
            (ip_number::IPV6_ICMP, Version::V6) => Transport::Icmpv6,
            _ => return None,
        })
    }

    /// The transport of a payload, whatever its lengths.
    #[must_use]
    pub fn of_payload(payload: &Payload<'_>) -> Option<Transport> {
        // IPv6 if the addresses are unknown: those of IPv4 are always known.
        let is_v4 = matches!(payload.ends, Some(Addresses::V4 { .. }));
        Transport::of(payload.protocol, if is_v4 { Version::V4 } else { Version::V6 })
    }

    /// The transport of a packet with invalid lengths, or of a first fragment.
    #[must_use]
    pub fn of_opaque(opaque: Opaque, version: Version) -> Option<Transport> {
        Transport::of(opaque.protocol?, version)
    }

    /// The minimum length of its header.
    fn least_bytes(self) -> u64 {
        match self {
            Transport::Tcp => TcpHeader::MIN_LEN as u64,
            Transport::Udp => UdpHeader::LEN as u64,
            Transport::Icmp | Transport::Icmpv6 => 4,
        }
    }
}

/// RFC 791: the payload is the total length less that of the header; bytes after it are padding of the link.
fn ipv4(packet: Bytes<'_>) -> Result<Packet<'_>, Skip> {
    let header_bytes = usize::from(packet.header(Ipv4Header::MIN_LEN)?[0] & 0xf) * 4;
    let bytes = packet.header(header_bytes.max(Ipv4Header::MIN_LEN))?;
    let header = Ipv4HeaderSlice::from_slice(bytes).map_err(|_| Skip::BadLength)?;
    let addresses = Addresses::V4 { src: header.source(), dst: header.destination() };
    let ends = Addresses::V4 { src: header.source(), dst: final_destination_v4(&header) };
    let payload = ipv4_payload(packet, &header, ends);
    Ok(Packet { addresses, ipv4_header: Some(bytes), payload })
}

fn ipv4_payload<'a>(
    packet: Bytes<'a>,
    header: &Ipv4HeaderSlice<'a>,
    ends: Addresses,
) -> Result<Payload<'a>, Opaque> {
    let opaque = |why| Opaque { why, protocol: Some(header.protocol()) };
    let total_bytes = u64::from(header.total_len());
    if total_bytes == 0 {
        return Err(opaque(Skip::NoLength));
    }
    if total_bytes < header.slice().len() as u64 {
        return Err(opaque(Skip::BadLength));
    }
    let rest = packet.cut(total_bytes).map_err(opaque)?.after(header.slice().len());
    if header.is_fragmenting_payload() {
        let is_first = header.fragments_offset().value() == 0;
        return Err(Opaque { why: Skip::Fragment, protocol: is_first.then_some(header.protocol()) });
    }
    let (protocol, bytes) = match header.protocol() {
        ip_number::AUTH => authentication(rest).map_err(|why| Opaque { why, protocol: None })?,
        protocol => (protocol, rest),
    };
    Ok(Payload { protocol, bytes, ends: Some(ends) })
}

/// RFC 791, section 3.1: while a source route has hops left, its last address is the final destination.
fn final_destination_v4(header: &Ipv4HeaderSlice<'_>) -> [u8; 4] {
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    const LOOSE_ROUTE: u8 = 131;
    const STRICT_ROUTE: u8 = 137;
    let mut options = header.options();
    // Every iteration consumes at least one of at most 40 bytes.
    loop {
        options = match *options {
            [NO_OPERATION, ref behind @ ..] => behind,
            [END, ..] => break,
            [kind, len, ref route @ ..] if len >= 2 && usize::from(len) <= options.len() => {
                let route = &route[..usize::from(len) - 2];
                // The pointer counts from 1, from the start of the option.
                if let (LOOSE_ROUTE | STRICT_ROUTE, [pointer, .., a, b, c, d]) = (kind, route)
                    && *pointer <= len
                {
                    return [*a, *b, *c, *d];
                }
                &options[usize::from(len)..]
            }
            _ => break,
        };
    }
    header.destination()
}

/// RFC 8200: the payload length includes the extension headers, which the checksum does not cover.
fn ipv6(packet: Bytes<'_>) -> Result<Packet<'_>, Skip> {
    let header = Ipv6HeaderSlice::from_slice(packet.header(Ipv6Header::LEN)?).map_err(|_| Skip::BadLength)?;
    let (src, dst) = (header.source(), header.destination());
    let payload = ipv6_payload(packet, &header);
    Ok(Packet { addresses: Addresses::V6 { src, dst }, ipv4_header: None, payload })
}

fn ipv6_payload<'a>(packet: Bytes<'a>, header: &Ipv6HeaderSlice<'a>) -> Result<Payload<'a>, Opaque> {
    let mut next = header.next_header();
    let payload_bytes = u64::from(header.payload_length());
    if payload_bytes == 0 && next != ip_number::IPV6_NO_NEXT_HEADER {
        return Err(Opaque { why: Skip::NoLength, protocol: Some(next) });
    }
    let mut rest = packet
        .after(Ipv6Header::LEN)
        .cut(payload_bytes)
        .map_err(|why| Opaque { why, protocol: Some(next) })?;
    let (mut src, mut dst) = (header.source(), Some(header.destination()));
    // Every iteration consumes at least 8 of at most 65535 bytes.
    loop {
        let opaque = |why| Opaque { why, protocol: None };
        match next {
            ip_number::IPV6_HOP_BY_HOP | ip_number::IPV6_ROUTE | ip_number::IPV6_DEST_OPTIONS => {
                let extension_bytes = (usize::from(rest.header(8).map_err(opaque)?[1]) + 1) * 8;
                let extension = rest.header(extension_bytes);
                if extension == Err(Skip::BadLength) {
                    return Err(opaque(Skip::BadLength));
                }
                match (next, extension) {
                    (ip_number::IPV6_ROUTE, Ok(route)) => dst = final_destination_v6(route, dst),
                    (ip_number::IPV6_ROUTE, Err(_)) => dst = None,
                    (ip_number::IPV6_DEST_OPTIONS, Ok(options)) => src = home_address(options).unwrap_or(src),
                    _ => {}
                }
                next = IpNumber(rest.header(8).map_err(opaque)?[0]);
                rest = rest.after(extension_bytes);
            }
            ip_number::IPV6_FRAG => {
                let extension = rest.header(Ipv6FragmentHeader::LEN).map_err(opaque)?;
                let extension =
                    Ipv6FragmentHeaderSlice::from_slice(extension).map_err(|_| opaque(Skip::BadLength))?;
                next = extension.next_header();
                // An atomic fragment is the whole packet (RFC 6946).
                if extension.is_fragmenting_payload() {
                    let is_first = extension.fragment_offset().value() == 0;
                    return Err(Opaque { why: Skip::Fragment, protocol: is_first.then_some(next) });
                }
                rest = rest.after(Ipv6FragmentHeader::LEN);
            }
            ip_number::AUTH => (next, rest) = authentication(rest).map_err(opaque)?,
            protocol => {
                let ends = dst.map(|dst| Addresses::V6 { src, dst });
                return Ok(Payload { protocol, bytes: rest, ends });
            }
        }
    }
}

/// The final destination of a packet with this routing header; `None` if the type is unknown or the header is
/// inconsistent. RFC 8200, section 8.1: the pseudo-header contains this address, which is in the IPv6 header
/// only after the last hop.
fn final_destination_v6(route: &[u8], dst: Option<[u8; 16]>) -> Option<[u8; 16]> {
    const SOURCE_ROUTE: u8 = 0;
    const MOBILE: u8 = 2;
    const RPL: u8 = 3;
    const SEGMENTS: u8 = 4;
    let (kind, segments_left) = (route[2], route[3]);
    if segments_left == 0 {
        return dst;
    }
    match kind {
        // RFC 5095 and RFC 6275: addresses in the order of the hops.
        SOURCE_ROUTE | MOBILE => route.get(8..)?.last_chunk().copied(),
        // RFC 8754: in reverse order.
        SEGMENTS => route.get(8..)?.first_chunk().copied(),
        // RFC 6554: the last address without the leading bytes that it shares with the destination, followed
        // by padding.
        RPL => {
            let (elided, padding) = (usize::from(route[4] & 0xf), usize::from(route[5] >> 4));
            let addresses = route.get(8..route.len().checked_sub(padding)?)?;
            let kept = addresses.get(addresses.len().checked_sub(16 - elided)?..)?;
            let mut last = dst?;
            last[elided..].copy_from_slice(kept);
            Some(last)
        }
        _ => None,
    }
}

/// RFC 6275, section 6.3: a mobile node's home address, which the pseudo-header contains as the source.
fn home_address(extension: &[u8]) -> Option<[u8; 16]> {
    const PAD_1: u8 = 0;
    const HOME_ADDRESS: u8 = 201;
    let mut options = extension.get(2..)?;
    // Every iteration consumes at least one byte.
    loop {
        options = match *options {
            [PAD_1, ref behind @ ..] => behind,
            [HOME_ADDRESS, 16, ref address @ ..] => return address.first_chunk().copied(),
            [_, len, ref behind @ ..] => behind.get(usize::from(len)..)?,
            _ => return None,
        };
    }
}

/// RFC 4302: the length of an authentication header is in 4-byte words, less two.
fn authentication(rest: Bytes<'_>) -> Result<(IpNumber, Bytes<'_>), Skip> {
    let header = rest.header(8)?;
    let header_bytes = (usize::from(header[1]) + 2) * 4;
    if header_bytes as u64 > rest.original_bytes() {
        return Err(Skip::BadLength);
    }
    Ok((IpNumber(header[0]), rest.after(header_bytes)))
}
