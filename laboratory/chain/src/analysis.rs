//! The bounds of a routine: the longest path from each input to the outputs, the chain that each loop
//! carries, and the throughput of its instructions.
//!
//! There are three scopes. *Straight* code runs from its first instruction to its last. *Branching* code is
//! analysed over every path that takes each loop at most once, and its bound is the longest of these paths;
//! each loop is also analysed by itself. A *trace* is what one call executed, and its bounds are those of
//! that call.

use crate::blocks::Blocks;
use crate::decode::{Function, Stop};
use crate::effects::{Effects, Reader};
use crate::graph::{Builder, Graph, MachineState, Model, VertexId};
use crate::latencies::Latencies;
use crate::latency::{Key, Latency};
pub use crate::loops::LoopBound;
pub use crate::paths::{InputPath, PathStep};
use crate::signature::Signature;
use crate::throughput::{self, Throughput};
use crate::trace::Trace;
use crate::{loops, paths};
use iced_x86::{FlowControl, Instruction};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The scope of an analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Code without branches.
    Straight,
    /// Every path through the code, each loop once.
    Branching,
    /// What one call executed.
    Trace,
}

/// Options of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The latencies.
    pub latencies: &'a Latencies,
    /// Whether moves between registers are free; `None` to follow the table.
    pub eliminates_moves: Option<bool>,
}

impl<'a> Options<'a> {
    /// Options with these latencies and the table's defaults.
    #[must_use]
    pub fn new(latencies: &'a Latencies) -> Options<'a> {
        Options { latencies, eliminates_moves: None }
    }

    fn model(&self) -> Model<'a> {
        let table = self.latencies.table();
        Model {
            latencies: self.latencies,
            eliminates_moves: self.eliminates_moves.unwrap_or(table.eliminates_moves),
        }
    }
}

/// The result of an analysis.
#[derive(Debug)]
pub struct Analysis {
    /// The scope.
    pub scope: Scope,
    /// The instructions.
    pub function: Function,
    /// The effects of each instruction.
    pub effects: Vec<Effects>,
    /// Control flow.
    pub blocks: Blocks,
    /// The executed steps in order, as indices of instructions.
    pub order: Vec<usize>,
    /// The dependency graph over all steps.
    pub graph: Graph,
    /// The vertices that are outputs, with their names.
    pub outputs: Vec<(VertexId, String)>,
    /// The longest path of each input.
    pub inputs: Vec<InputPath>,
    /// The loops; empty for a trace.
    pub loops: Vec<LoopBound>,
    /// The throughput bound; in branching code, of the shortest path.
    pub throughput: Throughput,
    /// All latencies that were used.
    pub latencies: BTreeMap<Key, Latency>,
    /// Remarks on the analysis, and what it leaves out.
    pub notes: Vec<String>,
}

/// Analyses a function.
#[must_use]
pub fn of_function(function: Function, signature: &Signature, options: Options<'_>) -> Analysis {
    let model = options.model();
    let table = options.latencies.table();
    let effects = Reader::new(table.high_bytes).calls_are_opaque().read_all(&function.instructions, table);
    let blocks = Blocks::of(&function);
    let mut builder = Builder::new(model);
    let (order, ends) = all_paths(&mut builder, &function, &effects, &blocks);
    let is_straight = blocks.blocks.iter().all(|block| block.successors.len() < 2) && blocks.loops.is_empty();
    let outputs = paths::outputs(signature, &ends);
    let throughput = throughput::of_shortest(&effects, &blocks, model);
    let (loops, loop_latencies, left_out) = loops::all(&function, &effects, &blocks, model);
    let mut notes: Vec<String> = function.stops.iter().map(Stop::to_string).collect();
    if left_out > 0 {
        notes.push(format!("{left_out} loops are left out because the code is too large"));
    }
    let mut latencies: BTreeMap<Key, Latency> = builder.used.into_iter().collect();
    latencies.extend(loop_latencies);
    let scope = if is_straight { Scope::Straight } else { Scope::Branching };
    Analysis {
        scope,
        function,
        effects,
        blocks,
        order,
        inputs: paths::of_inputs(&builder.graph, &outputs, signature),
        graph: builder.graph,
        outputs,
        loops,
        throughput,
        latencies,
        notes,
    }
    .with_notes()
}

/// Analyses the trace of a call.
#[must_use]
pub fn of_trace(trace: &Trace, signature: &Signature, options: Options<'_>) -> Analysis {
    let model = options.model();
    let table = options.latencies.table();
    let function = trace.function();
    let effects = Reader::new(table.high_bytes).read_all(&function.instructions, table);
    let blocks = Blocks::of(&function);
    let mut builder = Builder::of_trace(model, trace.stack());
    let mut state = MachineState::new();
    let mut order = Vec::with_capacity(trace.steps.len());
    for step in &trace.steps {
        let Some(index) = function.index_of(step.address) else { continue };
        let addresses = trace.addresses(step, &function.instructions[index]);
        builder.step(&mut state, index, &function.instructions[index], &effects[index], Some(&addresses));
        order.push(index);
    }
    let outputs = paths::outputs(signature, &[state]);
    let throughput =
        throughput::bound(table, model.eliminates_moves, order.iter().map(|index| &effects[*index]));
    let latencies = builder.used.into_iter().collect();
    let mut notes = Vec::new();
    if trace.is_cut {
        notes.push(format!("only the first {} instructions of the call were followed", trace.steps.len()));
    }
    Analysis {
        scope: Scope::Trace,
        function,
        effects,
        blocks,
        order,
        inputs: paths::of_inputs(&builder.graph, &outputs, signature),
        graph: builder.graph,
        outputs,
        loops: Vec::new(),
        throughput,
        latencies,
        notes,
    }
    .with_notes()
}

impl Analysis {
    /// Adds notes on effects that the bounds leave out.
    fn with_notes(mut self) -> Analysis {
        let at = |index: usize| {
            let offset = self.function.offset(self.function.instructions[index].ip());
            format!("offset {offset:#x}: '{}'", self.function.text(index))
        };
        for (index, effects) in self.effects.iter().enumerate() {
            if effects.is_not_modelled && !is_call(&self.function.instructions[index]) {
                let why = "is not modelled: its time depends on data or on the machine's state";
                self.notes.push(format!("{} {why}", at(index)));
            }
        }
        let blocked = self.graph.blocked_forwards.iter();
        let blocked: BTreeSet<usize> = blocked.filter_map(|step| self.order.get(*step).copied()).collect();
        for index in blocked.into_iter().take(3) {
            let why =
                "reads bytes of which only some were just stored; the failed forwarding is not modelled";
            self.notes.push(format!("{} {why}", at(index)));
        }
        self
    }
}

fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// Adds every block once; returns the order of steps, and the states at the ends.
fn all_paths(
    builder: &mut Builder<'_>,
    function: &Function,
    effects: &[Effects],
    blocks: &Blocks,
) -> (Vec<usize>, Vec<MachineState>) {
    let mut order = Vec::new();
    let mut ends: HashMap<usize, MachineState> = HashMap::new();
    let mut results = Vec::new();
    for block in &blocks.order {
        let before = blocks.blocks[*block].predecessors.iter();
        let states: Vec<&MachineState> =
            before.filter(|p| !blocks.is_retreating(**p, *block)).filter_map(|p| ends.get(p)).collect();
        let mut state = builder.merge(*block, &states);
        for index in &blocks.blocks[*block].instructions {
            builder.step(&mut state, *index, &function.instructions[*index], &effects[*index], None);
            order.push(*index);
        }
        if blocks.blocks[*block].successors.is_empty() {
            results.push(state.clone());
        }
        ends.insert(*block, state);
    }
    (order, results)
}

impl Analysis {
    /// The path of the input called `name`.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<&InputPath> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// The longest of all inputs' paths.
    #[must_use]
    pub fn longest(&self) -> Option<&InputPath> {
        let known = self.inputs.iter().filter_map(|input| Some((input.path_cycles?, input)));
        known.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, input)| input)
    }

    /// The loop in which long calls spend their time: the innermost loop with the largest stride.
    #[must_use]
    pub fn main_loop(&self) -> Option<&LoopBound> {
        let innermost = self.loops.iter().filter(|found| found.is_innermost);
        innermost.max_by_key(|found| (found.bytes_per_iteration, std::cmp::Reverse(found.offset)))
    }

    /// The text of each executed instruction that is not modelled, once each; if there are any, no figure
    /// holds.
    #[must_use]
    pub fn not_modelled(&self) -> Vec<String> {
        let executed: BTreeSet<usize> = self.order.iter().copied().collect();
        let is_open = |index: &usize| {
            self.effects[*index].is_not_modelled && !is_call(&self.function.instructions[*index])
        };
        let mut found: Vec<String> =
            executed.into_iter().filter(is_open).map(|index| self.function.text(index)).collect();
        found.dedup();
        found
    }

    /// The tighter bound: `recurrence` or `throughput` of the main loop, or else `latency` or `throughput` of
    /// the whole code.
    #[must_use]
    pub fn binding(&self) -> &'static str {
        match (self.main_loop(), self.longest().and_then(|input| input.path_cycles)) {
            (Some(found), _) => found.binding(),
            (None, Some(cycles)) if cycles > self.throughput.cycles => "latency",
            _ => "throughput",
        }
    }

    /// The sources of the latencies of each mnemonic: citations or measurements.
    #[must_use]
    pub fn sources(&self) -> BTreeMap<String, String> {
        let mut sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (key, latency) in &self.latencies {
            let known = sources.entry(key.form.mnemonic_name()).or_default();
            let source = latency.source.to_string();
            if !known.contains(&source) {
                known.push(source);
            }
        }
        sources.into_iter().map(|(mnemonic, sources)| (mnemonic, sources.join("; "))).collect()
    }
}
