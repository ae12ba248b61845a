//! Capture files: pcap (both resolutions, both byte orders) and pcapng, from a file or a pipe, in one pass
//! and bounded memory.
//!
//! A record that contradicts its framing ends reading with an error at its offset. A record with valid
//! framing but invalid contents is skipped. A truncated last record is counted, and the records before it are
//! used.
//!
//! This module handles framing, limits and offsets; `pcap-parser` decodes the header, section, interface and
//! packet blocks.

use crate::stream::Stream;
use crate::{Skip, pcap, pcapng};
use std::fmt;
use std::io::Read;

pub use crate::pcapng::MOST_INTERFACES;

/// The largest record or block that is accepted; no packet is this long, so a larger length is invalid. The
/// reader's buffer is bounded by twice this size.
pub const MOST_RECORD_BYTES: u32 = 4 << 20;

/// The supported formats.
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

/// An error in a capture file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file cannot be opened.
    #[error("cannot be opened: {0}")]
    Open(std::io::Error),
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(std::io::Error),
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file has another format; holds a hint.
    #[error("not a pcap or pcapng capture{0}")]
    NotACapture(&'static str),
    /// The file ends within its header.
    #[error("the file ends within its header ({have} of {need} bytes)")]
    HeaderCut {
        /// Bytes in the file.
        have: u64,
        /// Bytes of the header.
        need: u64,
    },
    /// An invalid record, after which reading cannot continue.
    #[error("damaged: {0}")]
    Damaged(String),
    /// The file contains no packet that the reader can use; holds the reason.
    #[error("no usable packet ({0})")]
    NothingUsable(String),
}

/// The reason reading ended early, and the offset.
#[derive(Debug, thiserror::Error)]
#[error("byte {offset}: {fault}")]
pub struct ReadError {
    /// The format, if the file's header was valid; records may have been read before the error.
    pub format: Option<Format>,
    /// The offset of the faulty record, or the offset at which reading stopped.
    pub offset: u64,
    /// The reason.
    pub fault: Fault,
}

/// A file that was read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The file format.
    pub format: Format,
    /// The length of the file.
    pub file_bytes: u64,
}

/// Receives the records of a capture.
pub trait Sink {
    /// Receives a packet: its link type (a number of the registry of tcpdump.org), its captured bytes, and
    /// its length on the wire.
    fn packet(&mut self, link: u32, captured: &[u8], original_bytes: u64);

    /// Receives an unusable record: [`Skip::BadRecord`], [`Skip::UnknownInterface`] or, at most once,
    /// [`Skip::CutShort`].
    fn skip(&mut self, why: Skip);
}

/// Reads a capture and passes its records to `sink`.
///
/// # Errors
/// [`ReadError`] if it is not a capture or is damaged; the records before the damage have been passed on.
pub fn read(reader: impl Read, sink: &mut impl Sink) -> Result<Whole, ReadError> {
    let mut stream = Stream::new(reader);
    let mut format = None;
    match read_records(&mut stream, sink, &mut format) {
        Ok(format) => Ok(Whole { format, file_bytes: stream.offset() }),
        Err((offset, fault)) => Err(ReadError { format, offset, fault }),
    }
}

/// A fault with its offset.
pub(crate) type At = (u64, Fault);

/// Reads all records; sets `begun` when the file's header has been read.
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

/// A hint at the format of a file that is not a capture.
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
