//! The instructions of a call and its timing loop, as the simulation needs them.

use super::caller;
use super::front::Leaves;
use crate::class;
use crate::effects::{Effects, Location, Reader, Stack};
use crate::form::Masking;
use crate::graph;
use crate::latencies::{self, Latencies};
use crate::latency::{Key, Port};
use crate::trace::Trace;
use iced_x86::{FlowControl, Instruction};
use std::collections::{BTreeMap, BTreeSet};

/// A memory access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// The address.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// True for a read.
    pub is_read: bool,
    /// True for a write.
    pub is_written: bool,
}

/// An input of an operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Input {
    pub location: Location,
    /// True if it is part of the address of a load or store.
    pub is_address: bool,
    /// The latency to each output.
    pub cycles: Vec<f64>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Op {
    /// Its address.
    pub address: u64,
    /// Its dispatch slots; 0 if it is fused with the jump after it.
    pub slots: f64,
    /// The way control leaves it.
    pub leaves: Leaves,
    /// Its memory accesses.
    pub memory: Vec<Access>,
    pub(super) inputs: Vec<Input>,
    /// The locations of each output; none for memory.
    pub(super) outputs: Vec<(Port, Vec<Location>)>,
    /// The latency from a forwarded store to each output.
    pub(super) from_memory: Vec<f64>,
    /// The sets of ports for its loads, other operations, and stores.
    pub(super) loads: Vec<u32>,
    pub(super) work: Vec<u32>,
    pub(super) stores: Vec<u32>,
    /// The latency from the address to the operation.
    pub(super) load_cycles: f64,
    /// True for a masked store, which cannot be forwarded.
    pub(super) is_masked: bool,
    /// What it does to the stack.
    pub(super) stack: Stack,
}

/// The instructions of one call.
#[derive(Clone, Debug, Default)]
pub struct Ops(pub Vec<Op>);

impl Ops {
    /// The executed instructions of a trace.
    #[must_use]
    pub fn of_trace(trace: &Trace, latencies: &Latencies, eliminates_moves: bool) -> Ops {
        let function = trace.function();
        let varied = varied(trace);
        let table = latencies.table();
        let effects = Reader::new(table.high_bytes).read_all(&function.instructions, table);
        let builder = OpBuilder { latencies, eliminates_moves };
        let pairs = function.instructions.iter().zip(&effects);
        let templates: Vec<Op> =
            pairs.map(|(instruction, effects)| builder.op(instruction, effects)).collect();
        let mut ops: Vec<Op> = Vec::with_capacity(trace.steps.len());
        for (place, step) in trace.steps.iter().enumerate() {
            let Some(index) = function.index_of(step.address) else { continue };
            let instruction = &function.instructions[index];
            let mut op = templates[index].clone();
            let addresses = trace.addresses(step, instruction);
            for (access, address) in op.memory.iter_mut().zip(addresses) {
                access.address = address;
            }
            let next = trace.steps.get(place + 1).map(|step| step.address);
            op.leaves = leaves(instruction, next, &varied);
            ops.push(op);
        }
        Ops(ops)
    }
}

struct OpBuilder<'a> {
    latencies: &'a Latencies,
    eliminates_moves: bool,
}

impl OpBuilder<'_> {
    /// An instruction whose addresses are not yet known.
    fn op(&self, instruction: &Instruction, effects: &Effects) -> Op {
        let table = self.latencies.table();
        let is_free = effects.is_idiom || effects.is_move && self.eliminates_moves;
        let mut outputs: Vec<(Port, Vec<Location>)> = Vec::new();
        for (location, port) in &effects.outputs {
            match outputs.iter_mut().find(|(known, _)| known == port) {
                Some((_, locations)) => locations.push(*location),
                None => outputs.push((*port, vec![*location])),
            }
        }
        if effects.memory.iter().any(|memory| memory.is_written) {
            outputs.push((Port::Memory, Vec::new()));
        }
        let cycles = |from: Port, to: Port| match is_free || effects.is_not_modelled {
            true => 0.0,
            false => effects.cycles(self.latencies.of(&Key { form: effects.form.clone(), from, to }).cycles),
        };
        let touches_memory = !effects.memory.is_empty();
        let inputs = effects.inputs.iter().map(|(location, port)| {
            let through = |(to, _): &(Port, Vec<Location>)| match graph::depends(*port, *to) {
                true => cycles(*port, *to),
                false => f64::NEG_INFINITY,
            };
            Input {
                location: *location,
                is_address: touches_memory && *port == Port::Address,
                cycles: outputs.iter().map(through).collect(),
            }
        });
        let inputs = inputs.collect();
        let from_memory = outputs.iter().map(|(to, _)| match graph::depends(Port::Memory, *to) {
            true => cycles(Port::Memory, *to),
            false => f64::NEG_INFINITY,
        });
        let from_memory = from_memory.collect();
        let (mut loads, mut work, mut stores) = (Vec::new(), Vec::new(), Vec::new());
        for class in class::classes(&effects.form).into_iter().filter(|_| !is_free) {
            let list = match class {
                class if class.is_load() => &mut loads,
                class if class.is_store() => &mut stores,
                // The jump does the work of both.
                _ if effects.is_fused => continue,
                _ => &mut work,
            };
            for ports in table.work_of(class).iter().chain(table.shared_by(class)) {
                list.extend((0..ports.operations.round() as usize).map(|_| ports.ports));
            }
        }
        let load_cycles = match effects.form.memory() {
            Some(memory) if !loads.is_empty() && !work.is_empty() => {
                self.latencies.of(&latencies::plain_load(&effects.form, memory)).cycles
            }
            _ => 0.0,
        };
        let memory = effects.memory.iter().map(|memory| Access {
            address: 0,
            bytes: memory.bytes,
            is_read: memory.is_read,
            is_written: memory.is_written,
        });
        Op {
            address: instruction.ip(),
            // A pair takes the slot of the jump.
            slots: if effects.is_fused { 0.0 } else { table.slots(&effects.form) },
            leaves: Leaves::Not,
            memory: memory.collect(),
            inputs,
            outputs,
            from_memory,
            loads,
            work,
            stores,
            load_cycles,
            is_masked: effects.form.masking != Masking::None,
            stack: effects.stack(),
        }
    }
}

/// The addresses of indirect jumps and calls that had more than one target. The call in the timing loop is
/// included, because the loop has called other routines before.
fn varied(trace: &Trace) -> BTreeSet<u64> {
    let mut targets: BTreeMap<u64, u64> = BTreeMap::new();
    let mut varied = BTreeSet::new();
    for pair in trace.steps.windows(2) {
        let (from, to) = (pair[0].address, pair[1].address);
        if caller::is_of_the_loop(from) || *targets.entry(from).or_insert(to) != to {
            varied.insert(from);
        }
    }
    varied
}

/// The way control left an instruction before the one at `next` (`None` at the end of the trace). An indirect
/// jump with a single target is predicted like a direct one.
fn leaves(instruction: &Instruction, next: Option<u64>, varied: &BTreeSet<u64>) -> Leaves {
    let goes_on = next == Some(instruction.next_ip());
    let is_back = next.is_some_and(|next| next <= instruction.ip()) || next.is_none();
    match instruction.flow_control() {
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch if !goes_on && is_back => {
            Leaves::Back
        }
        FlowControl::Return => Leaves::Return,
        FlowControl::IndirectBranch | FlowControl::IndirectCall if varied.contains(&instruction.ip()) => {
            Leaves::Indirect
        }
        FlowControl::UnconditionalBranch
        | FlowControl::Call
        | FlowControl::IndirectBranch
        | FlowControl::IndirectCall => Leaves::Taken,
        FlowControl::ConditionalBranch if !goes_on => Leaves::Taken,
        _ => Leaves::Not,
    }
}
