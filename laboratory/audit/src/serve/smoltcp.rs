//! smoltcp: `wire::checksum`, and `fill_checksum` and `verify_checksum` of its packets.

use super::{Adapter, field_at, hello};
use crate::wire::{Hello, Packet, Protocol, Reply, Request};
use ::smoltcp::wire::{
    Icmpv4Packet, Icmpv6Packet, IpAddress, IpProtocol, Ipv4Packet, TcpPacket, UdpPacket, checksum,
};
use std::net::IpAddr;

/// Its wire formats.
pub struct Smoltcp;

impl Adapter for Smoltcp {
    fn hello(&self) -> Hello {
        hello("smoltcp")
    }

    fn answer(&mut self, request: &Request) -> Reply {
        match request {
            Request::Sum(data) => Reply::Field((!checksum::data(&data.bytes())).to_be_bytes()),
            // As it combines a pseudo-header and a payload.
            Request::Onto { sum, data } => {
                let sums = [u16::from_be_bytes(*sum), checksum::data(&data.bytes())];
                Reply::Field((!checksum::combine(&sums)).to_be_bytes())
            }
            Request::Pseudo { source, destination, protocol, length } => {
                if source.is_ipv4() != destination.is_ipv4() {
                    return Reply::Unsupported;
                }
                let protocol = IpProtocol::from(*protocol);
                let sum = checksum::pseudo_header(&address(source), &address(destination), protocol, *length);
                Reply::Field(sum.to_be_bytes())
            }
            Request::Packet(packet) => filled(packet).unwrap_or(Reply::None),
            Request::Verify(packet) => verified(packet).unwrap_or(Reply::Damaged),
            _ => Reply::Unsupported,
        }
    }
}

fn address(address: &IpAddr) -> IpAddress {
    match address {
        IpAddr::V4(address) => IpAddress::Ipv4(*address),
        IpAddr::V6(address) => IpAddress::Ipv6(*address),
    }
}

/// The header, if it is complete.
fn header(bytes: &[u8]) -> Option<&[u8]> {
    let header_bytes = usize::from(bytes.first()? & 15) * 4;
    (bytes[0] >> 4 == 4 && header_bytes >= 20).then(|| bytes.get(..header_bytes)).flatten()
}

/// The checksum that it sends; `None` if it rejects the packet.
fn filled(packet: &Packet) -> Option<Reply> {
    let mut bytes = packet.bytes.clone();
    let addresses =
        packet.addresses.as_ref().map(|(source, destination)| (address(source), address(destination)));
    Some(match (packet.protocol, addresses, packet.addresses) {
        (Protocol::Ipv4Header, ..) => {
            header(&bytes)?;
            Ipv4Packet::new_unchecked(&mut bytes).fill_checksum();
            field_at(&bytes, 10)
        }
        (Protocol::Tcp, Some((source, destination)), _) => {
            TcpPacket::new_checked(&mut bytes).ok()?.fill_checksum(&source, &destination);
            field_at(&bytes, 16)
        }
        (Protocol::Udp, Some((source, destination)), _) => {
            UdpPacket::new_checked(&mut bytes).ok()?.fill_checksum(&source, &destination);
            field_at(&bytes, 6)
        }
        (Protocol::Icmp, ..) => {
            Icmpv4Packet::new_checked(&mut bytes).ok()?.fill_checksum();
            field_at(&bytes, 2)
        }
        (Protocol::Icmpv6, _, Some((IpAddr::V6(source), IpAddr::V6(destination)))) => {
            Icmpv6Packet::new_checked(&mut bytes).ok()?.fill_checksum(&source, &destination);
            field_at(&bytes, 2)
        }
        _ => Reply::Unsupported,
    })
}

/// Its verdict; `None` if it rejects the packet. For UDP, `verify_checksum` also returns true if the checksum
/// is zero, so that case is distinguished here.
fn verified(packet: &Packet) -> Option<Reply> {
    let bytes = packet.bytes.as_slice();
    let addresses =
        packet.addresses.as_ref().map(|(source, destination)| (address(source), address(destination)));
    let intact = match (packet.protocol, addresses, packet.addresses) {
        (Protocol::Ipv4Header, ..) => Ipv4Packet::new_unchecked(header(bytes)?).verify_checksum(),
        (Protocol::Tcp, Some((source, destination)), _) => {
            TcpPacket::new_checked(bytes).ok()?.verify_checksum(&source, &destination)
        }
        (Protocol::Udp, Some((source, destination)), _) => {
            let packet = UdpPacket::new_checked(bytes).ok()?;
            if packet.checksum() == 0 && packet.verify_checksum(&source, &destination) {
                return Some(Reply::Absent);
            }
            packet.verify_checksum(&source, &destination)
        }
        (Protocol::Icmp, ..) => Icmpv4Packet::new_checked(bytes).ok()?.verify_checksum(),
        (Protocol::Icmpv6, _, Some((IpAddr::V6(source), IpAddr::V6(destination)))) => {
            Icmpv6Packet::new_checked(bytes).ok()?.verify_checksum(&source, &destination)
        }
        _ => return Some(Reply::Unsupported),
    };
    Some(if intact { Reply::Intact } else { Reply::Damaged })
}
