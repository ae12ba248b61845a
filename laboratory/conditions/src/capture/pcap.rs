//! The pcap format: a header of 24 bytes, then records of a 16-byte header and the captured bytes.

use super::stream::Stream;
use super::{At, Fault, MOST_RECORD_BYTES, Skip, Tally};
use pcap_parser::pcap::{
    parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};
use std::io::Read;

pub(super) const HEADER_BYTES: usize = 24;

/// What a pcap file begins with: micro- and nanoseconds in both byte orders, and the variant with longer record
/// headers that some old kernels wrote.
pub(super) const MAGICS: [[u8; 4]; 5] = [
    0xa1b2_c3d4_u32.to_le_bytes(),
    0xa1b2_c3d4_u32.to_be_bytes(),
    0xa1b2_3c4d_u32.to_le_bytes(),
    0xa1b2_3c4d_u32.to_be_bytes(),
    0xa1b2_cd34_u32.to_le_bytes(),
];

/// Above the link type, its field holds the length of a frame check sequence.
const LINK_TYPE_BITS: u32 = 0x03ff_ffff;

/// Reads a file whose magic has been taken from the stream.
pub(super) fn read(stream: &mut Stream<impl Read>, magic: Vec<u8>, tally: &mut Tally) -> Result<(), At> {
    let mut buffer = magic;
    if !stream.append(&mut buffer, HEADER_BYTES - 4)? {
        return Err((0, Fault::HeaderCut { have: buffer.len() as u64, need: HEADER_BYTES as u64 }));
    }
    let Ok((_, header)) = parse_pcap_header(&buffer) else {
        return Err((0, Fault::NotACapture("")));
    };
    if header.version_major != 2 {
        let version = format!("format version {}.{}, not 2", header.version_major, header.version_minor);
        return Err((0, Fault::Damaged(version)));
    }
    let link = header.network.0 as u32 & LINK_TYPE_BITS;
    let record_header_bytes = if header.is_modified_format() { 24 } else { 16 };
    let big_endian = header.is_bigendian();

    loop {
        let start = stream.offset();
        buffer.clear();
        if !stream.append(&mut buffer, record_header_bytes)? {
            if !buffer.is_empty() {
                tally.skip(Skip::CutShort);
            }
            return Ok(());
        }
        let field: [u8; 4] = [buffer[8], buffer[9], buffer[10], buffer[11]];
        let captured = if big_endian { u32::from_be_bytes(field) } else { u32::from_le_bytes(field) };
        if captured > MOST_RECORD_BYTES {
            let claim = format!("a record with an impossible length of {captured} captured bytes");
            return Err((start, Fault::Damaged(claim)));
        }
        if !stream.append(&mut buffer, captured as usize)? {
            tally.skip(Skip::CutShort);
            return Ok(());
        }
        let record = if header.is_modified_format() {
            parse_pcap_frame_modified(&buffer)
        } else if big_endian {
            parse_pcap_frame_be(&buffer)
        } else {
            parse_pcap_frame(&buffer)
        };
        match record {
            Ok((_, record)) => tally.packet(link, record.data, record.origlen.into()),
            Err(_) => tally.skip(Skip::BadRecord),
        }
    }
}
