//! The pcap format: a 24-byte header, then records, each a 16-byte header with the captured bytes.

use crate::Skip;
use crate::file::{At, Fault, Format, MOST_RECORD_BYTES, Sink};
use crate::stream::Stream;
use pcap_parser::pcap::{
    parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};
use std::io::Read;

pub(crate) const HEADER_BYTES: usize = 24;

/// The magic numbers: micro- and nanoseconds in both byte orders, and the variant with longer record headers
/// that some old kernels wrote.
pub(crate) const MAGICS: [[u8; 4]; 5] = [
    0xa1b2_c3d4_u32.to_le_bytes(),
    0xa1b2_c3d4_u32.to_be_bytes(),
    0xa1b2_3c4d_u32.to_le_bytes(),
    0xa1b2_3c4d_u32.to_be_bytes(),
    0xa1b2_cd34_u32.to_le_bytes(),
];

/// The bits of the link-type field; those above hold the length of a frame check sequence.
const LINK_TYPE_BITS: u32 = 0x03ff_ffff;

/// Reads a file that starts with one of the magic numbers.
pub(crate) fn read(
    stream: &mut Stream<impl Read>,
    sink: &mut impl Sink,
    begun: &mut Option<Format>,
) -> Result<(), At> {
    let Some(header) = stream.peek(HEADER_BYTES)? else {
        return Err((0, Fault::HeaderCut { have: stream.rest().len() as u64, need: HEADER_BYTES as u64 }));
    };
    let Ok((_, header)) = parse_pcap_header(header) else {
        return Err((0, Fault::NotACapture("")));
    };
    if header.version_major != 2 {
        let version =
            format!("format version {}.{} instead of 2", header.version_major, header.version_minor);
        return Err((0, Fault::Damaged(version)));
    }
    stream.take(HEADER_BYTES);
    *begun = Some(Format::Pcap);
    let link = header.network.0 as u32 & LINK_TYPE_BITS;
    let record_header_bytes = if header.is_modified_format() { 24 } else { 16 };
    let big_endian = header.is_bigendian();

    loop {
        let Some(head) = stream.peek(record_header_bytes)? else {
            if !stream.rest().is_empty() {
                cut_short(stream, sink);
            }
            return Ok(());
        };
        let field = [head[8], head[9], head[10], head[11]];
        let captured = if big_endian { u32::from_be_bytes(field) } else { u32::from_le_bytes(field) };
        if captured > MOST_RECORD_BYTES {
            let claim = format!("a record with an impossible length of {captured} captured bytes");
            return Err((stream.offset(), Fault::Damaged(claim)));
        }
        let record_bytes = record_header_bytes + captured as usize;
        let Some(record) = stream.peek(record_bytes)? else {
            cut_short(stream, sink);
            return Ok(());
        };
        let record = if header.is_modified_format() {
            parse_pcap_frame_modified(record)
        } else if big_endian {
            parse_pcap_frame_be(record)
        } else {
            parse_pcap_frame(record)
        };
        match record {
            Ok((_, record)) => sink.packet(link, record.data, record.origlen.into()),
            Err(_) => sink.skip(Skip::BadRecord),
        }
        stream.take(record_bytes);
    }
}

/// Counts a record that the end of the file truncates, and skips the rest.
pub(crate) fn cut_short(stream: &mut Stream<impl Read>, sink: &mut impl Sink) {
    sink.skip(Skip::CutShort);
    stream.take(stream.rest().len());
}
