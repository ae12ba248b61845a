//! The correct answers, from the naive reference routine and the equations of the RFCs.

use crate::wire::{Packet, Protocol, Reply, Request, Rule};
use carryline_variants::checksum::reference::folded_sum;
use std::net::IpAddr;

/// The correct answer; `None` for requests that only the vectors answer: malformed packets, and cases that
/// the RFCs leave open.
#[must_use]
pub fn answer(request: &Request) -> Option<Reply> {
    let finished = |sum: u16| Reply::Field((!sum).to_ne_bytes());
    Some(match request {
        Request::Sum(data) => finished(folded_sum(&data.bytes(), 0)),
        Request::Pieces(_) => finished(folded_sum(&request.input().bytes(), 0)),
        Request::Onto { sum, data } => {
            finished(folded_sum(&data.bytes(), u32::from(u16::from_ne_bytes(*sum))))
        }
        Request::Update { rule, checksum, offset, old, new } => {
            Reply::Field(update(*rule, *checksum, *offset, old, new))
        }
        Request::Pseudo { source, destination, protocol, length } => {
            let header = pseudo_header(source, destination, *protocol, *length)?;
            Reply::Field(folded_sum(&header, 0).to_ne_bytes())
        }
        Request::Packet(packet) => Reply::Field(computed(packet)?),
        Request::Verify(packet) => verdict(packet)?,
        Request::Hello => return None,
    })
}

/// The correct answer of an implementation; `udp` if it replaces `0000` as UDP does.
#[must_use]
pub fn expected(request: &Request, udp: bool) -> Option<Reply> {
    let right = answer(request)?;
    Some(if udp && request.is_message() { for_udp(right) } else { right })
}

/// The pseudo-header of RFC 9293, section 3.1, or RFC 8200, section 8.1; `None` if the address families
/// differ or the length does not fit.
fn pseudo_header(source: &IpAddr, destination: &IpAddr, protocol: u8, length: u32) -> Option<Vec<u8>> {
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let length = u16::try_from(length).ok()?.to_be_bytes();
            Some([&source.octets()[..], &destination.octets(), &[0, protocol], &length].concat())
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let length = length.to_be_bytes();
            Some([&source.octets()[..], &destination.octets(), &length, &[0, 0, 0, protocol]].concat())
        }
        _ => None,
    }
}

/// The offset of the checksum field in a packet; `None` if its header is incomplete or states another length.
#[must_use]
pub fn field_at(packet: &Packet) -> Option<usize> {
    let bytes = packet.bytes.as_slice();
    let header_bytes = |byte: u8| usize::from(byte) * 4;
    let (least, field_at) = match packet.protocol {
        Protocol::Ipv4Header => (20, 10),
        Protocol::Tcp => (20, 16),
        Protocol::Udp => (8, 6),
        Protocol::Icmp | Protocol::Icmpv6 => (8, 2),
    };
    if bytes.len() < least {
        return None;
    }
    let is_whole = match packet.protocol {
        Protocol::Ipv4Header => bytes[0] >> 4 == 4 && header_bytes(bytes[0] & 15) == bytes.len(),
        Protocol::Tcp => (least..=bytes.len()).contains(&header_bytes(bytes[12] >> 4)),
        Protocol::Udp => usize::from(u16::from_be_bytes([bytes[4], bytes[5]])) == bytes.len(),
        Protocol::Icmp | Protocol::Icmpv6 => true,
    };
    is_whole.then_some(field_at)
}

/// The pseudo-header that the packet's checksum covers; empty if there is none.
fn covered(packet: &Packet) -> Option<Vec<u8>> {
    let number = match packet.protocol {
        Protocol::Ipv4Header | Protocol::Icmp => return Some(Vec::new()),
        Protocol::Tcp => 6,
        Protocol::Udp => 17,
        Protocol::Icmpv6 => 58,
    };
    let (source, destination) = packet.addresses?;
    if packet.protocol == Protocol::Icmpv6 && source.is_ipv4() {
        return None;
    }
    pseudo_header(&source, &destination, number, u32::try_from(packet.bytes.len()).ok()?)
}

/// The checksum field with which a packet is sent.
fn computed(packet: &Packet) -> Option<[u8; 2]> {
    let at = field_at(packet)?;
    let mut all = covered(packet)?;
    let begin = all.len();
    all.extend_from_slice(&packet.bytes);
    all[begin + at..begin + at + 2].fill(0);
    Some(match (!folded_sum(&all, 0)).to_ne_bytes() {
        [0, 0] if packet.protocol == Protocol::Udp => [0xff, 0xff],
        field => field,
    })
}

fn verdict(packet: &Packet) -> Option<Reply> {
    let at = field_at(packet)?;
    if packet.protocol == Protocol::Udp && packet.bytes[at..at + 2] == [0, 0] {
        // RFC 768. Over IPv6 the receiver discards it (RFC 8200) or accepts it (RFC 6935).
        return packet.addresses?.0.is_ipv4().then_some(Reply::Absent);
    }
    let mut all = covered(packet)?;
    all.extend_from_slice(&packet.bytes);
    Some(if folded_sum(&all, 0) == 0xffff { Reply::Intact } else { Reply::Damaged })
}

/// The packet with its correct checksum.
#[must_use]
pub fn with_checksum(packet: &Packet) -> Option<Packet> {
    let (at, field) = (field_at(packet)?, computed(packet)?);
    let mut sealed = packet.clone();
    sealed.bytes[at..at + 2].copy_from_slice(&field);
    Some(sealed)
}

/// RFC 1624, equation 3, for a change of any length at any offset; bytes at odd offsets are the second of
/// their word.
fn update(rule: Rule, checksum: [u8; 2], offset: usize, old: &[u8], new: &[u8]) -> [u8; 2] {
    // Without a change, the equation would turn ffff, the checksum of all-zero data, into 0000, which cannot
    // be right.
    if old == new || rule == Rule::Udp && checksum == [0, 0] {
        return checksum;
    }
    // Words in which the bytes outside the change are 0 before and after it.
    let placed = |bytes: &[u8]| {
        let mut all = vec![0; offset % 2];
        all.extend_from_slice(bytes);
        if all.len() % 2 == 1 {
            all.push(0);
        }
        all
    };
    let removed: Vec<u8> = placed(old).iter().map(|byte| !byte).collect();
    let sum = folded_sum(&removed, u32::from(!u16::from_ne_bytes(checksum)));
    let sum = folded_sum(&placed(new), u32::from(sum));
    match (!sum).to_ne_bytes() {
        [0, 0] if rule == Rule::Udp => [0xff, 0xff],
        field => field,
    }
}

/// Replaces a computed `0000` as UDP does.
fn for_udp(reply: Reply) -> Reply {
    if reply == Reply::Field([0, 0]) { Reply::Field([0xff, 0xff]) } else { reply }
}
