//! Audits of hand-made captures: single faults, all link types and formats, offload, hostile input,
//! mutations.

mod any_input;

use carryline_packets::audit::{Audit, Counts, Report, Tally};
use carryline_packets::file::{self, MOST_RECORD_BYTES, Sink};
use carryline_packets::handmade::{self, Order, enhanced_packet, interface, pcap, pcapng, section, whole};
use carryline_packets::judge::Protocol::{self, Ipv4, Tcp, Udp};
use carryline_packets::link::types as link;
use carryline_packets::planted::{
    ExpectedVerdict, V4, encapsulated, framed, ip4, on_other_links, planted, right4, segment, summed,
};
use std::collections::BTreeMap;

const ORDERS: [Order; 2] = [Order::Little, Order::Big];

fn audit(file: &[u8]) -> Report {
    let mut audit = Audit::new();
    file::read(file, &mut audit).expect("a capture");
    audit.finish()
}

fn audit_frames(link: u32, frames: &[Vec<u8>]) -> Report {
    let mut audit = Audit::new();
    for frame in frames {
        audit.packet(link, frame, frame.len() as u64);
    }
    audit.finish()
}

type Expected = BTreeMap<&'static str, Tally>;

fn add(expected: &mut Expected, verdicts: &[(Protocol, ExpectedVerdict)]) {
    for (protocol, verdict) in verdicts {
        let tally = expected.entry(protocol.word()).or_default();
        match verdict {
            ExpectedVerdict::Good => tally.good += 1,
            ExpectedVerdict::MinusZero => {
                (tally.good, tally.minus_zero) = (tally.good + 1, tally.minus_zero + 1)
            }
            ExpectedVerdict::Bad => tally.bad += 1,
            ExpectedVerdict::Offload => (tally.bad, tally.offload) = (tally.bad + 1, tally.offload + 1),
            ExpectedVerdict::Unverified => tally.unverified += 1,
            ExpectedVerdict::None => tally.none += 1,
            ExpectedVerdict::Illegal => tally.illegal += 1,
        }
    }
}

/// The counts found, without those that RFC 6935 allows, which the list of packets does not distinguish.
fn found(counts: &Counts) -> Expected {
    let of = |protocol: Protocol| (protocol.word(), Tally { illegal_in_tunnel: 0, ..*counts.of(protocol) });
    Protocol::ALL.map(of).into_iter().filter(|(_, tally)| *tally != Tally::default()).collect()
}

#[test]
fn every_planted_fault_is_identified() {
    for case in planted() {
        let report = audit_frames(link::ETHERNET, &[framed(&case.packet)]);
        let (mut outer, mut all) = (Expected::new(), Expected::new());
        add(&mut outer, &case.outer);
        add(&mut all, &case.outer);
        add(&mut all, &case.tunnelled);
        assert_eq!(found(&report.outer), outer, "{}", case.name);
        assert_eq!(found(&report.all), all, "{}", case.name);
        let is_wrong =
            case.outer.iter().chain(&case.tunnelled).any(|(_, verdict)| *verdict == ExpectedVerdict::Bad)
                || case.name == "UDP without, IPv6";
        assert_eq!(report.wrong() > 0, is_wrong, "{}", case.name);
        assert_eq!(report.findings.is_empty(), !is_wrong, "{}", case.name);
        assert_eq!(report.fragments, u64::from(case.name.contains("fragment")), "{}", case.name);
    }
}

#[test]
fn verdicts_are_the_same_on_every_link_and_in_every_format() {
    let links = [
        link::BSD_NULL,
        link::ETHERNET,
        link::PPP,
        link::RAW_DLT[0],
        link::PPP_SERIAL,
        link::RAW,
        link::BSD_LOOP,
        link::LINUX_COOKED,
        link::LINUX_COOKED_2,
    ];
    let (mut outer, mut all) = (Expected::new(), Expected::new());
    let mut records = Vec::new();
    // Links that do not pad also truncate packets that claim to be longer than their record.
    for case in planted() {
        add(&mut outer, &case.outer);
        add(&mut all, &case.outer);
        add(&mut all, &case.tunnelled);
        records.push(case.packet);
    }
    for link in links {
        for order in ORDERS {
            let framed = whole(records.iter().map(|packet| handmade::frame(link, order, packet)));
            for file in [
                pcap(order, false, link, &framed),
                pcap(order, true, link, &framed),
                pcapng(order, link, &framed),
            ] {
                let report = audit(&file);
                assert_eq!(report.packets, records.len() as u64);
                assert_eq!(found(&report.outer), outer, "link {link}, {order:?}");
                assert_eq!(found(&report.all), all, "link {link}, {order:?}");
            }
        }
    }
}

#[test]
fn tags_labels_and_sessions_are_skipped() {
    for (name, frame) in encapsulated() {
        let report = audit_frames(link::ETHERNET, &[frame]);
        assert_eq!((report.outer.of(Tcp).good, report.wrong()), (1, 0), "{name}");
    }
    for (name, link, frame) in on_other_links() {
        assert_eq!(audit_frames(link, &[frame]).outer.of(Tcp).good, 1, "{name}");
    }
}

/// A packet from host 10.0.0.`from` to 10.0.0.`to` with a correct checksum except for `change`.
fn between(from: u8, to: u8, protocol: u8, change: u8) -> Vec<u8> {
    let ends = [[10, 0, 0, from], [10, 0, 0, to]];
    let mut packet = ip4(ends, protocol, &[], &summed((&ends[0], &ends[1]), protocol, segment(protocol, 60)));
    packet[50] ^= change;
    framed(&packet)
}

#[test]
fn checksums_that_are_all_wrong_in_one_direction_are_offload() {
    let mut frames = Vec::new();
    for _ in 0..20 {
        frames.extend([between(1, 2, 6, 0x80), between(2, 1, 6, 0)]);
    }
    // A third host sends some wrong checksums, a fourth only wrong ones, but receives no replies.
    frames.extend([between(3, 2, 6, 1), between(3, 2, 6, 0), between(2, 3, 6, 0)]);
    frames.extend([between(4, 2, 17, 1), between(4, 2, 17, 1), between(4, 2, 17, 1)]);
    let report = audit_frames(link::ETHERNET, &frames);
    let tcp = report.all.of(Tcp);
    assert_eq!((tcp.good, tcp.bad, tcp.offload), (22, 21, 20));
    assert_eq!((report.all.of(Udp).bad, report.all.of(Udp).offload), (3, 0));
    assert_eq!(report.wrong(), 4);
    assert_eq!(report.findings.iter().map(|finding| finding.packet).collect::<Vec<_>>(), [41, 44, 45, 46]);
    assert_eq!(report.offload.len(), 1);
    assert_eq!(report.offload[0].sender.to_string(), "10.0.0.1");
    assert_eq!((report.offload[0].all_wrong, report.offload[0].pseudo_header), (20, 0));
    // With one correct checksum, the others are really wrong.
    frames.push(between(1, 2, 6, 0));
    assert_eq!(audit_frames(link::ETHERNET, &frames).wrong(), 24);
}

#[test]
fn a_finding_has_the_found_and_the_expected_checksum() {
    let mut packet = right4(17, 40);
    let right = [packet[26], packet[27]];
    packet[26..28].copy_from_slice(&[0xbe, 0xef]);
    let report = audit_frames(link::ETHERNET, &[framed(&right4(1, 40)), framed(&packet)]);
    let [finding] = report.findings[..] else { panic!("{:?}", report.findings) };
    assert_eq!((finding.packet, finding.depth, finding.protocol), (2, 0, Udp));
    assert_eq!((finding.found.0, finding.expected.map(|sum| sum.0)), ([0xbe, 0xef], Some(right)));
    assert_eq!(finding.source.to_string(), "10.0.0.1");
}

#[test]
fn truncated_packets_are_counted_and_not_verified() {
    let frame = framed(&right4(6, 200));
    for captured in 0..frame.len() {
        let mut audit = Audit::new();
        audit.packet(link::ETHERNET, &frame[..captured], frame.len() as u64);
        let report = audit.finish();
        assert_eq!((report.packets, report.truncated_packets, report.wrong()), (1, 1, 0));
        let (ipv4, tcp) = (report.all.of(Ipv4), report.all.of(Tcp));
        assert_eq!(
            (ipv4.good, ipv4.unverified),
            (u64::from(captured >= 34), u64::from((14..34).contains(&captured)))
        );
        assert_eq!((tcp.good, tcp.unverified), (0, u64::from(captured >= 34)), "{captured}");
    }
}

#[test]
fn a_thousand_tunnels_and_a_million_labels_are_parsed() {
    let mut packet = right4(6, 40);
    for _ in 0..1000 {
        packet = ip4(V4, 4, &[], &packet);
    }
    let report = audit_frames(link::RAW, &[packet]);
    assert_eq!((report.all.of(Ipv4).good, report.all.of(Tcp).good, report.outer.of(Ipv4).good), (1001, 1, 1));
    // VXLAN in VXLAN: the sum of each datagram covers all inner ones.
    let mut packet = right4(6, 40);
    let mut deep = 0;
    while packet.len() < 65_000 {
        let data = [&[8, 0, 0, 0, 0, 0, 9, 0][..], &framed(&packet)].concat();
        let length = (data.len() as u16 + 8).to_be_bytes();
        let datagram = [&[0xc0, 1, 0x12, 0xb5][..], &length, &[0, 0], &data].concat();
        packet = ip4(V4, 17, &[], &summed((&V4[0], &V4[1]), 17, datagram));
        deep += 1;
    }
    let report = audit_frames(link::RAW, &[packet]);
    assert_eq!((report.all.of(Udp).good, report.all.of(Tcp).good, report.wrong()), (deep, 1, 0));

    let record_bytes = MOST_RECORD_BYTES as usize;
    let labels = [&[2; 12][..], &[0x88, 0x47], &[0; 64].repeat(record_bytes / 64 - 1)].concat();
    let tags = [&[2; 12][..], &[0x81, 0, 0, 1].repeat(record_bytes / 4 - 16)].concat();
    // A label, a control word, an Ethernet header with a label, and so on: layers in a cycle.
    let wire: Vec<u8> = [&[0, 0, 1, 0][..], &[0; 4], &[2; 12], &[0x88, 0x47]].concat();
    let wires = [&[2; 12][..], &[0x88, 0x47], &wire.repeat(record_bytes / wire.len() - 1)].concat();
    for frame in [labels, tags, wires] {
        let file = pcap(Order::Little, false, link::ETHERNET, &whole([frame, framed(&right4(6, 40))]));
        let report = audit(&file);
        assert_eq!((report.packets, report.all.of(Tcp).good), (2, 1));
        assert_eq!(report.skipped.values().sum::<u64>(), 1);
    }
}

#[test]
fn inconsistent_files_end_in_an_error_or_a_count() {
    let order = Order::Little;
    let good = whole([framed(&right4(6, 60))]).remove(0);
    let head = || [section(order), interface(order, link::ETHERNET, u32::MAX, &[])].concat();
    let good_block = || enhanced_packet(order, 0, &good, &[]);
    let lying_capture = {
        let mut block = good_block();
        block[20..24].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
        block
    };
    // For each: the bytes between two good packets, the number of packets, and the number of good ones.
    for (what, middle, packets, tcp_good) in [
        ("an interface that is not described", enhanced_packet(order, 7, &good, &[]), 3, 2),
        ("a captured length beyond the block", lying_capture, 3, 2),
        (
            "an endless run of options without length",
            enhanced_packet(order, 0, &good, &[1, 0, 0, 0].repeat(1000)),
            3,
            3,
        ),
        ("an option beyond the block", enhanced_packet(order, 0, &good, &[1, 0, 255, 255]), 3, 2),
        (
            "a section of the other order",
            [
                section(Order::Big),
                interface(Order::Big, 1, 0, &[]),
                enhanced_packet(Order::Big, 0, &good, &[]),
                head(),
            ]
            .concat(),
            3,
            3,
        ),
    ] {
        let report = audit(&[head(), good_block(), middle, good_block()].concat());
        assert_eq!((report.packets, report.all.of(Tcp).good), (packets, tcp_good), "{what}");
    }
    // A record that cannot be skipped ends reading; the packets before it have been counted.
    let mut claims = Vec::new();
    for claim in [0_u32, 1, 11, 13, 0x7fff_fffc, 0xffff_fffc] {
        claims.push(
            [head(), good_block(), 6_u32.to_le_bytes().to_vec(), claim.to_le_bytes().to_vec(), vec![0; 99]]
                .concat(),
        );
        let record =
            [[0; 8], claim.max(MOST_RECORD_BYTES + 1).to_le_bytes().repeat(2).try_into().expect("8 bytes")]
                .concat();
        claims.push([pcap(order, false, 1, std::slice::from_ref(&good)), record].concat());
    }
    for file in claims {
        let mut audit = Audit::new();
        let error = file::read(&file[..], &mut audit).expect_err("an invalid length");
        assert!(error.format.is_some() && error.to_string().contains("impossible length"), "{error}");
        assert_eq!(audit.finish().all.of(Tcp).good, 1);
    }
}

#[test]
fn one_changed_byte_is_always_detected() {
    // Over IPv4, a checksum covers every byte of TCP, UDP and ICMP packets.
    for protocol in [6, 17, 1] {
        let packet = right4(protocol, 64);
        let before = audit_frames(link::RAW, std::slice::from_ref(&packet));
        assert_eq!(before.wrong(), 0);
        for at in 0..packet.len() {
            for change in [1_u8, 0x80, 0xff] {
                let mut changed = packet.clone();
                changed[at] ^= change;
                let after = audit_frames(link::RAW, &[changed]);
                assert_ne!(after.all, before.all, "protocol {protocol}, byte {at} ^ {change:#x}");
            }
        }
    }
}
