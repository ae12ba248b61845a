//! Capture files: pcap (both resolutions, both byte orders) and pcapng, from a file or a pipe, in one pass and bounded memory.
//!
//! A record that contradicts its frame ends the reading with an error at its offset; one whose frame is sound but whose contents
//! are not is skipped; a last record that was cut short is counted, and what came before it is used.
//!
//! Framing, limits and offsets are handled here; the header, section, interface and packet blocks themselves are decoded by
//! `pcap-parser`.

use crate::stream::Stream;
use crate::{Skip, pcap, pcapng};
use std::fmt;
use std::io::Read;

pub use crate::pcapng::MOST_INTERFACES;

/// Larger records and blocks are refused: no packet is this long, so the length is a lie. With it, what the reader holds in
/// memory is bounded by twice as much.
pub const MOST_RECORD_BYTES: u32 = 4 << 20;

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
    /// Nothing in it that its reader could use.
    #[error("no usable packet ({0})")]
    NothingUsable(String),
}

/// Why reading ended early, and how far it came.
#[derive(Debug, thiserror::Error)]
#[error("byte {offset}: {fault}")]
pub struct ReadError {
    /// Known once the file's own header has been read: records may have come before the fault.
    pub format: Option<Format>,
    /// The byte at which the faulty record begins, or reading stopped.
    pub offset: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// A file that was read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The file format.
    pub format: Format,
    /// How long the file was.
    pub file_bytes: u64,
}

/// What takes the records of a capture.
pub trait Sink {
    /// A packet: the number of its link type in the registry of tcpdump.org, what was captured of it, and its length on the wire.
    fn packet(&mut self, link: u32, captured: &[u8], original_bytes: u64);

    /// A record that is no use: [`Skip::BadRecord`], [`Skip::UnknownInterface`] or, at most once, [`Skip::CutShort`].
    fn skip(&mut self, why: Skip);
}

/// Reads a capture and hands its records to `sink`.
///
/// # Errors
/// [`ReadError`] if it is not a capture or is damaged; the records before the damage have been handed over.
pub fn read(reader: impl Read, sink: &mut impl Sink) -> Result<Whole, ReadError> {
    let mut stream = Stream::new(reader);
    let mut format = None;
    match read_records(&mut stream, sink, &mut format) {
        Ok(format) => Ok(Whole { format, file_bytes: stream.offset() }),
        Err((offset, fault)) => Err(ReadError { format, offset, fault }),
    }
}

/// A fault and the offset of what it was found in.
pub(crate) type At = (u64, Fault);

/// `begun` is set once the file's header has been read.
fn read_records(
    stream: &mut Stream<impl Read>,
    sink: &mut impl Sink,
    begun: &mut Option<Format>,
) -> Result<Format, At> {
    let Some(magic) = stream.peek(4)? else {
        let there = stream.rest();
        let fault = match there.len() as u64 {
            0 => Fault::Empty,
            have if could_begin_a_capture(there) => {
                Fault::HeaderCut { have, need: pcap::HEADER_BYTES as u64 }
            }
            _ => Fault::NotACapture(hint(there)),
        };
        return Err((0, fault));
    };
    if magic == pcapng::SECTION_MAGIC {
        pcapng::read(stream, sink, begun).map(|()| Format::PcapNg)
    } else if pcap::MAGICS.iter().any(|known| magic == known) {
        pcap::read(stream, sink, begun).map(|()| Format::Pcap)
    } else {
        Err((0, Fault::NotACapture(hint(magic))))
    }
}

fn could_begin_a_capture(beginning: &[u8]) -> bool {
    pcap::MAGICS.iter().chain([&pcapng::SECTION_MAGIC]).any(|magic| magic.starts_with(beginning))
}

/// What a file that is not a capture seems to be.
fn hint(beginning: &[u8]) -> &'static str {
    match beginning {
        [0x1f, 0x8b, ..] => " (compressed by gzip: decompress it first, with 'gzip -d')",
        [0x28, 0xb5, 0x2f, 0xfd] => " (compressed by zstd: decompress it first, with 'zstd -d')",
        [0xfd, b'7', b'z', b'X'] => " (compressed by xz: decompress it first, with 'xz -d')",
        [b'B', b'Z', b'h', ..] => " (compressed by bzip2: decompress it first, with 'bzip2 -d')",
        [0x04, 0x22, 0x4d, 0x18] => " (compressed by lz4: decompress it first, with 'lz4 -d')",
        b"snoo" => " (a snoop file: convert it with 'editcap -F pcap')",
        _ => "",
    }
}
