//! The latencies needed for a piece of code: every path from an input to an output of its instructions.

use crate::class::{self, Class};
use crate::decode::Function;
use crate::effects::{Effects, Reader};
use crate::latency::{Key, Port};
use crate::table::HighBytes;
use iced_x86::Register;
use std::collections::BTreeSet;

/// The keys of a function's instructions, except unused ones: idioms, eliminated moves, instructions that are
/// not modelled or do no work (`vzeroupper`), and updates of the stack pointer.
#[must_use]
pub fn of_function(function: &Function, high_bytes: HighBytes) -> BTreeSet<Key> {
    let mut reader = Reader::new(high_bytes);
    function.instructions.iter().flat_map(|instruction| of_effects(&reader.read(instruction))).collect()
}

fn of_effects(effects: &Effects) -> Vec<Key> {
    let is_nothing = class::classes(&effects.form) == [Class::Nothing];
    if effects.is_idiom || effects.is_move || effects.is_not_modelled || is_nothing {
        return Vec::new();
    }
    let memory = |wanted: fn(&crate::effects::Memory) -> bool| {
        effects.memory.iter().any(wanted).then_some(Port::Memory)
    };
    let ports = |known: &[(_, Port)], more: Option<Port>| -> BTreeSet<Port> {
        let stack = Port::Implicit(Register::RSP);
        known.iter().map(|(_, port)| *port).chain(more).filter(|port| *port != stack).collect()
    };
    let inputs = ports(&effects.inputs, memory(|memory| memory.is_read));
    let outputs = ports(&effects.outputs, memory(|memory| memory.is_written));
    let pairs = inputs.iter().flat_map(|from| outputs.iter().map(move |to| (*from, *to)));
    pairs.map(|(from, to)| Key { form: effects.form.clone(), from, to }).collect()
}
