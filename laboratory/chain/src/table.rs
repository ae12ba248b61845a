//! The data of a microarchitecture: latencies with their citations, ports, and the size of its window.
//!
//! Each table is an embedded text file in `latencies/`; `latencies/README.md` describes the format. The
//! parser rejects latencies without a citation.

mod parse;

pub use parse::TableError;

use crate::class::{self, Class};
use crate::effects::Effects;
use crate::form::{Form, Operand};
use crate::latency::{Key, Latency, Port, Source};
use crate::window::Core;
use std::collections::HashMap;
use std::sync::OnceLock;

/// How a microarchitecture treats `ah`, `bh`, `ch` and `dh`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HighBytes {
    /// Parts of the whole register: writing one depends on the rest.
    Merged,
    /// Renamed separately: writing one depends on nothing, reading the whole register depends on both.
    Renamed,
}

/// The execution ports that can start one kind of work, as a bit set, and the operations per instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ports {
    /// A bit for each port.
    pub ports: u32,
    /// Operations per instruction.
    pub operations: f64,
}

/// A microarchitecture.
#[derive(Clone, Debug)]
pub struct Table {
    /// The word on the command line.
    pub name: String,
    /// The common name.
    pub title: String,
    /// Instructions (fused with their memory operand) that can start in a cycle.
    pub issue_width: f64,
    /// True if moves between registers cost no latency.
    pub eliminates_moves: bool,
    /// How high bytes are renamed.
    pub high_bytes: HighBytes,
    /// The text of each citation, by its short name.
    pub citations: HashMap<String, String>,
    /// The port names, by bit.
    pub port_names: Vec<String>,
    /// The size of its window.
    pub core: Core,
    /// Slots of an instruction that reads and writes memory.
    update_slots: f64,
    latencies: Vec<Line>,
    fusions: Vec<Fusion>,
    classes: HashMap<Class, Vec<Ports>>,
    shared: HashMap<Class, Vec<Ports>>,
}

/// Instructions that are fused with the conditional jump after them.
#[derive(Clone, Debug)]
struct Fusion {
    mnemonics: Vec<String>,
    operands: Vec<String>,
    /// The letters of the jumps' conditions.
    conditions: String,
}

/// A latency line.
#[derive(Clone, Debug)]
struct Line {
    mnemonics: Vec<String>,
    operands: Option<Vec<String>>,
    from: String,
    to: String,
    cycles: f64,
    citation: String,
}

/// The suffix of the name of a table whose width and ports were measured.
const CALIBRATED: &str = ", calibrated";

/// The embedded tables; the last is for all other CPUs.
const FILES: [(&str, &str); 10] = [
    ("zen5", include_str!("../latencies/zen5.txt")),
    ("zen4", include_str!("../latencies/zen4.txt")),
    ("zen3", include_str!("../latencies/zen3.txt")),
    ("zen2", include_str!("../latencies/zen2.txt")),
    ("golden_cove", include_str!("../latencies/golden_cove.txt")),
    ("gracemont", include_str!("../latencies/gracemont.txt")),
    ("ice_lake", include_str!("../latencies/ice_lake.txt")),
    ("skylake_x", include_str!("../latencies/skylake_x.txt")),
    ("haswell", include_str!("../latencies/haswell.txt")),
    ("generic", include_str!("../latencies/generic.txt")),
];

/// Every table, the generic one last.
///
/// # Panics
/// If an embedded table is invalid, which a test rules out.
#[must_use]
pub fn all() -> &'static [Table] {
    static TABLES: OnceLock<Vec<Table>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let parsed = FILES.iter().map(|(name, text)| Table::parse(name, text));
        parsed.collect::<Result<_, _>>().unwrap_or_else(|error: TableError| panic!("{error}"))
    })
}

/// The table called `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Table> {
    all().iter().find(|table| table.name == name)
}

/// The table selected for a CPU.
#[derive(Clone, Copy, Debug)]
pub struct Selected {
    /// The table.
    pub table: &'static Table,
    /// True for the CPU's own microarchitecture, false for the nearest one or the generic table.
    pub is_own: bool,
}

/// Selects the table of a CPU by the vendor, family and model that CPUID reports (with the extended fields
/// added): its own, else that of the nearest family of the same vendor, else the generic one.
#[must_use]
pub fn of_cpu(vendor: &str, family: u32, model: u32) -> Selected {
    let (name, is_own) = match (vendor, family, model) {
        ("AuthenticAMD", 0x1a, _) => ("zen5", true),
        ("AuthenticAMD", 0x19, 0x10..=0x1f | 0x60..=0xaf) => ("zen4", true),
        ("AuthenticAMD", 0x19, _) => ("zen3", true),
        ("AuthenticAMD", 0x17, 0x30..) => ("zen2", true),
        ("AuthenticAMD", 0x17, _) | ("HygonGenuine", ..) => ("zen2", false),
        ("AuthenticAMD", 0x1b.., _) => ("zen5", false),
        ("GenuineIntel", 6, 0x8f | 0xcf | 0x97 | 0x9a | 0xb7 | 0xba | 0xbf | 0xad | 0xae) => {
            ("golden_cove", true)
        }
        ("GenuineIntel", 6, 0xbe) => ("gracemont", true),
        ("GenuineIntel", 6, 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0xa7) => ("ice_lake", true),
        ("GenuineIntel", 6, 0x4e | 0x5e | 0x55 | 0x8e | 0x9e | 0xa5 | 0xa6) => ("skylake_x", true),
        ("GenuineIntel", 6, 0x3c | 0x3f | 0x45 | 0x46) => ("haswell", true),
        // Broadwell; Sierra Forest and its relatives; the successors of Raptor Cove.
        ("GenuineIntel", 6, 0x3d | 0x47 | 0x4f | 0x56) => ("haswell", false),
        ("GenuineIntel", 6, 0xaf | 0xb6) => ("gracemont", false),
        ("GenuineIntel", 6, 0xaa..=0xff) => ("golden_cove", false),
        _ => ("generic", false),
    };
    Selected { table: by_name(name).unwrap_or_else(generic), is_own }
}

fn generic() -> &'static Table {
    &all()[FILES.len() - 1]
}

impl Table {
    /// The name without the suffix for calibration.
    #[must_use]
    pub fn family(&self) -> &str {
        self.name.strip_suffix(CALIBRATED).unwrap_or(&self.name)
    }

    /// The latency of the first line that matches the key.
    #[must_use]
    pub fn find(&self, key: &Key) -> Option<Latency> {
        let name = key.form.mnemonic_name();
        let line = self.latencies.iter().find(|line| line.fits(key, &name))?;
        Some(Latency { cycles: line.cycles, source: Source::Table(line.citation.clone()) })
    }

    /// The fallback: the latency in the generic table, or else one cycle.
    #[must_use]
    pub fn assumed(&self, key: &Key) -> Latency {
        match generic().find(key) {
            Some(latency) if !std::ptr::eq(self, generic()) => Latency {
                source: Source::Assumed(format!("as on most CPUs (not in the table of {})", self.name)),
                ..latency
            },
            Some(latency) => latency,
            None => Latency { cycles: 1.0, source: Source::Assumed("one cycle (in no table)".to_owned()) },
        }
    }

    /// The port work of an instruction; of one that is fused with a jump, only its load.
    #[must_use]
    pub fn work(&self, effects: &Effects) -> Vec<Ports> {
        class::classes(&effects.form)
            .into_iter()
            .filter(|class| !effects.is_fused || class.is_load())
            .flat_map(|class| self.work_of(class).iter().chain(self.shared_by(class)))
            .copied()
            .collect()
    }

    /// The shared resources that a class needs besides its ports.
    #[must_use]
    pub fn shared_by(&self, class: Class) -> &[Ports] {
        self.shared.get(&class).map_or(&[], Vec::as_slice)
    }

    /// The port work of a class.
    #[must_use]
    pub fn work_of(&self, class: Class) -> &[Ports] {
        match (self.classes.get(&class), class.broader()) {
            (Some(ports), _) => ports,
            (None, Some(broader)) => self.work_of(broader),
            (None, None) => &[],
        }
    }

    /// The issue slots of an instruction: one, or as many as it has operations. The address and the data of a store,
    /// which some CPUs start on different ports, are one operation here.
    #[must_use]
    pub fn slots(&self, form: &Form) -> f64 {
        let operations = |class: Class| {
            let parts = self.work_of(class).iter().map(|ports| ports.operations);
            if class.is_store() { parts.fold(0.0, f64::max) } else { parts.sum() }
        };
        let classes = class::classes(form);
        let is_update =
            classes.iter().any(|class| class.is_load()) && classes.iter().any(|class| class.is_store());
        let least = if is_update { self.update_slots } else { 1.0 };
        classes.into_iter().map(operations).fold(least, f64::max)
    }

    /// True if an instruction of this form is fused with a jump whose condition has this letter; see [`fusion`](crate::fusion).
    pub(crate) fn fuses(&self, form: &Form, letter: char) -> bool {
        let name = form.mnemonic_name();
        self.fusions.iter().any(|line| {
            line.conditions.contains(letter)
                && line.mnemonics.contains(&name)
                && operands_fit(&line.operands, &form.operands)
        })
    }

    /// The names of a set of ports.
    #[must_use]
    pub fn names_of(&self, ports: u32) -> Vec<String> {
        let named = self.port_names.iter().enumerate();
        named.filter(|(bit, _)| ports & 1 << bit != 0).map(|(_, name)| name.clone()).collect()
    }
}

impl Line {
    fn fits(&self, key: &Key, name: &str) -> bool {
        let mnemonic = self.mnemonics.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        });
        mnemonic
            && self.operands.as_ref().is_none_or(|patterns| operands_fit(patterns, &key.form.operands))
            && port_fits(&self.from, key.from)
            && port_fits(&self.to, key.to)
    }
}

fn operands_fit(patterns: &[String], operands: &[Operand]) -> bool {
    patterns.len() == operands.len()
        && patterns.iter().zip(operands).all(|(pattern, operand)| operand_fits(pattern, *operand))
}

/// `r` matches any general register, `v` any vector register, `m` any memory, `i` any immediate; other
/// patterns match as printed.
fn operand_fits(pattern: &str, operand: Operand) -> bool {
    match (pattern, operand) {
        ("*", _) => true,
        ("r", Operand::General(_))
        | ("v", Operand::Vector(_))
        | ("m", Operand::Memory(_))
        | ("i", Operand::Immediate | Operand::Zero) => true,
        _ => operand.to_string() == pattern,
    }
}

fn port_fits(pattern: &str, port: Port) -> bool {
    match port {
        _ if pattern == "*" => true,
        Port::Operand(index) => pattern == format!("op{}", index + 1),
        Port::Implicit(register) => pattern == format!("{register:?}").to_lowercase(),
        Port::Flags => pattern == "flags",
        Port::Address => pattern == "address",
        Port::Memory => pattern == "memory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_parses_and_has_citations() {
        assert_eq!(all().len(), FILES.len());
        for table in all() {
            assert!(!table.citations.is_empty() && table.issue_width >= 4.0, "{}", table.name);
            assert!(table.latencies.iter().all(|line| !line.citation.is_empty()));
        }
    }

    #[test]
    fn of_cpu_selects_the_own_or_the_nearest_table() {
        let found = |vendor, family, model| {
            let found = of_cpu(vendor, family, model);
            (found.table.name.as_str(), found.is_own)
        };
        assert_eq!(found("AuthenticAMD", 0x1a, 0x02), ("zen5", true));
        assert_eq!(found("AuthenticAMD", 0x19, 0x61), ("zen4", true));
        assert_eq!(found("AuthenticAMD", 0x19, 0x90), ("zen4", true));
        assert_eq!(found("AuthenticAMD", 0x19, 0x21), ("zen3", true));
        assert_eq!(found("AuthenticAMD", 0x17, 0x71), ("zen2", true));
        assert_eq!(found("AuthenticAMD", 0x17, 0x01), ("zen2", false), "the first Zen");
        assert_eq!(found("GenuineIntel", 6, 0x8f), ("golden_cove", true));
        assert_eq!(found("GenuineIntel", 6, 0xad), ("golden_cove", true), "Granite Rapids");
        assert_eq!(found("GenuineIntel", 6, 0xbe), ("gracemont", true));
        assert_eq!(found("GenuineIntel", 6, 0x6a), ("ice_lake", true));
        assert_eq!(found("GenuineIntel", 6, 0x55), ("skylake_x", true));
        assert_eq!(found("GenuineIntel", 6, 0x4f), ("haswell", false), "Broadwell");
        assert_eq!(found("", 0, 0), ("generic", false));
    }
}
