//! Tests with the same packets under each link type and format, and with unusual packets.

use super::*;
use carryline_packets::handmade::*;
use carryline_packets::link::types as link;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

const ORDERS: [Order; 2] = [Order::Little, Order::Big];

const LINKS: [u32; 12] = [
    link::BSD_NULL,
    link::ETHERNET,
    link::PPP,
    link::RAW_DLT[0],
    link::RAW_DLT[1],
    link::PPP_SERIAL,
    link::RAW,
    link::BSD_LOOP,
    link::LINUX_COOKED,
    link::LINUX_COOKED_2,
    link::IPV4,
    link::IPV6,
];

fn parse(file: &[u8]) -> Result<Capture, CaptureError> {
    read_from(file, "test.pcap")
}

/// The result for a single packet on Ethernet.
fn verdict(packet: &[u8]) -> Result<u64, Skip> {
    let frame = frame(link::ETHERNET, Order::Little, packet);
    packet::checksummed_bytes(link::ETHERNET, &frame, frame.len() as u64)
}

/// Packets of both versions, with the bytes covered by their checksums.
fn mixture() -> Vec<(Vec<u8>, u64)> {
    let hop_by_hop = || vec![0, 0, 1, 4, 0, 0, 0, 0];
    let routing = || [vec![0, 2, 0, 1, 0, 0, 0, 0], vec![9; 16]].concat();
    let authentication = || [vec![0, 4], vec![3; 22]].concat();
    vec![
        (ipv4(6, 0, &tcp(20)), 20),
        (ipv4(6, 0, &tcp(1480)), 1480),
        (ipv4(6, 3, &tcp(40)), 40),
        (ipv4(17, 0, &udp(8, 0xffff)), 8),
        (ipv4(17, 0, &udp(133, 1)), 133),
        (ipv4(1, 0, &echo(8, 64)), 64),
        (ipv6(&[], 6, &tcp(1440)), 1440),
        (ipv6(&[], 17, &udp(20, 2)), 20),
        (ipv6(&[], 58, &echo(128, 64)), 64),
        (ipv6(&[(0, hop_by_hop())], 6, &tcp(32)), 32),
        (ipv6(&[(0, hop_by_hop()), (43, routing()), (60, hop_by_hop())], 17, &udp(99, 3)), 99),
        (ipv6(&[(51, authentication())], 6, &tcp(33)), 33),
        (ipv6(&[(44, vec![0, 0, 0, 0, 0, 0, 0, 1])], 6, &tcp(34)), 34),
    ]
}

fn counts(sizes: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut counts = BTreeMap::new();
    for size in sizes {
        *counts.entry(size).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn sizes_do_not_depend_on_format_link_type_and_byte_order() {
    for link in LINKS {
        let wanted_version = |packet: &[u8]| match link {
            link::IPV4 => packet[0] >> 4 == 4,
            link::IPV6 => packet[0] >> 4 == 6,
            _ => true,
        };
        let packets: Vec<_> = mixture().into_iter().filter(|(packet, _)| wanted_version(packet)).collect();
        let expected = counts(packets.iter().map(|(_, size)| *size));
        for order in ORDERS {
            let records = whole(packets.iter().map(|(packet, _)| frame(link, order, packet)));
            for (file, format) in [
                (pcap(order, false, link, &records), Format::Pcap),
                (pcap(order, true, link, &records), Format::Pcap),
                (pcapng(order, link, &records), Format::PcapNg),
            ] {
                let capture = parse(&file).expect("a capture");
                assert_eq!(capture.sizes, expected, "{format}, link {link}, {order:?}");
                assert_eq!(capture.format, format);
                assert_eq!(capture.skipped, []);
                assert_eq!(capture.packets_used, packets.len() as u64);
                assert_eq!(capture.file_bytes, file.len() as u64);
            }
        }
    }
}

#[test]
fn pppoe_and_mpls_are_skipped() {
    let ethernet = |kind: u16, rest: &[u8]| [&[2; 12][..], &kind.to_be_bytes(), rest].concat();
    let count = |frame: &[u8]| packet::checksummed_bytes(link::ETHERNET, frame, frame.len() as u64);
    let pppoe = |protocol: u16, packet: &[u8], padding: usize| {
        let length = (packet.len() as u16 + 2).to_be_bytes();
        let head = [&[0x11, 0, 0, 9][..], &length, &protocol.to_be_bytes()].concat();
        ethernet(0x8864, &[&head[..], packet, &vec![0; padding]].concat())
    };
    // Labels 16 and 17; the latter is the bottom of the stack.
    let (outer, bottom) = ([0, 1, 0, 64], [0, 1, 0x11, 64]);
    for (version, packet, bytes) in [(4_u16, ipv4(6, 0, &tcp(100)), 100), (6, ipv6(&[], 17, &udp(60, 1)), 60)]
    {
        let protocol = if version == 4 { 0x0021 } else { 0x0057 };
        for padding in [0, 7] {
            assert_eq!(count(&pppoe(protocol, &packet, padding)), Ok(bytes), "PPPoE, IPv{version}");
        }
        let labelled = [&bottom[..], &packet].concat();
        for kind in [0x8847, 0x8848] {
            assert_eq!(count(&ethernet(kind, &labelled)), Ok(bytes), "one label");
            let two = [&outer[..], &labelled].concat();
            assert_eq!(count(&ethernet(kind, &two)), Ok(bytes), "two labels");
        }
        assert_eq!(count(&pppoe(0x0281, &labelled, 0)), Ok(bytes), "labels in PPPoE");
        let inner = frame(link::ETHERNET, Order::Little, &packet);
        let wire = [&bottom[..], &[0, 0, 0, 1], &inner].concat();
        assert_eq!(count(&ethernet(0x8847, &wire)), Ok(bytes), "a pseudowire with a control word");
        let tagged = [&[0, 7, 0x88, 0x64][..], &pppoe(protocol, &packet, 0)[14..]].concat();
        assert_eq!(count(&ethernet(0x8100, &tagged)), Ok(bytes), "PPPoE behind a tag");
    }
    let session = pppoe(0x0021, &ipv4(6, 0, &tcp(20)), 0);
    // Link control, discovery, a length beyond the frame, and headers truncated by the snap length.
    assert_eq!(count(&pppoe(0xc021, &[1; 10], 0)), Err(Skip::NotIp));
    assert_eq!(count(&[&session[..15], &[0x09], &session[16..]].concat()), Err(Skip::NotIp));
    assert_eq!(count(&[&session[..18], &[9, 9], &session[20..]].concat()), Err(Skip::BadLength));
    let cut = |frame: &[u8], at| packet::checksummed_bytes(link::ETHERNET, &frame[..at], frame.len() as u64);
    assert_eq!(cut(&session, 17), Err(Skip::HeadersCut));
    let labels = ethernet(0x8847, &[outer, outer, bottom].concat());
    assert_eq!(cut(&labels, 20), Err(Skip::HeadersCut));
    assert_eq!(count(&labels[..labels.len() - 4]), Err(Skip::BadLength), "no bottom");
}

#[test]
fn vlan_tags_and_802_2_headers_are_skipped() {
    let packet = ipv4(6, 0, &tcp(100));
    for tags in [&[0x8100][..], &[0x88a8, 0x8100], &[0x9100, 0x8100, 0x8100]] {
        let frame = tagged(tags, &packet);
        assert_eq!(packet::checksummed_bytes(link::ETHERNET, &frame, frame.len() as u64), Ok(100));
    }
    let snap = [&[2; 12][..], &[0, 128, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &packet].concat();
    assert_eq!(packet::checksummed_bytes(link::ETHERNET, &snap, snap.len() as u64), Ok(100));
    let spanning_tree = [&[2; 12][..], &[0, 38, 0x42, 0x42, 3], &[0; 35]].concat();
    assert_eq!(packet::checksummed_bytes(link::ETHERNET, &spanning_tree, 52), Err(Skip::NotIp));
}

#[test]
fn loopback_families_are_read_in_both_byte_orders() {
    let packet = ipv6(&[], 6, &tcp(50));
    for family in [10_u32, 24, 28, 30] {
        for header in [family.to_le_bytes(), family.to_be_bytes()] {
            let frame = [&header[..], &packet].concat();
            assert_eq!(packet::checksummed_bytes(link::BSD_NULL, &frame, frame.len() as u64), Ok(50));
        }
    }
    let frame = [&7_u32.to_le_bytes()[..], &packet].concat();
    assert_eq!(packet::checksummed_bytes(link::BSD_NULL, &frame, frame.len() as u64), Err(Skip::NotIp));
}

#[test]
fn unusual_packets_are_skipped_for_the_right_reason() {
    let changed = |packet: Vec<u8>, at: usize, value: &[u8]| {
        let mut packet = packet;
        packet[at..at + value.len()].copy_from_slice(value);
        packet
    };
    let plain = || ipv4(6, 0, &tcp(100));
    let plain6 = || ipv6(&[], 6, &tcp(100));
    let cases = [
        ("more fragments", changed(plain(), 6, &[0x20, 0]), Skip::Fragment),
        ("last fragment", changed(plain(), 6, &[0, 5]), Skip::Fragment),
        ("offload", changed(plain(), 2, &[0, 0]), Skip::NoLength),
        ("total below header", changed(plain(), 2, &[0, 19]), Skip::BadLength),
        ("total beyond packet", changed(plain(), 2, &[0x40, 0]), Skip::BadLength),
        ("header too short", changed(plain(), 0, &[0x44]), Skip::BadLength),
        ("wrong version", changed(plain(), 0, &[0x55]), Skip::BadLength),
        ("header beyond total", changed(ipv4(6, 0, &tcp(20)), 0, &[0x4f]), Skip::BadLength),
        ("tcp too short", ipv4(6, 0, &[0; 19]), Skip::BadLength),
        ("udp too short", ipv4(17, 0, &[0; 7]), Skip::BadLength),
        ("udp length 0", changed(ipv4(17, 0, &udp(50, 1)), 24, &[0, 0]), Skip::BadLength),
        ("udp length beyond", changed(ipv4(17, 0, &udp(50, 1)), 24, &[0, 51]), Skip::BadLength),
        ("udp unchecked", ipv4(17, 0, &udp(50, 0)), Skip::NoChecksum),
        ("ip in ip", ipv4(4, 0, &plain()), Skip::OtherTransport),
        ("6in4", ipv4(41, 0, &plain6()), Skip::OtherTransport),
        ("gre", ipv4(47, 0, &[0; 40]), Skip::OtherTransport),
        ("sctp", ipv4(132, 0, &[0; 40]), Skip::OtherTransport),
        ("icmpv6 over v4", ipv4(58, 0, &echo(128, 64)), Skip::OtherTransport),
        ("icmp over v6", ipv6(&[], 1, &echo(8, 64)), Skip::OtherTransport),
        ("esp over v6", ipv6(&[], 50, &[0; 64]), Skip::OtherTransport),
        ("v6 nothing", ipv6(&[], 59, &[]), Skip::OtherTransport),
        ("v6 fragment", ipv6(&[(44, vec![0, 0, 0, 1, 0, 0, 0, 1])], 6, &tcp(100)), Skip::Fragment),
        ("v6 last fragment", ipv6(&[(44, vec![0, 0, 0, 8, 0, 0, 0, 1])], 6, &tcp(100)), Skip::Fragment),
        ("v6 offload", changed(plain6(), 4, &[0, 0]), Skip::NoLength),
        ("v6 beyond packet", changed(plain6(), 4, &[1, 0]), Skip::BadLength),
        ("v6 wrong version", changed(plain6(), 0, &[0x50]), Skip::BadLength),
        ("v6 extension beyond", ipv6(&[(0, vec![0, 200, 0, 0, 0, 0, 0, 0])], 6, &tcp(100)), Skip::BadLength),
        ("v6 extension cut", ipv6(&[], 60, &[6, 0, 0, 0]), Skip::BadLength),
        ("ah beyond", ipv4(51, 0, &[6, 200, 0, 0, 0, 0, 0, 0]), Skip::BadLength),
    ];
    for (what, packet, why) in cases {
        assert_eq!(verdict(&packet), Err(why), "{what}");
    }
    assert_eq!(verdict(&ipv4(51, 0, &[&[6, 4][..], &[0; 22], &tcp(77)].concat())), Ok(77), "v4 with AH");
}

#[test]
fn lengths_come_from_headers_without_padding() {
    let mut padded = udp(20, 5);
    padded.extend([0; 10]);
    assert_eq!(verdict(&ipv4(17, 0, &padded)), Ok(20));
    assert_eq!(verdict(&ipv4(6, 0, &tcp(20))), Ok(20), "40 bytes of IP in a frame of 60");
}

#[test]
fn a_snap_length_may_cut_the_payload_but_not_the_headers() {
    let frame = frame(link::ETHERNET, Order::Little, &ipv4(6, 0, &tcp(1400)));
    let verdict =
        |captured: usize| packet::checksummed_bytes(link::ETHERNET, &frame[..captured], frame.len() as u64);
    assert_eq!(verdict(34), Ok(1400));
    assert_eq!(verdict(frame.len()), Ok(1400));
    for captured in 0..34 {
        assert_eq!(verdict(captured), Err(Skip::HeadersCut), "{captured}");
    }
    // An original length below the captured length is ignored.
    assert_eq!(packet::checksummed_bytes(link::ETHERNET, &frame, 0), Ok(1400));
}

#[test]
fn no_frame_makes_the_decoder_panic() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut counted = 0_u64;
    for round in 0..400_000_u32 {
        let link = LINKS[random.next_u64() as usize % LINKS.len()];
        let packets = mixture();
        let (packet, _) = &packets[random.next_u64() as usize % packets.len()];
        let mut bytes = frame(link, Order::Little, packet);
        if round % 4 == 0 {
            random.fill_bytes(&mut bytes);
        }
        for _ in 0..random.next_u64() % 4 {
            let at = random.next_u64() as usize % bytes.len().min(80);
            bytes[at] = random.next_u64() as u8;
        }
        bytes.truncate(random.next_u64() as usize % (bytes.len() + 1));
        let original = if round % 3 == 0 { random.next_u64() } else { bytes.len() as u64 };
        if let Ok(size) = packet::checksummed_bytes(link, &bytes, original) {
            assert!(size <= 65535 && size <= original.max(bytes.len() as u64));
            counted += 1;
        }
    }
    assert!(counted > 1000, "some remain usable: {counted}");
}
