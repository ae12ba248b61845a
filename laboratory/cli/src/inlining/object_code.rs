//! Classifies the machine code of every probe in an object file.
//!
//! Nothing is run. A function is a **call** if control leaves it other than by returning (a tail call is a
//! jump), **rep** if it contains a repeated string move or store, a **loop** if it jumps back within itself,
//! and **inlined** otherwise.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionIndex, SymbolKind};
use std::collections::BTreeMap;

/// How a copy or fill of constant size was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lowering {
    /// Straight-line code.
    Inlined,
    /// Inlined code that jumps back.
    Loop,
    /// A string instruction with a `rep` prefix.
    Rep,
    /// A call, or a jump that ends the function.
    Call,
}

/// Why an object file cannot be classified.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// It is not an object file.
    #[error("its output is not an object file: {0}")]
    NotAnObject(#[from] object::Error),
    /// It is for another architecture.
    #[error("its output is for {0:?}, not for x86")]
    OtherArchitecture(Architecture),
    /// Invalid machine code.
    #[error("'{symbol}': invalid instruction at offset {offset:#x}")]
    Undecodable {
        /// The function.
        symbol: String,
        /// The offset in bytes from the function's start.
        offset: u64,
    },
    /// A function that neither stores nor calls.
    #[error("'{symbol}' stores nothing and calls nothing")]
    Idle {
        /// The function.
        symbol: String,
    },
}

/// The machine code of a section, and the addresses of its relocations.
struct Section<'a> {
    bytes: &'a [u8],
    address: u64,
    relocated: Vec<u64>,
}

/// Classifies every function whose name begins with `prefix`.
///
/// # Errors
/// If the file is not an x86 object, or its code cannot be that of the probes.
pub fn read(file: &[u8], prefix: &str) -> Result<BTreeMap<String, Lowering>, ObjectError> {
    let file = object::File::parse(file)?;
    let bitness = match file.architecture() {
        Architecture::X86_64 => 64,
        Architecture::I386 => 32,
        other => return Err(ObjectError::OtherArchitecture(other)),
    };
    let mut symbols: Vec<(usize, u64, u64, String)> = file
        .symbols()
        .filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text)
        .filter_map(|symbol| {
            let name = symbol.name().ok()?;
            Some((symbol.section_index()?.0, symbol.address(), symbol.size(), name.to_owned()))
        })
        .collect();
    symbols.sort_unstable();

    let mut sections: BTreeMap<usize, Section<'_>> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (place, (index, address, size, name)) in symbols.iter().enumerate() {
        // Mach-O puts an underscore before every name.
        let Some(name) = [name.as_str(), name.strip_prefix('_').unwrap_or(name)]
            .into_iter()
            .find(|name| name.starts_with(prefix))
        else {
            continue;
        };
        let section = match sections.entry(*index) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(empty) => {
                let section = file.section_by_index(SectionIndex(*index))?;
                let mut relocated: Vec<u64> = section.relocations().map(|(offset, _)| offset).collect();
                relocated.sort_unstable();
                empty.insert(Section { bytes: section.data()?, address: section.address(), relocated })
            }
        };
        // Without a size in the file, a function extends to the next symbol.
        let next = symbols[place + 1..].iter().find(|(other, at, ..)| other == index && at > address);
        let end_of_section = section.address + section.bytes.len() as u64;
        let end = match size {
            0 => next.map_or(end_of_section, |(_, at, ..)| *at),
            size => address.saturating_add(*size).min(end_of_section),
        };
        found.insert(name.to_owned(), lowering(section, bitness, *address, end, name)?);
    }
    Ok(found)
}

/// Classifies the function between two addresses.
fn lowering(
    section: &Section<'_>,
    bitness: u32,
    begin: u64,
    end: u64,
    symbol: &str,
) -> Result<Lowering, ObjectError> {
    let from = begin.saturating_sub(section.address) as usize;
    let to = end.saturating_sub(section.address) as usize;
    let bytes = section.bytes.get(from..to).unwrap_or_default();
    let mut found = None;
    for instruction in Decoder::with_ip(bitness, bytes, begin, DecoderOptions::NONE).iter() {
        if instruction.is_invalid() {
            let offset = instruction.ip() - begin;
            return Err(ObjectError::Undecodable { symbol: symbol.to_owned(), offset });
        }
        found = found.max(evidence(&instruction, section, begin..end));
    }
    found.ok_or_else(|| ObjectError::Idle { symbol: symbol.to_owned() })
}

/// What an instruction reveals about its function.
fn evidence(
    instruction: &Instruction,
    section: &Section<'_>,
    function: std::ops::Range<u64>,
) -> Option<Lowering> {
    match instruction.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall | FlowControl::IndirectBranch => Some(Lowering::Call),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            let begin = instruction.ip() - section.address;
            let first = section.relocated.partition_point(|offset| *offset < begin);
            let patched =
                section.relocated.get(first).is_some_and(|at| *at < begin + instruction.len() as u64);
            let target = instruction.near_branch_target();
            match () {
                () if patched || !function.contains(&target) => Some(Lowering::Call),
                () if target <= instruction.ip() => Some(Lowering::Loop),
                () => None,
            }
        }
        _ if is_repeated(instruction) => Some(Lowering::Rep),
        _ if matches!(instruction.op0_kind(), OpKind::Memory | OpKind::MemoryESRDI | OpKind::MemoryESEDI) => {
            Some(Lowering::Inlined)
        }
        _ => None,
    }
}

fn is_repeated(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let string = matches!(
        instruction.mnemonic(),
        M::Movsb | M::Movsw | M::Movsd | M::Movsq | M::Stosb | M::Stosw | M::Stosd | M::Stosq
    );
    string && instruction.is_string_instruction() && instruction.has_rep_prefix()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classifies a lone function at address 0 with relocations at these offsets.
    fn of(bytes: &[u8], relocated: &[u64]) -> Result<Lowering, ObjectError> {
        let section = Section { bytes, address: 0, relocated: relocated.to_vec() };
        lowering(&section, 64, 0, bytes.len() as u64, "f")
    }

    #[test]
    fn hand_assembled_code_is_classified() {
        let store = [0x88, 0x07, 0xc3]; // mov [rdi], al; ret
        assert!(matches!(of(&store, &[]), Ok(Lowering::Inlined)));
        let rep = [0xf3, 0xa4, 0xc3]; // rep movsb; ret
        assert!(matches!(of(&rep, &[]), Ok(Lowering::Rep)));
        let single = [0xa4, 0xc3]; // movsb; ret
        assert!(matches!(of(&single, &[]), Ok(Lowering::Inlined)));
        let back = [0x88, 0x07, 0xff, 0xc9, 0x75, 0xfa, 0xc3]; // mov [rdi], al; dec ecx; jnz -6; ret
        assert!(matches!(of(&back, &[]), Ok(Lowering::Loop)));
        let call = [0xe8, 0, 0, 0, 0, 0xc3];
        assert!(matches!(of(&call, &[1]), Ok(Lowering::Call)));
        let tail = [0xe9, 0, 0, 0, 0];
        assert!(matches!(of(&tail, &[1]), Ok(Lowering::Call)));
        let far = [0xe9, 0, 1, 0, 0];
        assert!(
            matches!(of(&far, &[]), Ok(Lowering::Call)),
            "a jump out of the function, without a relocation"
        );
        let through_table = [0xff, 0x25, 0, 0, 0, 0]; // jmp [rip]
        assert!(matches!(of(&through_table, &[2]), Ok(Lowering::Call)));
    }

    #[test]
    fn movsd_on_vectors_is_not_a_string_instruction() {
        let scalar_load = [0xf2, 0x0f, 0x10, 0x06, 0xf2, 0x0f, 0x11, 0x07, 0xc3]; // movsd through xmm0; ret
        assert!(matches!(of(&scalar_load, &[]), Ok(Lowering::Inlined)));
    }

    #[test]
    fn impossible_code_is_an_error() {
        assert!(matches!(of(&[0xc3], &[]), Err(ObjectError::Idle { .. })));
        assert!(matches!(of(&[0x88, 0x07, 0x06], &[]), Err(ObjectError::Undecodable { offset: 2, .. })));
        assert!(matches!(read(b"garbage", "probe_"), Err(ObjectError::NotAnObject(_))));
    }
}
