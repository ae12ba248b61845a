//! Decodes all instructions that direct branches reach from the entry point.

use crate::error::ChainError;
use crate::image::{Image, MOST_BYTES};
use iced_x86::{Decoder, DecoderError, DecoderOptions, FlowControl, Instruction, OpKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A place where the analysis stops although execution continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "kind", content = "offset", rename_all = "snake_case")]
pub enum Stop {
    /// A jump to an address computed at run time.
    IndirectJump(i64),
    /// A call of an address computed at run time.
    IndirectCall(i64),
    /// A call of another function.
    Call(i64),
    /// A jump whose target a linker has yet to fill in.
    ExternalJump(i64),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::IndirectJump(at) => {
                write!(f, "offset {at:#x}: an indirect jump; the code is analysed up to it")
            }
            Stop::IndirectCall(at) => {
                write!(f, "offset {at:#x}: an indirect call; the callee is not analysed")
            }
            Stop::Call(at) => write!(f, "offset {at:#x}: a call; the callee is not analysed"),
            Stop::ExternalJump(at) => {
                write!(
                    f,
                    "offset {at:#x}: a jump to a function of another object; the code is analysed up to it"
                )
            }
        }
    }
}

/// The instructions of a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The address of the first instruction.
    pub entry: u64,
    /// The instructions by address; overlapping ones are separate.
    pub instructions: Vec<Instruction>,
    /// The places where the analysis stops.
    pub stops: Vec<Stop>,
}

impl Function {
    /// An address relative to the entry.
    #[must_use]
    pub fn offset(&self, address: u64) -> i64 {
        address.wrapping_sub(self.entry) as i64
    }

    /// An instruction as text; branch targets are offsets from the entry.
    #[must_use]
    pub fn text(&self, index: usize) -> String {
        let mut instruction = self.instructions[index];
        let is_near = matches!(instruction.op0_kind(), OpKind::NearBranch64 | OpKind::NearBranch32);
        if is_near && instruction.op_count() > 0 {
            instruction.set_near_branch64(instruction.near_branch_target().wrapping_sub(self.entry));
        }
        crate::text::instruction(&instruction)
    }

    /// The index of the instruction at an address.
    #[must_use]
    pub fn index_of(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, Instruction::ip).ok()
    }
}

/// Decodes all reachable instructions.
///
/// # Errors
/// Invalid instructions, code without an end, or too much code, each with the offset.
pub fn follow(image: &Image) -> Result<Function, ChainError> {
    let entry = image.entry();
    let mut found: BTreeMap<u64, Instruction> = BTreeMap::new();
    let mut stops = Vec::new();
    let mut open = vec![(entry, entry)];
    let (mut bytes, mut has_end) = (0, false);
    while let Some((address, from)) = open.pop() {
        if found.contains_key(&address) {
            continue;
        }
        let instruction = decode(image, address, from)?;
        bytes += instruction.len();
        let offset = address.wrapping_sub(entry);
        if bytes > MOST_BYTES {
            return Err(ChainError::TooLong { offset, limit: MOST_BYTES });
        }
        let (next, target) = (instruction.next_ip(), instruction.near_branch_target());
        let at = offset as i64;
        let is_external = image.is_relocated(address, next);
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::XbeginXabortXend => open.push((next, address)),
            FlowControl::UnconditionalBranch if is_external => {
                stops.push(Stop::ExternalJump(at));
                has_end = true;
            }
            FlowControl::UnconditionalBranch => open.push((target, address)),
            FlowControl::ConditionalBranch => open.extend([(target, address), (next, address)]),
            FlowControl::Call => {
                stops.push(Stop::Call(at));
                open.push((next, address));
            }
            FlowControl::IndirectCall => {
                stops.push(Stop::IndirectCall(at));
                open.push((next, address));
            }
            FlowControl::IndirectBranch => {
                stops.push(Stop::IndirectJump(at));
                has_end = true;
            }
            FlowControl::Return | FlowControl::Interrupt | FlowControl::Exception => has_end = true,
        }
        found.insert(address, instruction);
    }
    let last = found.keys().next_back().copied().unwrap_or(entry);
    if !has_end {
        return Err(ChainError::Endless { offset: last.wrapping_sub(entry) });
    }
    Ok(Function { entry, instructions: found.into_values().collect(), stops })
}

fn decode(image: &Image, address: u64, from: u64) -> Result<Instruction, ChainError> {
    let entry = image.entry();
    let bytes = image.at(address);
    let offset = address.wrapping_sub(entry);
    if bytes.is_empty() {
        // The code either runs past its last byte or jumps outside.
        let falls = address.wrapping_sub(from) <= 15 && !image.at(from).is_empty();
        return Err(match falls {
            true => ChainError::RunsOut { offset },
            false => ChainError::JumpsOut { offset: from.wrapping_sub(entry), target: offset as i64 },
        });
    }
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        // It is cut off if more bytes would make it an instruction.
        let mut padded = [0; 15];
        padded[..bytes.len()].copy_from_slice(bytes);
        let is_cut = decoder.last_error() == DecoderError::NoMoreBytes
            && !Decoder::with_ip(64, &padded, address, DecoderOptions::NONE).decode().is_invalid();
        if is_cut {
            return Err(ChainError::RunsOut { offset: offset + bytes.len() as u64 });
        }
        let bytes: Vec<String> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        return Err(ChainError::NotAnInstruction { offset, bytes: bytes.join(" ") });
    }
    Ok(instruction)
}
