//! [`Skip`]: the reasons a packet or its payload cannot be used.

use std::fmt;

/// The reason a packet was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skip {
    /// It carries no IP: ARP, LLDP and others.
    NotIp,
    /// Its link type is not supported; holds its number in the registry of tcpdump.org.
    UnknownLink(u32),
    /// Neither TCP, UDP, ICMP nor ICMPv6: a tunnel, an encrypted payload, or another kind of checksum.
    OtherTransport,
    /// A fragment of a datagram; the checksum covers the whole datagram.
    Fragment,
    /// UDP without a checksum.
    NoChecksum,
    /// An IP length of zero: the network card was to segment the packet, and its real length is unknown.
    NoLength,
    /// The snap length truncated the headers.
    HeadersCut,
    /// Header lengths that contradict each other or the length of the packet.
    BadLength,
    /// A record whose fields contradict its length.
    BadRecord,
    /// A packet from an interface that the file does not describe.
    UnknownInterface,
    /// The end of the file truncated it.
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
