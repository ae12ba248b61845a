//! The conformance vectors of `vectors/`, applied to the public functions.

use carryline::checksum::{self, Addresses, Checksum, Sum, UdpVerdict};
use serde_json::Value;
use std::net::IpAddr;
use std::path::Path;

/// Data up to this length is one buffer; longer data is passed in repeated buffers of this length.
const LARGEST_BUFFER_BYTES: usize = 65 << 20;

/// The cases of a file of `vectors/`, which must have the supported format and version.
fn cases(kind: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(format!("{kind}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    assert_eq!(file["format"], "internet checksum vectors");
    assert_eq!(file["version"], 1);
    assert_eq!(file["kind"], kind);
    let cases = file["cases"].as_array().expect("a list of cases").clone();
    assert!(cases.len() >= 10, "{kind}: only {} cases", cases.len());
    cases
}

fn text<'c>(case: &'c Value, key: &str) -> &'c str {
    case[key].as_str().unwrap_or_else(|| panic!("{}: no text {key}", case["name"]))
}

fn bytes(digits: &str) -> Vec<u8> {
    let byte =
        |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    assert!(digits.len().is_multiple_of(2), "{digits}: half a byte");
    digits.as_bytes().chunks(2).map(|pair| byte(pair).expect("two hexadecimal digits")).collect()
}

fn array<const N: usize>(case: &Value, key: &str) -> [u8; N] {
    bytes(text(case, key)).try_into().unwrap_or_else(|_| panic!("{}: {key} is not {N} bytes", case["name"]))
}

/// Passes data in pieces: one per part, or several for a part longer than the largest buffer.
fn for_each_piece(parts: &Value, mut then: impl FnMut(&[u8])) {
    for part in parts.as_array().expect("a list of parts") {
        if let Some(digits) = part["hex"].as_str() {
            then(&bytes(digits));
            continue;
        }
        let pattern = bytes(part["repeat"].as_str().expect("a part is hex or a pattern"));
        let mut left = part["bytes"].as_u64().expect("a pattern has a length") as usize;
        let longest = LARGEST_BUFFER_BYTES - LARGEST_BUFFER_BYTES % pattern.len();
        let buffer: Vec<u8> = pattern.iter().copied().cycle().take(left.min(longest)).collect();
        while left > 0 {
            then(&buffer[..left.min(longest)]);
            left -= left.min(longest);
        }
    }
}

/// The whole data if it is short; `None` if it is long.
fn whole(parts: &Value) -> Option<Vec<u8>> {
    let size = |part: &Value| part["bytes"].as_u64().unwrap_or(0) as usize;
    let parts_bytes: usize = parts.as_array().expect("a list of parts").iter().map(size).sum();
    (parts_bytes <= LARGEST_BUFFER_BYTES).then(|| {
        let mut all = Vec::new();
        for_each_piece(parts, |piece| all.extend_from_slice(piece));
        all
    })
}

fn check_results(sum: Sum, case: &Value, how: &str) {
    let name = &case["name"];
    assert_eq!(sum.offload_seed(), array(case, "sum"), "{name}, {how}: sum");
    assert_eq!(sum.finish(), array(case, "checksum"), "{name}, {how}: checksum");
    assert_eq!(sum.finish_udp(), array(case, "udp_checksum"), "{name}, {how}: UDP checksum");
    assert_eq!(sum.finish().to_string(), text(case, "checksum"), "{name}, {how}: shown");
    assert_eq!(sum.verify(), text(case, "sum") == "ffff", "{name}, {how}: verify");
}

#[test]
fn sums() {
    for case in cases("sums") {
        let parts = &case["data"];
        let mut in_parts = Sum::new();
        for_each_piece(parts, |piece| in_parts = in_parts.add(piece));
        check_results(in_parts, &case, "in parts");
        if let Some(data) = whole(parts) {
            check_results(Sum::new().add(&data), &case, "whole");
            check_results(Sum::new().add_fresh(&data), &case, "fresh");
            check_results(Sum::from_partial(checksum::partial(&data, 0)), &case, "partial");
            let mut copied = vec![0; data.len()];
            check_results(Sum::new().copy_over(&mut copied, &data), &case, "copied");
            assert!(copied == data, "{}: copied bytes", case["name"]);
            assert_eq!(checksum::internet(&data), array(&case, "checksum"), "{}", case["name"]);
        }
    }
}

#[test]
fn segments() {
    for case in cases("segments") {
        let segments = case["segments"].as_array().expect("a list of segments");
        let pieces: Vec<Vec<u8>> =
            segments.iter().map(|segment| whole(segment).expect("segments are short")).collect();
        check_results(Sum::new().add_iov(&pieces), &case, "as a vector");
        #[cfg(feature = "std")]
        {
            let buffers: Vec<_> = pieces.iter().map(|piece| std::io::IoSlice::new(piece)).collect();
            check_results(Sum::new().add_io_slices(&buffers), &case, "as buffers");
        }
        check_results(pieces.iter().fold(Sum::new(), |sum, piece| sum.add_fresh(piece)), &case, "fresh");
        let apart = pieces.iter().fold(Sum::new(), |sum, piece| sum.combine(Sum::new().add(piece)));
        check_results(apart, &case, "summed apart");
        let from_the_end =
            pieces.iter().rev().fold(Sum::new(), |sum, piece| Sum::new().add(piece).combine(sum));
        check_results(from_the_end, &case, "combined from the end");
        let mut copied = vec![0; pieces.iter().map(Vec::len).sum()];
        let mut rest = copied.as_mut_slice();
        let sum = pieces.iter().fold(Sum::new(), |sum, piece| {
            let (to, after) = std::mem::take(&mut rest).split_at_mut(piece.len());
            rest = after;
            sum.copy_over(to, piece)
        });
        check_results(sum, &case, "copied");
        assert!(copied == pieces.concat(), "{}: copied bytes", case["name"]);
    }
}

#[test]
fn updates() {
    for case in cases("updates") {
        let name = &case["name"];
        let udp = match text(&case, "rule") {
            "internet" => false,
            "udp" => true,
            other => panic!("{name}: an unknown rule {other}"),
        };
        let (old, new) = (bytes(text(&case, "old")), bytes(text(&case, "new")));
        let offset = case["offset"].as_u64().expect("an offset") as usize;
        assert_eq!(
            bytes(text(&case, "data"))[offset..offset + old.len()],
            old,
            "{name}: the data has the old"
        );
        let before = Checksum(array(&case, "checksum"));
        let by_range = if udp {
            before.replace_range_udp(offset, &old, &new)
        } else {
            before.replace_range(offset, &old, &new)
        };
        assert_eq!(by_range, array(&case, "updated"), "{name}: by range");
        let by_array = match (offset.is_multiple_of(2), old.len()) {
            (true, 2) => replaced::<2>(before, &old, &new, udp),
            (true, 4) => replaced::<4>(before, &old, &new, udp),
            (true, 8) => replaced::<8>(before, &old, &new, udp),
            (true, 16) => replaced::<16>(before, &old, &new, udp),
            _ => continue,
        };
        assert_eq!(by_array, array(&case, "updated"), "{name}: by array");
    }
}

fn replaced<const N: usize>(before: Checksum, old: &[u8], new: &[u8], udp: bool) -> Checksum {
    let (old, new): ([u8; N], [u8; N]) = (old.try_into().unwrap(), new.try_into().unwrap());
    if udp { before.replace_udp(old, new) } else { before.replace(old, new) }
}

#[test]
fn pseudo_headers() {
    for case in cases("pseudo_headers") {
        let name = &case["name"];
        let protocol =
            case["protocol"].as_u64().and_then(|number| u8::try_from(number).ok()).expect("a number");
        let length = case["length"].as_u64().and_then(|number| u32::try_from(number).ok()).expect("a length");
        let sum = match addresses(&case) {
            Addresses::V4 { src, dst } => {
                assert_eq!(case["version"], 4, "{name}");
                Sum::pseudo_v4(src, dst, protocol, u16::try_from(length).expect("16 bits over IPv4"))
            }
            Addresses::V6 { src, dst } => {
                assert_eq!(case["version"], 6, "{name}");
                Sum::pseudo_v6(src, dst, length, protocol)
            }
        };
        assert_eq!(sum, Sum::new().add(&bytes(text(&case, "bytes"))), "{name}");
        assert_eq!(sum.offload_seed(), array(&case, "sum"), "{name}");
    }
}

fn addresses(case: &Value) -> Addresses {
    let address = |key| text(case, key).parse::<IpAddr>().expect("an address");
    Addresses::new(address("source"), address("destination")).expect("addresses of one version")
}

#[test]
fn packets() {
    for case in cases("packets") {
        let name = &case["name"];
        let packet = bytes(text(&case, "bytes"));
        let verdict = text(&case, "verdict");
        let (computed, found) = in_pieces(&case, &[&packet]);
        assert_eq!(
            computed.map(|checksum| checksum.to_string()).as_deref(),
            case["checksum"].as_str(),
            "{name}"
        );
        assert_eq!(found, verdict, "{name}");
        // The contents of the field are ignored; the computed value is then sent.
        if let Some(computed) = computed {
            let field = case["field"].as_u64().expect("a place") as usize;
            let mut sent = packet.clone();
            for stale in [[0x00, 0x00], [0xff, 0xff], [0x12, 0x34]] {
                sent[field..field + 2].copy_from_slice(&stale);
                assert_eq!(in_pieces(&case, &[&sent]).0, Some(computed), "{name}: {stale:02x?} in the field");
            }
            sent[field..field + 2].copy_from_slice(&computed.0);
            assert_eq!(in_pieces(&case, &[&sent]).1, "intact", "{name}: sent as computed");
        }
        if case["protocol"] == "ipv4_header" {
            continue;
        }
        for first in 0..=packet.len() {
            let (head, tail) = packet.split_at(first);
            let in_two = in_pieces(&case, &[head, tail]);
            assert_eq!(in_two, (computed, found), "{name}: split at {first}");
            let (middle, tail) = tail.split_at(tail.len().min(1));
            assert_eq!(in_pieces(&case, &[head, middle, &[], tail]), in_two, "{name}: split around {first}");
        }
    }
}

/// The checksum of a packet in pieces, and the verdict when it is received.
fn in_pieces(case: &Value, pieces: &[&[u8]]) -> (Option<Checksum>, &'static str) {
    let verdict = |intact| if intact { "intact" } else { "damaged" };
    let v6 = || match addresses(case) {
        Addresses::V6 { src, dst } => (src, dst),
        Addresses::V4 { .. } => panic!("{}: ICMPv6 over IPv4", case["name"]),
    };
    match text(case, "protocol") {
        "ipv4_header" => {
            let header = pieces.concat();
            // Without a header there is nothing to compute.
            let computed = case["checksum"].is_string().then(|| checksum::ipv4_header(&header));
            (computed, verdict(checksum::verify_ipv4_header(&header)))
        }
        "tcp" => {
            let computed = checksum::tcp(addresses(case), pieces);
            (Some(computed), verdict(checksum::verify_tcp(addresses(case), pieces)))
        }
        "udp" => {
            let found = match checksum::verify_udp(addresses(case), pieces) {
                UdpVerdict::Intact => "intact",
                UdpVerdict::Absent => "absent",
                UdpVerdict::Damaged => "damaged",
            };
            (Some(checksum::udp(addresses(case), pieces)), found)
        }
        "icmp" => (Some(checksum::icmp(pieces)), verdict(checksum::verify_icmp(pieces))),
        "icmpv6" => {
            let (src, dst) = v6();
            let computed = checksum::icmpv6(src, dst, pieces);
            (Some(computed), verdict(checksum::verify_icmpv6(src, dst, pieces)))
        }
        other => panic!("{}: an unknown protocol {other}", case["name"]),
    }
}
