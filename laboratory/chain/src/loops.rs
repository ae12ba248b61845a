//! The bounds of each loop: what it carries, and how fast an iteration can be started.

use crate::blocks::Blocks;
use crate::decode::Function;
use crate::effects::Effects;
use crate::graph::{Graph, Model, VertexId};
use crate::latency::{Key, Latency};
use crate::recurrence::{self, Link};
use crate::throughput::{self, Throughput};
use std::collections::HashMap;

/// A loop's bounds.
#[derive(Debug)]
pub struct LoopBound {
    /// Of the first instruction.
    pub offset: i64,
    /// The instructions, by their place in the function.
    pub instructions: Vec<usize>,
    /// True if no loop lies in it.
    pub is_innermost: bool,
    /// Cycles per iteration that the carried chain takes.
    pub recurrence_cycles: f64,
    /// That chain.
    pub chain: Vec<Link>,
    /// The bound by issue and ports, for an iteration that takes every block once.
    pub throughput: Throughput,
    /// How far the memory read (or else written) moves in an iteration.
    pub bytes_per_iteration: Option<u64>,
    /// The graph of two iterations.
    pub graph: Graph,
    /// The first vertex of the second iteration.
    pub second: VertexId,
}

impl LoopBound {
    /// The larger of both bounds.
    #[must_use]
    pub fn cycles(&self) -> f64 {
        self.recurrence_cycles.max(self.throughput.cycles)
    }

    /// Cycles per byte, where it is known how far an iteration moves.
    #[must_use]
    pub fn cycles_per_byte(&self) -> Option<f64> {
        self.bytes_per_iteration.map(|bytes| self.cycles() / bytes as f64)
    }

    /// Which bound binds: `recurrence` or `throughput`.
    #[must_use]
    pub fn binding(&self) -> &'static str {
        if self.recurrence_cycles > self.throughput.cycles { "recurrence" } else { "throughput" }
    }
}

/// Instructions in loops that are analysed; beyond, a note says so.
const MOST_IN_LOOPS: usize = 20_000;

/// Bounds, the latencies requested, and how many loops were left out.
type LoopsFound = (Vec<LoopBound>, HashMap<Key, Latency>, usize);

/// Analyses the loops, innermost ones first.
pub(crate) fn all(function: &Function, effects: &[Effects], blocks: &Blocks, model: Model<'_>) -> LoopsFound {
    let (mut bounds, mut latencies, mut left_out, mut spent) = (Vec::new(), HashMap::new(), 0, 0);
    let mut inner_first: Vec<_> = blocks.loops.iter().collect();
    inner_first.sort_by_key(|found| !found.is_innermost);
    for found in inner_first {
        let instructions: Vec<usize> = found
            .blocks
            .iter()
            .flat_map(|block| blocks.blocks[*block].instructions.iter().copied())
            .collect();
        spent += instructions.len();
        if spent > MOST_IN_LOOPS {
            left_out += 1;
            continue;
        }
        let recurrence = recurrence::of(function, effects, blocks, found, model);
        let steps = instructions.iter().map(|index| (&function.instructions[*index], &effects[*index]));
        let header = blocks.blocks[found.header].instructions.first();
        bounds.push(LoopBound {
            offset: header.map_or(0, |index| function.offset(function.instructions[*index].ip())),
            throughput: throughput::bound(model.latencies.table(), model.eliminates_moves, steps),
            instructions,
            is_innermost: found.is_innermost,
            recurrence_cycles: recurrence.cycles,
            chain: recurrence.chain,
            bytes_per_iteration: recurrence.stride,
            graph: recurrence.graph,
            second: recurrence.second,
        });
        latencies.extend(recurrence.used);
    }
    (bounds, latencies, left_out)
}
