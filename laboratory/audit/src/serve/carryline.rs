//! This project's library.

use super::{Adapter, hello};
use crate::wire::{Hello, Packet, Protocol, Reply, Request, Rule};
use carryline::checksum::{self, Addresses, Checksum, Sum, UdpVerdict};
use std::net::IpAddr;

/// The public functions of the library.
pub struct Carryline;

impl Adapter for Carryline {
    fn hello(&self) -> Hello {
        hello("carryline")
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let field = |checksum: Checksum| Reply::Field(checksum.0);
        match request {
            Request::Hello => Reply::Hello(self.hello()),
            Request::Sum(data) => field(checksum::internet(&data.bytes())),
            Request::Pieces(pieces) => {
                field(pieces.iter().fold(Sum::new(), |sum, piece| sum.add(&piece.bytes())).finish())
            }
            Request::Onto { sum, data } => field(Sum::new().add(sum).add(&data.bytes()).finish()),
            Request::Update { rule, checksum, offset, old, new } => {
                let before = Checksum(*checksum);
                field(match rule {
                    Rule::Internet => before.replace_range(*offset, old, new),
                    Rule::Udp => before.replace_range_udp(*offset, old, new),
                })
            }
            Request::Pseudo { source, destination, protocol, length } => match (source, destination) {
                (IpAddr::V4(source), IpAddr::V4(destination)) => {
                    let Ok(length) = u16::try_from(*length) else { return Reply::Unsupported };
                    Reply::Field(
                        Sum::pseudo_v4(source.octets(), destination.octets(), *protocol, length)
                            .offload_seed(),
                    )
                }
                (IpAddr::V6(source), IpAddr::V6(destination)) => Reply::Field(
                    Sum::pseudo_v6(source.octets(), destination.octets(), *length, *protocol).offload_seed(),
                ),
                _ => Reply::Unsupported,
            },
            Request::Packet(packet) => of_packet(packet).map_or(Reply::None, field),
            Request::Verify(packet) => verified(packet),
        }
    }
}

fn addresses(packet: &Packet) -> Option<Addresses> {
    let (source, destination) = packet.addresses?;
    Addresses::new(source, destination)
}

fn of_packet(packet: &Packet) -> Option<Checksum> {
    let bytes = packet.bytes.as_slice();
    Some(match packet.protocol {
        Protocol::Ipv4Header => {
            let header_bytes = usize::from(bytes.first()? & 15) * 4;
            let whole = bytes[0] >> 4 == 4 && header_bytes >= 20 && header_bytes <= bytes.len();
            return whole.then(|| checksum::ipv4_header(bytes));
        }
        Protocol::Tcp => checksum::tcp(addresses(packet)?, &[bytes]),
        Protocol::Udp => checksum::udp(addresses(packet)?, &[bytes]),
        Protocol::Icmp => checksum::icmp(&[bytes]),
        Protocol::Icmpv6 => match addresses(packet)? {
            Addresses::V6 { src, dst } => checksum::icmpv6(src, dst, &[bytes]),
            Addresses::V4 { .. } => return None,
        },
    })
}

fn verified(packet: &Packet) -> Reply {
    let bytes = packet.bytes.as_slice();
    let verdict = |intact| if intact { Reply::Intact } else { Reply::Damaged };
    let Some(addresses) = addresses(packet) else {
        return match packet.protocol {
            Protocol::Ipv4Header => verdict(checksum::verify_ipv4_header(bytes)),
            Protocol::Icmp => verdict(checksum::verify_icmp(&[bytes])),
            _ => Reply::Unsupported,
        };
    };
    match (packet.protocol, addresses) {
        (Protocol::Tcp, addresses) => verdict(checksum::verify_tcp(addresses, &[bytes])),
        (Protocol::Udp, addresses) => match checksum::verify_udp(addresses, &[bytes]) {
            UdpVerdict::Intact => Reply::Intact,
            UdpVerdict::Absent => Reply::Absent,
            UdpVerdict::Damaged => Reply::Damaged,
        },
        (Protocol::Icmpv6, Addresses::V6 { src, dst }) => {
            verdict(checksum::verify_icmpv6(src, dst, &[bytes]))
        }
        _ => Reply::Unsupported,
    }
}
