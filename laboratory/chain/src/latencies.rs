//! The latency from each input of an instruction to each of its outputs, and its source.
//!
//! A latency belongs to a [`Key`]: the [`Form`] of the instruction, the input and the output, for example
//! `adc r64, r64: flags -> r64` or `adc r64, m64: address -> r64`. [`Latencies::of`] has an answer for every
//! key. It uses, in this order:
//!
//! 1. a measurement on this machine;
//! 2. the [`Table`] of the microarchitecture, with its citation;
//! 3. for an instruction with a memory operand, the latency of the load plus that of the same instruction
//!    between registers;
//! 4. an assumption, marked as such.
//!
//! # Adding measurements
//! [`Latencies::overlay`] takes pairs of `Key` and cycles, which from then on take precedence over the table;
//! every output marks them as [`Source::Measured`]. [`Analysis::latencies`](crate::Analysis::latencies) lists
//! the keys that a piece of code needs, each with the latency that was used. A `Key` is plain data, from
//! which the instruction can be assembled again (`key.form.mnemonic`, `key.form.operands`). A calibration is
//! therefore a function `fn(&[Key]) -> Vec<(Key, f64)>` that does not depend on tables, and this module does
//! not depend on executable mappings.
//!
//! Conventions for measurements:
//! - `address -> X` is the latency from a register of the address to the result: load-to-use, plus the
//!   operation on the loaded value.
//! - `X -> memory`, of an instruction that stores, is the latency of the whole path from the register through
//!   a forwarded store to the register of a plain load of the same width. Forwarding counts towards the
//!   store, and `memory -> X` of a plain load is 0.
//! - `flags` is any one flag. If flags differ in latency, the key stands for the carry and for the others.
//! - Eliminated moves, zeroing idioms, calls and instructions that are not modelled are never requested; the
//!   graph handles them.

use crate::form::{Form, Masking, Operand};
use crate::latency::{Key, Latency, Port, Source};
use crate::table::Table;
use iced_x86::Mnemonic;
use std::collections::HashMap;

/// The latencies of a table, with measurements on top.
#[derive(Clone, Debug)]
pub struct Latencies {
    table: &'static Table,
    measured: HashMap<Key, f64>,
}

impl Latencies {
    /// The latencies of a table.
    #[must_use]
    pub fn of_table(table: &'static Table) -> Latencies {
        Latencies { table, measured: HashMap::new() }
    }

    /// The table below the measurements.
    #[must_use]
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// Adds measured latencies, in core cycles, which take precedence over the table.
    pub fn overlay(&mut self, measured: impl IntoIterator<Item = (Key, f64)>) {
        self.measured.extend(measured);
    }

    /// The latency of a key.
    #[must_use]
    pub fn of(&self, key: &Key) -> Latency {
        self.known(key).or_else(|| self.composed(key)).unwrap_or_else(|| self.table.assumed(key))
    }

    fn known(&self, key: &Key) -> Option<Latency> {
        match self.measured.get(key) {
            Some(cycles) => Some(Latency { cycles: *cycles, source: Source::Measured }),
            None => self.table.find(key),
        }
    }

    /// The sum of a load, of the same instruction between registers and, if memory is written, of a store.
    fn composed(&self, key: &Key) -> Option<Latency> {
        let memory = key.form.memory()?;
        let register = loaded_into(&key.form, memory);
        let load = load_key(register, key.form.operands[memory]);
        let store = store_key(register, key.form.operands[memory]);
        if load == *key || key.form.operands.len() == 2 && memory == 0 && is_move(&key.form) {
            return None;
        }
        let mut form = key.form.clone();
        form.operands[memory] = register;
        let place = Port::Operand(memory as u8);
        let (from, loads) = match key.from {
            Port::Address => (place, Some(load)),
            Port::Memory => (place, None),
            from => (from, None),
        };
        let (to, stores) = if key.to == Port::Memory { (place, Some(store)) } else { (key.to, None) };
        let operation = self.of(&Key { form, from, to });
        Some(loads.into_iter().chain(stores).map(|part| self.of(&part)).fold(operation, |sum, part| {
            Latency {
                cycles: sum.cycles + part.cycles,
                source: Source::Sum(Box::new([part.source, sum.source])),
            }
        }))
    }
}

/// The register that a memory source is loaded into before the operation.
fn loaded_into(form: &Form, memory: usize) -> Operand {
    let beside = form.operands.iter().enumerate().filter(|(index, _)| *index != memory).map(|(_, o)| *o);
    let widest = beside.clone().filter(|o| matches!(o, Operand::Vector(_))).max();
    let Operand::Memory(bits) = form.operands[memory] else { return Operand::General(64) };
    match widest {
        Some(vector) => vector,
        None if bits > 64 => Operand::Vector(bits),
        None => Operand::General(if bits == 0 { 64 } else { bits }),
    }
}

/// The plain load that is part of an instruction with this memory operand.
pub(crate) fn plain_load(form: &Form, memory: usize) -> Key {
    load_key(loaded_into(form, memory), form.operands[memory])
}

/// The plain load into this register.
fn load_key(register: Operand, memory: Operand) -> Key {
    let mnemonic = match (register, memory) {
        (Operand::Vector(_), Operand::Memory(32)) => Mnemonic::Vmovd,
        (Operand::Vector(_), Operand::Memory(64)) => Mnemonic::Vmovq,
        (Operand::Vector(_), _) => Mnemonic::Vmovdqu,
        _ => Mnemonic::Mov,
    };
    let form = Form { mnemonic, operands: vec![register, memory], masking: Masking::None };
    Key { form, from: Port::Address, to: Port::Operand(0) }
}

/// The plain store of this register.
fn store_key(register: Operand, memory: Operand) -> Key {
    let mut key = load_key(register, memory);
    key.form.operands.reverse();
    Key { form: key.form, from: Port::Operand(1), to: Port::Memory }
}

/// True for instructions that only move data.
fn is_move(form: &Form) -> bool {
    let name = form.mnemonic_name();
    name.starts_with("mov") || name.starts_with("vmov") || name.starts_with("kmov")
}
