//! The line protocol: one line per request and one per answer, in words of printable ASCII.
//!
//! `vectors/README.md` documents it for implementers.

pub use crate::data::{Data, hex, unhex};
use std::fmt::Write as _;
use std::net::IpAddr;

/// The version of the protocol.
pub const VERSION: u32 = 1;

fn field(word: &str) -> Option<[u8; 2]> {
    unhex(word)?.try_into().ok()
}

/// The rule of an incremental update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// RFC 1624, equation 3.
    Internet,
    /// RFC 1624 for UDP: `0000` means that there is no checksum, and is kept; a computed `0000` becomes
    /// `ffff`.
    Udp,
}

/// The protocol of a packet, which determines what its checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The IPv4 header.
    Ipv4Header,
    /// TCP with its pseudo-header.
    Tcp,
    /// UDP with its pseudo-header.
    Udp,
    /// ICMP.
    Icmp,
    /// ICMPv6 with its pseudo-header.
    Icmpv6,
}

const RULES: [(Rule, &str); 2] = [(Rule::Internet, "internet"), (Rule::Udp, "udp")];
const PROTOCOLS: [(Protocol, &str); 5] = [
    (Protocol::Ipv4Header, "ipv4_header"),
    (Protocol::Tcp, "tcp"),
    (Protocol::Udp, "udp"),
    (Protocol::Icmp, "icmp"),
    (Protocol::Icmpv6, "icmpv6"),
];

fn named<T: Copy>(list: &[(T, &str)], name: &str) -> Option<T> {
    list.iter().find(|(_, known)| *known == name).map(|(value, _)| *value)
}

impl Rule {
    /// The rule called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Rule> {
        named(&RULES, name)
    }
}

impl Protocol {
    /// The protocol called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Protocol> {
        named(&PROTOCOLS, name)
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The first line: asks for name, version and features.
    Hello,
    /// The checksum field of one buffer.
    Sum(Data),
    /// The checksum field of a message in pieces.
    Pieces(Vec<Data>),
    /// The checksum field of a message added to a sum that is not complemented.
    Onto {
        /// The sum, as two bytes in memory order.
        sum: [u8; 2],
        /// The message.
        data: Data,
    },
    /// A checksum field after a change.
    Update {
        /// The rule.
        rule: Rule,
        /// The field before the change.
        checksum: [u8; 2],
        /// The offset of the change in the data.
        offset: usize,
        /// The bytes before the change.
        old: Vec<u8>,
        /// The bytes after the change.
        new: Vec<u8>,
    },
    /// The folded sum of a pseudo-header, not complemented.
    Pseudo {
        /// The source address.
        source: IpAddr,
        /// The destination address.
        destination: IpAddr,
        /// The protocol number.
        protocol: u8,
        /// The length field.
        length: u32,
    },
    /// The checksum field with which a packet is sent.
    Packet(Packet),
    /// Whether a received packet is intact.
    Verify(Packet),
}

/// A packet without the layers below its protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The protocol.
    pub protocol: Protocol,
    /// The source and destination addresses of the pseudo-header, if there is one.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// Header and payload.
    pub bytes: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Two bytes in memory order.
    Field([u8; 2]),
    /// The packet cannot have a checksum.
    None,
    /// The packet's checksum is correct.
    Intact,
    /// The packet's checksum is wrong.
    Damaged,
    /// The packet has no checksum.
    Absent,
    /// The implementation has no such function.
    Unsupported,
    /// The implementation refused the request or failed.
    Error(String),
    /// The answer to [`Request::Hello`].
    Hello(Hello),
}

/// The name and features of an implementation.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Hello {
    /// The implementation's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// True if it accepts `PATTERN*BYTES`, and therefore data of any length.
    pub repeat: bool,
    /// True if it computes checksums for UDP, where `0000` becomes `ffff`.
    pub udp: bool,
}

impl Request {
    /// The request as a line without its terminator; for `repeat` see [`Data::word`].
    #[must_use]
    pub fn line(&self, repeat: bool) -> String {
        let data = |data: &Data| data.word(repeat);
        let packet = |verb: &str, packet: &Packet| {
            let name =
                PROTOCOLS.iter().find(|(known, _)| *known == packet.protocol).map_or("", |(_, name)| name);
            let (source, destination) = match packet.addresses {
                Some((source, destination)) => (source.to_string(), destination.to_string()),
                None => ("-".to_owned(), "-".to_owned()),
            };
            format!("{verb} {name} {source} {destination} {}", Data::literal(&packet.bytes).word(false))
        };
        match self {
            Request::Hello => format!("hello {VERSION}"),
            Request::Sum(message) => format!("sum {}", data(message)),
            Request::Pieces(pieces) => pieces.iter().fold("pieces".to_owned(), |mut line, piece| {
                let _infallible = write!(line, " {}", data(piece));
                line
            }),
            Request::Onto { sum, data: message } => format!("onto {} {}", hex(sum), data(message)),
            Request::Update { rule, checksum, offset, old, new } => {
                let rule = RULES.iter().find(|(known, _)| known == rule).map_or("", |(_, name)| name);
                format!("update {rule} {} {offset} {} {}", hex(checksum), hex(old), hex(new))
            }
            Request::Pseudo { source, destination, protocol, length } => {
                format!("pseudo {source} {destination} {protocol} {length}")
            }
            Request::Packet(asked) => packet("packet", asked),
            Request::Verify(asked) => packet("verify", asked),
        }
    }

    /// Parses a line; `None` if it is not a request.
    #[must_use]
    pub fn read(line: &str) -> Option<Request> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (verb, rest) = words.split_first()?;
        let packet = |rest: &[&str]| {
            let [protocol, source, destination, bytes] = rest else { return None };
            let addresses = match (*source, *destination) {
                ("-", "-") => None,
                (source, destination) => Some((source.parse().ok()?, destination.parse().ok()?)),
            };
            Some(Packet {
                protocol: Protocol::from_name(protocol)?,
                addresses,
                bytes: Data::read(bytes)?.bytes(),
            })
        };
        Some(match (*verb, rest) {
            ("hello", [_]) => Request::Hello,
            ("sum", [data]) => Request::Sum(Data::read(data)?),
            ("pieces", pieces) => {
                Request::Pieces(pieces.iter().map(|piece| Data::read(piece)).collect::<Option<_>>()?)
            }
            ("onto", [sum, data]) => Request::Onto { sum: field(sum)?, data: Data::read(data)? },
            ("update", [rule, checksum, offset, old, new]) => Request::Update {
                rule: Rule::from_name(rule)?,
                checksum: field(checksum)?,
                offset: offset.parse().ok()?,
                old: unhex(old)?,
                new: unhex(new)?,
            },
            ("pseudo", [source, destination, protocol, length]) => Request::Pseudo {
                source: source.parse().ok()?,
                destination: destination.parse().ok()?,
                protocol: protocol.parse().ok()?,
                length: length.parse().ok()?,
            },
            ("packet", rest) => Request::Packet(packet(rest)?),
            ("verify", rest) => Request::Verify(packet(rest)?),
            _ => return None,
        })
    }

    /// The input bytes, concatenated.
    #[must_use]
    pub fn input(&self) -> Data {
        match self {
            Request::Hello => Data::default(),
            Request::Sum(data) | Request::Onto { data, .. } => data.clone(),
            Request::Pieces(pieces) => pieces.iter().cloned().fold(Data::default(), Data::then),
            Request::Update { old, new, .. } => Data::literal(old).then(Data::literal(new)),
            Request::Pseudo { .. } => Data::default(),
            Request::Packet(packet) | Request::Verify(packet) => Data::literal(&packet.bytes),
        }
    }

    /// True for the sum of a message, which can be any bytes.
    #[must_use]
    pub const fn is_message(&self) -> bool {
        matches!(self, Request::Sum(_) | Request::Pieces(_) | Request::Onto { .. })
    }

    /// The number of input bytes.
    #[must_use]
    pub fn input_len(&self) -> usize {
        match self {
            Request::Hello | Request::Pseudo { .. } => 0,
            Request::Sum(data) | Request::Onto { data, .. } => data.len(),
            Request::Pieces(pieces) => pieces.iter().map(Data::len).sum(),
            Request::Update { old, new, .. } => old.len() + new.len(),
            Request::Packet(packet) | Request::Verify(packet) => packet.bytes.len(),
        }
    }
}

impl Reply {
    /// The answer as a line without its terminator.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Reply::Field(field) => hex(field),
            Reply::None => "none".to_owned(),
            Reply::Intact => "intact".to_owned(),
            Reply::Damaged => "damaged".to_owned(),
            Reply::Absent => "absent".to_owned(),
            Reply::Unsupported => "unsupported".to_owned(),
            Reply::Error(text) => format!("error {}", text.replace(['\n', '\r'], " ")),
            Reply::Hello(hello) => {
                let repeat = if hello.repeat { " repeat" } else { "" };
                let udp = if hello.udp { " udp" } else { "" };
                format!("{} {}{repeat}{udp}", hello.name, hello.version)
            }
        }
    }

    /// Parses the answer to a request; `None` if it is not one.
    #[must_use]
    pub fn read(line: &str, request: &Request) -> Option<Reply> {
        let line = line.trim();
        if let Some(text) = line.strip_prefix("error") {
            return (text.is_empty() || text.starts_with(' ')).then(|| Reply::Error(text.trim().to_owned()));
        }
        if *request == Request::Hello {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let [name, version, features @ ..] = &words[..] else { return None };
            let mut hello =
                Hello { name: (*name).to_owned(), version: (*version).to_owned(), ..Hello::default() };
            for feature in features {
                match *feature {
                    "repeat" => hello.repeat = true,
                    "udp" => hello.udp = true,
                    _ => return None,
                }
            }
            return Some(Reply::Hello(hello));
        }
        let verifies = matches!(request, Request::Verify(_));
        match line {
            "unsupported" => Some(Reply::Unsupported),
            "none" if matches!(request, Request::Packet(_)) => Some(Reply::None),
            "intact" if verifies => Some(Reply::Intact),
            "damaged" if verifies => Some(Reply::Damaged),
            "absent" if verifies => Some(Reply::Absent),
            digits if !verifies => field(digits).map(Reply::Field),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_parse_to_the_request_that_wrote_them() {
        for line in [
            "hello 1",
            "sum -",
            "sum 0001f2",
            "sum 0100feff*1500+00",
            "pieces",
            "pieces 01 - ffffffff",
            "onto 1234 00",
            "update udp dd2f 2 5555 3285",
            "pseudo 192.0.2.1 192.0.2.2 17 11",
            "packet udp 2001:db8::1 2001:db8::2 9c75",
            "verify ipv4_header - - 45000039",
        ] {
            assert_eq!(Request::read(line).map(|request| request.line(true)).as_deref(), Some(line));
        }
        for line in
            ["", "sum", "sum 0", "sum xy", "sum 01 02", "onto 12 00", "update internet dd2f x 55 32", "add 1"]
        {
            assert_eq!(Request::read(line), None, "{line}");
        }
    }

    #[test]
    fn an_answer_must_fit_its_request() {
        let sum = Request::Sum(Data::default());
        assert_eq!(Reply::read("ffff\n", &sum), Some(Reply::Field([0xff, 0xff])));
        assert_eq!(Reply::read("error it is late", &sum), Some(Reply::Error("it is late".to_owned())));
        assert_eq!(Reply::read("unsupported", &sum), Some(Reply::Unsupported));
        for garbage in ["", "fff", "fffff", "0xff", "intact", "none", "errors", "12 34"] {
            assert_eq!(Reply::read(garbage, &sum), None, "{garbage}");
        }
        let hello = Reply::read("scapy 2.6.1", &Request::Hello);
        let Some(Reply::Hello(hello)) = hello else { panic!("{hello:?}") };
        assert_eq!((hello.name.as_str(), hello.version.as_str(), hello.repeat), ("scapy", "2.6.1", false));
        assert_eq!(Reply::read("scapy", &Request::Hello), None);
        assert_eq!(Reply::read("Python is not installed here", &Request::Hello), None);
    }
}
