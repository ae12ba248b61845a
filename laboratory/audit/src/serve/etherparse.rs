//! etherparse: `checksum::Sum16BitWords`, and the checksums that its headers and slices compute.

use super::{Adapter, hello};
use crate::wire::{Hello, Packet, Protocol, Reply, Request};
use ::etherparse::checksum::Sum16BitWords;
use ::etherparse::{Icmpv4Slice, Icmpv6Slice, Ipv4HeaderSlice, TcpSlice, UdpHeader};
use std::net::IpAddr;

/// Its headers and slices.
pub struct Etherparse;

impl Adapter for Etherparse {
    fn hello(&self) -> Hello {
        hello("etherparse")
    }

    fn answer(&mut self, request: &Request) -> Reply {
        // In native byte order, as in memory.
        let field = |sum: Sum16BitWords| Reply::Field(sum.ones_complement().to_ne_bytes());
        match request {
            Request::Sum(data) => field(Sum16BitWords::new().add_slice(&data.bytes())),
            Request::Onto { sum, data } => {
                field(Sum16BitWords::new().add_2bytes(*sum).add_slice(&data.bytes()))
            }
            Request::Packet(packet) => of_packet(packet),
            Request::Verify(Packet {
                protocol: Protocol::Icmpv6,
                addresses: Some((IpAddr::V6(source), IpAddr::V6(destination))),
                bytes,
            }) => match Icmpv6Slice::from_slice(bytes) {
                Ok(slice) if slice.is_checksum_valid(source.octets(), destination.octets()) => Reply::Intact,
                _ => Reply::Damaged,
            },
            _ => Reply::Unsupported,
        }
    }
}

fn of_packet(packet: &Packet) -> Reply {
    let bytes = packet.bytes.as_slice();
    let computed = match (packet.protocol, packet.addresses) {
        (Protocol::Ipv4Header, _) => {
            Ipv4HeaderSlice::from_slice(bytes).ok().map(|slice| slice.to_header().calc_header_checksum())
        }
        (Protocol::Tcp, Some((IpAddr::V4(source), IpAddr::V4(destination)))) => TcpSlice::from_slice(bytes)
            .ok()
            .and_then(|slice| slice.calc_checksum_ipv4(source.octets(), destination.octets()).ok()),
        (Protocol::Tcp, Some((IpAddr::V6(source), IpAddr::V6(destination)))) => TcpSlice::from_slice(bytes)
            .ok()
            .and_then(|slice| slice.calc_checksum_ipv6(source.octets(), destination.octets()).ok()),
        (Protocol::Udp, Some((IpAddr::V4(source), IpAddr::V4(destination)))) => {
            UdpHeader::from_slice(bytes).ok().and_then(|(header, rest)| {
                header.calc_checksum_ipv4_raw(source.octets(), destination.octets(), rest).ok()
            })
        }
        (Protocol::Udp, Some((IpAddr::V6(source), IpAddr::V6(destination)))) => {
            UdpHeader::from_slice(bytes).ok().and_then(|(header, rest)| {
                header.calc_checksum_ipv6_raw(source.octets(), destination.octets(), rest).ok()
            })
        }
        (Protocol::Icmp, _) => {
            Icmpv4Slice::from_slice(bytes).ok().map(|slice| slice.icmp_type().calc_checksum(slice.payload()))
        }
        (Protocol::Icmpv6, Some((IpAddr::V6(source), IpAddr::V6(destination)))) => {
            Icmpv6Slice::from_slice(bytes).ok().and_then(|slice| {
                slice.icmp_type().calc_checksum(source.octets(), destination.octets(), slice.payload()).ok()
            })
        }
        _ => return Reply::Unsupported,
    };
    computed.map_or(Reply::None, |field| Reply::Field(field.to_be_bytes()))
}
