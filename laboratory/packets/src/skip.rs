//! [`Skip`]: why a packet, or what it carries, cannot be used.

use std::fmt;

/// Why a packet was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skip {
    /// Carries no IP: ARP, LLDP, ...
    NotIp,
    /// Captured with a link layer that is not known here; its number in the registry of tcpdump.org.
    UnknownLink(u32),
    /// Neither TCP, UDP, ICMP nor ICMPv6: a tunnel, an encrypted payload, a checksum of another kind.
    OtherTransport,
    /// A part of a datagram: its checksum runs over the whole.
    Fragment,
    /// UDP that says it has no checksum.
    NoChecksum,
    /// An IP length of zero: the network card was to cut it up, and the real length is nowhere.
    NoLength,
    /// The snap length cut into the headers.
    HeadersCut,
    /// Header lengths that contradict each other or the length of the packet.
    BadLength,
    /// A record whose fields contradict its own length.
    BadRecord,
    /// A packet of an interface that the file does not describe.
    UnknownInterface,
    /// The file ended in the middle of it.
    CutShort,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Skip::NotIp => "not IP",
            Skip::UnknownLink(number) => return write!(f, "unknown link type {number}"),
            Skip::OtherTransport => "neither TCP, UDP nor ICMP",
            Skip::Fragment => "fragment",
            Skip::NoChecksum => "UDP without a checksum",
            Skip::NoLength => "IP length 0",
            Skip::HeadersCut => "headers cut off",
            Skip::BadLength => "contradictory header lengths",
            Skip::BadRecord => "damaged record",
            Skip::UnknownInterface => "unknown interface",
            Skip::CutShort => "cut short by the end of the file",
        })
    }
}
