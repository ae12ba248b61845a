//! pnet_packet: `util::checksum`, and the checksums of its protocols.

use super::{Adapter, hello};
use crate::wire::{Hello, Packet, Protocol, Reply, Request};
use ::pnet_packet::icmp::IcmpPacket;
use ::pnet_packet::icmpv6::Icmpv6Packet;
use ::pnet_packet::ipv4::Ipv4Packet;
use ::pnet_packet::tcp::TcpPacket;
use ::pnet_packet::udp::UdpPacket;
use ::pnet_packet::{icmp, icmpv6, ipv4, tcp, udp, util};
use std::net::IpAddr;

/// Its functions.
pub struct Pnet;

impl Adapter for Pnet {
    fn hello(&self) -> Hello {
        hello("pnet_packet")
    }

    fn answer(&mut self, request: &Request) -> Reply {
        match request {
            // Skipping a word beyond the data skips nothing.
            Request::Sum(data) => Reply::Field(util::checksum(&data.bytes(), usize::MAX).to_be_bytes()),
            Request::Packet(packet) => of_packet(packet),
            _ => Reply::Unsupported,
        }
    }
}

fn of_packet(packet: &Packet) -> Reply {
    let bytes = packet.bytes.as_slice();
    let computed = match (packet.protocol, packet.addresses) {
        (Protocol::Ipv4Header, _) => Ipv4Packet::new(bytes).map(|packet| ipv4::checksum(&packet)),
        (Protocol::Tcp, Some((IpAddr::V4(source), IpAddr::V4(destination)))) => {
            TcpPacket::new(bytes).map(|packet| tcp::ipv4_checksum(&packet, &source, &destination))
        }
        (Protocol::Tcp, Some((IpAddr::V6(source), IpAddr::V6(destination)))) => {
            TcpPacket::new(bytes).map(|packet| tcp::ipv6_checksum(&packet, &source, &destination))
        }
        (Protocol::Udp, Some((IpAddr::V4(source), IpAddr::V4(destination)))) => {
            UdpPacket::new(bytes).map(|packet| udp::ipv4_checksum(&packet, &source, &destination))
        }
        (Protocol::Udp, Some((IpAddr::V6(source), IpAddr::V6(destination)))) => {
            UdpPacket::new(bytes).map(|packet| udp::ipv6_checksum(&packet, &source, &destination))
        }
        (Protocol::Icmp, _) => IcmpPacket::new(bytes).map(|packet| icmp::checksum(&packet)),
        (Protocol::Icmpv6, Some((IpAddr::V6(source), IpAddr::V6(destination)))) => {
            Icmpv6Packet::new(bytes).map(|packet| icmpv6::checksum(&packet, &source, &destination))
        }
        _ => return Reply::Unsupported,
    };
    computed.map_or(Reply::None, |field| Reply::Field(field.to_be_bytes()))
}
