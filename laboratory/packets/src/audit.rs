//! The checksums of a whole capture: counts by protocol, the first wrong ones, and those that a network card
//! would have completed.

use crate::file::Sink;
use crate::ip::{self, Transport};
use crate::judge::{self, ChecksumVerdict, Protocol};
use crate::link::{self, Version};
use crate::senders::Senders;
use crate::{Bytes, Skip, tunnel};
use carryline::checksum::{Addresses, Checksum};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The most memory that reading and auditing a file takes: the window is below 8 MiB, the described
/// interfaces are below 12 MiB while their list grows, and so are the senders.
pub const MOST_BYTES: usize = 32 << 20;

/// The most senders that are tracked; wrong checksums of others are never attributed to a network card.
pub const MOST_SENDERS: usize = 1 << 16;

/// The most findings kept per sender and protocol.
const MOST_PER_SENDER: u64 = 10;

/// The most findings kept until it is known which are artefacts.
const MOST_FINDINGS: usize = 4096;

/// Counts of the checksums of one protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Correct.
    pub good: u64,
    /// Of the correct ones, those with `ffff` instead of `0000`; see [`ChecksumVerdict::MinusZero`].
    pub minus_zero: u64,
    /// Wrong, including artefacts.
    pub bad: u64,
    /// Of the wrong ones, those that the sender's network card was to compute.
    pub offload: u64,
    /// Unverifiable.
    pub unverified: u64,
    /// UDP over IPv4 without a checksum.
    pub none: u64,
    /// UDP over IPv6 without a checksum.
    pub illegal: u64,
    /// Of these, those that RFC 6935 allows because they carry a tunnel.
    pub illegal_in_tunnel: u64,
}

/// Counts of all protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([Tally; Protocol::ALL.len()]);

impl Counts {
    /// The counts of one protocol.
    #[must_use]
    pub fn of(&self, protocol: Protocol) -> &Tally {
        &self.0[protocol as usize]
    }

    fn of_mut(&mut self, protocol: Protocol) -> &mut Tally {
        &mut self.0[protocol as usize]
    }
}

/// A wrong checksum, or a missing one where it is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The packet's number in the file, from 1.
    pub packet: u64,
    /// The number of IP headers around it; 0 for the outermost packet.
    pub depth: u32,
    /// The protocol of the checksum.
    pub protocol: Protocol,
    /// The source address in the IP header.
    pub source: IpAddr,
    /// The destination address in the IP header.
    pub destination: IpAddr,
    /// The checksum in the packet.
    pub found: Checksum,
    /// The correct checksum; `None` for UDP over IPv6 without a checksum.
    pub expected: Option<Checksum>,
}

/// A sender whose network card computes its checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offload {
    /// The protocol.
    pub protocol: Protocol,
    /// The address.
    pub sender: IpAddr,
    /// Checksum fields that hold the sum of the pseudo-header.
    pub pseudo_header: u64,
    /// Other wrong checksums of a sender that sent only wrong ones and received replies.
    pub all_wrong: u64,
}

/// The result of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// All packets, including damaged records.
    pub packets: u64,
    /// Packets of which only the beginning was captured.
    pub truncated_packets: u64,
    /// Packets that contain an IP fragment.
    pub fragments: u64,
    /// The checksums of the outermost IP packets.
    pub outer: Counts,
    /// The checksums of all IP packets, including tunnelled ones.
    pub all: Counts,
    /// Packets without an IP packet that can be parsed, by reason; also [`Skip::CutShort`], which is not a
    /// packet.
    pub skipped: BTreeMap<Skip, u64>,
    /// The first wrong checksums that are not artefacts, at most ten per sender and protocol.
    pub findings: Vec<Finding>,
    /// Senders whose network card computes their checksums, by decreasing number of packets.
    pub offload: Vec<Offload>,
}

impl Report {
    /// The number of checksums that are wrong or missing where required, without artefacts.
    #[must_use]
    pub fn wrong(&self) -> u64 {
        let of = |tally: &Tally| tally.bad - tally.offload + tally.illegal - tally.illegal_in_tunnel;
        self.all.0.iter().map(of).sum()
    }
}

/// An audit in progress.
pub struct Audit {
    report: Report,
    senders: Senders,
}

impl Default for Audit {
    fn default() -> Audit {
        Audit::new()
    }
}

impl Audit {
    /// An audit without packets.
    #[must_use]
    pub fn new() -> Audit {
        Audit { report: Report::default(), senders: Senders::new(MOST_SENDERS) }
    }

    /// The number of packets so far.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.report.packets
    }

    /// Ends the audit and determines which senders sent only wrong checksums.
    #[must_use]
    pub fn finish(self) -> Report {
        let Audit { mut report, senders } = self;
        for ((protocol, sender), known) in senders.all() {
            let all_wrong = if known.has_offload() { known.wrong } else { [0; 2] };
            report.outer.of_mut(*protocol).offload += all_wrong[0];
            report.all.of_mut(*protocol).offload += all_wrong[1];
            if all_wrong[1] + known.left_for_card > 0 {
                report.offload.push(Offload {
                    protocol: *protocol,
                    sender: *sender,
                    pseudo_header: known.left_for_card,
                    all_wrong: all_wrong[1],
                });
            }
        }
        let packets = |offload: &Offload| offload.pseudo_header + offload.all_wrong;
        report.offload.sort_by_key(|offload| {
            (std::cmp::Reverse(packets(offload)), offload.sender, offload.protocol as usize)
        });
        report.findings.retain(|finding| {
            let known = senders.known(&(finding.protocol, finding.source));
            finding.expected.is_none() || !known.is_some_and(|sender| sender.has_offload())
        });
        report
    }

    /// Counts a checksum at a depth.
    fn count(&mut self, protocol: Protocol, addresses: Addresses, depth: u32, verdict: ChecksumVerdict) {
        let outer = depth == 0;
        let report = &mut self.report;
        let mut tally = |add: fn(&mut Tally)| {
            add(report.all.of_mut(protocol));
            if outer {
                add(report.outer.of_mut(protocol));
            }
        };
        let (src, dst) = ends(addresses);
        match verdict {
            ChecksumVerdict::Good | ChecksumVerdict::MinusZero => {
                tally(|tally| tally.good += 1);
                if verdict == ChecksumVerdict::MinusZero {
                    tally(|tally| tally.minus_zero += 1);
                }
                self.senders.right(protocol, src, dst);
            }
            ChecksumVerdict::Unverified => tally(|tally| tally.unverified += 1),
            ChecksumVerdict::None => tally(|tally| tally.none += 1),
            ChecksumVerdict::Illegal { allowed: true } => tally(|tally| {
                tally.illegal += 1;
                tally.illegal_in_tunnel += 1;
            }),
            ChecksumVerdict::Illegal { allowed: false } => {
                tally(|tally| tally.illegal += 1);
                self.find(protocol, (src, dst), depth, Checksum::NONE, None);
            }
            ChecksumVerdict::Bad(wrong) if wrong.left_for_card => {
                tally(|tally| {
                    tally.bad += 1;
                    tally.offload += 1;
                });
                if let Some(sender) = self.senders.sender((protocol, src)) {
                    sender.left_for_card += 1;
                }
            }
            ChecksumVerdict::Bad(wrong) => {
                tally(|tally| tally.bad += 1);
                let sender = self.senders.sender((protocol, src));
                let so_far = sender.map_or(0, |sender| {
                    sender.wrong[0] += u64::from(outer);
                    sender.wrong[1] += 1;
                    sender.wrong[1]
                });
                if so_far <= MOST_PER_SENDER {
                    self.find(protocol, (src, dst), depth, wrong.found, Some(wrong.expected));
                }
            }
        }
    }

    #[cold]
    fn find(
        &mut self,
        protocol: Protocol,
        (source, destination): (IpAddr, IpAddr),
        depth: u32,
        found: Checksum,
        expected: Option<Checksum>,
    ) {
        let packet = self.report.packets;
        if self.report.findings.len() < MOST_FINDINGS {
            let finding = Finding { packet, depth, protocol, source, destination, found, expected };
            self.report.findings.push(finding);
        }
    }

    /// Audits an IP packet at a depth; returns the packet tunnelled in it, or the reason it cannot be parsed.
    fn ip<'a>(
        &mut self,
        version: Version,
        bytes: Bytes<'a>,
        depth: u32,
    ) -> Result<Option<(link::Layer, Bytes<'a>)>, Skip> {
        let packet = ip::packet(version, bytes);
        if let (Err(Skip::HeadersCut), Version::V4) = (&packet, version) {
            let unspecified = Addresses::V4 { src: [0; 4], dst: [0; 4] };
            self.count(Protocol::Ipv4, unspecified, depth, ChecksumVerdict::Unverified);
        }
        let packet = packet?;
        if let Some(header) = packet.ipv4_header {
            self.count(Protocol::Ipv4, packet.addresses, depth, judge::ipv4_header(header));
        }
        let payload = match packet.payload {
            Ok(payload) => payload,
            Err(opaque) => {
                if let Some(transport) = Transport::of_opaque(opaque, version) {
                    self.count(transport.into(), packet.addresses, depth, ChecksumVerdict::Unverified);
                }
                return Err(opaque.why);
            }
        };
        if let Some((protocol, verdict)) = judge::payload(&payload) {
            self.count(protocol, packet.addresses, depth, verdict);
        }
        match payload.transport() {
            Ok((_, datagram)) => Ok(tunnel::inside(payload.protocol, datagram)),
            Err(Skip::OtherTransport) => Ok(tunnel::inside(payload.protocol, payload.bytes)),
            Err(why) => Err(why),
        }
    }

    /// Audits the packets in a record from the outside in; returns the reason the outermost cannot be parsed.
    fn packets_in(&mut self, link: u32, record: Bytes<'_>) -> Result<(), Skip> {
        let (mut version, mut bytes) = link::ip_of_record(link, record)?;
        // Each packet is shorter than the previous one, so this ends.
        for depth in 0.. {
            let tunnelled = match self.ip(version, bytes, depth) {
                Ok(tunnelled) => tunnelled,
                Err(Skip::Fragment) => {
                    self.report.fragments += 1;
                    return Ok(());
                }
                Err(why) if depth == 0 => return Err(why),
                Err(_) => return Ok(()),
            };
            let Some(Ok(next)) = tunnelled.map(|(layer, bytes)| link::ip_behind(layer, bytes)) else {
                return Ok(());
            };
            (version, bytes) = next;
        }
        Ok(())
    }
}

impl Sink for Audit {
    fn packet(&mut self, link: u32, captured: &[u8], original_bytes: u64) {
        self.report.packets += 1;
        self.report.truncated_packets += u64::from((captured.len() as u64) < original_bytes);
        if let Err(why) = self.packets_in(link, Bytes::new(captured, original_bytes)) {
            *self.report.skipped.entry(why).or_insert(0) += 1;
        }
    }

    fn skip(&mut self, why: Skip) {
        self.report.packets += u64::from(why != Skip::CutShort);
        *self.report.skipped.entry(why).or_insert(0) += 1;
    }
}

fn ends(addresses: Addresses) -> (IpAddr, IpAddr) {
    match addresses {
        Addresses::V4 { src, dst } => (src.into(), dst.into()),
        Addresses::V6 { src, dst } => (src.into(), dst.into()),
    }
}
