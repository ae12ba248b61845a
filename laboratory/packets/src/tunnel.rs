//! Finds the packet that is tunnelled in the payload of an IP packet.

use crate::bytes::{Bytes, be16};
use crate::link::{Layer, Version};
use etherparse::{EtherType, IpNumber, UdpHeader, ip_number};

/// The packet tunnelled in a payload of this protocol; `None` if there is none, or its start was not
/// captured.
#[must_use]
pub fn inside(protocol: IpNumber, payload: Bytes<'_>) -> Option<(Layer, Bytes<'_>)> {
    match protocol.0 {
        // RFC 2003, RFC 2473 and RFC 4213; 94 is IPIP of KA9Q.
        4 | 94 => Some((Layer::Ip(Version::V4), payload)),
        41 => Some((Layer::Ip(Version::V6), payload)),
        47 => gre(payload),
        // RFC 3378.
        97 => (be16(payload.header(2).ok()?, 0) == 0x3000).then_some((Layer::Ethernet, payload.after(2))),
        // RFC 4023.
        137 => Some((Layer::Mpls, payload)),
        // RFC 8986, section 10.1.
        143 => Some((Layer::Ethernet, payload)),
        _ if protocol == ip_number::UDP => udp(payload),
        _ => None,
    }
}

/// True if UDP to this port may omit the checksum over IPv6, which RFC 6935 allows for tunnels that specify
/// it.
#[must_use]
pub fn allows_no_checksum(port: u16) -> bool {
    matches!(port, port::VXLAN | port::VXLAN_LINUX | port::VXLAN_GPE | port::GENEVE | port::GTP_U)
        || matches!(port, port::LISP | port::MPLS)
}

/// UDP ports of tunnels.
mod port {
    pub const L2TP: u16 = 1701;
    pub const GTP_U: u16 = 2152;
    pub const TEREDO: u16 = 3544;
    pub const LISP: u16 = 4341;
    pub const VXLAN: u16 = 4789;
    pub const VXLAN_GPE: u16 = 4790;
    pub const GENEVE: u16 = 6081;
    pub const MPLS: u16 = 6635;
    /// Linux's default for VXLAN, from before a port was assigned.
    pub const VXLAN_LINUX: u16 = 8472;
}

/// Tunnels over UDP. Most derive the source port from a hash of the inner packet, so it does not identify the
/// protocol; GTP-U, L2TP and Teredo also reply from their port.
fn udp(datagram: Bytes<'_>) -> Option<(Layer, Bytes<'_>)> {
    let header = datagram.header(UdpHeader::LEN).ok()?;
    let (source, destination) = (be16(header, 0), be16(header, 2));
    let payload = datagram.after(UdpHeader::LEN);
    match destination {
        // RFC 7348: the flag for a valid network identifier.
        port::VXLAN | port::VXLAN_LINUX => {
            (payload.header(8).ok()?[0] & 0x08 != 0).then_some((Layer::Ethernet, payload.after(8)))
        }
        port::VXLAN_GPE => vxlan_gpe(payload),
        port::GENEVE => geneve(payload),
        port::MPLS => Some((Layer::Mpls, payload)),
        // RFC 9300.
        port::LISP => Some((Layer::AnyIp, payload.after(8))),
        _ if [source, destination].contains(&port::GTP_U) => gtp_u(payload),
        _ if [source, destination].contains(&port::L2TP) => l2tp(payload),
        _ if [source, destination].contains(&port::TEREDO) => teredo(payload),
        _ => None,
    }
}

/// RFC 2784 and RFC 2890; version 1 (RFC 2637) carries PPP.
fn gre(packet: Bytes<'_>) -> Option<(Layer, Bytes<'_>)> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGEMENT: u16 = 0x0080;
    const PPP: u16 = 0x880b;
    let header = packet.header(4).ok()?;
    let (flags, kind) = (be16(header, 0), be16(header, 2));
    let words = |bits: &[u16]| 4 * bits.iter().filter(|bit| flags & *bit != 0).count();
    match flags & 7 {
        0 if flags & ROUTING == 0 => {
            let sequence = flags & SEQUENCE != 0;
            let behind = packet.after(4 + words(&[CHECKSUM, KEY, SEQUENCE]));
            Some(match kind {
                PPP => (Layer::Ppp, behind),
                // ERSPAN: type I has no header, type II has a sequence number, type III may have a subheader.
                0x88be => (Layer::Ethernet, behind.after(if sequence { 8 } else { 0 })),
                0x22eb => {
                    let has_more = behind.header(12).ok()?[11] & 1 == 1;
                    (Layer::Ethernet, behind.after(if has_more { 20 } else { 12 }))
                }
                _ => (Layer::EtherType(EtherType(kind)), behind),
            })
        }
        1 if kind == PPP => {
            let payload_bytes = be16(packet.header(8).ok()?, 4);
            let behind = packet.after(8 + words(&[SEQUENCE, ACKNOWLEDGEMENT]));
            Some((Layer::Ppp, behind.cut(payload_bytes.into()).ok()?))
        }
        _ => None,
    }
}

/// draft-ietf-nvo3-vxlan-gpe: if a flag is set, the fourth byte gives the next protocol.
fn vxlan_gpe(packet: Bytes<'_>) -> Option<(Layer, Bytes<'_>)> {
    let header = packet.header(8).ok()?;
    let next = match header[3] {
        _ if header[0] & 0x04 == 0 => Layer::Ethernet,
        1 => Layer::Ip(Version::V4),
        2 => Layer::Ip(Version::V6),
        3 => Layer::Ethernet,
        4 => Layer::ServiceHeader,
        5 => Layer::Mpls,
        _ => return None,
    };
    Some((next, packet.after(8)))
}

/// RFC 8926: version 0, with options in 4-byte words.
fn geneve(packet: Bytes<'_>) -> Option<(Layer, Bytes<'_>)> {
    let header = packet.header(8).ok()?;
    let option_bytes = usize::from(header[0] & 0x3f) * 4;
    let kind = EtherType(be16(header, 2));
    (header[0] >> 6 == 0).then_some((Layer::EtherType(kind), packet.after(8 + option_bytes)))
}

/// 3GPP TS 29.281: a G-PDU of version 1, with extension headers in 4-byte words.
fn gtp_u(packet: Bytes<'_>) -> Option<(Layer, Bytes<'_>)> {
    const G_PDU: u8 = 255;
    let header = packet.header(8).ok()?;
    if header[0] >> 4 != 0b0011 || header[1] != G_PDU {
        return None;
    }
    let (flags, payload_bytes) = (header[0], be16(header, 2));
    let mut rest = packet.after(8).cut(payload_bytes.into()).ok()?;
    if flags & 0b111 != 0 {
        let mut next = rest.header(4).ok()?[3];
        rest = rest.after(4);
        // Every iteration consumes at least four bytes.
        while flags & 0b100 != 0 && next != 0 {
            let extension_bytes = usize::from(rest.header(1).ok()?[0]) * 4;
            next = *rest.header(extension_bytes).ok()?.last()?;
            rest = rest.after(extension_bytes);
        }
    }
    Some((Layer::AnyIp, rest))
}

/// RFC 2661, version 2: a data message with optional fields.
fn l2tp(packet: Bytes<'_>) -> Option<(Layer, Bytes<'_>)> {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    let flags = be16(packet.header(6).ok()?, 0);
    if flags & CONTROL != 0 || flags & 0xf != 2 {
        return None;
    }
    let mut header_bytes = 6;
    header_bytes += if flags & LENGTH != 0 { 2 } else { 0 };
    header_bytes += if flags & SEQUENCE != 0 { 4 } else { 0 };
    if flags & OFFSET != 0 {
        let padding = be16(packet.header(header_bytes + 2).ok()?, header_bytes);
        header_bytes += 2 + usize::from(padding);
    }
    Some((Layer::Ppp, packet.after(header_bytes)))
}

/// RFC 4380, section 5.1.1: an authentication and an origin indication may precede the IPv6 packet.
fn teredo(packet: Bytes<'_>) -> Option<(Layer, Bytes<'_>)> {
    let mut packet = packet;
    if let [0, 1, client_bytes, authentication_bytes, ..] = *packet.captured() {
        packet = packet.after(13 + usize::from(client_bytes) + usize::from(authentication_bytes));
    }
    if let [0, 0, ..] = *packet.captured() {
        packet = packet.after(8);
    }
    (packet.captured().first()? >> 4 == 6).then_some((Layer::Ip(Version::V6), packet))
}
