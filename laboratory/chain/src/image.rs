//! Sources of machine code: hexadecimal bytes, an object file, or the file of the running program.

use crate::error::ChainError;
#[cfg(target_os = "linux")]
use object::ObjectSegment;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::collections::HashMap;
#[cfg(target_os = "linux")]
use std::ops::Range;
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

/// The largest amount of code that is accepted, in bytes.
pub const MOST_BYTES: usize = 64 << 10;

/// A section of code at its address.
#[derive(Clone, Debug)]
struct Section {
    address: u64,
    bytes: Vec<u8>,
}

/// Code with an entry point.
#[derive(Clone, Debug)]
pub struct Image {
    sections: Arc<[Section]>,
    /// Addresses of bytes that a linker has yet to fill in.
    relocated: BTreeSet<u64>,
    entry: u64,
}

/// In 64-bit relocatable files the addresses of every section begin at 0; this distance keeps them apart.
const SECTION_STEP: u64 = 1 << 32;

impl Image {
    /// Parses bytes such as `48 03 17 c3`; white space, commas and `0x` are ignored.
    ///
    /// # Errors
    /// An invalid character, an odd number of digits, or no or too many bytes.
    pub fn from_hex(text: &str) -> Result<Image, ChainError> {
        let mut digits = Vec::new();
        let cleaned = text.replace("0x", "  ").replace("\\x", "  ");
        for (index, found) in cleaned.chars().enumerate() {
            match found.to_digit(16) {
                Some(digit) => digits.push(digit as u8),
                None if found.is_whitespace() || found == ',' => {}
                None => return Err(ChainError::Hex { found, position: index + 1 }),
            }
        }
        if digits.len() % 2 != 0 {
            return Err(ChainError::HalfByte { digits: digits.len() });
        }
        Image::from_bytes(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
    }

    /// Code from bytes; the entry point is the first.
    ///
    /// # Errors
    /// No bytes, or too many.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Image, ChainError> {
        match bytes.len() {
            0 => Err(ChainError::Empty),
            len if len > MOST_BYTES => {
                Err(ChainError::TooLong { offset: MOST_BYTES as u64, limit: MOST_BYTES })
            }
            _ => Ok(Image {
                sections: Arc::new([Section { address: 0, bytes }]),
                relocated: BTreeSet::new(),
                entry: 0,
            }),
        }
    }

    /// The function called `symbol` in an object file, a shared object or a program.
    ///
    /// # Errors
    /// An unreadable file, another architecture, or an unknown function.
    pub fn from_object(path: &Path, symbol: &str) -> Result<Image, ChainError> {
        let file = path.display().to_string();
        let unreadable = |reason: String| ChainError::Object { file: file.clone(), reason };
        let data = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let object = object::File::parse(&*data)
            .map_err(|error| unreadable(format!("not a readable object file ({error})")))?;
        if object.architecture() != object::Architecture::X86_64 {
            let found = format!("{:?}", object.architecture());
            return Err(ChainError::Architecture { file, found });
        }
        let is_relocatable = object.kind() == object::ObjectKind::Relocatable;
        let place = |section: Option<object::SectionIndex>, address: u64| match section {
            Some(section) if is_relocatable => address + SECTION_STEP * (section.0 as u64 + 1),
            _ => address,
        };
        let functions = || {
            let symbols = object.symbols().chain(object.dynamic_symbols());
            symbols.filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text)
        };
        let Some(found) = functions().find(|known| known.name() == Ok(symbol)) else {
            let known: BTreeSet<&str> = functions().filter_map(|known| known.name().ok()).collect();
            let mut known: Vec<&str> = known.into_iter().collect();
            known.sort_by_key(|name| (!name.contains(symbol), name.len().abs_diff(symbol.len())));
            let more = if known.len() > 8 { ", ..." } else { "" };
            let known = match known.is_empty() {
                true => "none".to_owned(),
                false => known.into_iter().take(8).collect::<Vec<_>>().join(", ") + more,
            };
            return Err(ChainError::Symbol { file, symbol: symbol.to_owned(), known });
        };
        if found.size() > MOST_BYTES as u64 {
            return Err(ChainError::TooLong { offset: MOST_BYTES as u64, limit: MOST_BYTES });
        }
        let entry = place(found.section_index(), found.address());
        let (mut sections, mut relocated) = (Vec::new(), BTreeSet::new());
        for section in object.sections().filter(|section| section.kind() == object::SectionKind::Text) {
            let address = place(Some(section.index()), section.address());
            if is_relocatable {
                let at = |(offset, _): (u64, _)| address + offset;
                relocated.extend(section.relocations().map(at));
            }
            let bytes = section.data().map_err(|error| unreadable(error.to_string()))?.to_vec();
            sections.push(Section { address, bytes });
        }
        Ok(Image { sections: sections.into(), relocated, entry })
    }

    /// The function of the running program at this address, read from the program's file.
    ///
    /// # Errors
    /// If the program's file cannot be read or the address is not in its code.
    #[cfg(target_os = "linux")]
    pub fn from_this_program(address: u64) -> Result<Image, ChainError> {
        // Cached: callers ask for hundreds of functions.
        static OWN: OnceLock<Result<Program, String>> = OnceLock::new();
        let unreadable = |reason: String| ChainError::Object { file: "this program".to_owned(), reason };
        let program =
            OWN.get_or_init(Program::read_own).as_ref().map_err(|error| unreadable(error.clone()))?;
        let mapping = mapping_of(address)
            .ok_or_else(|| unreadable(format!("{address:#x} is in no mapping of its code")))?;
        let in_file = mapping.offset + (address - mapping.start);
        let entry =
            program.address_of(in_file).ok_or_else(|| unreadable("its code is in no segment".to_owned()))?;
        if program.sizes.get(&entry).is_some_and(|size| *size > MOST_BYTES as u64) {
            return Err(ChainError::TooLong { offset: MOST_BYTES as u64, limit: MOST_BYTES });
        }
        Ok(Image { sections: Arc::clone(&program.sections), relocated: BTreeSet::new(), entry })
    }

    /// The address of the first instruction.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// Up to 15 bytes at an address; empty if there is no code.
    #[must_use]
    pub fn at(&self, address: u64) -> &[u8] {
        let found = self.sections.iter().find(|section| {
            address >= section.address && address < section.address + section.bytes.len() as u64
        });
        found.map_or(&[], |section| {
            let from = (address - section.address) as usize;
            &section.bytes[from..section.bytes.len().min(from + 15)]
        })
    }

    /// True if a linker has yet to fill in bytes between these addresses.
    #[must_use]
    pub fn is_relocated(&self, from: u64, to: u64) -> bool {
        self.relocated.range(from..to).next().is_some()
    }
}

/// The file of the running program.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Program {
    sections: Arc<[Section]>,
    /// The file range of each segment, and the address of its first byte.
    segments: Vec<(Range<u64>, u64)>,
    /// The size of each function in bytes, by address.
    sizes: HashMap<u64, u64>,
}

#[cfg(target_os = "linux")]
impl Program {
    fn read_own() -> Result<Program, String> {
        let file = std::fs::File::open("/proc/self/exe").map_err(|error| error.to_string())?;
        // Debugging information, most of the file, is not read.
        let data = object::ReadCache::new(&file);
        let object = object::File::parse(&data).map_err(|error| error.to_string())?;
        let segments = object.segments().map(|segment| {
            let (offset, len) = segment.file_range();
            (offset..offset + len, segment.address())
        });
        let mut sizes = HashMap::new();
        for symbol in object.symbols().filter(|symbol| symbol.is_definition()) {
            if symbol.kind() == SymbolKind::Text {
                sizes.entry(symbol.address()).or_insert(symbol.size());
            }
        }
        let mut sections = Vec::new();
        for section in object.sections().filter(|section| section.kind() == object::SectionKind::Text) {
            let (offset, len) = section.file_range().ok_or("a section of code is not in the file")?;
            let mut bytes = vec![0; len as usize];
            // Past the cache, which would keep a second copy.
            file.read_exact_at(&mut bytes, offset).map_err(|error| error.to_string())?;
            sections.push(Section { address: section.address(), bytes });
        }
        Ok(Program { sections: sections.into(), segments: segments.collect(), sizes })
    }

    /// The address of the byte at a file offset, from its segment.
    fn address_of(&self, in_file: u64) -> Option<u64> {
        let (part, address) = self.segments.iter().find(|(part, _)| part.contains(&in_file))?;
        Some(address + (in_file - part.start))
    }
}

#[cfg(target_os = "linux")]
struct Mapping {
    start: u64,
    offset: u64,
}

/// The executable mapping of this program's file that contains the address.
#[cfg(target_os = "linux")]
fn mapping_of(address: u64) -> Option<Mapping> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let own = std::fs::read_link("/proc/self/exe").ok()?;
    std::fs::read_to_string("/proc/self/maps").ok()?.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let (start, end) = (hex(start)?, hex(end)?);
        let (_rights, offset) = (words.next()?, hex(words.next()?)?);
        let file = line.find('/').map(|at| Path::new(&line[at..]));
        ((start..end).contains(&address) && file == Some(&own)).then_some(Mapping { start, offset })
    })
}
