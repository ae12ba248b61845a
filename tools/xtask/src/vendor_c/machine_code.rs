//! Writes instructions that older assemblers reject as bytes, taken from the object that an assembler made of
//! the source.
//!
//! GNU as has supported AVX-512 VNNI only since 2018, and Clang up to version 6 accepts AVX-512 instructions
//! only with options. Everything beyond AVX2 is therefore written as bytes.

use iced_x86::{CpuidFeature, Decoder, DecoderOptions, EncodingKind, Instruction};
use object::read::{Object, ObjectSection, ObjectSymbol, RelocationTarget};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

/// The CPU features whose instructions stay as text: all that assemblers of 2016 accept without options.
/// Other instructions are written as bytes.
const KNOWN: [CpuidFeature; 30] = [
    CpuidFeature::INTEL8086,
    CpuidFeature::INTEL186,
    CpuidFeature::INTEL286,
    CpuidFeature::INTEL386,
    CpuidFeature::INTEL486,
    CpuidFeature::X64,
    CpuidFeature::FPU,
    CpuidFeature::FPU287,
    CpuidFeature::FPU387,
    CpuidFeature::CPUID,
    CpuidFeature::CMOV,
    CpuidFeature::CX8,
    CpuidFeature::MULTIBYTENOP,
    CpuidFeature::PAUSE,
    CpuidFeature::POPCNT,
    CpuidFeature::LZCNT,
    CpuidFeature::BMI1,
    CpuidFeature::BMI2,
    CpuidFeature::ADX,
    CpuidFeature::PREFETCHW,
    CpuidFeature::CLFSH,
    CpuidFeature::XSAVE,
    CpuidFeature::SSE,
    CpuidFeature::SSE2,
    CpuidFeature::SSE3,
    CpuidFeature::SSSE3,
    CpuidFeature::SSE4_1,
    CpuidFeature::SSE4_2,
    CpuidFeature::AVX,
    CpuidFeature::AVX2,
];

/// The source with bytes in place of instructions beyond [`KNOWN`]; `object` is an assembler's output for it.
///
/// # Errors
/// If the two do not match, or the source has anything between instructions that this module does not know.
pub(super) fn in_bytes(source: &str, object: &[u8]) -> io::Result<String> {
    let mut code = Walk { sections: sections(object)? };
    let (mut out, mut section) = (String::with_capacity(source.len()), String::new());
    for line in source.lines() {
        let is_code = section.starts_with(".text");
        let mut bytes = None;
        match line.strip_prefix('\t') {
            Some(rest) if rest.starts_with('.') => {
                let (name, arguments) = rest.split_once('\t').unwrap_or((rest, ""));
                let first = arguments.split(',').next().unwrap_or_default();
                match name {
                    ".section" => first.clone_into(&mut section),
                    ".text" => ".text".clone_into(&mut section),
                    ".p2align" if is_code => {
                        let power = first.parse().map_err(|_| io::Error::other(line.to_owned()))?;
                        code.align(&section, power)?;
                    }
                    ".globl" | ".type" | ".size" => {}
                    name if !is_code || name.starts_with(".cfi_") => {}
                    _ => return Err(io::Error::other(format!("section {section}: `{rest}` in code"))),
                }
            }
            Some(instruction) if is_code => bytes = code.instruction(&section, instruction)?,
            _ => {}
        }
        out.push_str(bytes.as_deref().unwrap_or(line));
        out.push('\n');
    }
    code.is_walked()?;
    Ok(out)
}

/// Whether two objects have the same code and relocations.
///
/// # Errors
/// If one of them is not an object.
pub(super) fn is_same_code(one: &[u8], other: &[u8]) -> io::Result<bool> {
    Ok(sections(one)? == sections(other)?)
}

/// The undefined symbols of an object.
///
/// # Errors
/// If it is not an object.
pub(super) fn needs(object: &[u8]) -> io::Result<BTreeSet<String>> {
    let object = object::File::parse(object).map_err(io::Error::other)?;
    let undefined = object.symbols().filter(|symbol| symbol.is_undefined());
    let names = undefined.map(|symbol| symbol.name().map(str::to_owned).map_err(io::Error::other));
    names.filter(|name| !matches!(name, Ok(name) if name.is_empty())).collect()
}

/// The progress in the sections of an object.
struct Walk {
    sections: HashMap<String, Section>,
}

#[derive(PartialEq, Eq)]
struct Section {
    bytes: Vec<u8>,
    /// The relocations by offset: symbol and addend.
    relocated: BTreeMap<usize, (String, i64)>,
    at: usize,
}

/// The code sections of an object.
fn sections(object: &[u8]) -> io::Result<HashMap<String, Section>> {
    let object = object::File::parse(object).map_err(io::Error::other)?;
    let mut sections = HashMap::new();
    for section in object.sections().filter(|section| section.kind() == object::SectionKind::Text) {
        let name = section.name().map_err(io::Error::other)?.to_owned();
        let bytes = section.data().map_err(io::Error::other)?.to_vec();
        let mut relocated = BTreeMap::new();
        for (at, relocation) in section.relocations() {
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(symbol) => {
                    let symbol = object.symbol_by_index(symbol).map_err(io::Error::other)?;
                    // The symbol of a section has no name.
                    format!("{:?} {}", symbol.section_index(), symbol.name().map_err(io::Error::other)?)
                }
                target => format!("{target:?}"),
            };
            let at = usize::try_from(at).map_err(io::Error::other)?;
            relocated.insert(at, (symbol, relocation.addend()));
        }
        if sections.insert(name.clone(), Section { bytes, relocated, at: 0 }).is_some() {
            return Err(io::Error::other(format!("two sections are named {name}")));
        }
    }
    Ok(sections)
}

impl Walk {
    fn section(&mut self, name: &str) -> io::Result<&mut Section> {
        let section = self.sections.get_mut(name);
        section.ok_or_else(|| io::Error::other(format!("the object has no code in a section {name}")))
    }

    /// Advances to the next multiple of 2^`power`.
    fn align(&mut self, section: &str, power: u32) -> io::Result<()> {
        let section = self.section(section)?;
        section.at = section.at.next_multiple_of(1 << power);
        Ok(())
    }

    /// Advances over the instruction `text` in the section. Returns its replacement, if it needs one.
    fn instruction(&mut self, section: &str, text: &str) -> io::Result<Option<String>> {
        let wrong = |what: &str| io::Error::other(format!("section {section}: `{text}`: {what}"));
        let code = self.section(section)?;
        let bytes = code.bytes.get(code.at..).unwrap_or_default();
        let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(wrong("the object has no instruction there"));
        }
        let (begin, end) = (code.at, code.at + instruction.len());
        code.at = end;
        if !is_written_as_bytes(&instruction) {
            return Ok(None);
        }
        // Checks that the two are in step. Four letters suffice, and are all that the names of one
        // instruction share.
        let mnemonic = format!("{:?}", instruction.mnemonic()).to_lowercase();
        if text.get(..4) != mnemonic.get(..4) {
            return Err(wrong(&format!("the object has {mnemonic} there")));
        }
        let bytes = &code.bytes[begin..end];
        let comment = format!("\t/* {} */", text.replace('\t', " "));
        let Some((&place, _)) = code.relocated.range(begin..end).next() else {
            return Ok(Some(format!("\t.byte\t{}{comment}", listed(bytes))));
        };
        // The displacement is relative to the end of the instruction.
        let operand = text.split_once("(%rip)").map(|(before, _)| before);
        let symbol = operand.and_then(|before| before.rsplit([' ', '\t', ',']).next());
        let symbol = symbol.ok_or_else(|| wrong("relocated, but not relative to the instruction pointer"))?;
        let (before, behind) = (&bytes[..place - begin], &bytes[place - begin + 4..]);
        let mut lines =
            format!("\t.byte\t{}{comment}\n\t.long\t{symbol} - . - {}", listed(before), end - place);
        if !behind.is_empty() {
            lines.push_str(&format!("\n\t.byte\t{}", listed(behind)));
        }
        Ok(Some(lines))
    }

    /// # Errors
    /// If the end of a section was not reached exactly.
    fn is_walked(&self) -> io::Result<()> {
        match self.sections.iter().find(|(_, section)| section.at != section.bytes.len()) {
            None => Ok(()),
            Some((name, section)) => Err(io::Error::other(format!(
                "section {name}: {} bytes in the source, {} in the object",
                section.at,
                section.bytes.len()
            ))),
        }
    }
}

fn is_written_as_bytes(instruction: &Instruction) -> bool {
    instruction.encoding() == EncodingKind::EVEX
        || instruction.cpuid_features().iter().any(|feature| !KNOWN.contains(feature))
}

fn listed(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:#04x}")).collect::<Vec<_>>().join(",")
}
