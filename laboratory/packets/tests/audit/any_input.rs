//! Audits of damaged captures and of arbitrary bytes.

use super::audit_frames;
use carryline_packets::Skip;
use carryline_packets::audit::{Audit, Report};
use carryline_packets::file::{self, Sink};
use carryline_packets::handmade::{self, Order, pcap, pcapng, section, whole};
use carryline_packets::judge::Protocol::{self, Icmp, Icmpv6, Tcp, Udp};
use carryline_packets::link::types as link;
use carryline_packets::planted::{self, V4, framed, ip4, planted, segment, summed};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// All captures of these tests, in both formats.
fn captures() -> Vec<Vec<u8>> {
    let frames = whole(planted().iter().map(|case| framed(&case.packet)));
    let cut = |file: Vec<u8>| file[..file.len() - 7].to_vec();
    vec![
        handmade::example_capture(),
        pcap(Order::Big, true, link::ETHERNET, &frames),
        cut(pcapng(Order::Little, link::ETHERNET, &frames)),
        pcapng(Order::Big, link::ETHERNET, &frames[..9]),
    ]
}

fn check(report: &Report, bytes: usize) {
    // A record has at least 16 bytes.
    assert!(report.packets <= bytes as u64 / 16);
    assert!(report.truncated_packets <= report.packets && report.fragments <= report.packets);
    let mut findings = 0;
    for protocol in Protocol::ALL {
        let (outer, all) = (report.outer.of(protocol), report.all.of(protocol));
        assert!(outer.good <= all.good && outer.bad <= all.bad && outer.offload <= all.offload);
        assert!(all.offload <= all.bad && outer.offload <= outer.bad && all.illegal_in_tunnel <= all.illegal);
        assert!(outer.unverified <= all.unverified);
        let checksums = outer.good + outer.bad + outer.unverified + outer.none + outer.illegal;
        assert!(checksums <= report.packets);
        findings += all.bad - all.offload + all.illegal;
    }
    assert!(report.findings.len() as u64 <= findings);
    assert!(report.findings.is_empty() == (report.wrong() == 0), "{report:?}");
}

#[test]
fn mutations_of_every_capture_end_in_an_error_or_a_count() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
    let mut below = |most: usize| (random.next_u64() % most as u64) as usize;
    let (mut read, mut refused) = (0, 0);
    for file in captures() {
        for _ in 0..2000 {
            let mut damaged = file.clone();
            for _ in 0..=below(8) {
                let at = below(damaged.len());
                match below(5) {
                    0 => damaged[at] = 0xff,
                    1 => damaged[at] = 0,
                    2 => damaged[at] ^= 1 << below(8),
                    3 => drop(damaged.drain(at..(at + below(40)).min(file.len()).min(damaged.len()).max(at))),
                    _ => {
                        let piece = damaged[at..(at + 24).min(damaged.len())].to_vec();
                        let to = below(damaged.len());
                        damaged.splice(to..to, piece);
                    }
                }
            }
            let mut audit = Audit::new();
            match file::read(&damaged[..], &mut audit) {
                Ok(whole) => {
                    assert_eq!(whole.file_bytes, damaged.len() as u64);
                    read += 1;
                }
                Err(error) => {
                    assert!(error.offset <= damaged.len() as u64, "{error}");
                    refused += 1;
                }
            }
            check(&audit.finish(), damaged.len());
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}

#[test]
fn a_truncated_file_yields_the_packets_before_the_cut() {
    for file in captures() {
        let mut last = 0;
        for len in 0..file.len() {
            let mut audit = Audit::new();
            let ended = file::read(&file[..len], &mut audit);
            let report = audit.finish();
            assert!(report.packets >= last && report.packets <= last + 1, "{len}");
            last = report.packets;
            match ended {
                Ok(whole) => assert_eq!(whole.file_bytes, len as u64),
                Err(error) => assert!(error.format.is_none() && last == 0, "{len}: {error}"),
            }
            assert!(report.skipped.get(&Skip::CutShort).is_none_or(|cut| *cut == 1));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_panics_the_reader(
        magic in prop::sample::select(vec![vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0], vec![0xa1, 0xb2, 0x3c, 0x4d, 0, 2, 0, 4], section(Order::Big), vec![]]),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let file = [magic, bytes].concat();
        let mut audit = Audit::new();
        let _either = file::read(&file[..], &mut audit);
        check(&audit.finish(), file.len().max(16));
    }

    #[test]
    fn no_packet_panics_the_audit(
        link in prop::sample::select(vec![0_u32, 1, 9, 12, 50, 51, 101, 104, 108, 113, 204, 219, 228, 229, 276, 147]),
        start in prop::sample::select(planted().into_iter().map(|case| framed(&case.packet)).collect::<Vec<_>>()),
        changes in prop::collection::vec((0_usize..120, any::<u8>()), 0..6),
        cut in 0_usize..1600,
        original in 0_u64..100_000,
    ) {
        let mut frame = start;
        for (at, byte) in changes {
            if let Some(place) = frame.get_mut(at) {
                *place = byte;
            }
        }
        frame.truncate(cut);
        let skip = if link == 1 { 0 } else { 14.min(frame.len()) };
        let mut audit = Audit::new();
        audit.packet(link, &frame[skip..], original);
        check(&audit.finish(), 16);
    }

    #[test]
    fn packets_of_any_length_verify_as_summed_by_a_simple_loop(
        protocol in prop::sample::select(vec![1_u8, 6, 17, 58]),
        data in prop::collection::vec(any::<u8>(), 0..600),
        wrong_at in 0_usize..600,
    ) {
        let mut bytes = segment(protocol, 20);
        bytes.extend(&data);
        if protocol == 17 {
            let len = (bytes.len() as u16).to_be_bytes();
            bytes[4..6].copy_from_slice(&len);
        }
        let (v4, v6) = ((&V4[0][..], &V4[1][..]), (&planted::V6[0][..], &planted::V6[1][..]));
        let mut packet = match protocol {
            58 => handmade::ipv6(&[], 58, &summed(v6, 58, bytes)),
            protocol => ip4(V4, protocol, &[], &summed(v4, protocol, bytes)),
        };
        let word = [(1, Icmp), (6, Tcp), (17, Udp), (58, Icmpv6)].into_iter().find(|(number, _)| *number == protocol);
        let (_, kind) = word.expect("a protocol");
        let report = audit_frames(link::RAW, std::slice::from_ref(&packet));
        prop_assert_eq!((report.all.of(kind).good, report.wrong()), (1, 0));
        let behind = packet.len() - 1 - wrong_at % (data.len() + 1);
        packet[behind] ^= 0x55;
        prop_assert_eq!(audit_frames(link::RAW, &[packet]).all.of(kind).good, 0);
    }
}
