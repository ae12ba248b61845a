//! Builds packets for tests, with checksums from a separate routine.

use crate::handmade::{Order, frame, ipv6};
use crate::link::types as link;

/// The IPv4 addresses of the two hosts that exchange all packets.
pub const V4: [[u8; 4]; 2] = [[10, 0, 0, 1], [10, 0, 0, 2]];
/// Their IPv6 addresses, which [`ipv6`] uses.
pub const V6: [[u8; 16]; 2] = [[0x20; 16], [0x20; 16]];

/// The folded sum of big-endian words as defined by RFC 1071.
#[must_use]
pub fn plain_sum(pieces: &[&[u8]]) -> u16 {
    let bytes = pieces.concat();
    let words =
        bytes.chunks(2).map(|word| u64::from(word[0]) << 8 | word.get(1).map_or(0, |low| u64::from(*low)));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The pseudo-header in IPv6 form; the additional zero words do not change the IPv4 sum.
pub(super) fn pseudo_header(ends: (&[u8], &[u8]), protocol: u8, bytes: usize) -> Vec<u8> {
    [ends.0, ends.1, &[0, protocol], &(bytes as u32).to_be_bytes()].concat()
}

pub(super) const fn field_of(protocol: u8) -> usize {
    match protocol {
        6 => 16,
        17 => 6,
        _ => 2,
    }
}

/// A segment with the correct checksum for two addresses.
#[must_use]
pub fn summed(ends: (&[u8], &[u8]), protocol: u8, mut segment: Vec<u8>) -> Vec<u8> {
    let at = field_of(protocol);
    segment[at..at + 2].fill(0);
    let pseudo = if protocol == 1 { Vec::new() } else { pseudo_header(ends, protocol, segment.len()) };
    let sum = !plain_sum(&[&pseudo, &segment]);
    let sum = if protocol == 17 && sum == 0 { 0xffff } else { sum };
    segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    segment
}

/// A segment with the sum of the pseudo-header in its field, as it is left for a network card.
#[must_use]
pub fn left_for_card(ends: (&[u8], &[u8]), protocol: u8, mut segment: Vec<u8>) -> Vec<u8> {
    let at = field_of(protocol);
    let sum = plain_sum(&[&pseudo_header(ends, protocol, segment.len())]);
    segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    segment
}

/// An IPv4 packet with a correct header checksum.
#[must_use]
pub fn ip4(ends: [[u8; 4]; 2], protocol: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let header_words = 5 + options.len() / 4;
    let mut packet = vec![0x40 + header_words as u8, 0];
    packet.extend(((header_words * 4 + payload.len()) as u16).to_be_bytes());
    packet.extend([0x12, 0x34, 0x40, 0, 64, protocol, 0, 0]);
    packet.extend(ends.concat());
    packet.extend(options);
    packet.extend(payload);
    resum(packet)
}

/// The IPv4 packet with a corrected header checksum.
#[must_use]
pub fn resum(mut packet: Vec<u8>) -> Vec<u8> {
    let header_bytes = usize::from(packet[0] & 0xf) * 4;
    packet[10..12].fill(0);
    let sum = !plain_sum(&[&packet[..header_bytes.min(packet.len())]]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// A TCP, UDP, ICMP or ICMPv6 segment of `len` bytes without a checksum.
#[must_use]
pub fn segment(protocol: u8, len: usize) -> Vec<u8> {
    match protocol {
        6 => crate::handmade::tcp(len),
        17 => crate::handmade::udp(len, 0),
        1 => crate::handmade::echo(8, len),
        _ => crate::handmade::echo(128, len),
    }
}

/// A correct packet between the two hosts over IPv4.
#[must_use]
pub fn right4(protocol: u8, len: usize) -> Vec<u8> {
    ip4(V4, protocol, &[], &summed((&V4[0], &V4[1]), protocol, segment(protocol, len)))
}

/// A correct packet between the two hosts over IPv6.
#[must_use]
pub fn right6(protocol: u8, len: usize) -> Vec<u8> {
    ipv6(&[], protocol, &summed((&V6[0], &V6[1]), protocol, segment(protocol, len)))
}

/// A correct IPv6 packet with extension headers and these final addresses.
pub(super) fn routed6(extensions: &[(u8, Vec<u8>)], src: [u8; 16], dst: [u8; 16]) -> Vec<u8> {
    ipv6(extensions, 6, &summed((&src, &dst), 6, segment(6, 60)))
}

/// A packet in a tunnel over UDP and IPv4, with correct checksums.
pub(super) fn in_udp4(port: u16, header: &[u8], packet: &[u8]) -> Vec<u8> {
    ip4(V4, 17, &[], &summed((&V4[0], &V4[1]), 17, datagram(port, &[header, packet].concat())))
}

pub(super) fn datagram(port: u16, data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u16 + 8).to_be_bytes();
    [&[0xc0, 0x01][..], &port.to_be_bytes(), &length, &[0, 0], data].concat()
}

pub(super) fn changed(mut packet: Vec<u8>, at: usize, bytes: &[u8]) -> Vec<u8> {
    packet[at..at + bytes.len()].copy_from_slice(bytes);
    packet
}

/// The packet as an inner Ethernet frame, which is not padded.
pub(super) fn inner_frame(packet: &[u8]) -> Vec<u8> {
    let kind: [u8; 2] = if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
    [&[6; 12][..], &kind, packet].concat()
}

/// The packet as an Ethernet frame.
#[must_use]
pub fn framed(packet: &[u8]) -> Vec<u8> {
    frame(link::ETHERNET, Order::Little, packet)
}

/// Changes a word of the data at `at` so that the checksum at `field` is zero, and writes the other zero.
pub(super) fn with_minus_zero(mut packet: Vec<u8>, field: usize, at: usize) -> Vec<u8> {
    let word = |packet: &[u8], at: usize| u32::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    let sum = word(&packet, at) + word(&packet, field);
    let moved = (sum & 0xffff) + (sum >> 16);
    packet[at..at + 2].copy_from_slice(&(moved as u16).to_be_bytes());
    packet[field..field + 2].copy_from_slice(&[0xff, 0xff]);
    packet
}

/// "Destination unreachable" with the undeliverable packet, whose checksum is no longer correct.
pub(super) fn quoting(packet: &[u8]) -> Vec<u8> {
    [&[3, 1, 0, 0, 0, 0, 0, 0][..], &changed(packet.to_vec(), 8, &[0])].concat()
}

/// A PPP over Ethernet session (RFC 2516) that carries the packet.
#[must_use]
pub fn session(packet: &[u8]) -> Vec<u8> {
    [&[0x11, 0, 0, 9][..], &(packet.len() as u16 + 2).to_be_bytes(), &[0, 0x21], packet].concat()
}
