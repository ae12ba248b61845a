//! The data of a microarchitecture: latencies with their citations, ports, and the size of its window.
//!
//! Each table is an embedded text file in `latencies/`; `latencies/README.md` describes the format. The
//! parser rejects latencies without a citation.

use crate::class::{self, Class};
use crate::form::{Form, Operand};
use crate::latency::{Key, Latency, Port, Source};
use crate::window::{Core, Scheduler};
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
    latencies: Vec<Line>,
    classes: HashMap<Class, Vec<Ports>>,
    shared: HashMap<Class, Vec<Ports>>,
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

/// A line that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("{file}, line {line}: {reason}")]
pub struct TableError {
    /// The table.
    pub file: &'static str,
    /// Counted from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
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
pub struct Found {
    /// The table.
    pub table: &'static Table,
    /// True for the CPU's own microarchitecture, false for the nearest one or the generic table.
    pub is_own: bool,
}

/// Selects the table of a CPU by the vendor, family and model that CPUID reports (with the extended fields
/// added): its own, else that of the nearest family of the same vendor, else the generic one.
#[must_use]
pub fn of_cpu(vendor: &str, family: u32, model: u32) -> Found {
    let (name, is_own) = match (vendor, family, model) {
        ("AuthenticAMD", 0x1a, _) => ("zen5", true),
        ("AuthenticAMD", 0x19, 0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf) => ("zen4", true),
        ("AuthenticAMD", 0x19, _) => ("zen3", true),
        ("AuthenticAMD", 0x17, 0x30..) => ("zen2", true),
        ("AuthenticAMD", 0x17, _) | ("HygonGenuine", ..) => ("zen2", false),
        ("AuthenticAMD", 0x1b.., _) => ("zen5", false),
        ("GenuineIntel", 6, 0x8f | 0xcf | 0x97 | 0x9a | 0xb7 | 0xba | 0xbf) => ("golden_cove", true),
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
    Found { table: by_name(name).unwrap_or_else(generic), is_own }
}

fn generic() -> &'static Table {
    &all()[FILES.len() - 1]
}

impl Table {
    /// A copy with another width and other ports, given as lines of a table.
    pub(crate) fn with_ports(&self, lines: &str) -> Result<Table, TableError> {
        let mut table = self.clone();
        (table.port_names, table.classes, table.shared) = (Vec::new(), HashMap::new(), HashMap::new());
        table.name.push_str(CALIBRATED);
        table.title = format!("{}, width and ports measured here", self.title);
        for (index, line) in lines.lines().enumerate() {
            let error = |reason| TableError { file: "measured ports", line: index + 1, reason };
            table.read(line).map_err(error)?;
        }
        // Two schedulers, for memory and for all other operations, of the sizes in this table.
        let entries = |is_wanted: &dyn Fn(&str) -> bool| {
            let of = self.core.schedulers.iter().filter(|scheduler| is_wanted(&scheduler.name));
            of.map(|scheduler| scheduler.entries).sum::<usize>().max(1)
        };
        let ports = |is_wanted: &dyn Fn(&str) -> bool| {
            let named = table.port_names.iter().enumerate().filter(|(_, name)| is_wanted(name));
            named.fold(0, |ports, (bit, _)| ports | 1 << bit)
        };
        let is_memory = |name: &str| name.starts_with(['l', 's', 'g', 'm']);
        let schedulers = [
            ("operations", ports(&|name| !is_memory(name)), entries(&|name| name != "memory")),
            ("memory", ports(&is_memory), entries(&|name| name == "memory").max(32)),
        ];
        table.core.schedulers = schedulers
            .map(|(name, ports, entries)| Scheduler { name: name.to_owned(), entries, ports, in_turn: false })
            .to_vec();
        Ok(table)
    }

    /// The name without the suffix for calibration.
    #[must_use]
    pub fn family(&self) -> &str {
        self.name.strip_suffix(CALIBRATED).unwrap_or(&self.name)
    }

    /// Parses a table.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn parse(file: &'static str, text: &str) -> Result<Table, TableError> {
        let mut table = Table {
            name: file.to_owned(),
            title: String::new(),
            issue_width: 0.0,
            eliminates_moves: false,
            high_bytes: HighBytes::Merged,
            citations: HashMap::new(),
            port_names: Vec::new(),
            core: Core::default(),
            latencies: Vec::new(),
            classes: HashMap::new(),
            shared: HashMap::new(),
        };
        for (index, line) in text.lines().enumerate() {
            let line_text = line.split('#').next().unwrap_or_default().trim();
            if !line_text.is_empty() {
                table.read(line_text).map_err(|reason| TableError { file, line: index + 1, reason })?;
            }
        }
        let missing =
            Class::ALL.iter().find(|class| class.broader().is_none() && !table.classes.contains_key(class));
        let reason = match missing {
            _ if table.title.is_empty() => "no title".to_owned(),
            _ if table.issue_width == 0.0 => "no issue width".to_owned(),
            Some(class) => format!("nothing about class '{}'", class.name()),
            None if table.core.lacks().is_some() => {
                format!("no '{}'", table.core.lacks().unwrap_or_default())
            }
            None => return Ok(table),
        };
        Err(TableError { file, line: text.lines().count(), reason })
    }

    fn read(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let number = |text: &str| -> Result<f64, String> {
            let value: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
            (0.0..1000.0).contains(&value).then_some(value).ok_or(format!("{value} is not from 0 to 1000"))
        };
        match word {
            "title" => self.title = rest.to_owned(),
            "issue" => (self.issue_width, self.core.dispatch) = (number(rest)?, number(rest)?),
            "moves" => self.eliminates_moves = rest == "eliminated",
            "high-bytes" => {
                self.high_bytes = if rest == "renamed" { HighBytes::Renamed } else { HighBytes::Merged };
            }
            "cite" => {
                let (name, text) = rest.split_once(' ').ok_or("a citation needs a name and a text")?;
                self.citations.insert(name.to_owned(), text.trim().to_owned());
            }
            "latency" => {
                let fields: Vec<&str> = rest.split_whitespace().collect();
                let [mnemonics, operands, from, "->", to, cycles, citation] = fields[..] else {
                    return Err(format!("{} fields, 7 expected", fields.len()));
                };
                let citation = self.cited(citation)?;
                let list = |text: &str| text.split(',').map(str::to_owned).collect();
                self.latencies.push(Line {
                    mnemonics: list(mnemonics),
                    operands: (operands != "*").then(|| list(operands)),
                    from: from.to_owned(),
                    to: to.to_owned(),
                    cycles: number(cycles)?,
                    citation,
                });
            }
            "class" => {
                let mut words = rest.split_whitespace();
                let name = words.next().unwrap_or_default();
                let class = Class::from_name(name).ok_or(format!("unknown class '{name}'"))?;
                let ports = words.map(|word| self.ports(word)).collect::<Result<Vec<_>, _>>()?;
                self.classes.insert(class, ports);
            }
            "core" => {
                let fields: Vec<&str> = rest.split_whitespace().collect();
                let [name, value, citation] = fields[..] else {
                    return Err(format!("{} fields, 4 expected", fields.len() + 1));
                };
                self.core.set(name, number(value)?, self.cited(citation)?.as_str())?;
            }
            "scheduler" => {
                let fields: Vec<&str> = rest.split_whitespace().collect();
                let [name, entries, ports, how, citation] = fields[..] else {
                    return Err(format!("{} fields, 6 expected", fields.len() + 1));
                };
                let in_turn = match how {
                    "first" => false,
                    "in-turn" => true,
                    _ => return Err(format!("ports are assigned 'first' or 'in-turn', not '{how}'")),
                };
                let (ports, entries) = (self.ports(ports)?.ports, number(entries)? as usize);
                let citation = self.cited(citation)?;
                self.core.sources.push((format!("{name} scheduler {entries}"), citation));
                self.core.schedulers.push(Scheduler { name: name.to_owned(), entries, ports, in_turn });
            }
            "shared" => {
                let mut words = rest.split_whitespace();
                let ports = self.ports(words.next().unwrap_or_default())?;
                for name in words {
                    let class = Class::from_name(name).ok_or(format!("unknown class '{name}'"))?;
                    self.shared.entry(class).or_default().push(ports);
                }
            }
            _ => return Err(format!("no line begins with '{word}'")),
        }
        Ok(())
    }

    /// The text of a citation.
    fn cited(&self, name: &str) -> Result<String, String> {
        self.citations.get(name).cloned().ok_or(format!("unknown citation '{name}'"))
    }

    /// Parses `2*a0,a1`: two operations, each of which the ports a0 and a1 can start.
    fn ports(&mut self, word: &str) -> Result<Ports, String> {
        let (operations, list) = word.split_once('*').unwrap_or(("1", word));
        let operations = operations.parse().map_err(|_| format!("'{operations}' is not a number"))?;
        let mut ports = 0;
        for name in list.split(',') {
            let known = self.port_names.iter().position(|known| known == name);
            let bit = known.unwrap_or_else(|| {
                self.port_names.push(name.to_owned());
                self.port_names.len() - 1
            });
            if bit >= 32 {
                return Err("more than 32 ports".to_owned());
            }
            ports |= 1 << bit;
        }
        Ok(Ports { ports, operations })
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

    /// The port work of an instruction.
    #[must_use]
    pub fn work(&self, form: &Form) -> Vec<Ports> {
        class::classes(form)
            .into_iter()
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

    /// The issue slots of an instruction: one, or as many as it has operations.
    #[must_use]
    pub fn slots(&self, form: &Form) -> f64 {
        let operations = |class: Class| self.work_of(class).iter().map(|ports| ports.operations).sum::<f64>();
        class::classes(form).into_iter().map(operations).fold(1.0, f64::max)
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
            && self.operands.as_ref().is_none_or(|patterns| {
                patterns.len() == key.form.operands.len()
                    && patterns.iter().zip(&key.form.operands).all(|(pattern, o)| operand_fits(pattern, *o))
            })
            && port_fits(&self.from, key.from)
            && port_fits(&self.to, key.to)
    }
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

    const VALID: &str = include_str!("../latencies/generic.txt");

    #[test]
    fn every_table_parses_and_has_citations() {
        assert_eq!(all().len(), FILES.len());
        for table in all() {
            assert!(!table.citations.is_empty() && table.issue_width >= 4.0, "{}", table.name);
            assert!(table.latencies.iter().all(|line| !line.citation.is_empty()));
        }
    }

    #[test]
    fn a_class_without_a_line_has_the_ports_of_its_broader_class() {
        let ports = |name: &str, class: Class| {
            by_name(name)
                .expect("a table")
                .work_of(class)
                .iter()
                .map(|one| one.ports.count_ones())
                .sum::<u32>()
        };
        assert_eq!(ports("haswell", Class::LeaIndexed), ports("haswell", Class::Lea));
        assert_eq!(ports("haswell", Class::FromVector), ports("haswell", Class::Cross));
        assert_eq!((ports("zen5", Class::LeaIndexed), ports("zen5", Class::Lea)), (2, 6));
        let without = VALID.replace("class vector ", "# class vector ");
        assert!(Table::parse("t", &without).is_err(), "a broader class has no fallback");
    }

    #[test]
    fn an_invalid_line_is_rejected_with_its_number() {
        for (line, word) in [
            ("latency add * * -> * 1 nobody", "nobody"),
            ("latency add * * -> * many typical", "many"),
            ("latency add * * -> * 1", "fields"),
            ("class bread i0", "bread"),
            ("lateny add", "lateny"),
        ] {
            let error = Table::parse("t", &format!("{VALID}{line}\n")).expect_err(line);
            assert!(error.reason.contains(word), "{error}");
            assert_eq!(error.line, VALID.lines().count() + 1);
        }
        let without_alu = VALID.replace("class alu", "# class alu");
        assert!(Table::parse("t", &without_alu).expect_err("no alu").reason.contains("'alu'"));
    }

    #[test]
    fn of_cpu_selects_the_own_or_the_nearest_table() {
        let found = |vendor, family, model| {
            let found = of_cpu(vendor, family, model);
            (found.table.name.as_str(), found.is_own)
        };
        assert_eq!(found("AuthenticAMD", 0x1a, 0x02), ("zen5", true));
        assert_eq!(found("AuthenticAMD", 0x19, 0x61), ("zen4", true));
        assert_eq!(found("AuthenticAMD", 0x19, 0x21), ("zen3", true));
        assert_eq!(found("AuthenticAMD", 0x17, 0x71), ("zen2", true));
        assert_eq!(found("AuthenticAMD", 0x17, 0x01), ("zen2", false), "the first Zen");
        assert_eq!(found("GenuineIntel", 6, 0x8f), ("golden_cove", true));
        assert_eq!(found("GenuineIntel", 6, 0xbe), ("gracemont", true));
        assert_eq!(found("GenuineIntel", 6, 0x6a), ("ice_lake", true));
        assert_eq!(found("GenuineIntel", 6, 0x55), ("skylake_x", true));
        assert_eq!(found("GenuineIntel", 6, 0x4f), ("haswell", false), "Broadwell");
        assert_eq!(found("", 0, 0), ("generic", false));
    }
}
