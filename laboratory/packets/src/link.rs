//! Finds the IP packet in a captured frame.
//!
//! A loop skips the headers, each of which consumes bytes. A packet of nothing but labels and tags therefore
//! takes time proportional to its length, and no stack.

use crate::Skip;
use crate::bytes::{Bytes, be16};
use etherparse::{EtherType, ether_type};

/// Link types by their number in the registry of tcpdump.org.
pub mod types {
    /// Four bytes of address family in the byte order of the capturing machine.
    pub const BSD_NULL: u32 = 0;
    /// Ethernet.
    pub const ETHERNET: u32 = 1;
    /// PPP.
    pub const PPP: u32 = 9;
    /// Raw IP, as numbered by libpcap internally; some programs write these numbers.
    pub const RAW_DLT: [u32; 2] = [12, 14];
    /// PPP in HDLC-like framing, or Cisco HDLC.
    pub const PPP_SERIAL: u32 = 50;
    /// PPPoE: the frames of a session without their Ethernet header.
    pub const PPP_ETHER: u32 = 51;
    /// Raw IP.
    pub const RAW: u32 = 101;
    /// Cisco HDLC.
    pub const CISCO_HDLC: u32 = 104;
    /// Four bytes of address family in network byte order.
    pub const BSD_LOOP: u32 = 108;
    /// Linux's "cooked" capture of the device `any`.
    pub const LINUX_COOKED: u32 = 113;
    /// PPP after a byte for the direction.
    pub const PPP_WITH_DIRECTION: u32 = 204;
    /// A stack of MPLS labels.
    pub const MPLS: u32 = 219;
    /// Raw IPv4.
    pub const IPV4: u32 = 228;
    /// Raw IPv6.
    pub const IPV6: u32 = 229;
    /// The second version of [`LINUX_COOKED`].
    pub const LINUX_COOKED_2: u32 = 276;
}

/// 802.1Q, 802.1ad, and the two types used before 802.1ad.
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
/// RFC 1701 and others: an Ethernet frame.
const BRIDGED_ETHERNET: EtherType = EtherType(0x6558);
/// 802.1ah: a service tag, and a frame of the customer.
const BACKBONE_SERVICE: EtherType = EtherType(0x88e7);
/// RFC 8300: a service function chain.
const SERVICE_HEADER: EtherType = EtherType(0x894f);
/// Smaller values are an 802.3 length.
const ETHERTYPE_LEAST: EtherType = EtherType(0x0600);

/// A version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// The layer that the next byte of a packet starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// An Ethernet header.
    Ethernet,
    /// The layer with this EtherType: IP, a tag with another EtherType, or 802.2 with one.
    EtherType(EtherType),
    /// RFC 2516: version and type, a code (0 in a session), the session number, and the length of the rest,
    /// which is PPP without address and control bytes.
    Pppoe,
    /// PPP. Address and control bytes may be omitted, and the protocol may be compressed to one odd byte.
    Ppp,
    /// RFC 3032: four bytes per label; the last has its bottom-of-stack bit set. The labels do not identify
    /// the next layer: its first bits identify IP, and zeros are the control word of a pseudowire (RFC 4385),
    /// followed by a frame.
    Mpls,
    /// RFC 8300: a header with its own length and the next protocol.
    ServiceHeader,
    /// Four bytes of address family in either byte order.
    Family,
    /// IP; the first bits are the version.
    AnyIp,
    /// IP.
    Ip(Version),
}

impl Layer {
    /// The first layer of a record of this link type, and the number of bytes before it.
    fn of_link(link: u32, packet: Bytes<'_>) -> Result<(Layer, usize), Skip> {
        Ok(match link {
            types::ETHERNET => (Layer::Ethernet, 0),
            types::LINUX_COOKED => (Layer::EtherType(EtherType(be16(packet.header(16)?, 14))), 16),
            types::LINUX_COOKED_2 => (Layer::EtherType(EtherType(be16(packet.header(20)?, 0))), 20),
            types::CISCO_HDLC => (Layer::EtherType(EtherType(be16(packet.header(4)?, 2))), 4),
            types::BSD_NULL | types::BSD_LOOP => (Layer::Family, 0),
            // RFC 1547: Cisco's framing starts with 0x0f or 0x8f, PPP with 0xff.
            types::PPP_SERIAL if matches!(packet.captured().first(), Some(0x0f | 0x8f)) => {
                (Layer::EtherType(EtherType(be16(packet.header(4)?, 2))), 4)
            }
            types::PPP | types::PPP_SERIAL => (Layer::Ppp, 0),
            types::PPP_WITH_DIRECTION => (Layer::Ppp, 1),
            types::PPP_ETHER => (Layer::Pppoe, 0),
            types::MPLS => (Layer::Mpls, 0),
            types::IPV4 => (Layer::Ip(Version::V4), 0),
            types::IPV6 => (Layer::Ip(Version::V6), 0),
            types::RAW => (Layer::AnyIp, 0),
            link if types::RAW_DLT.contains(&link) => (Layer::AnyIp, 0),
            unknown => return Err(Skip::UnknownLink(unknown)),
        })
    }
}

/// The IP packet in a record of this link type.
///
/// # Errors
/// The reason there is none.
pub fn ip_of_record<'a>(link: u32, packet: Bytes<'a>) -> Result<(Version, Bytes<'a>), Skip> {
    let (layer, before) = Layer::of_link(link, packet)?;
    ip_behind(layer, packet.after(before))
}

/// The IP packet after the headers that start with `layer`.
///
/// # Errors
/// The reason there is none.
pub fn ip_behind<'a>(layer: Layer, packet: Bytes<'a>) -> Result<(Version, Bytes<'a>), Skip> {
    let (mut layer, mut packet) = (layer, packet);
    // Every iteration consumes bytes, is followed by one that does, or is the last, so this ends.
    loop {
        (layer, packet) = match layer {
            Layer::Ip(version) => return Ok((version, packet)),
            Layer::AnyIp => match packet.header(1)?[0] >> 4 {
                4 => return Ok((Version::V4, packet)),
                6 => return Ok((Version::V6, packet)),
                _ => return Err(Skip::NotIp),
            },
            Layer::Ethernet => (Layer::EtherType(EtherType(be16(packet.header(14)?, 12))), packet.after(14)),
            Layer::EtherType(kind) => behind_ether_type(kind, packet)?,
            Layer::Family => (family(packet.header(4)?)?, packet.after(4)),
            Layer::Pppoe => {
                let header = packet.header(6)?;
                if header[0] != 0x11 || header[1] != 0 {
                    return Err(Skip::NotIp);
                }
                // Bytes after it are padding of the link.
                (Layer::Ppp, packet.after(6).cut(be16(header, 4).into())?)
            }
            Layer::Ppp => behind_ppp(packet)?,
            Layer::Mpls => {
                let is_last = packet.header(4)?[2] & 1 == 1;
                let behind = packet.after(4);
                if !is_last {
                    (Layer::Mpls, behind)
                } else if behind.header(1)?[0] >> 4 == 0 {
                    (Layer::Ethernet, behind.after(4))
                } else {
                    (Layer::AnyIp, behind)
                }
            }
            Layer::ServiceHeader => {
                let header = packet.header(4)?;
                let next = match header[3] {
                    1 => Layer::Ip(Version::V4),
                    2 => Layer::Ip(Version::V6),
                    3 => Layer::Ethernet,
                    5 => Layer::Mpls,
                    _ => return Err(Skip::NotIp),
                };
                let header_bytes = usize::from(header[1] & 0x3f) * 4;
                packet.header(header_bytes.max(8))?;
                (next, packet.after(header_bytes.max(8)))
            }
        };
    }
}

fn behind_ether_type<'a>(kind: EtherType, packet: Bytes<'a>) -> Result<(Layer, Bytes<'a>), Skip> {
    Ok(match kind {
        ether_type::IPV4 => (Layer::Ip(Version::V4), packet),
        ether_type::IPV6 => (Layer::Ip(Version::V6), packet),
        PPPOE => (Layer::Pppoe, packet),
        BRIDGED_ETHERNET => (Layer::Ethernet, packet),
        BACKBONE_SERVICE => (Layer::Ethernet, packet.after(4)),
        SERVICE_HEADER => (Layer::ServiceHeader, packet),
        kind if TAGS.contains(&kind) => {
            (Layer::EtherType(EtherType(be16(packet.header(4)?, 2))), packet.after(4))
        }
        kind if MPLS.contains(&kind) => (Layer::Mpls, packet),
        kind if kind < ETHERTYPE_LEAST => match packet.captured() {
            [0xaa, 0xaa, 0x03, 0, 0, 0, high, low, ..] => {
                (Layer::EtherType(EtherType(u16::from_be_bytes([*high, *low]))), packet.after(8))
            }
            _ => return Err(Skip::NotIp),
        },
        _ => return Err(Skip::NotIp),
    })
}

/// BSD's loopback header.
fn family(header: &[u8]) -> Result<Layer, Skip> {
    let family = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let family = if family > 0xffff { family.swap_bytes() } else { family };
    match family {
        2 => Ok(Layer::Ip(Version::V4)),
        // AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, Darwin.
        10 | 24 | 28 | 30 => Ok(Layer::Ip(Version::V6)),
        _ => Err(Skip::NotIp),
    }
}

fn behind_ppp(packet: Bytes<'_>) -> Result<(Layer, Bytes<'_>), Skip> {
    let packet = if packet.captured().starts_with(&[0xff, 0x03]) { packet.after(2) } else { packet };
    let first = packet.header(1)?[0];
    let (protocol, packet) = if first & 1 == 1 {
        (u16::from(first), packet.after(1))
    } else {
        (be16(packet.header(2)?, 0), packet.after(2))
    };
    match protocol {
        0x0021 => Ok((Layer::Ip(Version::V4), packet)),
        0x0057 => Ok((Layer::Ip(Version::V6), packet)),
        // Labels over PPP (RFC 3032, section 4).
        0x0281 | 0x0283 => Ok((Layer::Mpls, packet)),
        _ => Err(Skip::NotIp),
    }
}
