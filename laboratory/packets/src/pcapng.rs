//! The pcapng format: blocks that start and end with their length, in sections with their own byte order.

use crate::Skip;
use crate::file::{At, Fault, Format, MOST_RECORD_BYTES, Sink};
use crate::pcap::cut_short;
use crate::stream::Stream;
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    parse_enhancedpacketblock_be, parse_enhancedpacketblock_le, parse_interfacedescriptionblock_be,
    parse_interfacedescriptionblock_le, parse_sectionheaderblock, parse_simplepacketblock_be,
    parse_simplepacketblock_le,
};
use std::io::Read;

/// The type of a section header block, which is the same in both byte orders.
pub(crate) const SECTION_MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// The least length of a block.
const FRAME_BYTES: u32 = 12;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// The packet block of early drafts.
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// The most interfaces that are accepted, to bound memory.
pub const MOST_INTERFACES: usize = 1 << 20;

struct Interface {
    link: u32,
    /// The snap length; 0 for no limit.
    snap_bytes: u32,
}

/// The state of a section.
struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
}

impl Section {
    fn u32_at(&self, block: &[u8], at: usize) -> u32 {
        let field = block.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; 4]);
        if self.big_endian { u32::from_be_bytes(field) } else { u32::from_le_bytes(field) }
    }

    fn u16_at(&self, block: &[u8], at: usize) -> u16 {
        let field = block.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; 2]);
        if self.big_endian { u16::from_be_bytes(field) } else { u16::from_le_bytes(field) }
    }

    /// True if the options from `at` on stay within the block.
    fn options_fit(&self, block: &[u8], at: usize) -> bool {
        let end = block.len() - 4;
        let mut at = at;
        while at + 4 <= end {
            let (code, len) = (self.u16_at(block, at), usize::from(self.u16_at(block, at + 2)));
            if code == 0 {
                return true;
            }
            at += 4 + len.next_multiple_of(4);
        }
        at == end
    }
}

/// Reads a file that starts with the magic number.
pub(crate) fn read(
    stream: &mut Stream<impl Read>,
    sink: &mut impl Sink,
    begun: &mut Option<Format>,
) -> Result<(), At> {
    let mut section = Section { big_endian: false, interfaces: Vec::new() };
    loop {
        let start = stream.offset();
        match next_block(stream, start, &mut section)? {
            Block::Here(len) => {
                let Some(block) = stream.peek(len)? else { return Ok(()) };
                handle(block, start, &mut section, sink)?;
                stream.take(len);
                *begun = Some(Format::PcapNg);
            }
            Block::SteppedOver => {}
            Block::None => return Ok(()),
            // A file that ends within its first block contains nothing usable.
            Block::Cut if start == 0 => {
                let there = stream.rest();
                let need = if there.len() < 12 { 28 } else { section.u32_at(there, 4).into() };
                return Err((0, Fault::HeaderCut { have: there.len() as u64, need }));
            }
            Block::Cut => {
                cut_short(stream, sink);
                return Ok(());
            }
        }
    }
}

/// The next block of a file.
enum Block {
    /// A block of a relevant type with valid framing; the given number of bytes is in the window.
    Here(usize),
    /// A block of another type, which was skipped.
    SteppedOver,
    /// A block truncated by the end of the file.
    Cut,
    /// The end of the file.
    None,
}

/// Reads the framing of the next block. A section header sets the byte order.
fn next_block(stream: &mut Stream<impl Read>, start: u64, section: &mut Section) -> Result<Block, At> {
    let damaged = |reason: String| Err((start, Fault::Damaged(reason)));
    let Some(head) = stream.peek(8)? else {
        return Ok(if stream.rest().is_empty() { Block::None } else { Block::Cut });
    };
    let mut kind = section.u32_at(head, 0);
    let mut len = section.u32_at(head, 4);
    if kind == SECTION {
        let Some(head) = stream.peek(12)? else { return Ok(Block::Cut) };
        section.big_endian = false;
        if section.u32_at(head, 8) != BYTE_ORDER_MAGIC {
            section.big_endian = true;
            if section.u32_at(head, 8) != BYTE_ORDER_MAGIC {
                return damaged("a section header without a byte-order magic".to_owned());
            }
        }
        (kind, len) = (section.u32_at(head, 0), section.u32_at(head, 4));
    }
    let least = match kind {
        SECTION => 28,
        INTERFACE => 20,
        OLD_PACKET | ENHANCED_PACKET => 32,
        SIMPLE_PACKET => 16,
        _ => FRAME_BYTES,
    };
    let is_kept = least > FRAME_BYTES;
    if len < least || !len.is_multiple_of(4) || (is_kept && len > MOST_RECORD_BYTES) {
        return damaged(format!("a block of type {kind:#x} with an impossible length of {len} bytes"));
    }
    let len_at_end = if is_kept {
        let Some(block) = stream.peek(len as usize)? else { return Ok(Block::Cut) };
        section.u32_at(block, block.len() - 4)
    } else {
        if !stream.skip(u64::from(len) - 4)? {
            return Ok(Block::Cut);
        }
        let Some(end) = stream.peek(4)? else { return Ok(Block::Cut) };
        let len_at_end = section.u32_at(end, 0);
        stream.take(4);
        len_at_end
    };
    if len_at_end != len {
        return damaged(format!(
            "a block that is {len} bytes long at its beginning and {len_at_end} at its end"
        ));
    }
    Ok(if is_kept { Block::Here(len as usize) } else { Block::SteppedOver })
}

/// Processes a complete block whose length has been checked.
fn handle(block: &[u8], start: u64, section: &mut Section, sink: &mut impl Sink) -> Result<(), At> {
    let damaged = |reason: String| Err((start, Fault::Damaged(reason)));
    match section.u32_at(block, 0) {
        SECTION => {
            section.interfaces.clear();
            match parse_sectionheaderblock(block) {
                Ok((_, header)) if header.major_version != 1 => damaged(format!(
                    "a section of version {}.{} instead of 1",
                    header.major_version, header.minor_version
                )),
                Ok(_) if section.options_fit(block, 24) => Ok(()),
                _ => damaged("a section header whose options run past its end".to_owned()),
            }
        }
        INTERFACE => {
            let parsed = if section.big_endian {
                parse_interfacedescriptionblock_be(block)
            } else {
                parse_interfacedescriptionblock_le(block)
            };
            match parsed {
                Ok(_) if section.interfaces.len() >= MOST_INTERFACES => {
                    damaged(format!("more than {MOST_INTERFACES} interfaces"))
                }
                Ok((_, described)) if section.options_fit(block, 16) => {
                    let link = described.linktype.0 as u32;
                    section.interfaces.push(Interface { link, snap_bytes: described.snaplen });
                    Ok(())
                }
                _ => damaged("an interface description whose options run past its end".to_owned()),
            }
        }
        ENHANCED_PACKET => {
            let parsed = if section.big_endian {
                parse_enhancedpacketblock_be(block)
            } else {
                parse_enhancedpacketblock_le(block)
            };
            match parsed {
                Ok((_, packet)) if section.options_fit(block, 28 + packet.data.len()) => {
                    count(section, sink, packet.if_id, packet.packet_data(), packet.origlen);
                }
                _ => sink.skip(Skip::BadRecord),
            }
            Ok(())
        }
        SIMPLE_PACKET => {
            let parsed = if section.big_endian {
                parse_simplepacketblock_be(block)
            } else {
                parse_simplepacketblock_le(block)
            };
            // A simple packet belongs to interface 0 and is truncated at its snap length.
            let snap_bytes = section.interfaces.first().map(|interface| interface.snap_bytes);
            let snap_bytes = snap_bytes.filter(|bytes| *bytes > 0).unwrap_or(u32::MAX);
            match parsed {
                Ok((_, packet)) => match packet.data.get(..packet.origlen.min(snap_bytes) as usize) {
                    Some(captured) => count(section, sink, 0, captured, packet.origlen),
                    None => sink.skip(Skip::BadRecord),
                },
                Err(_) => sink.skip(Skip::BadRecord),
            }
            Ok(())
        }
        OLD_PACKET => {
            let interface = u32::from(section.u16_at(block, 8));
            let (captured, original) = (section.u32_at(block, 20), section.u32_at(block, 24));
            let data = &block[28..block.len() - 4];
            match data.get(..captured as usize) {
                Some(data) => count(section, sink, interface, data, original),
                None => sink.skip(Skip::BadRecord),
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn count(section: &Section, sink: &mut impl Sink, interface: u32, captured: &[u8], original_bytes: u32) {
    match section.interfaces.get(interface as usize) {
        Some(interface) => sink.packet(interface.link, captured, original_bytes.into()),
        None => sink.skip(Skip::UnknownInterface),
    }
}
