//! Parses a profile in a `const fn`, so that the same code reads built-in files at compile time and others at
//! run time.

use super::decision::{Decision, Decisions};
use super::error::{Fault, ParseError};
use super::reader::{Line, Reader, Value, ValueKind, attempt};
use super::{Models, NAME_MOST_BYTES, Profile, VERSION};
use crate::dispatch::Function;
use crate::word::Word;

/// The sections of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Section {
    /// Everything before the first `[section]`.
    Top,
    Cpu,
    Kernels,
    Decisions,
}

impl Section {
    const ALL: [Section; 4] = [Section::Top, Section::Cpu, Section::Kernels, Section::Decisions];

    /// The name in the file; for the top section, a name for messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Section::Top => "the beginning",
            Section::Cpu => "cpu",
            Section::Kernels => "kernels",
            Section::Decisions => "decisions",
        }
    }

    /// The key with this index, starting at 0; `None` after the last.
    pub(super) const fn key(self, index: usize) -> Option<&'static str> {
        const TOP: [&str; 4] = ["version", "name", "source", "run"];
        const CPU: [&str; 3] = ["vendor", "family", "models"];
        match self {
            Section::Top if index < TOP.len() => Some(TOP[index]),
            Section::Cpu if index < CPU.len() => Some(CPU[index]),
            Section::Kernels if index < Function::ALL.len() => Some(Function::ALL[index].name()),
            Section::Decisions if index < Decision::ALL.len() => Some(Decision::ALL[index].name()),
            _ => None,
        }
    }

    /// Whether the section requires the key, if `seen` are its keys, as bits.
    const fn needs(self, index: usize, seen: u32) -> bool {
        const RUN: usize = 3;
        const VENDOR: usize = 0;
        const FAMILY: usize = 1;
        const MODELS: usize = 2;
        match self {
            Section::Top => index != RUN,
            // Numbers of models are a family's.
            Section::Cpu => index == VENDOR || index == FAMILY && seen >> MODELS & 1 == 1,
            Section::Decisions => true,
            Section::Kernels => false,
        }
    }

    /// Whether every file requires the section.
    const fn is_needed(self) -> bool {
        matches!(self, Section::Top | Section::Decisions)
    }
}

/// The names of a function's kernels on all architectures, best first.
pub(crate) const fn kernel_names(function: Function) -> &'static [&'static str] {
    match function {
        Function::Zero | Function::Copy => {
            &["avx512", "avx512_branched", "avx512_prefer_256", "avx2", "sse2", "portable"]
        }
        Function::Checksum => {
            &["avx512", "avx512_branched", "avx512_merged", "avx512_prefer_256", "avx2", "adc", "portable"]
        }
        Function::CopyAndSum => &["avx512", "avx512_merged", "avx512_prefer_256", "avx2", "adc", "portable"],
    }
}

/// Parses a profile from the text of a file. It is not checked against this CPU.
///
/// # Errors
/// [`ParseError`] if the text is not a valid profile: it names the line, the word, and what is expected.
///
/// ```
/// use carryline::internals::tuning::parse;
/// assert_eq!(
///     parse("version = 2").unwrap_err().to_string(),
///     "line 1: found 2; version must be 1, the only one this library supports"
/// );
/// ```
pub const fn parse(text: &str) -> Result<Profile<'_>, ParseError> {
    let (mut reader, mut draft) = (Reader::new(text), Draft::new());
    while let Some((line, content)) = attempt!(reader.next()) {
        match content {
            Line::Section(name) => attempt!(draft.open(line, name)),
            Line::Entry { key, value } => attempt!(draft.set(Entry { line, key, value })),
        }
    }
    attempt!(draft.check(reader.line));
    Ok(draft.profile)
}

/// A partially read profile.
struct Draft<'a> {
    /// Keys not yet read have arbitrary values.
    profile: Profile<'a>,
    /// The section of the current line.
    section: Section,
    /// For each section, the line of its header; 0 if not yet seen.
    lines: [u32; Section::ALL.len()],
    /// For each section, the keys seen so far, as bits.
    seen: [u32; Section::ALL.len()],
}

/// One line, `key = value`.
#[derive(Clone, Copy)]
struct Entry<'a> {
    line: u32,
    key: &'a str,
    value: Value<'a>,
}

impl<'a> Entry<'a> {
    /// An error about the value.
    const fn wrong(self, fault: Fault) -> ParseError {
        ParseError { line: self.line, word: Word::new(self.value.text), fault }
    }

    /// The text of a single-line string; `wrong` is the requirement for the error.
    const fn string(self, wrong: &'static str) -> Result<&'a str, ParseError> {
        match self.value.kind {
            ValueKind::String(string) if !has_lines(string) => Ok(string),
            _ => Err(self.wrong(Fault::Value(wrong))),
        }
    }
}

impl<'a> Draft<'a> {
    const fn new() -> Draft<'a> {
        let profile = Profile {
            name: "",
            source: "",
            run: None,
            cpu: None,
            kernels: [None; Function::ALL.len()],
            decisions: Decisions::new([0; Decision::ALL.len()]),
        };
        let mut lines = [0; Section::ALL.len()];
        lines[Section::Top as usize] = 1;
        Draft { profile, section: Section::Top, lines, seen: [0; Section::ALL.len()] }
    }

    /// Begins a section.
    const fn open(&mut self, line: u32, name: &str) -> Result<(), ParseError> {
        let mut index = 1;
        while index < Section::ALL.len() && !is_same(Section::ALL[index].name(), name) {
            index += 1;
        }
        if index == Section::ALL.len() {
            return Err(ParseError { line, word: Word::new(name), fault: Fault::UnknownSection });
        }
        if self.lines[index] != 0 {
            return Err(ParseError { line, word: Word::new(name), fault: Fault::Repeated });
        }
        (self.section, self.lines[index]) = (Section::ALL[index], line);
        Ok(())
    }

    /// Handles an entry of the current section.
    const fn set(&mut self, entry: Entry<'a>) -> Result<(), ParseError> {
        let (section, Entry { line, key, .. }) = (self.section, entry);
        let mut index = 0;
        loop {
            match section.key(index) {
                None => {
                    let fault = Fault::UnknownKey(section);
                    return Err(ParseError { line, word: Word::new(key), fault });
                }
                Some(known) if is_same(known, key) => break,
                Some(_) => index += 1,
            }
        }
        if self.seen[section as usize] >> index & 1 == 1 {
            return Err(ParseError { line, word: Word::new(key), fault: Fault::Repeated });
        }
        self.seen[section as usize] |= 1 << index;
        match section {
            Section::Top => self.set_top(index, entry),
            Section::Cpu => self.set_cpu(index, entry),
            Section::Kernels => self.set_kernel(Function::ALL[index], entry),
            Section::Decisions => self.set_decision(Decision::ALL[index], entry),
        }
    }

    const fn set_top(&mut self, index: usize, entry: Entry<'a>) -> Result<(), ParseError> {
        const NAME: &str = "name must be a quoted single-line string of 1 to 64 bytes";
        match index {
            0 => match entry.value.kind {
                ValueKind::Number(version) if version == VERSION as u64 => {}
                _ => {
                    return Err(
                        entry.wrong(Fault::Value("version must be 1, the only one this library supports"))
                    );
                }
            },
            1 => {
                self.profile.name = attempt!(entry.string(NAME));
                if self.profile.name.is_empty() || self.profile.name.len() > NAME_MOST_BYTES {
                    return Err(entry.wrong(Fault::Value(NAME)));
                }
            }
            2 => match entry.value.kind {
                ValueKind::String(source) => self.profile.source = source,
                _ => return Err(entry.wrong(Fault::Value("source must be a quoted string"))),
            },
            _ => {
                let run = attempt!(entry.string("run must be a quoted single-line string"));
                self.profile.run = Some(run);
            }
        }
        Ok(())
    }

    const fn set_cpu(&mut self, index: usize, entry: Entry<'a>) -> Result<(), ParseError> {
        const VENDOR: &str = "vendor must be the 12 characters of vendor_id in /proc/cpuinfo";
        const FAMILY: &str = "family must be a number up to 65535";
        const MODELS: &str = "models must be the first and the last model, like [0, 15]";
        const MOST: u64 = 0xffff;
        let mut models = match self.profile.cpu {
            Some(models) => models,
            None => Models { vendor: [0; 12], family: None, models: None },
        };
        match (index, entry.value.kind) {
            (0, ValueKind::String(vendor)) if vendor.len() == 12 && is_printable(vendor) => {
                if let Some(vendor) = vendor.as_bytes().first_chunk() {
                    models.vendor = *vendor;
                }
            }
            (0, _) => return Err(entry.wrong(Fault::Value(VENDOR))),
            (1, ValueKind::Number(family @ ..=MOST)) => models.family = Some(family as u32),
            (1, _) => return Err(entry.wrong(Fault::Value(FAMILY))),
            (_, ValueKind::Pair(first, last @ ..=MOST)) if first <= last => {
                models.models = Some([first as u32, last as u32]);
            }
            _ => return Err(entry.wrong(Fault::Value(MODELS))),
        }
        self.profile.cpu = Some(models);
        Ok(())
    }

    const fn set_kernel(&mut self, function: Function, entry: Entry<'a>) -> Result<(), ParseError> {
        let names = kernel_names(function);
        let mut index = 0;
        if let ValueKind::String(wanted) = entry.value.kind {
            while index < names.len() {
                if is_same(names[index], wanted) {
                    self.profile.kernels[function as usize] = Some(names[index]);
                    return Ok(());
                }
                index += 1;
            }
        }
        Err(entry.wrong(Fault::Kernel(function)))
    }

    const fn set_decision(&mut self, decision: Decision, entry: Entry<'a>) -> Result<(), ParseError> {
        let bounds = decision.bounds();
        let bytes = match (entry.value.kind, decision.word()) {
            // The bounds are of type usize, so the number fits.
            (ValueKind::Number(bytes), _)
                if *bounds.start() as u64 <= bytes && bytes <= *bounds.end() as u64 =>
            {
                bytes as usize
            }
            (ValueKind::String(string), Some((word, of_word))) if is_same(string, word) => of_word,
            _ => return Err(entry.wrong(Fault::Decision(decision))),
        };
        if let Some(decisions) = self.profile.decisions.with(decision, bytes) {
            self.profile.decisions = decisions;
        }
        Ok(())
    }

    /// Checks at the end that no required key is missing.
    const fn check(&self, last_line: u32) -> Result<(), ParseError> {
        let mut which = 0;
        while which < Section::ALL.len() {
            let section = Section::ALL[which];
            let line = if self.lines[which] == 0 { last_line } else { self.lines[which] };
            let mut index = 0;
            while let Some(key) = section.key(index)
                && (self.lines[which] != 0 || section.is_needed())
            {
                if section.needs(index, self.seen[which]) && self.seen[which] >> index & 1 == 0 {
                    return Err(ParseError { line, word: Word::new(key), fault: Fault::Missing(section) });
                }
                index += 1;
            }
            which += 1;
        }
        Ok(())
    }
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Whether the text consists of printable ASCII characters.
const fn is_printable(text: &str) -> bool {
    let mut at = 0;
    while at < text.len() {
        if !matches!(text.as_bytes()[at], b' '..=b'~') {
            return false;
        }
        at += 1;
    }
    true
}

const fn has_lines(text: &str) -> bool {
    let mut at = 0;
    while at < text.len() {
        if text.as_bytes()[at] == b'\n' {
            return true;
        }
        at += 1;
    }
    false
}
