//! A latency: of which input to which output of which instruction, how long, and where the number comes from.

use crate::form::Form;
use iced_x86::Register;
use serde::{Serialize, Serializer};
use std::fmt;

/// An input or output of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Port {
    /// An explicit operand, counted from 0, that is a register.
    Operand(u8),
    /// A register that the instruction uses without naming it: `rdx` of `mul`, the mask of a masked instruction.
    Implicit(Register),
    /// A flag.
    Flags,
    /// The registers of the memory operand's address.
    Address,
    /// What the memory operand holds.
    Memory,
}

/// One way through an instruction.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The instruction.
    pub form: Form,
    /// What is waited for.
    pub from: Port,
    /// What then becomes ready.
    pub to: Port,
}

impl Key {
    /// True for what pushes, calls and returns do to the stack pointer, which CPUs do apart.
    #[must_use]
    pub fn is_of_stack_pointer(&self) -> bool {
        self.to == Port::Implicit(Register::RSP)
    }

    fn port(&self, port: Port) -> String {
        match port {
            Port::Operand(index) => self.form.operand_name(usize::from(index)),
            Port::Implicit(register) => format!("{register:?}").to_lowercase(),
            Port::Flags => "flags".to_owned(),
            Port::Address => "address".to_owned(),
            Port::Memory => "memory".to_owned(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.form, self.port(self.from), self.port(self.to))
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where a latency comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// Measured on this machine, in this run or an earlier one.
    Measured,
    /// A table, with the citation.
    Table(String),
    /// Nobody says: a guess, and why that one.
    Assumed(String),
    /// A sum: a load or a store, and the operation on its register.
    Sum(Box<[Source; 2]>),
}

impl Source {
    /// True if any part is a guess.
    #[must_use]
    pub fn is_assumed(&self) -> bool {
        match self {
            Source::Assumed(_) => true,
            Source::Measured | Source::Table(_) => false,
            Source::Sum(parts) => parts.iter().any(Source::is_assumed),
        }
    }
}

impl Source {
    /// The sources of a sum, or the one that it is.
    #[must_use]
    pub fn parts(&self) -> Vec<&Source> {
        match self {
            Source::Sum(parts) => parts.iter().flat_map(Source::parts).collect(),
            one => vec![one],
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Measured => f.write_str("measured here"),
            Source::Table(citation) => f.write_str(citation),
            Source::Assumed(why) => write!(f, "assumed: {why}"),
            Source::Sum(parts) if parts[0] == parts[1] => write!(f, "memory and operation: {}", parts[0]),
            Source::Sum(parts) => write!(f, "memory: {}; operation: {}", parts[0], parts[1]),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A latency and where it comes from.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Latency {
    /// Core cycles.
    pub cycles: f64,
    /// Who says so.
    pub source: Source,
}
