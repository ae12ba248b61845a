//! Packet sizes of a capture file, so that a routine can be measured on a user's own traffic.
//!
//! What counts is the length that a transport checksum runs over: header and data of TCP, UDP, ICMP or ICMPv6,
//! the pseudo-header left out. Lengths come from the headers, so a capture that kept only the first bytes of each
//! packet serves as well as a whole one. Everything else is skipped and counted by reason ([`Skip`]).
//!
//! Read are pcap (both resolutions, both byte orders) and pcapng, from a file or a pipe, in one pass and bounded
//! memory. A capture is a stranger's file: a record that contradicts its frame ends the reading with an error at
//! its offset; one whose frame is sound but whose contents are not is skipped; a last record that was cut short
//! is counted, and what came before it is used.
//!
//! Framing, limits and offsets are handled here; the header, section, interface and packet blocks themselves are
//! decoded by `pcap-parser`.

#[cfg(test)]
mod handmade;
mod packet;
mod pcap;
mod pcapng;
mod stream;
#[cfg(test)]
mod test_files;
#[cfg(test)]
mod test_packets;

#[cfg(test)]
pub(crate) use handmade::example_capture;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use stream::Stream;

/// Larger records and blocks are refused: no packet is this long, so the length is a lie.
const MOST_RECORD_BYTES: u32 = 4 << 20;

/// What a capture file holds, as far as sizes are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The file format.
    pub format: Format,
    /// Lengths in bytes with the number of packets that have them, ascending.
    pub sizes: Vec<(u64, u64)>,
    /// How many packets `sizes` counts.
    pub packets_used: u64,
    /// Why the others were not used, and how many each, in the order of [`Skip`].
    pub skipped: Vec<(Skip, u64)>,
    /// How long the file was.
    pub file_bytes: u64,
}

impl Capture {
    /// How many packets were not used.
    #[must_use]
    pub fn packets_skipped(&self) -> u64 {
        self.skipped.iter().map(|(_, count)| count).sum()
    }
}

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The format of libpcap and tcpdump.
    Pcap,
    /// The block format of Wireshark.
    PcapNg,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Pcap => "pcap",
            Format::PcapNg => "pcapng",
        })
    }
}

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

/// A capture that cannot be used: which file, where in it, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: byte {offset}: {fault}", file.display())]
pub struct CaptureError {
    /// As it was named.
    pub file: PathBuf,
    /// The byte at which the faulty record begins, or reading stopped.
    pub offset: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a capture file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It cannot be opened.
    #[error("cannot be opened: {0}")]
    Open(std::io::Error),
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(std::io::Error),
    /// No byte in it.
    #[error("the file is empty")]
    Empty,
    /// It begins with something else.
    #[error("not a pcap or pcapng capture{0}")]
    NotACapture(&'static str),
    /// It ends before its header does.
    #[error("the file ends in its own header ({have} of {need} bytes)")]
    HeaderCut {
        /// Bytes there.
        have: u64,
        /// Bytes that the header has.
        need: u64,
    },
    /// A record that cannot be stepped over.
    #[error("damaged: {0}")]
    Damaged(String),
    /// Nothing usable in it.
    #[error("no usable packet ({0})")]
    NothingUsable(String),
}

/// Reads a capture file, or a pipe that delivers one.
///
/// # Errors
/// [`CaptureError`] if it is not a capture, is damaged, or holds nothing usable.
pub fn read(path: impl AsRef<Path>) -> Result<Capture, CaptureError> {
    let path = path.as_ref();
    match File::open(path) {
        Ok(file) => read_from(file, path),
        Err(error) => Err(CaptureError { file: path.to_owned(), offset: 0, fault: Fault::Open(error) }),
    }
}

/// Reads a capture from a byte stream; `name` is for messages.
///
/// # Errors
/// As [`read`].
pub fn read_from(reader: impl Read, name: impl AsRef<Path>) -> Result<Capture, CaptureError> {
    let mut stream = Stream::new(reader);
    let mut tally = Tally::default();
    read_records(&mut stream, &mut tally)
        .and_then(|format| tally.finish(format, stream.offset()))
        .map_err(|(offset, fault)| CaptureError { file: name.as_ref().to_owned(), offset, fault })
}

/// A fault and the offset of what it was found in.
type At = (u64, Fault);

fn read_records(stream: &mut Stream<impl Read>, tally: &mut Tally) -> Result<Format, At> {
    let mut magic = Vec::new();
    if !stream.append(&mut magic, 4)? {
        let fault = match magic.len() as u64 {
            0 => Fault::Empty,
            have if could_begin_a_capture(&magic) => {
                Fault::HeaderCut { have, need: pcap::HEADER_BYTES as u64 }
            }
            _ => Fault::NotACapture(hint(&magic)),
        };
        return Err((0, fault));
    }
    if magic == pcapng::SECTION_MAGIC {
        pcapng::read(stream, magic, tally).map(|()| Format::PcapNg)
    } else if pcap::MAGICS.iter().any(|known| magic == known) {
        pcap::read(stream, magic, tally).map(|()| Format::Pcap)
    } else {
        Err((0, Fault::NotACapture(hint(&magic))))
    }
}

fn could_begin_a_capture(beginning: &[u8]) -> bool {
    pcap::MAGICS.iter().chain([&pcapng::SECTION_MAGIC]).any(|magic| magic.starts_with(beginning))
}

/// What a file that is not a capture seems to be.
fn hint(beginning: &[u8]) -> &'static str {
    match beginning {
        [0x1f, 0x8b, ..] => " (compressed by gzip: decompress it first)",
        [0x28, 0xb5, 0x2f, 0xfd] => " (compressed by zstd: decompress it first)",
        [0xfd, b'7', b'z', b'X'] => " (compressed by xz: decompress it first)",
        b"snoo" => " (a snoop file: convert it with 'editcap -F pcap')",
        _ => "",
    }
}

/// What has been counted so far.
#[derive(Default)]
struct Tally {
    sizes: BTreeMap<u64, u64>,
    skipped: BTreeMap<Skip, u64>,
}

impl Tally {
    /// Counts a packet by what its headers say.
    fn packet(&mut self, link: u32, captured: &[u8], original_bytes: u64) {
        match packet::checksummed_bytes(link, captured, original_bytes) {
            Ok(size) => *self.sizes.entry(size).or_insert(0) += 1,
            Err(why) => self.skip(why),
        }
    }

    fn skip(&mut self, why: Skip) {
        *self.skipped.entry(why).or_insert(0) += 1;
    }

    fn finish(self, format: Format, file_bytes: u64) -> Result<Capture, At> {
        let packets_used = self.sizes.values().sum();
        let skipped: Vec<(Skip, u64)> = self.skipped.into_iter().collect();
        if packets_used == 0 {
            return Err((file_bytes, Fault::NothingUsable(skip_list(&skipped))));
        }
        Ok(Capture { format, sizes: self.sizes.into_iter().collect(), packets_used, skipped, file_bytes })
    }
}

/// `3 not IP, 1 fragment`: the reasons in one line.
#[must_use]
pub fn skip_list(skipped: &[(Skip, u64)]) -> String {
    if skipped.is_empty() {
        return "it holds no packets".to_owned();
    }
    skipped.iter().map(|(why, count)| format!("{count} {why}")).collect::<Vec<_>>().join(", ")
}
