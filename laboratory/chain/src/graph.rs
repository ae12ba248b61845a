//! The dependency graph: which value waits for which, and how long.
//!
//! A vertex is a value: an input, what one output of an instruction gives, or a choice between values where control
//! flow meets (which costs nothing: branches are predicted). An edge says that the one waits for the other through
//! a register, a flag or memory, and for how many cycles. Vertices are made in the order of execution, so the graph
//! has no cycle and the longest path is found in one pass; what a loop carries from one iteration to the next
//! is found by laying two iterations one after the other (see [`recurrence`](crate::recurrence)).
//!
//! Memory: a load waits for an earlier store whose address is the same expression (the same root values plus
//! constants), or the same address where a trace gives addresses. Other stores are taken to be elsewhere.

use crate::effects::{Effects, Location, Memory};
use crate::latencies::Latencies;
use crate::latency::{Key, Latency, Port};
use crate::symbol::{Address, Symbols};
use std::collections::{BTreeMap, HashMap};

/// A vertex's number.
pub type VertexId = usize;

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Vertex {
    /// What a location held at the beginning.
    Input(Location),
    /// What an instruction gives: its place in the order of steps, and the output.
    Value {
        /// Which step.
        step: usize,
        /// Which instruction of the function.
        instruction: usize,
        /// Which of its outputs.
        port: Port,
    },
    /// One of several values, by the block where they meet.
    Choice {
        /// The block.
        block: usize,
        /// The location; `None` for memory.
        location: Option<Location>,
    },
}

/// What a dependence goes through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Via {
    /// A register or flag.
    Location(Location),
    /// A store and a load of the same address.
    Memory,
}

/// A dependence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Edge {
    /// What is waited for.
    pub from: VertexId,
    /// How long, in core cycles.
    pub cycles: f64,
    /// Through what.
    pub via: Via,
}

/// The rules that latencies are taken by.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    /// The numbers.
    pub latencies: &'a Latencies,
    /// Moves between registers cost nothing.
    pub eliminates_moves: bool,
}

/// Values and what they wait for.
#[derive(Debug, Default)]
pub struct Graph {
    /// The values, in an order in which nothing waits for a later one, inputs excepted.
    pub vertices: Vec<Vertex>,
    /// By vertex: what it waits for.
    pub incoming: Vec<Vec<Edge>>,
    /// The inputs used.
    pub inputs: BTreeMap<Location, VertexId>,
    /// Steps whose load overlaps an earlier store without lying in it.
    pub blocked_forwards: Vec<usize>,
}

/// A store that later loads may read.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Stored {
    place: Address,
    bytes: u64,
    vertex: VertexId,
    is_on_stack: bool,
}

/// Stores that are remembered where several states must be; a CPU's store queue is about as long.
const STORE_QUEUE: usize = 64;
/// Stores of a trace that are remembered: what they hold may be loaded long after it has left the queue.
const STORES_OF_TRACE: usize = 8192;
const UNTOUCHED: VertexId = VertexId::MAX;

/// What every location holds at some point of the code.
#[derive(Clone, Debug)]
pub struct MachineState {
    values: Vec<VertexId>,
    /// What is known of the registers as numbers.
    pub symbols: Symbols,
    stores: Vec<Stored>,
}

impl MachineState {
    /// Nothing was touched yet.
    #[must_use]
    pub fn new() -> MachineState {
        MachineState { values: vec![UNTOUCHED; Location::COUNT], symbols: Symbols::new(), stores: Vec::new() }
    }

    /// The value that a location holds; `None` if it was never written.
    #[must_use]
    pub fn value(&self, location: Location) -> Option<VertexId> {
        Some(self.values[location.index()]).filter(|vertex| *vertex != UNTOUCHED)
    }

    /// Stores not known to lie on the stack.
    pub fn stores(&self) -> impl Iterator<Item = VertexId> {
        self.stores.iter().filter(|stored| !stored.is_on_stack).map(|stored| stored.vertex)
    }
}

impl Default for MachineState {
    fn default() -> MachineState {
        MachineState::new()
    }
}

/// Puts a graph together.
pub struct Builder<'a> {
    model: Model<'a>,
    /// The graph so far.
    pub graph: Graph,
    /// The latencies requested.
    pub used: HashMap<Key, Latency>,
    /// The memory operands met: which instruction, which operand, and its address.
    pub places: Vec<(usize, usize, Address)>,
    /// Where the stack lies, for addresses that a trace gives.
    stack: std::ops::Range<u64>,
    steps: usize,
    meetings: usize,
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
            meetings: 0,
            most_stores: STORE_QUEUE,
        }
    }

    /// A graph of one path alone, with the stack where a trace found it.
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
        // A high byte that was not written is part of its register's previous value.
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
            return latency.cycles;
        }
        let latency = self.model.latencies.of(&key);
        let cycles = latency.cycles;
        self.used.insert(key, latency);
        cycles
    }

    /// Adds an instruction. `addresses` are those of its memory operands, where a trace gives them.
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
        // A register written as a whole is one value, its high byte included.
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
        let forwarded = self.forwarded(state, &effects.memory, &places, step);

        let mut outputs: Vec<Port> = effects.outputs.iter().map(|(_, port)| *port).collect();
        outputs.extend(effects.memory.iter().any(|memory| memory.is_written).then_some(Port::Memory));
        outputs.sort_unstable();
        outputs.dedup();
        let mut made: Vec<(Port, VertexId)> = Vec::with_capacity(outputs.len());
        for to in outputs {
            let mut incoming: Vec<Edge> = Vec::new();
            for (from, location, port) in &inputs {
                if goes_through(*port, to) {
                    let cycles = self.cycles(effects, *port, to);
                    add(&mut incoming, Edge { from: *from, cycles, via: Via::Location(*location) });
                }
            }
            if goes_through(Port::Memory, to) {
                for from in &forwarded {
                    let cycles = self.cycles(effects, Port::Memory, to);
                    add(&mut incoming, Edge { from: *from, cycles, via: Via::Memory });
                }
            }
            made.push((to, self.vertex(Vertex::Value { step, instruction, port: to }, incoming)));
        }
        let find = |port: Port| made.iter().find(|(known, _)| *known == port).map(|(_, vertex)| *vertex);
        for (memory, place) in effects.memory.iter().zip(places) {
            if let (true, Some(vertex)) = (memory.is_written, find(Port::Memory)) {
                if state.stores.len() == self.most_stores {
                    state.stores.remove(0);
                }
                let is_on_stack = place.is_on_stack(&self.stack);
                state.stores.push(Stored { place, bytes: memory.bytes, vertex, is_on_stack });
            }
        }
        state.symbols.step(step, code, effects);
        for (location, port) in &effects.outputs {
            if let Some(vertex) = find(*port) {
                state.values[location.index()] = vertex;
            }
        }
    }

    /// The stores that the loads of a step read.
    fn forwarded(
        &mut self,
        state: &MachineState,
        memory: &[Memory],
        places: &[Address],
        step: usize,
    ) -> Vec<VertexId> {
        let mut found = Vec::new();
        for (memory, place) in memory.iter().zip(places).filter(|(memory, _)| memory.is_read) {
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
            found.push(stored.vertex);
        }
        found
    }

    /// What holds where several paths meet, at the beginning of a block.
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
        self.meetings += 1;
        merged.symbols =
            Symbols::merge(self.meetings, &states.iter().map(|state| &state.symbols).collect::<Vec<_>>());
        merged
    }
}

/// Adds an edge, the longer one where there are two between the same vertices through the same thing.
fn add(edges: &mut Vec<Edge>, edge: Edge) {
    match edges.iter_mut().find(|known| known.from == edge.from && known.via == edge.via) {
        Some(known) => known.cycles = known.cycles.max(edge.cycles),
        None => edges.push(edge),
    }
}

/// What the stack engine does to the stack pointer is apart from what a push or pop moves.
pub(crate) fn goes_through(from: Port, to: Port) -> bool {
    let is_stack = |port| port == Port::Implicit(iced_x86::Register::RSP);
    is_stack(from) == is_stack(to)
}

impl Graph {
    /// The longest path from one vertex to each: cycles, or `None` where there is no path.
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
    /// By vertex: the cycles of the longest path to it.
    pub cycles: Vec<Option<f64>>,
    before: Vec<Option<Edge>>,
}

impl Paths {
    /// The vertices of the longest path to this one, the source first, each with the edge that leads to it.
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
