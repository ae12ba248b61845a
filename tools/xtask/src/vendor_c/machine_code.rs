//! Instructions that older assemblers refuse, written as their bytes: the object that an assembler has made
//! of the source is walked beside it.
//!
//! GNU as learnt AVX-512 VNNI in 2018; Clang until version 6 takes no AVX-512 instruction at all unless it is
//! told to by options. So everything beyond AVX2 is written as bytes.

use iced_x86::{CpuidFeature, Decoder, DecoderOptions, EncodingKind, Instruction};
use object::read::{Object, ObjectSection, ObjectSymbol, RelocationTarget};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

/// What the instructions of a text may need: all that assemblers of 2016 know without options. What is not
/// among it is written as bytes.
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

/// The source with bytes in the place of instructions that are not [`KNOWN`]; `object` is what an assembler
/// has made of it.
///
/// # Errors
/// The two are not of the same code, or the source has something between instructions that this module does
/// not know.
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

/// Whether two objects have the same code, and the linker puts the same into it.
///
/// # Errors
/// One of them is no object.
pub(super) fn is_same_code(one: &[u8], other: &[u8]) -> io::Result<bool> {
    Ok(sections(one)? == sections(other)?)
}

/// The symbols that an object needs from others.
///
/// # Errors
/// Not an object.
pub(super) fn needs(object: &[u8]) -> io::Result<BTreeSet<String>> {
    let object = object::File::parse(object).map_err(io::Error::other)?;
    let undefined = object.symbols().filter(|symbol| symbol.is_undefined());
    let names = undefined.map(|symbol| symbol.name().map(str::to_owned).map_err(io::Error::other));
    names.filter(|name| !matches!(name, Ok(name) if name.is_empty())).collect()
}

/// How far the sections of an object have been walked.
struct Walk {
    sections: HashMap<String, Section>,
}

#[derive(PartialEq, Eq)]
struct Section {
    bytes: Vec<u8>,
    /// Where the linker puts something in, which symbol with which addend.
    relocated: BTreeMap<usize, (String, i64)>,
    at: usize,
}

/// The sections of an object that have code.
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
                    // A section's own symbol has no name.
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

    /// Walks to the next multiple of 2^`power`.
    fn align(&mut self, section: &str, power: u32) -> io::Result<()> {
        let section = self.section(section)?;
        section.at = section.at.next_multiple_of(1 << power);
        Ok(())
    }

    /// Walks over the instruction that `text` writes in the section. The answer is what to write instead, if
    /// anything.
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
        // The two have not got out of step: 4 letters are enough, and all that names of one instruction
        // share.
        let mnemonic = format!("{:?}", instruction.mnemonic()).to_lowercase();
        if text.get(..4) != mnemonic.get(..4) {
            return Err(wrong(&format!("the object has {mnemonic} there")));
        }
        let bytes = &code.bytes[begin..end];
        let comment = format!("\t/* {} */", text.replace('\t', " "));
        let Some((&place, _)) = code.relocated.range(begin..end).next() else {
            return Ok(Some(format!("\t.byte\t{}{comment}", listed(bytes))));
        };
        // A displacement from the end of the instruction.
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
    /// A section has been walked to another place than its end.
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
