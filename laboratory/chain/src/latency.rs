//! Latencies of an instruction from one input to one output, with their sources.

use crate::form::Form;
use iced_x86::Register;
use serde::{Serialize, Serializer};
use std::fmt;

/// An input or output of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Port {
    /// A register that is an explicit operand, counted from 0.
    Operand(u8),
    /// A register that the instruction uses implicitly, such as `rdx` of `mul` or the mask of a masked
    /// instruction.
    Implicit(Register),
    /// A flag.
    Flags,
    /// The registers of the memory operand's address.
    Address,
    /// The contents of the memory operand.
    Memory,
}

/// A path through an instruction.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The instruction.
    pub form: Form,
    /// The input.
    pub from: Port,
    /// The output.
    pub to: Port,
}

impl Key {
    /// True for updates of the stack pointer by pushes, pops, calls and returns, which CPUs handle
    /// separately.
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

/// The source of a latency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// Measured on this machine, in this or an earlier run.
    Measured,
    /// A table; holds the citation.
    Table(String),
    /// An assumption; holds the reason for it.
    Assumed(String),
    /// The sum of a load or store and of the operation on registers.
    Sum(Box<[Source; 2]>),
}

impl Source {
    /// True if any part is an assumption.
    #[must_use]
    pub fn is_assumed(&self) -> bool {
        match self {
            Source::Assumed(_) => true,
            Source::Measured | Source::Table(_) => false,
            Source::Sum(parts) => parts.iter().any(Source::is_assumed),
        }
    }

    /// The parts of a sum, or the source itself.
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

/// A latency and its source.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Latency {
    /// Core cycles.
    pub cycles: f64,
    /// The source.
    pub source: Source,
}
