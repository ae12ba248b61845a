//! `capture`: captures of any kind, their headers right or not, read whole and in pieces, and every packet in them judged.
//! Whatever they hold, reading ends with an error or a count, both ways with the same, and the counts fit together.

use crate::input::Input;
use carryline_packets::audit::{Audit, Report};
use carryline_packets::file::{self, Whole};
use carryline_packets::handmade::{
    Order, enhanced_packet, frame, interface, old_packet, section, simple_packet,
};
use carryline_packets::judge::Protocol;
use carryline_packets::link::types as link;
use carryline_packets::planted::{Planted, planted};
use std::io::Read;
use std::sync::LazyLock;

/// Packets of every protocol and tunnel, to be damaged.
static PACKETS: LazyLock<Vec<Planted>> = LazyLock::new(planted);

const LINKS: [u32; 10] = [
    link::ETHERNET,
    link::LINUX_COOKED,
    link::LINUX_COOKED_2,
    link::BSD_NULL,
    link::BSD_LOOP,
    link::PPP,
    link::PPP_SERIAL,
    link::RAW,
    link::MPLS,
    link::CISCO_HDLC,
];

pub(super) fn check(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let step = usize::from(input.byte()) + 1;
    let file = capture(&mut input);
    let (read, report) = audited(&file[..]);
    assert_fit_together(&report, file.len());
    if let Ok(whole) = &read {
        assert_eq!(whole.file_bytes, file.len() as u64);
    }
    let in_pieces = audited(Pieces { rest: &file, step });
    assert_eq!(in_pieces, (read, report), "in pieces of {step} bytes");
}

/// A file: any bytes, or records behind the headers of either format.
fn capture(input: &mut Input<'_>) -> Vec<u8> {
    let kind = input.byte();
    let order = if kind & 0x10 == 0 { Order::Little } else { Order::Big };
    let of_link = LINKS[usize::from(input.byte()) % LINKS.len()];
    let mut file = Vec::new();
    match kind % 4 {
        0 => {
            file.resize(input.length(4096), 0);
            input.fill(&mut file);
        }
        1 => {
            file.extend(order.u32(if kind & 8 == 0 { 0xa1b2_c3d4 } else { 0xa1b2_3c4d }));
            file.extend([order.u16(2), order.u16(4)].concat());
            for field in [0, 0, 0xffff, of_link] {
                file.extend(order.u32(field));
            }
            while !input.is_empty() {
                let (captured, original) = record(input, of_link, order);
                for field in [1, 2, captured.len() as u32, original] {
                    file.extend(order.u32(field));
                }
                file.extend(captured);
            }
        }
        _ => {
            file.extend(section(order));
            file.extend(interface(order, of_link, input.word().into(), &[]));
            while !input.is_empty() {
                let block = input.byte();
                let record = record(input, of_link, order);
                file.extend(match block % 6 {
                    0 | 1 => enhanced_packet(order, u32::from(block >> 6), &record, &[]),
                    2 => simple_packet(order, &record),
                    3 => old_packet(order, 0, &record),
                    4 => section(order),
                    _ => interface(order, u32::from(block), 0, &[]),
                });
            }
        }
    }
    // Some bytes are other than they should be.
    for _ in 0..kind % 3 {
        if !file.is_empty() {
            let at = input.below(file.len().min(1 << 16));
            file[at] = input.byte();
        }
    }
    file
}

/// A record: a packet of the collection with some bytes changed, or any bytes.
fn record(input: &mut Input<'_>, of_link: u32, order: Order) -> (Vec<u8>, u32) {
    let (choice, changes) = (usize::from(input.byte()), input.byte());
    let mut bytes = match PACKETS.get(choice) {
        Some(known) => frame(of_link, order, &known.packet),
        None => {
            let mut any = vec![0; input.length(2048)];
            input.fill(&mut any);
            any
        }
    };
    for _ in 0..changes % 8 {
        if !bytes.is_empty() {
            let at = input.below(bytes.len().min(1 << 16));
            bytes[at] = input.byte();
        }
    }
    if changes & 0x40 != 0 {
        bytes.truncate(input.length(bytes.len()));
    }
    let missing = if changes & 0x80 == 0 { 0 } else { input.word().into() };
    let original = bytes.len() as u32 + missing;
    (bytes, original)
}

fn audited(reader: impl Read) -> (Result<Whole, String>, Report) {
    let mut audit = Audit::new();
    let read = file::read(reader, &mut audit).map_err(|error| format!("{:?}: {error}", error.format));
    (read, audit.finish())
}

fn assert_fit_together(report: &Report, file_bytes: usize) {
    // A record has 16 bytes at least.
    assert!(report.packets <= file_bytes as u64 / 16, "{report:?}");
    assert!(report.truncated_packets <= report.packets && report.fragments <= report.packets, "{report:?}");
    for protocol in Protocol::ALL {
        let (outer, all) = (report.outer.of(protocol), report.all.of(protocol));
        for tally in [outer, all] {
            let parts = tally.minus_zero <= tally.good
                && tally.offload <= tally.bad
                && tally.illegal_in_tunnel <= tally.illegal;
            assert!(parts, "{protocol:?}: {report:?}");
        }
        let counts = |of: &carryline_packets::audit::Tally| {
            [
                of.good,
                of.minus_zero,
                of.bad,
                of.offload,
                of.unverified,
                of.none,
                of.illegal,
                of.illegal_in_tunnel,
            ]
        };
        let (outer, all) = (counts(outer), counts(all));
        assert!(outer.iter().zip(all).all(|(outer, all)| *outer <= all), "{protocol:?}: {report:?}");
        let [good, _, bad, _, unverified, none, illegal, _] = outer;
        assert!(good + bad + unverified + none + illegal <= report.packets, "{protocol:?}: {report:?}");
    }
    assert_eq!(report.findings.is_empty(), report.wrong() == 0, "{report:?}");
}

/// A reader that gives a few bytes at a time, as a pipe may.
struct Pieces<'a> {
    rest: &'a [u8],
    step: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let (piece, rest) = self.rest.split_at(self.step.min(buffer.len()).min(self.rest.len()));
        buffer[..piece.len()].copy_from_slice(piece);
        self.rest = rest;
        Ok(piece.len())
    }
}
