//! Hand-made packets for tests: correct ones, summed by a separate routine, and a list of packets with
//! planted faults.

mod build;

pub use build::{
    V4, V6, framed, ip4, left_for_card, plain_sum, resum, right4, right6, segment, session, summed,
};

use crate::handmade::ipv6;
use crate::judge::Protocol::{self, Icmp, Icmpv6, Ipv4, Tcp, Udp};
use crate::link::types as link;
use build::{
    changed, datagram, field_of, in_udp4, inner_frame, pseudo_header, quoting, routed6, with_minus_zero,
};

/// The expected verdict on a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedVerdict {
    /// Correct.
    Good,
    /// Correct, with the other zero.
    MinusZero,
    /// Wrong.
    Bad,
    /// Wrong, because the network card was to compute it.
    Offload,
    /// Unverifiable.
    Unverified,
    /// UDP over IPv4 without a checksum.
    None,
    /// UDP over IPv6 without a checksum.
    Illegal,
}
use ExpectedVerdict::{Bad, Good, Illegal, MinusZero, Offload, Unverified};

/// A packet and the expected verdicts.
pub struct Planted {
    /// The name of the case.
    pub name: &'static str,
    /// The packet, starting with its IP header.
    pub packet: Vec<u8>,
    /// The checksums of the outermost IP packet.
    pub outer: Vec<(Protocol, ExpectedVerdict)>,
    /// The checksums of tunnelled packets.
    pub tunnelled: Vec<(Protocol, ExpectedVerdict)>,
}

/// Correct and wrong packets of each kind.
#[must_use]
pub fn planted() -> Vec<Planted> {
    let mut list = plain();
    list.extend(wrong());
    list.extend(minus_zeros());
    list.extend(routed());
    list.extend(opaque());
    list.extend(tunnelled());
    list
}

fn case(
    name: &'static str,
    packet: Vec<u8>,
    outer: &[(Protocol, ExpectedVerdict)],
    tunnelled: &[(Protocol, ExpectedVerdict)],
) -> Planted {
    Planted { name, packet, outer: outer.to_vec(), tunnelled: tunnelled.to_vec() }
}

fn plain() -> Vec<Planted> {
    let mut list = Vec::new();
    for len in [20, 21, 1480] {
        list.push(case("TCP over IPv4", right4(6, len), &[(Ipv4, Good), (Tcp, Good)], &[]));
        list.push(case("TCP over IPv6", right6(6, len), &[(Tcp, Good)], &[]));
        list.push(case("UDP over IPv4", right4(17, len), &[(Ipv4, Good), (Udp, Good)], &[]));
        list.push(case("UDP over IPv6", right6(17, len), &[(Udp, Good)], &[]));
        list.push(case("ICMP", right4(1, len), &[(Ipv4, Good), (Icmp, Good)], &[]));
        list.push(case("ICMPv6", right6(58, len), &[(Icmpv6, Good)], &[]));
    }
    // The data makes the checksum zero, which UDP sends as ffff.
    let mut zero = datagram(9, &[0, 0]);
    let sum = plain_sum(&[&pseudo_header((&V4[0], &V4[1]), 17, zero.len()), &zero]);
    zero[8..10].copy_from_slice(&(!sum).to_be_bytes());
    let zero = summed((&V4[0], &V4[1]), 17, zero);
    assert_eq!(zero[6..8], [0xff, 0xff]);
    list.push(case("UDP, computed zero", ip4(V4, 17, &[], &zero), &[(Ipv4, Good), (Udp, Good)], &[]));
    list.push(case(
        "UDP without",
        ip4(V4, 17, &[], &datagram(9, b"abc")),
        &[(Ipv4, Good), (Udp, ExpectedVerdict::None)],
        &[],
    ));
    list.push(case("UDP without, IPv6", ipv6(&[], 17, &datagram(9, b"abc")), &[(Udp, Illegal)], &[]));
    let mut surplus = summed((&V4[0], &V4[1]), 17, datagram(9, b"abcde"));
    surplus.extend(b"behind");
    list.push(case("UDP with bytes behind", ip4(V4, 17, &[], &surplus), &[(Ipv4, Good), (Udp, Good)], &[]));
    list
}

fn wrong() -> Vec<Planted> {
    let ends4: (&[u8], &[u8]) = (&V4[0], &V4[1]);
    let ends6: (&[u8], &[u8]) = (&V6[0], &V6[1]);
    let swapped4 = |protocol| {
        let right = right4(protocol, 61);
        let at = 20 + field_of(protocol);
        let (high, low) = (right[at], right[at + 1]);
        changed(right, at, &[low, high])
    };
    vec![
        case("IPv4 header", changed(right4(6, 40), 8, &[9]), &[(Ipv4, Bad), (Tcp, Good)], &[]),
        case("IPv4 header, zero", changed(right4(6, 40), 10, &[0, 0]), &[(Ipv4, Bad), (Tcp, Good)], &[]),
        case("TCP, last bit", changed(right4(6, 41), 60, &[0xa4]), &[(Ipv4, Good), (Tcp, Bad)], &[]),
        case("TCP, bytes swapped", swapped4(6), &[(Ipv4, Good), (Tcp, Bad)], &[]),
        case("UDP, bytes swapped", swapped4(17), &[(Ipv4, Good), (Udp, Bad)], &[]),
        case("ICMP", changed(right4(1, 40), 24, &[0x10]), &[(Ipv4, Good), (Icmp, Bad)], &[]),
        case("TCP over IPv6", changed(right6(6, 61), 100, &[0]), &[(Tcp, Bad)], &[]),
        case("UDP over IPv6", changed(right6(17, 61), 100, &[0]), &[(Udp, Bad)], &[]),
        case("ICMPv6", changed(right6(58, 61), 100, &[0]), &[(Icmpv6, Bad)], &[]),
        // A translator changed an address but did not update the transport checksum.
        case(
            "address changed",
            resum(changed(right4(6, 40), 12, &[10, 9, 9, 9])),
            &[(Ipv4, Good), (Tcp, Bad)],
            &[],
        ),
        case(
            "TCP left for the card",
            ip4(V4, 6, &[], &left_for_card(ends4, 6, segment(6, 99))),
            &[(Ipv4, Good), (Tcp, Offload)],
            &[],
        ),
        case(
            "UDP left for the card",
            ip4(V4, 17, &[], &left_for_card(ends4, 17, segment(17, 99))),
            &[(Ipv4, Good), (Udp, Offload)],
            &[],
        ),
        case(
            "TCP over IPv6 left for the card",
            ipv6(&[], 6, &left_for_card(ends6, 6, segment(6, 99))),
            &[(Tcp, Offload)],
            &[],
        ),
    ]
}

/// Checksums of `ffff` instead of `0000`.
fn minus_zeros() -> Vec<Planted> {
    let header = with_minus_zero(right4(6, 40), 10, 4);
    let tcp = with_minus_zero(right4(6, 40), 36, 24);
    let icmp = with_minus_zero(right4(1, 40), 22, 24);
    vec![
        case("IPv4 header, other zero", header, &[(Ipv4, MinusZero), (Tcp, Good)], &[]),
        case("TCP, other zero", tcp, &[(Ipv4, Good), (Tcp, MinusZero)], &[]),
        case("ICMP, other zero", icmp, &[(Ipv4, Good), (Icmp, MinusZero)], &[]),
        case("TCP over IPv6, other zero", with_minus_zero(right6(6, 40), 56, 44), &[(Tcp, MinusZero)], &[]),
        case("ICMPv6, other zero", with_minus_zero(right6(58, 40), 42, 44), &[(Icmpv6, MinusZero)], &[]),
    ]
}

/// Another address, at the end of a route.
const AWAY: [u8; 16] = [0x33; 16];

fn routed() -> Vec<Planted> {
    let good: &[(Protocol, ExpectedVerdict)] = &[(Tcp, Good)];
    let route = |kind: u8, left: u8, rest: &[u8]| {
        (43, [&[0, (rest.len() / 8) as u8, kind, left, 0, 0, 0, 0], rest].concat())
    };
    let home = || (60, [&[0, 2, 1, 2, 0, 0, 201, 16][..], &AWAY].concat());
    let hop_by_hop = || (0, vec![0, 0, 1, 4, 0, 0, 0, 0]);
    let addresses = [[0x44; 16], AWAY].concat();
    let reversed = [AWAY, [0x44; 16]].concat();
    // The last address without its first eight bytes, which it shares with the destination.
    let compressed = (43, [&[0, 1, 3, 1, 0x08, 0, 0, 0][..], &AWAY[8..]].concat());
    let short = [&[0x20; 8][..], &AWAY[8..]].concat();
    let short: [u8; 16] = short.try_into().unwrap_or(AWAY);
    let v4_route = |kind, pointer| [1, kind, 11, pointer, 10, 7, 0, 1, 10, 7, 0, 2];
    let v4 = |options: &[u8], dst: [u8; 4]| ip4(V4, 6, options, &summed((&V4[0], &dst), 6, segment(6, 60)));
    vec![
        case(
            "source route to come",
            routed6(&[hop_by_hop(), route(0, 2, &addresses)], V6[0], AWAY),
            good,
            &[],
        ),
        case("source route done", routed6(&[route(0, 0, &addresses)], V6[0], V6[1]), good, &[]),
        case("mobile route", routed6(&[route(2, 1, &AWAY)], V6[0], AWAY), good, &[]),
        case("segments to come", routed6(&[route(4, 1, &reversed)], V6[0], AWAY), good, &[]),
        case("compressed route", routed6(&[compressed], V6[0], short), good, &[]),
        case("home address", routed6(&[home()], AWAY, V6[1]), good, &[]),
        case("unknown route", routed6(&[route(77, 1, &AWAY)], V6[0], AWAY), &[(Tcp, Unverified)], &[]),
        case("unknown route done", routed6(&[route(77, 0, &AWAY)], V6[0], V6[1]), good, &[]),
        case(
            "IPv4 source route to come",
            v4(&v4_route(131, 4), [10, 7, 0, 2]),
            &[(Ipv4, Good), (Tcp, Good)],
            &[],
        ),
        case("IPv4 strict route done", v4(&v4_route(137, 12), V4[1]), &[(Ipv4, Good), (Tcp, Good)], &[]),
        case("IPv4 option of no length", v4(&[7, 0, 7, 0], V4[1]), &[(Ipv4, Good), (Tcp, Good)], &[]),
    ]
}

fn opaque() -> Vec<Planted> {
    let fragment6 = |offset: [u8; 2]| {
        let header = (44, vec![0, 0, offset[0], offset[1], 0, 0, 0, 7]);
        ipv6(&[header], 6, &segment(6, 64))
    };
    let field = |at: usize, bytes: &[u8]| resum(changed(right4(6, 64), at, bytes));
    vec![
        case("first fragment", field(6, &[0x20, 0]), &[(Ipv4, Good), (Tcp, Unverified)], &[]),
        case("later fragment", field(6, &[0, 8]), &[(Ipv4, Good)], &[]),
        case("first fragment, IPv6", fragment6([0, 1]), &[(Tcp, Unverified)], &[]),
        case("later fragment, IPv6", fragment6([0, 8]), &[], &[]),
        case("total length beyond", field(2, &[0x20, 0]), &[(Ipv4, Good), (Tcp, Unverified)], &[]),
        case("total length 0", field(2, &[0, 0]), &[(Ipv4, Good), (Tcp, Unverified)], &[]),
        case("total length below header", field(2, &[0, 19]), &[(Ipv4, Good), (Tcp, Unverified)], &[]),
        case("IHL of 4", changed(right4(6, 64), 0, &[0x44]), &[], &[]),
        case("TCP of 19 bytes", ip4(V4, 6, &[], &[0; 19]), &[(Ipv4, Good), (Tcp, Unverified)], &[]),
        case(
            "UDP length beyond",
            changed(right4(17, 64), 24, &[0, 65]),
            &[(Ipv4, Good), (Udp, Unverified)],
            &[],
        ),
        case("UDP length 7", changed(right4(17, 64), 24, &[0, 7]), &[(Ipv4, Good), (Udp, Unverified)], &[]),
        case("IPv6 length beyond", changed(right6(17, 64), 4, &[1, 0]), &[(Udp, Unverified)], &[]),
        case(
            "ICMP error",
            ip4(V4, 1, &[], &summed((&V4[0], &V4[1]), 1, quoting(&right4(17, 40)))),
            &[(Ipv4, Good), (Icmp, Good)],
            &[],
        ),
        case("SCTP", ip4(V4, 132, &[], &[0; 40]), &[(Ipv4, Good)], &[]),
        case("ICMPv6 over IPv4", ip4(V4, 58, &[], &[0; 40]), &[(Ipv4, Good)], &[]),
        case(
            "authentication header",
            ip4(V4, 51, &[], &[&[6, 4][..], &[0; 22], &summed((&V4[0], &V4[1]), 6, segment(6, 50))].concat()),
            &[(Ipv4, Good), (Tcp, Good)],
            &[],
        ),
    ]
}

fn tunnelled() -> Vec<Planted> {
    let (tcp4, udp6) = (right4(6, 70), right6(17, 71));
    let bad = changed(right4(6, 70), 60, &[0]);
    let outer: &[(Protocol, ExpectedVerdict)] = &[(Ipv4, Good)];
    let outer_udp: &[(Protocol, ExpectedVerdict)] = &[(Ipv4, Good), (Udp, Good)];
    let in4: &[(Protocol, ExpectedVerdict)] = &[(Ipv4, Good), (Tcp, Good)];
    let in6: &[(Protocol, ExpectedVerdict)] = &[(Udp, Good)];
    let gre = |header: &[u8], packet: &[u8]| ip4(V4, 47, &[], &[header, packet].concat());
    let vxlan = [8, 0, 0, 0, 0, 0, 9, 0];
    let unchecked = datagram(4789, &[&vxlan[..], &inner_frame(&tcp4)].concat());
    let labelled = [&[0, 1, 0, 64, 0, 1, 0x11, 64][..], &tcp4].concat();
    let ppp = |kind: u8, packet: &[u8]| [&[0xff, 3, 0, kind][..], packet].concat();
    let length = |bytes: usize| (bytes as u16).to_be_bytes();
    let gtp = [&[0x30, 255][..], &length(tcp4.len()), &[0, 0, 0, 1]].concat();
    let gtp_extended =
        [&[0x34, 255][..], &length(udp6.len() + 8), &[0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0x10, 9, 0]].concat();
    let pptp = [&[0x30, 0x01, 0x88, 0x0b][..], &length(tcp4.len() + 4), &[0, 1, 0, 0, 0, 5]].concat();
    vec![
        case("IP in IP", ip4(V4, 4, &[], &tcp4), outer, in4),
        case("6in4", ip4(V4, 41, &[], &udp6), outer, in6),
        case("4in6", ipv6(&[], 4, &tcp4), &[], in4),
        case("6in6", ipv6(&[], 41, &udp6), &[], in6),
        case(
            "IP in IP in IP",
            ip4(V4, 4, &[], &ip4(V4, 4, &[], &tcp4)),
            outer,
            &[(Ipv4, Good), (Ipv4, Good), (Tcp, Good)],
        ),
        case("GRE", gre(&[0, 0, 8, 0], &tcp4), outer, in4),
        case("GRE, key and sequence", gre(&[0x30, 0, 0x86, 0xdd, 0, 0, 0, 1, 0, 0, 0, 2], &udp6), outer, in6),
        case("GRE, Ethernet", gre(&[0, 0, 0x65, 0x58], &inner_frame(&tcp4)), outer, in4),
        case(
            "ERSPAN II",
            gre(&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 9, 0x10, 0, 0, 1, 0, 0, 0, 0], &inner_frame(&tcp4)),
            outer,
            in4,
        ),
        case("PPTP", gre(&pptp, &ppp(0x21, &tcp4)), outer, in4),
        case("MPLS in IP", ip4(V4, 137, &[], &labelled), outer, in4),
        case("VXLAN", in_udp4(4789, &vxlan, &inner_frame(&tcp4)), outer_udp, in4),
        case(
            "VXLAN, wrong inside",
            in_udp4(4789, &vxlan, &inner_frame(&bad)),
            outer_udp,
            &[(Ipv4, Good), (Tcp, Bad)],
        ),
        case(
            "VXLAN without checksum",
            ip4(V4, 17, &[], &unchecked),
            &[(Ipv4, Good), (Udp, ExpectedVerdict::None)],
            in4,
        ),
        case("VXLAN over IPv6 without checksum", ipv6(&[], 17, &unchecked), &[(Udp, Illegal)], in4),
        case("Geneve, IP", in_udp4(6081, &[0, 0, 8, 0, 0, 0, 1, 0], &tcp4), outer_udp, in4),
        case(
            "Geneve, option",
            in_udp4(6081, &[1, 0, 0x65, 0x58, 0, 0, 1, 0, 1, 2, 3, 0], &inner_frame(&udp6)),
            outer_udp,
            in6,
        ),
        case("GTP-U", in_udp4(2152, &gtp, &tcp4), outer_udp, in4),
        case("GTP-U, extended", in_udp4(2152, &gtp_extended, &udp6), outer_udp, in6),
        case("L2TP", in_udp4(1701, &[0, 2, 0, 1, 0, 2], &ppp(0x21, &tcp4)), outer_udp, in4),
        case("Teredo", in_udp4(3544, &[], &udp6), outer_udp, in6),
        case(
            "fragment in a tunnel",
            ip4(V4, 4, &[], &resum(changed(right4(6, 64), 6, &[0x20, 0]))),
            outer,
            &[(Ipv4, Good), (Tcp, Unverified)],
        ),
        case("no VXLAN", in_udp4(4789, &[0; 8], &inner_frame(&tcp4)), outer_udp, &[]),
    ]
}

/// Ethernet frames of a correct packet after tags, labels and sessions.
#[must_use]
pub fn encapsulated() -> Vec<(&'static str, Vec<u8>)> {
    let packet = right4(6, 60);
    let ethernet = |kind: u16, rest: &[&[u8]]| [&[2; 12][..], &kind.to_be_bytes(), &rest.concat()].concat();
    let (label, bottom): ([u8; 4], [u8; 4]) = ([0, 1, 0, 64], [0, 1, 1, 64]);
    vec![
        ("VLAN", ethernet(0x8100, &[&[0, 7, 8, 0], &packet])),
        ("QinQ", ethernet(0x88a8, &[&[0, 7, 0x81, 0, 0, 8, 8, 0], &packet])),
        ("QinQ before 802.1ad", ethernet(0x9100, &[&[0, 7, 0x81, 0, 0, 8, 8, 0], &packet])),
        ("802.2 SNAP", ethernet(packet.len() as u16 + 8, &[&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &packet])),
        ("PPPoE", ethernet(0x8864, &[&session(&packet)])),
        ("PPPoE behind a tag", ethernet(0x8100, &[&[0, 7, 0x88, 0x64], &session(&packet)])),
        ("MPLS", ethernet(0x8847, &[&bottom, &packet])),
        ("MPLS, three labels", ethernet(0x8847, &[&label, &label, &bottom, &packet])),
        ("pseudowire", ethernet(0x8847, &[&bottom, &[0; 4], &framed(&packet)])),
        ("802.1ah", ethernet(0x88e7, &[&[0; 4], &framed(&packet)])),
        ("service function chain", ethernet(0x894f, &[&[0, 2, 2, 1, 0, 0, 1, 255], &packet])),
    ]
}

/// A correct packet in a record of each link type that `build::framed` does not support.
#[must_use]
pub fn on_other_links() -> Vec<(&'static str, u32, Vec<u8>)> {
    let packet = right4(6, 60);
    vec![
        ("PPPoE without Ethernet", link::PPP_ETHER, session(&packet)),
        ("Cisco HDLC", link::CISCO_HDLC, [&[0x0f, 0, 8, 0][..], &packet].concat()),
        ("Cisco HDLC for PPP", link::PPP_SERIAL, [&[0x0f, 0, 8, 0][..], &packet].concat()),
        ("PPP with direction", link::PPP_WITH_DIRECTION, [&[1, 0xff, 3, 0, 0x21][..], &packet].concat()),
        ("MPLS", link::MPLS, [&[0, 1, 1, 64][..], &packet].concat()),
        ("IPv4", link::IPV4, packet),
        ("IPv6", link::IPV6, right6(6, 60)),
    ]
}
