//! From a captured frame to the number of bytes that its transport checksum runs over.

use super::Skip;
use etherparse::{
    EtherType, IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6FragmentHeader, Ipv6FragmentHeaderSlice,
    Ipv6Header, Ipv6HeaderSlice, TcpHeader, UdpHeader, UdpHeaderSlice, ether_type, ip_number,
};

/// Link types, by their number in the registry of tcpdump.org.
pub(super) mod link {
    pub(in crate::capture) const BSD_NULL: u32 = 0;
    pub(in crate::capture) const ETHERNET: u32 = 1;
    pub(in crate::capture) const PPP: u32 = 9;
    /// Raw IP, as libpcap numbers it inside programs and as some of them write it.
    pub(in crate::capture) const RAW_DLT: [u32; 2] = [12, 14];
    pub(in crate::capture) const PPP_SERIAL: u32 = 50;
    pub(in crate::capture) const RAW: u32 = 101;
    pub(in crate::capture) const BSD_LOOP: u32 = 108;
    pub(in crate::capture) const LINUX_COOKED: u32 = 113;
    pub(in crate::capture) const IPV4: u32 = 228;
    pub(in crate::capture) const IPV6: u32 = 229;
    pub(in crate::capture) const LINUX_COOKED_2: u32 = 276;
}

/// 802.1Q, 802.1ad, and the two that stood for the latter before it.
const TAGS: [EtherType; 4] = [
    ether_type::VLAN_TAGGED_FRAME,
    ether_type::PROVIDER_BRIDGING,
    ether_type::VLAN_DOUBLE_TAGGED_FRAME,
    EtherType(0x9200),
];
/// RFC 2516: a session of PPP over Ethernet.
const PPPOE: EtherType = EtherType(0x8864);
/// RFC 3032 and RFC 5332: a stack of MPLS labels.
const MPLS: [EtherType; 2] = [EtherType(0x8847), EtherType(0x8848)];
/// Smaller values of the field are an 802.3 length.
const ETHERTYPE_LEAST: EtherType = EtherType(0x0600);

/// What is left of a packet: the captured bytes, and how many there were on the wire.
#[derive(Clone, Copy)]
struct Rest<'a> {
    captured: &'a [u8],
    original_bytes: u64,
}

impl<'a> Rest<'a> {
    /// The next `count` bytes: a header. Not there because the packet is shorter, or because the snap length cut
    /// it, are two things.
    fn header(&self, count: usize) -> Result<&'a [u8], Skip> {
        if (count as u64) > self.original_bytes {
            return Err(Skip::BadLength);
        }
        self.captured.get(..count).ok_or(Skip::HeadersCut)
    }

    /// Steps over `count` bytes, captured or not.
    fn after(self, count: usize) -> Rest<'a> {
        Rest {
            captured: self.captured.get(count..).unwrap_or(&[]),
            original_bytes: self.original_bytes.saturating_sub(count as u64),
        }
    }
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The length of the transport header and data of a captured packet.
///
/// `original_bytes` is the length before the snap length cut it; captured bytes beyond it are believed over it.
pub(super) fn checksummed_bytes(link: u32, captured: &[u8], original_bytes: u64) -> Result<u64, Skip> {
    let packet = Rest { captured, original_bytes: original_bytes.max(captured.len() as u64) };
    match link {
        link::ETHERNET => ethernet(packet),
        link::LINUX_COOKED => ethertype(ether_type_at(packet.header(16)?, 14), packet.after(16)),
        link::LINUX_COOKED_2 => ethertype(ether_type_at(packet.header(20)?, 0), packet.after(20)),
        link::BSD_NULL | link::BSD_LOOP => bsd_loop(packet),
        link::PPP | link::PPP_SERIAL => ppp(packet),
        link::IPV4 => ipv4(packet),
        link::IPV6 => ipv6(packet),
        link::RAW => raw(packet),
        link if link::RAW_DLT.contains(&link) => raw(packet),
        unknown => Err(Skip::UnknownLink(unknown)),
    }
}

fn ethernet(packet: Rest<'_>) -> Result<u64, Skip> {
    ethertype(ether_type_at(packet.header(14)?, 12), packet.after(14))
}

fn ether_type_at(header: &[u8], at: usize) -> EtherType {
    EtherType(be16(header, at))
}

/// What follows a type field: IP, tags with another type field, or 802.2 with one.
fn ethertype(kind: EtherType, packet: Rest<'_>) -> Result<u64, Skip> {
    let (mut kind, mut packet) = (kind, packet);
    while TAGS.contains(&kind) {
        kind = ether_type_at(packet.header(4)?, 2);
        packet = packet.after(4);
    }
    if kind < ETHERTYPE_LEAST {
        match packet.captured {
            [0xaa, 0xaa, 0x03, 0, 0, 0, high, low, ..] => {
                kind = EtherType(u16::from_be_bytes([*high, *low]));
                packet = packet.after(8);
            }
            _ => return Err(Skip::NotIp),
        }
    }
    match kind {
        ether_type::IPV4 => ipv4(packet),
        ether_type::IPV6 => ipv6(packet),
        PPPOE => pppoe(packet),
        kind if MPLS.contains(&kind) => mpls(packet),
        _ => Err(Skip::NotIp),
    }
}

/// RFC 2516: version and type, a code that is 0 in a session, the session's number, and the length of what follows, which is
/// PPP without address and control bytes.
fn pppoe(packet: Rest<'_>) -> Result<u64, Skip> {
    let header = packet.header(6)?;
    let payload_bytes = u64::from(be16(header, 4));
    if header[0] != 0x11 || header[1] != 0 {
        return Err(Skip::NotIp);
    }
    let rest = packet.after(6);
    if payload_bytes > rest.original_bytes {
        return Err(Skip::BadLength);
    }
    // Bytes behind it are padding of the link.
    ppp(Rest { original_bytes: payload_bytes, ..rest })
}

/// RFC 3032: four bytes a label, of which the last has its bottom-of-stack bit set. The labels do not say what follows: the
/// first bits tell IP, and a zero there is the control word of a pseudowire (RFC 4385), behind which a frame comes.
fn mpls(mut packet: Rest<'_>) -> Result<u64, Skip> {
    loop {
        let is_last = packet.header(4)?[2] & 1 == 1;
        packet = packet.after(4);
        if is_last {
            break;
        }
    }
    match packet.header(1)?[0] >> 4 {
        0 => ethernet(packet.after(4)),
        _ => raw(packet),
    }
}

/// Four bytes of address family, in the byte order of the machine that captured.
fn bsd_loop(packet: Rest<'_>) -> Result<u64, Skip> {
    let header = packet.header(4)?;
    let family = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let family = if family > 0xffff { family.swap_bytes() } else { family };
    match family {
        2 => ipv4(packet.after(4)),
        // AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, Darwin.
        10 | 24 | 28 | 30 => ipv6(packet.after(4)),
        _ => Err(Skip::NotIp),
    }
}

/// Address and control bytes may be left out, and the protocol compressed to one odd byte.
fn ppp(packet: Rest<'_>) -> Result<u64, Skip> {
    let packet = if packet.captured.starts_with(&[0xff, 0x03]) { packet.after(2) } else { packet };
    let first = packet.header(1)?[0];
    let (protocol, packet) = if first & 1 == 1 {
        (u16::from(first), packet.after(1))
    } else {
        (be16(packet.header(2)?, 0), packet.after(2))
    };
    match protocol {
        0x0021 => ipv4(packet),
        0x0057 => ipv6(packet),
        // Labels over PPP (RFC 3032, section 4).
        0x0281 | 0x0283 => mpls(packet),
        _ => Err(Skip::NotIp),
    }
}

fn raw(packet: Rest<'_>) -> Result<u64, Skip> {
    match packet.header(1)?[0] >> 4 {
        4 => ipv4(packet),
        6 => ipv6(packet),
        _ => Err(Skip::NotIp),
    }
}

/// RFC 791: the payload is the total length less the header's; bytes behind it are padding of the link.
fn ipv4(packet: Rest<'_>) -> Result<u64, Skip> {
    let header_bytes = usize::from(packet.header(Ipv4Header::MIN_LEN)?[0] & 0xf) * 4;
    let header = packet.header(header_bytes.max(Ipv4Header::MIN_LEN))?;
    let header = Ipv4HeaderSlice::from_slice(header).map_err(|_| Skip::BadLength)?;
    let total_bytes = u64::from(header.total_len());
    if total_bytes == 0 {
        return Err(Skip::NoLength);
    }
    if total_bytes < header_bytes as u64 || total_bytes > packet.original_bytes {
        return Err(Skip::BadLength);
    }
    if header.is_fragmenting_payload() {
        return Err(Skip::Fragment);
    }
    let mut rest = Rest { original_bytes: total_bytes, ..packet }.after(header_bytes);
    let mut protocol = header.protocol();
    if protocol == ip_number::AUTH {
        (protocol, rest) = authentication(rest)?;
    }
    transport(protocol, ip_number::ICMP, rest)
}

/// RFC 8200: the payload length counts the extension headers, which the checksum does not.
fn ipv6(packet: Rest<'_>) -> Result<u64, Skip> {
    let header = packet.header(Ipv6Header::LEN)?;
    let header = Ipv6HeaderSlice::from_slice(header).map_err(|_| Skip::BadLength)?;
    let payload_bytes = u64::from(header.payload_length());
    let mut next = header.next_header();
    if payload_bytes == 0 && next != ip_number::IPV6_NO_NEXT_HEADER {
        return Err(Skip::NoLength);
    }
    let mut rest = packet.after(Ipv6Header::LEN);
    if payload_bytes > rest.original_bytes {
        return Err(Skip::BadLength);
    }
    rest.original_bytes = payload_bytes;
    // Every round takes at least 8 of at most 65535 bytes, so this ends.
    loop {
        match next {
            ip_number::IPV6_HOP_BY_HOP | ip_number::IPV6_ROUTE | ip_number::IPV6_DEST_OPTIONS => {
                let extension = rest.header(8)?;
                let extension_bytes = (usize::from(extension[1]) + 1) * 8;
                if extension_bytes as u64 > rest.original_bytes {
                    return Err(Skip::BadLength);
                }
                next = IpNumber(extension[0]);
                rest = rest.after(extension_bytes);
            }
            ip_number::IPV6_FRAG => {
                let extension = rest.header(Ipv6FragmentHeader::LEN)?;
                let extension =
                    Ipv6FragmentHeaderSlice::from_slice(extension).map_err(|_| Skip::BadLength)?;
                // A lone "fragment" that is the whole packet counts (RFC 6946).
                if extension.is_fragmenting_payload() {
                    return Err(Skip::Fragment);
                }
                next = extension.next_header();
                rest = rest.after(Ipv6FragmentHeader::LEN);
            }
            ip_number::AUTH => (next, rest) = authentication(rest)?,
            _ => return transport(next, ip_number::IPV6_ICMP, rest),
        }
    }
}

/// RFC 4302: an authentication header counts its length in 4-byte words, less two.
fn authentication(rest: Rest<'_>) -> Result<(IpNumber, Rest<'_>), Skip> {
    let header = rest.header(8)?;
    let header_bytes = (usize::from(header[1]) + 2) * 4;
    if header_bytes as u64 > rest.original_bytes {
        return Err(Skip::BadLength);
    }
    Ok((IpNumber(header[0]), rest.after(header_bytes)))
}

/// `rest` is exactly the transport header and data.
fn transport(protocol: IpNumber, icmp: IpNumber, rest: Rest<'_>) -> Result<u64, Skip> {
    let payload_bytes = rest.original_bytes;
    let least_bytes = match protocol {
        ip_number::TCP => TcpHeader::MIN_LEN as u64,
        ip_number::UDP => UdpHeader::LEN as u64,
        _ if protocol == icmp => 4,
        _ => return Err(Skip::OtherTransport),
    };
    if payload_bytes < least_bytes {
        return Err(Skip::BadLength);
    }
    if protocol != ip_number::UDP {
        return Ok(payload_bytes);
    }
    // RFC 768: UDP has a length of its own, and a checksum of 0 says that there is none.
    let header = rest.header(UdpHeader::LEN)?;
    let header = UdpHeaderSlice::from_slice(header).map_err(|_| Skip::BadLength)?;
    let datagram_bytes = u64::from(header.length());
    if datagram_bytes < least_bytes || datagram_bytes > payload_bytes {
        return Err(Skip::BadLength);
    }
    if header.checksum() == 0 {
        return Err(Skip::NoChecksum);
    }
    Ok(datagram_bytes)
}
