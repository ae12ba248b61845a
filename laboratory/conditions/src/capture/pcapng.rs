//! The pcapng format: blocks that begin and end with their length, in sections of their own byte order.

use super::stream::Stream;
use super::{At, Fault, MOST_RECORD_BYTES, Skip, Tally};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    parse_enhancedpacketblock_be, parse_enhancedpacketblock_le, parse_interfacedescriptionblock_be,
    parse_interfacedescriptionblock_le, parse_sectionheaderblock, parse_simplepacketblock_be,
    parse_simplepacketblock_le,
};
use std::io::Read;

/// The type of a section header, the same in both byte orders.
pub(super) const SECTION_MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// The packet block of early drafts.
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// More interfaces than any machine has: a bound on memory, not on captures.
const MOST_INTERFACES: usize = 1 << 20;

struct Interface {
    link: u32,
    /// 0 for no limit.
    snap_bytes: u32,
}

/// What holds within a section.
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

    /// Whether the options from `at` to the block's end stay within it.
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

/// Reads a file whose first four bytes have been taken from the stream.
pub(super) fn read(stream: &mut Stream<impl Read>, magic: Vec<u8>, tally: &mut Tally) -> Result<(), At> {
    let mut section = Section { big_endian: false, interfaces: Vec::new() };
    let mut block = magic;
    let mut start = 0;
    loop {
        if !next_block(stream, &mut block, start, &mut section)? {
            // Cut short: in the first header there is nothing to use, later there may be.
            if start == 0 {
                let need = if block.len() < 12 { 28 } else { section.u32_at(&block, 4).into() };
                return Err((0, Fault::HeaderCut { have: stream.offset(), need }));
            }
            tally.skip(Skip::CutShort);
            return Ok(());
        }
        if !block.is_empty() {
            handle(&block, start, &mut section, tally)?;
        }
        start = stream.offset();
        block.clear();
        if !stream.append(&mut block, 4)? {
            if !block.is_empty() {
                tally.skip(Skip::CutShort);
            }
            return Ok(());
        }
    }
}

/// Completes the block whose type is in `block`, with its frame checked; leaves `block` empty where its type does
/// not matter here. False if the file ends in it.
fn next_block(
    stream: &mut Stream<impl Read>,
    block: &mut Vec<u8>,
    start: u64,
    section: &mut Section,
) -> Result<bool, At> {
    let damaged = |reason: String| Err((start, Fault::Damaged(reason)));
    if !stream.append(block, 4)? {
        return Ok(false);
    }
    let kind = section.u32_at(block, 0);
    if kind == SECTION {
        if !stream.append(block, 4)? {
            return Ok(false);
        }
        section.big_endian = false;
        if section.u32_at(block, 8) != BYTE_ORDER_MAGIC {
            section.big_endian = true;
            if section.u32_at(block, 8) != BYTE_ORDER_MAGIC {
                return damaged("a section header without its byte-order mark".to_owned());
            }
        }
    }
    let len = section.u32_at(block, 4);
    let least = match kind {
        SECTION => 28,
        INTERFACE => 20,
        OLD_PACKET | ENHANCED_PACKET => 32,
        SIMPLE_PACKET => 16,
        _ => 12,
    };
    if len < least || !len.is_multiple_of(4) {
        return damaged(format!("a block of type {kind:#x} with an impossible length of {len} bytes"));
    }
    let len_at_end = if least > 12 {
        if len > MOST_RECORD_BYTES {
            return damaged(format!("a block of type {kind:#x} with an impossible length of {len} bytes"));
        }
        if !stream.append(block, len as usize - block.len())? {
            return Ok(false);
        }
        section.u32_at(block, block.len() - 4)
    } else {
        block.clear();
        let mut end = Vec::new();
        if !stream.skip(u64::from(len) - 12)? || !stream.append(&mut end, 4)? {
            return Ok(false);
        }
        section.u32_at(&end, 0)
    };
    if len_at_end != len {
        return damaged(format!(
            "a block that is {len} bytes long at its beginning and {len_at_end} at its end"
        ));
    }
    Ok(true)
}

/// Uses a whole block. Its length is within its type's bounds and true.
fn handle(block: &[u8], start: u64, section: &mut Section, tally: &mut Tally) -> Result<(), At> {
    let damaged = |reason: String| Err((start, Fault::Damaged(reason)));
    match section.u32_at(block, 0) {
        SECTION => {
            section.interfaces.clear();
            match parse_sectionheaderblock(block) {
                Ok((_, header)) if header.major_version != 1 => damaged(format!(
                    "a section of version {}.{}, not 1",
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
                    count(section, tally, packet.if_id, packet.packet_data(), packet.origlen);
                }
                _ => tally.skip(Skip::BadRecord),
            }
            Ok(())
        }
        SIMPLE_PACKET => {
            let parsed = if section.big_endian {
                parse_simplepacketblock_be(block)
            } else {
                parse_simplepacketblock_le(block)
            };
            // A simple packet belongs to interface 0 and was captured up to that one's snap length.
            let snap_bytes = section.interfaces.first().map(|interface| interface.snap_bytes);
            let snap_bytes = snap_bytes.filter(|bytes| *bytes > 0).unwrap_or(u32::MAX);
            match parsed {
                Ok((_, packet)) => match packet.data.get(..packet.origlen.min(snap_bytes) as usize) {
                    Some(captured) => count(section, tally, 0, captured, packet.origlen),
                    None => tally.skip(Skip::BadRecord),
                },
                Err(_) => tally.skip(Skip::BadRecord),
            }
            Ok(())
        }
        OLD_PACKET => {
            let interface = u32::from(section.u16_at(block, 8));
            let (captured, original) = (section.u32_at(block, 20), section.u32_at(block, 24));
            let data = &block[28..block.len() - 4];
            match data.get(..captured as usize) {
                Some(data) => count(section, tally, interface, data, original),
                None => tally.skip(Skip::BadRecord),
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn count(section: &Section, tally: &mut Tally, interface: u32, captured: &[u8], original_bytes: u32) {
    match section.interfaces.get(interface as usize) {
        Some(interface) => tally.packet(interface.link, captured, original_bytes.into()),
        None => tally.skip(Skip::UnknownInterface),
    }
}
