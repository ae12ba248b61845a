//! Compares the audit with tshark, packet by packet, on all captures of the tests; skipped if tshark is not
//! installed.

use carryline_packets::Skip;
use carryline_packets::audit::{Audit, Counts};
use carryline_packets::file::{self, Sink};
use carryline_packets::handmade::{self, Order, enhanced_packet, interface, pcap, pcapng, section, whole};
use carryline_packets::judge::Protocol;
use carryline_packets::link::types as link;
use carryline_packets::planted::{encapsulated, framed, on_other_links, planted, right4, right6};
use std::process::Command;

/// Intended differences, with the reasons.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "ICMP error",
        "tshark verifies the quoted headers; they belong to another packet, which was changed on its way",
    ),
    (
        "TCP, other zero",
        "tshark calls ffff instead of 0000 wrong in TCP, and correct in IPv4 headers, ICMP and ICMPv6",
    ),
    ("TCP over IPv6, other zero", "the same"),
    (
        "unknown route",
        "tshark uses the destination in the IPv6 header; the final one is in a header of an unknown type",
    ),
    ("total length beyond", "tshark uses the length of the frame; a part of the packet is missing"),
    ("IPv6 length beyond", "the same"),
    ("total length 0", "tshark uses the length of the frame; the network card was to segment the packet"),
    (
        "total length below header",
        "tshark lists no checksum of such a header; the header is complete and its checksum correct",
    ),
    ("TCP of 19 bytes", "tshark lists no checksum of a packet shorter than its header; we count it"),
    ("UDP length 7", "the same"),
    ("ICMPv6 over IPv4", "no standard defines its pseudo-header; tshark assumes one"),
    ("no VXLAN", "tshark relies on the port; RFC 7348 requires a flag"),
];

/// The checksums of a packet by protocol, as the numbers of tshark's statuses in ascending order.
type Statuses = [Vec<u8>; Protocol::ALL.len()];

const BAD: u8 = 0;
const GOOD: u8 = 1;
const UNVERIFIED: u8 = 2;
const NOT_PRESENT: u8 = 3;
const ILLEGAL: u8 = 4;

fn statuses(counts: &Counts) -> Statuses {
    Protocol::ALL.map(|protocol| {
        let tally = counts.of(protocol);
        let each = [
            (BAD, tally.bad),
            (GOOD, tally.good),
            (UNVERIFIED, tally.unverified),
            (NOT_PRESENT, tally.none),
            (ILLEGAL, tally.illegal),
        ];
        each.iter().flat_map(|(status, count)| vec![*status; *count as usize]).collect()
    })
}

/// Audits each packet by itself.
#[derive(Default)]
struct Each(Vec<Statuses>);

impl Sink for Each {
    fn packet(&mut self, link: u32, captured: &[u8], original_bytes: u64) {
        let mut audit = Audit::new();
        audit.packet(link, captured, original_bytes);
        self.0.push(statuses(&audit.finish().all));
    }

    fn skip(&mut self, why: Skip) {
        assert_eq!(why, Skip::CutShort, "tshark stops here");
    }
}

fn tshark(path: &std::path::Path) -> Vec<Statuses> {
    let preferences = [
        "ip.check_checksum:TRUE",
        "tcp.check_checksum:TRUE",
        "udp.check_checksum:TRUE",
        // Fragments are not verified.
        "ip.defragment:FALSE",
        "ipv6.defragment:FALSE",
    ];
    let mut command = Command::new("tshark");
    command.args(["-n", "-r"]).arg(path).args(preferences.iter().flat_map(|preference| ["-o", preference]));
    command.args(["-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=,"]);
    for protocol in ["ip", "tcp", "udp", "icmp", "icmpv6"] {
        command.args(["-e", &format!("{protocol}.checksum.status")]);
    }
    let output = command.output().expect("tshark ran a moment ago");
    let lines = String::from_utf8(output.stdout).expect("numbers");
    let statuses = |field: &str| {
        let mut all: Vec<u8> = field.split(',').filter_map(|status| status.parse().ok()).collect();
        all.sort_unstable();
        all
    };
    let line = |line: &str| {
        let mut fields = line.split('|').map(statuses);
        std::array::from_fn(|_| fields.next().expect("a field for each protocol"))
    };
    lines.lines().map(line).collect()
}

/// All captures of the tests, with the names of their packets.
fn captures() -> Vec<(&'static str, Vec<u8>, Vec<&'static str>)> {
    let planted = planted();
    let names: Vec<&str> = planted.iter().map(|case| case.name).collect();
    let on = |link| whole(planted.iter().map(|case| handmade::frame(link, Order::Little, &case.packet)));
    let cut = |bytes: usize| {
        let frame = |packet: Vec<u8>| {
            let frame = framed(&packet);
            (frame[..bytes.min(frame.len())].to_vec(), frame.len() as u32)
        };
        [6, 17, 1]
            .iter()
            .map(|kind| frame(right4(*kind, 200)))
            .chain([6, 17, 58].iter().map(|kind| frame(right6(*kind, 200))))
            .collect::<Vec<_>>()
    };
    let six =
        vec!["TCP, cut", "UDP, cut", "ICMP, cut", "TCP over IPv6, cut", "UDP over IPv6, cut", "ICMPv6, cut"];
    let (little, big) = (Order::Little, Order::Big);
    // tshark does not read files with the link type MPLS.
    let others: Vec<_> = on_other_links().into_iter().filter(|(_, link, _)| *link != link::MPLS).collect();
    let mut of_all = section(Order::Little);
    others.iter().for_each(|(_, link, _)| of_all.extend(interface(Order::Little, *link, 0, &[])));
    for (number, (_, _, frame)) in (0..).zip(&others) {
        of_all.extend(enhanced_packet(Order::Little, number, &(frame.clone(), frame.len() as u32), &[]));
    }
    vec![
        ("sizes", handmade::example_capture(), vec!["", "ARP", "", ""]),
        ("planted, pcap", pcap(little, false, link::ETHERNET, &on(link::ETHERNET)), names.clone()),
        (
            "planted, pcap, big-endian, ns",
            pcap(big, true, link::ETHERNET, &on(link::ETHERNET)),
            names.clone(),
        ),
        ("planted, pcapng", pcapng(little, link::ETHERNET, &on(link::ETHERNET)), names.clone()),
        ("planted, pcapng, big-endian", pcapng(big, link::ETHERNET, &on(link::ETHERNET)), names.clone()),
        ("planted, raw IP", pcap(little, false, link::RAW, &on(link::RAW)), names.clone()),
        ("planted, NULL", pcap(little, false, link::BSD_NULL, &on(link::BSD_NULL)), names.clone()),
        ("planted, LOOP", pcap(little, false, link::BSD_LOOP, &on(link::BSD_LOOP)), names.clone()),
        ("planted, PPP", pcap(little, false, link::PPP, &on(link::PPP)), names.clone()),
        ("planted, SLL", pcap(little, false, link::LINUX_COOKED, &on(link::LINUX_COOKED)), names.clone()),
        (
            "planted, SLL2",
            pcap(little, false, link::LINUX_COOKED_2, &on(link::LINUX_COOKED_2)),
            names.clone(),
        ),
        (
            "tags, labels, sessions",
            pcap(little, false, link::ETHERNET, &whole(encapsulated().into_iter().map(|(_, frame)| frame))),
            encapsulated().into_iter().map(|(name, _)| name).collect(),
        ),
        ("snap length 96", pcap(little, false, link::ETHERNET, &cut(96)), six),
        ("pcapng of other links", of_all, others.into_iter().map(|(name, _, _)| name).collect()),
    ]
}

#[test]
fn the_audit_agrees_with_tshark() {
    if !Command::new("tshark").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: tshark is not installed");
        return;
    }
    let folder = std::env::temp_dir().join(format!("carryline-tshark-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("capture");
    let mut differences = Vec::new();
    println!(
        "capture                        packets  checksums  good  bad  unverified  none  illegal  differ"
    );
    for (name, file, packets) in captures() {
        std::fs::write(&path, &file).expect("room");
        let mut each = Each::default();
        file::read(&file[..], &mut each).expect("a capture");
        let theirs = tshark(&path);
        assert_eq!((each.0.len(), theirs.len()), (packets.len(), packets.len()), "{name}");
        let mut differ = 0;
        for ((packet, ours), theirs) in packets.iter().zip(&each.0).zip(&theirs) {
            if ours == theirs || DIFFERENCES.iter().any(|(known, _)| known == packet) {
                differ += u32::from(ours != theirs);
                continue;
            }
            differences.push(format!("{name}: {packet}: the audit {ours:?}, tshark {theirs:?}"));
        }
        let count = |status: u8| each.0.iter().flatten().flatten().filter(|said| **said == status).count();
        let counts = [GOOD, BAD, UNVERIFIED, NOT_PRESENT, ILLEGAL].map(count);
        println!(
            "{name:30} {:7} {:10} {:5} {:4} {:11} {:5} {:8} {differ:7}",
            packets.len(),
            counts.iter().sum::<usize>(),
            counts[0],
            counts[1],
            counts[2],
            counts[3],
            counts[4]
        );
    }
    std::fs::remove_dir_all(&folder).expect("our folder");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
