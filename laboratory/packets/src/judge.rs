//! The verdict on one checksum: correct, wrong, absent or unverifiable.

use crate::ip::{Payload, Transport};
use crate::tunnel;
use carryline::checksum::{self, Addresses, Checksum, Sum, UdpVerdict};

/// The protocol that a checksum belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// The IPv4 header.
    Ipv4,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP.
    Icmp,
    /// ICMPv6.
    Icmpv6,
}

impl Protocol {
    /// All protocols, in the order in which they are listed.
    pub const ALL: [Protocol; 5] =
        [Protocol::Ipv4, Protocol::Tcp, Protocol::Udp, Protocol::Icmp, Protocol::Icmpv6];

    /// The word in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Protocol::Ipv4 => "ipv4",
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
            Protocol::Icmp => "icmp",
            Protocol::Icmpv6 => "icmpv6",
        }
    }

    /// The name as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Ipv4 => "IPv4 header",
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
            Protocol::Icmp => "ICMP",
            Protocol::Icmpv6 => "ICMPv6",
        }
    }
}

impl From<Transport> for Protocol {
    fn from(transport: Transport) -> Protocol {
        match transport {
            Transport::Tcp => Protocol::Tcp,
            Transport::Udp => Protocol::Udp,
            Transport::Icmp => Protocol::Icmp,
            Transport::Icmpv6 => Protocol::Icmpv6,
        }
    }
}

/// The verdict on a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumVerdict {
    /// Correct.
    Good,
    /// Correct for a receiver, which only adds it up, but not what a sender computes: `ffff` instead of
    /// `0000`, the other zero of one's-complement arithmetic. Updates by RFC 1141 cause it, which RFC 1624
    /// corrects. In UDP it is intended.
    MinusZero,
    /// Wrong.
    Bad(Wrong),
    /// UDP over IPv4 with a checksum field of zero: the sender computed none.
    None,
    /// UDP over IPv6 with a checksum field of zero, which RFC 8200, section 8.1, forbids.
    Illegal {
        /// True if RFC 6935 allows it: the port is that of a tunnel whose specification permits it.
        allowed: bool,
    },
    /// Unverifiable: not all bytes that the checksum covers were captured, or it is unknown which it covers.
    Unverified,
}

/// A wrong checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The checksum in the packet.
    pub found: Checksum,
    /// The correct checksum.
    pub expected: Checksum,
    /// True if the field holds the sum of only the pseudo-header, which the sender's network card was to
    /// complete ([`Sum::offload_seed`]); the capture was made before that.
    pub left_for_card: bool,
}

/// The verdict on the checksum of an IPv4 header with its options.
#[must_use]
pub fn ipv4_header(header: &[u8]) -> ChecksumVerdict {
    if checksum::verify_ipv4_header(header) {
        return good(header, 10);
    }
    // The parser has compared the length in the header with the bytes available.
    let Some(found) = field(header, 10) else { return ChecksumVerdict::Unverified };
    ChecksumVerdict::Bad(Wrong { found, expected: checksum::ipv4_header(header), left_for_card: false })
}

/// The verdict on the checksum of a payload; `None` if it has none that is supported.
#[must_use]
pub fn payload(payload: &Payload<'_>) -> Option<(Protocol, ChecksumVerdict)> {
    match payload.transport() {
        Ok((transport, bytes)) => {
            let verdict = match (bytes.whole(), payload.ends) {
                (Some(segment), Some(ends)) => judge(transport, ends, segment),
                _ => ChecksumVerdict::Unverified,
            };
            Some((transport.into(), verdict))
        }
        Err(_) => Some((Transport::of_payload(payload)?.into(), ChecksumVerdict::Unverified)),
    }
}

/// The verdict on a segment, which is at least as long as the transport's header and at most as long as its
/// IP header states.
fn judge(transport: Transport, ends: Addresses, segment: &[u8]) -> ChecksumVerdict {
    let wrong = |field_at, expected: Checksum| {
        let Some(found) = field(segment, field_at) else { return ChecksumVerdict::Unverified };
        ChecksumVerdict::Bad(Wrong {
            found,
            expected,
            left_for_card: is_left_for_card(found, transport, ends, segment),
        })
    };
    match (transport, ends) {
        (Transport::Tcp, _) if checksum::verify_tcp(ends, [segment]) => good(segment, 16),
        (Transport::Tcp, _) => wrong(16, checksum::tcp(ends, [segment])),
        (Transport::Udp, _) => match (checksum::verify_udp(ends, [segment]), ends) {
            (UdpVerdict::Intact, _) => ChecksumVerdict::Good,
            (UdpVerdict::Absent, Addresses::V4 { .. }) => ChecksumVerdict::None,
            (UdpVerdict::Absent, Addresses::V6 { .. }) => {
                let port = crate::bytes::be16(segment, 2);
                ChecksumVerdict::Illegal { allowed: tunnel::allows_no_checksum(port) }
            }
            (UdpVerdict::Damaged, _) => wrong(6, checksum::udp(ends, [segment])),
        },
        (Transport::Icmpv6, Addresses::V6 { src, dst }) => {
            match checksum::verify_icmpv6(src, dst, [segment]) {
                true => good(segment, 2),
                false => wrong(2, checksum::icmpv6(src, dst, [segment])),
            }
        }
        _ if checksum::verify_icmp([segment]) => good(segment, 2),
        _ => wrong(2, checksum::icmp([segment])),
    }
}

/// The verdict on a checksum that verifies.
fn good(bytes: &[u8], field_at: usize) -> ChecksumVerdict {
    if field(bytes, field_at) == Some(Checksum([0xff; 2])) {
        ChecksumVerdict::MinusZero
    } else {
        ChecksumVerdict::Good
    }
}

fn field(bytes: &[u8], at: usize) -> Option<Checksum> {
    bytes.get(at..)?.first_chunk().copied().map(Checksum)
}

/// True if the field is what a driver leaves for its network card: the sum of the pseudo-header or, for
/// packets that the card is to segment, that of one without a length.
fn is_left_for_card(found: Checksum, transport: Transport, ends: Addresses, segment: &[u8]) -> bool {
    let protocol = match transport {
        Transport::Tcp => 6,
        Transport::Udp => 17,
        Transport::Icmpv6 => 58,
        Transport::Icmp => return false,
    };
    let pseudo_header = |bytes: usize| match ends {
        // Both lengths come from an IP header.
        Addresses::V4 { src, dst } => Sum::pseudo_v4(src, dst, protocol, bytes as u16),
        Addresses::V6 { src, dst } => Sum::pseudo_v6(src, dst, bytes as u32, protocol),
    };
    [segment.len(), 0].iter().any(|bytes| found == pseudo_header(*bytes).offload_seed())
}
