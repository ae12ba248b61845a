//! An audit of captures as JSON.

use super::{Audited, Readable};
use carryline_packets::audit::{Counts, Finding, Offload, Tally};
use carryline_packets::judge::Protocol;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The audit of a file.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    file: String,
    readable: &'static str,
    /// Why the file was not read completely.
    reason: Option<String>,
    format: Option<String>,
    packets: u64,
    truncated_packets: u64,
    fragments: u64,
    outer: Protocols,
    all: Protocols,
    /// The number of wrong checksums that are no artefacts; determines the exit status.
    wrong: u64,
    first_bad: Vec<Bad>,
    offload: Vec<Sender<'a>>,
    /// Packets that could not be verified, by reason.
    skipped: BTreeMap<String, u64>,
}

#[derive(Serialize)]
struct Protocols {
    ipv4: Checksums,
    tcp: Checksums,
    udp: Datagrams,
    icmp: Checksums,
    icmpv6: Checksums,
}

#[derive(Serialize)]
struct Checksums {
    good: u64,
    /// Of `good`: `ffff` in place of the usual `0000`.
    minus_zero: u64,
    bad: u64,
    /// Of `bad`: left to the network card.
    offload: u64,
    unverified: u64,
}

#[derive(Serialize)]
struct Datagrams {
    #[serde(flatten)]
    checksums: Checksums,
    none: u64,
    illegal: u64,
    /// Of `illegal`: allowed by RFC 6935 for the tunnel inside.
    illegal_in_tunnel: u64,
}

#[derive(Serialize)]
struct Bad {
    packet: u64,
    depth: u32,
    protocol: &'static str,
    source: IpAddr,
    destination: IpAddr,
    /// In hexadecimal, as in packet dumps.
    found: String,
    expected: Option<String>,
}

#[derive(Serialize)]
struct Sender<'a> {
    protocol: &'static str,
    sender: &'a IpAddr,
    pseudo_header: u64,
    all_wrong: u64,
}

pub(super) fn row(audited: &Audited, most: usize) -> Row<'_> {
    let report = &audited.report;
    let format = match &audited.read {
        Ok(whole) => Some(whole.format),
        Err(error) => error.format,
    };
    Row {
        file: audited.file.to_string_lossy().into_owned(),
        readable: match audited.readable() {
            Readable::Yes => "yes",
            Readable::Partial => "partial",
            Readable::No => "no",
        },
        reason: audited.reason(),
        format: format.map(|format| format.to_string()),
        packets: report.packets,
        truncated_packets: report.truncated_packets,
        fragments: report.fragments,
        outer: protocols(&report.outer),
        all: protocols(&report.all),
        wrong: report.wrong(),
        first_bad: report.findings.iter().take(most).map(bad).collect(),
        offload: report.offload.iter().take(most).map(sender).collect(),
        skipped: report.skipped.iter().map(|(why, count)| (why.to_string(), *count)).collect(),
    }
}

fn protocols(counts: &Counts) -> Protocols {
    let of = |protocol| checksums(counts.of(protocol));
    let udp = counts.of(Protocol::Udp);
    Protocols {
        ipv4: of(Protocol::Ipv4),
        tcp: of(Protocol::Tcp),
        udp: Datagrams {
            checksums: of(Protocol::Udp),
            none: udp.none,
            illegal: udp.illegal,
            illegal_in_tunnel: udp.illegal_in_tunnel,
        },
        icmp: of(Protocol::Icmp),
        icmpv6: of(Protocol::Icmpv6),
    }
}

fn checksums(tally: &Tally) -> Checksums {
    let Tally { good, minus_zero, bad, offload, unverified, .. } = *tally;
    Checksums { good, minus_zero, bad, offload, unverified }
}

fn bad(finding: &Finding) -> Bad {
    Bad {
        packet: finding.packet,
        depth: finding.depth,
        protocol: finding.protocol.word(),
        source: finding.source,
        destination: finding.destination,
        found: finding.found.to_string(),
        expected: finding.expected.map(|expected| expected.to_string()),
    }
}

fn sender(offload: &Offload) -> Sender<'_> {
    Sender {
        protocol: offload.protocol.word(),
        sender: &offload.sender,
        pseudo_header: offload.pseudo_header,
        all_wrong: offload.all_wrong,
    }
}
