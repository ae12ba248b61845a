//! The dependency graph: which value depends on which, and with what latency.
//!
//! A vertex is a value: an input, an output of an instruction, or a choice between values where control flow
//! merges (at no cost, because branches are assumed to be predicted). An edge is a dependency through a
//! register, a flag or memory, with its cycles. Vertices are added in execution order, so the graph is
//! acyclic and one pass finds the longest path. Loop-carried dependencies are found from two consecutive
//! iterations (see [`recurrence`](crate::recurrence)).
//!
//! Memory: a load depends on an earlier store if both addresses are the same expression (the same roots plus
//! constants), or the same address in a trace. Other stores are assumed not to alias.

use crate::effects::{Effects, Location, Stack};
use crate::latencies::Latencies;
use crate::latency::{Key, Latency, Port};
use crate::symbol::{Address, Symbols};
use std::collections::{BTreeMap, HashMap};

/// The index of a vertex.
pub type VertexId = usize;

/// The kind of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Vertex {
    /// The initial value of a location.
    Input(Location),
    /// An output of an instruction.
    Value {
        /// The step in execution order.
        step: usize,
        /// The instruction, as an index into the function.
        instruction: usize,
        /// The output.
        port: Port,
    },
    /// One of several values, in a block where they merge.
    Choice {
        /// The block.
        block: usize,
        /// The location; `None` for memory.
        location: Option<Location>,
    },
}

/// The medium of a dependency.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Via {
    /// A register or flag.
    Location(Location),
    /// A store and a load of the same address.
    Memory,
}

/// A dependency.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Edge {
    /// The value that is waited for.
    pub from: VertexId,
    /// The latency, in core cycles.
    pub cycles: f64,
    /// The register, flag or memory that carries it.
    pub via: Via,
}

/// The rules for latencies.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    /// The latencies.
    pub latencies: &'a Latencies,
    /// True if moves between registers are free.
    pub eliminates_moves: bool,
}

/// Values and their dependencies.
#[derive(Debug, Default)]
pub struct Graph {
    /// The values. Except for inputs, each comes after those that it depends on.
    pub vertices: Vec<Vertex>,
    /// The dependencies of each vertex.
    pub incoming: Vec<Vec<Edge>>,
    /// The vertices of the inputs that are used.
    pub inputs: BTreeMap<Location, VertexId>,
    /// Steps with a load that only partly overlaps an earlier store.
    pub blocked_forwards: Vec<usize>,
}

/// A store that later loads may read from.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Stored {
    place: Address,
    bytes: u64,
    vertex: VertexId,
    is_on_stack: bool,
    /// The register that a push stored.
    pushed: Option<VertexId>,
}

/// Stores remembered if several states must hold them; about as many as a CPU's store queue holds.
const STORE_QUEUE: usize = 64;
/// Stores remembered in a trace: their data may be loaded long after they have left the queue.
const STORES_OF_TRACE: usize = 8192;
const UNTOUCHED: VertexId = VertexId::MAX;

/// The value of each location at some point of the code.
#[derive(Clone, Debug)]
pub struct MachineState {
    values: Vec<VertexId>,
    /// The symbolic values of the registers.
    pub symbols: Symbols,
    stores: Vec<Stored>,
}

impl MachineState {
    /// The initial state: every location holds its input.
    #[must_use]
    pub fn new() -> MachineState {
        MachineState { values: vec![UNTOUCHED; Location::COUNT], symbols: Symbols::new(), stores: Vec::new() }
    }

    /// The value of a location; `None` if it was never written.
    #[must_use]
    pub fn value(&self, location: Location) -> Option<VertexId> {
        Some(self.values[location.index()]).filter(|vertex| *vertex != UNTOUCHED)
    }

    /// The stores, except those known to be on the stack.
    pub fn stores(&self) -> impl Iterator<Item = VertexId> {
        self.stores.iter().filter(|stored| !stored.is_on_stack).map(|stored| stored.vertex)
    }
}

impl Default for MachineState {
    fn default() -> MachineState {
        MachineState::new()
    }
}

/// Builds a graph step by step.
pub struct Builder<'a> {
    model: Model<'a>,
    /// The graph so far.
    pub graph: Graph,
    /// The latencies that were used.
    pub used: HashMap<Key, Latency>,
    /// The memory operands seen: instruction, operand and address.
    pub places: Vec<(usize, usize, Address)>,
    /// The address range of the stack, for the addresses of a trace.
    stack: std::ops::Range<u64>,
    steps: usize,
    merges: usize,
    most_stores: usize,
}

impl<'a> Builder<'a> {
    /// An empty graph.
    #[must_use]
    pub fn new(model: Model<'a>) -> Builder<'a> {
        Builder {
            model,
            graph: Graph::default(),
            used: HashMap::new(),
            places: Vec::new(),
            stack: 0..0,
            steps: 0,
            merges: 0,
            most_stores: STORE_QUEUE,
        }
    }

    /// A graph of a trace, with the address range of its stack.
    #[must_use]
    pub fn of_trace(model: Model<'a>, stack: std::ops::Range<u64>) -> Builder<'a> {
        Builder { stack, most_stores: STORES_OF_TRACE, ..Builder::new(model) }
    }

    fn vertex(&mut self, vertex: Vertex, incoming: Vec<Edge>) -> VertexId {
        self.graph.vertices.push(vertex);
        self.graph.incoming.push(incoming);
        self.graph.vertices.len() - 1
    }

    fn value(&mut self, state: &MachineState, location: Location) -> VertexId {
        if let Some(vertex) = state.value(location) {
            return vertex;
        }
        // A high byte that was never written is part of the register's initial value.
        let location = location.whole();
        if let Some(vertex) = self.graph.inputs.get(&location) {
            return *vertex;
        }
        let vertex = self.vertex(Vertex::Input(location), Vec::new());
        self.graph.inputs.insert(location, vertex);
        vertex
    }

    fn cycles(&mut self, effects: &Effects, from: Port, to: Port) -> f64 {
        if effects.is_not_modelled || effects.is_move && self.model.eliminates_moves {
            return 0.0;
        }
        let key = Key { form: effects.form.clone(), from, to };
        if let Some(latency) = self.used.get(&key) {
            return effects.cycles(latency.cycles);
        }
        let latency = self.model.latencies.of(&key);
        let cycles = latency.cycles;
        self.used.insert(key, latency);
        effects.cycles(cycles)
    }

    /// Adds an instruction. `addresses` are the addresses of its memory operands, if a trace gives them.
    pub fn step(
        &mut self,
        state: &mut MachineState,
        instruction: usize,
        code: &iced_x86::Instruction,
        effects: &Effects,
        addresses: Option<&[u64]>,
    ) {
        let step = self.steps;
        self.steps += 1;
        let mut inputs: Vec<(VertexId, Location, Port)> = effects
            .inputs
            .iter()
            .map(|(location, port)| (self.value(state, *location), *location, *port))
            .collect();
        // A register written as a whole is one value, including its high byte.
        let known: Vec<VertexId> = inputs
            .iter()
            .filter(|(_, location, _)| !location.is_high())
            .map(|(vertex, ..)| *vertex)
            .collect();
        inputs.retain(|(vertex, location, _)| !location.is_high() || !known.contains(vertex));
        let places: Vec<Address> = effects
            .memory
            .iter()
            .enumerate()
            .map(|(index, memory)| match addresses.and_then(|addresses| addresses.get(index)) {
                Some(address) => Address::absolute(*address),
                None => state.symbols.place(memory),
            })
            .collect();
        self.places.extend(places.iter().enumerate().map(|(index, place)| (instruction, index, *place)));
        let forwarded = self.forwarded(state, effects, &places, step);

        let mut outputs: Vec<Port> = effects.outputs.iter().map(|(_, port)| *port).collect();
        outputs.extend(effects.memory.iter().any(|memory| memory.is_written).then_some(Port::Memory));
        outputs.sort_unstable();
        outputs.dedup();
        let mut made: Vec<(Port, VertexId)> = Vec::with_capacity(outputs.len());
        for to in outputs {
            let mut incoming: Vec<Edge> = Vec::new();
            for (from, location, port) in &inputs {
                if depends(*port, to) {
                    let cycles = self.cycles(effects, *port, to);
                    add(&mut incoming, Edge { from: *from, cycles, via: Via::Location(*location) });
                }
            }
            if depends(Port::Memory, to) {
                for (from, pushed) in &forwarded {
                    let cycles = pushed.unwrap_or_else(|| self.cycles(effects, Port::Memory, to));
                    add(&mut incoming, Edge { from: *from, cycles, via: Via::Memory });
                }
            }
            made.push((to, self.vertex(Vertex::Value { step, instruction, port: to }, incoming)));
        }
        let pushed =
            inputs.iter().find(|(_, _, port)| effects.stack() == Stack::Push && *port == Port::Operand(0));
        let pushed = pushed.map(|(vertex, ..)| *vertex);
        let find = |port: Port| made.iter().find(|(known, _)| *known == port).map(|(_, vertex)| *vertex);
        for (memory, place) in effects.memory.iter().zip(places) {
            if let (true, Some(vertex)) = (memory.is_written, find(Port::Memory)) {
                if state.stores.len() == self.most_stores {
                    state.stores.remove(0);
                }
                let is_on_stack = place.is_on_stack(&self.stack);
                state.stores.push(Stored { place, bytes: memory.bytes, vertex, is_on_stack, pushed });
            }
        }
        state.symbols.step(step, code, effects);
        for (location, port) in &effects.outputs {
            if let Some(vertex) = find(*port) {
                state.values[location.index()] = vertex;
            }
        }
    }

    /// The values that the loads of a step read: of a store, or of the register that a push stored, with the cycles to the pop.
    fn forwarded(
        &mut self,
        state: &MachineState,
        effects: &Effects,
        places: &[Address],
        step: usize,
    ) -> Vec<(VertexId, Option<f64>)> {
        let pushed_cycles =
            self.model.latencies.table().core.pushed.filter(|_| effects.stack() == Stack::Pop);
        let mut found = Vec::new();
        for (memory, place) in effects.memory.iter().zip(places).filter(|(memory, _)| memory.is_read) {
            let last = state.stores.iter().rev().find(|stored| {
                place.distance(&stored.place).is_some_and(|distance| {
                    distance < stored.bytes.max(1) as i64 && -distance < memory.bytes.max(1) as i64
                })
            });
            let Some(stored) = last else { continue };
            let distance = place.distance(&stored.place).unwrap_or(0);
            if distance < 0 || distance as u64 + memory.bytes > stored.bytes {
                self.graph.blocked_forwards.push(step);
            }
            found.push(match (stored.pushed, pushed_cycles) {
                (Some(register), Some(cycles)) if distance == 0 => (register, Some(cycles)),
                _ => (stored.vertex, None),
            });
        }
        found
    }

    /// The state at the start of a block where several paths merge.
    pub fn merge(&mut self, block: usize, states: &[&MachineState]) -> MachineState {
        let [first, rest @ ..] = states else { return MachineState::new() };
        let mut merged = (*first).clone();
        if rest.is_empty() {
            return merged;
        }
        for index in 0..Location::COUNT {
            if rest.iter().any(|state| state.values[index] != first.values[index]) {
                let location = Location::at(index);
                let mut incoming = Vec::new();
                for state in states {
                    let from = self.value(state, location);
                    add(&mut incoming, Edge { from, cycles: 0.0, via: Via::Location(location) });
                }
                merged.values[index] =
                    self.vertex(Vertex::Choice { block, location: Some(location) }, incoming);
            }
        }
        for state in rest {
            for stored in &state.stores {
                let same = |known: &Stored| known.place == stored.place && known.bytes == stored.bytes;
                match merged.stores.iter().position(same) {
                    Some(at) if merged.stores[at].vertex != stored.vertex => {
                        let froms = [merged.stores[at].vertex, stored.vertex];
                        let incoming =
                            froms.map(|from| Edge { from, cycles: 0.0, via: Via::Memory }).to_vec();
                        merged.stores[at].vertex =
                            self.vertex(Vertex::Choice { block, location: None }, incoming);
                    }
                    Some(_) => {}
                    None => merged.stores.push(*stored),
                }
            }
        }
        let excess = merged.stores.len().saturating_sub(STORE_QUEUE);
        merged.stores.drain(..excess);
        self.merges += 1;
        merged.symbols =
            Symbols::merge(self.merges, &states.iter().map(|state| &state.symbols).collect::<Vec<_>>());
        merged
    }
}

/// Adds an edge; of two edges between the same vertices through the same location, the longer is kept.
fn add(edges: &mut Vec<Edge>, edge: Edge) {
    match edges.iter_mut().find(|known| known.from == edge.from && known.via == edge.via) {
        Some(known) => known.cycles = known.cycles.max(edge.cycles),
        None => edges.push(edge),
    }
}

/// False between the stack pointer and other operands: the stack engine updates it separately from the data
/// of a push or pop.
pub(crate) fn depends(from: Port, to: Port) -> bool {
    let is_stack = |port| port == Port::Implicit(iced_x86::Register::RSP);
    is_stack(from) == is_stack(to)
}

impl Graph {
    /// The longest paths from one vertex to all others.
    #[must_use]
    pub fn longest_from(&self, source: VertexId) -> Paths {
        let mut paths =
            Paths { cycles: vec![None; self.vertices.len()], before: vec![None; self.vertices.len()] };
        paths.cycles[source] = Some(0.0);
        for (vertex, incoming) in self.incoming.iter().enumerate() {
            for edge in incoming {
                let Some(start) = paths.cycles[edge.from] else { continue };
                if paths.cycles[vertex].is_none_or(|known| start + edge.cycles > known) {
                    paths.cycles[vertex] = Some(start + edge.cycles);
                    paths.before[vertex] = Some(*edge);
                }
            }
        }
        paths
    }
}

/// Longest paths from one vertex.
#[derive(Debug)]
pub struct Paths {
    /// The cycles of the longest path to each vertex; `None` if there is no path.
    pub cycles: Vec<Option<f64>>,
    before: Vec<Option<Edge>>,
}

impl Paths {
    /// The longest path to a vertex: the vertices from the source on, each with the edge that leads to it.
    #[must_use]
    pub fn to(&self, vertex: VertexId) -> Vec<(VertexId, Option<Edge>)> {
        let mut path = vec![(vertex, self.before[vertex])];
        while let Some(edge) = path.last().and_then(|(_, edge)| *edge) {
            path.push((edge.from, self.before[edge.from]));
        }
        path.reverse();
        path
    }
}
