//! Parses the tables; `latencies/README.md` describes the format.

use super::{CALIBRATED, Fusion, HighBytes, Line, Ports, Table};
use crate::class::Class;
use crate::fusion;
use crate::window::{Assigns, Core, Scheduler};
use std::collections::HashMap;

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
            .map(|(name, ports, entries)| Scheduler {
                name: name.to_owned(),
                entries,
                ports,
                assigns: Assigns::First,
            })
            .to_vec();
        Ok(table)
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
            update_slots: 1.0,
            latencies: Vec::new(),
            fusions: Vec::new(),
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
        let list = |text: &str| text.split(',').map(str::to_owned).collect();
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
                self.latencies.push(Line {
                    mnemonics: list(mnemonics),
                    operands: (operands != "*").then(|| list(operands)),
                    from: from.to_owned(),
                    to: to.to_owned(),
                    cycles: number(cycles)?,
                    citation,
                });
            }
            "fuses" => {
                let fields: Vec<&str> = rest.split_whitespace().collect();
                let [mnemonics, operands, conditions, citation] = fields[..] else {
                    return Err(format!("{} fields, 5 expected", fields.len() + 1));
                };
                self.cited(citation)?;
                let conditions = if conditions == "*" { fusion::LETTERS } else { conditions };
                if let Some(unknown) = conditions.chars().find(|letter| !fusion::LETTERS.contains(*letter)) {
                    return Err(format!("conditions are letters of {}, not '{unknown}'", fusion::LETTERS));
                }
                self.fusions.push(Fusion {
                    mnemonics: list(mnemonics),
                    operands: list(operands),
                    conditions: conditions.to_owned(),
                });
            }
            "updates" => {
                let (slots, citation) = rest.split_once(char::is_whitespace).ok_or("2 fields, 3 expected")?;
                self.cited(citation.trim())?;
                self.update_slots = number(slots)?;
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
                let assigns = Assigns::from_name(how)?;
                let (ports, entries) = (self.ports(ports)?.ports, number(entries)? as usize);
                let citation = self.cited(citation)?;
                self.core.sources.push((format!("{name} scheduler {entries}"), citation));
                self.core.schedulers.push(Scheduler { name: name.to_owned(), entries, ports, assigns });
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::by_name;

    const VALID: &str = include_str!("../../latencies/generic.txt");

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
            ("fuses cmp r,r x typical", "'x'"),
            ("fuses cmp r,r", "fields"),
            ("updates two typical", "two"),
            ("lateny add", "lateny"),
        ] {
            let error = Table::parse("t", &format!("{VALID}{line}\n")).expect_err(line);
            assert!(error.reason.contains(word), "{error}");
            assert_eq!(error.line, VALID.lines().count() + 1);
        }
        let without_alu = VALID.replace("class alu", "# class alu");
        assert!(Table::parse("t", &without_alu).expect_err("no alu").reason.contains("'alu'"));
    }
}
