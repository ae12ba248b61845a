//! The bounds of each loop: its carried chain, and its throughput.

use crate::blocks::Blocks;
use crate::decode::Function;
use crate::effects::Effects;
use crate::graph::{Graph, Model, VertexId};
use crate::latency::{Key, Latency};
use crate::recurrence::{self, Link};
use crate::throughput::{self, Throughput};
use std::collections::HashMap;

/// The bounds of a loop.
#[derive(Debug)]
pub struct LoopBound {
    /// Offset of its first instruction.
    pub offset: i64,
    /// Its instructions, as indices into the function.
    pub instructions: Vec<usize>,
    /// True if it contains no other loop.
    pub is_innermost: bool,
    /// Cycles per iteration of the carried chain.
    pub recurrence_cycles: f64,
    /// The carried chain.
    pub chain: Vec<Link>,
    /// The throughput bound of an iteration that executes every block once.
    pub throughput: Throughput,
    /// The stride of the memory that is read, or else written.
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

    /// Cycles per byte, if the stride is known.
    #[must_use]
    pub fn cycles_per_byte(&self) -> Option<f64> {
        self.bytes_per_iteration.map(|bytes| self.cycles() / bytes as f64)
    }

    /// The larger bound: `recurrence` or `throughput`.
    #[must_use]
    pub fn binding(&self) -> &'static str {
        if self.recurrence_cycles > self.throughput.cycles { "recurrence" } else { "throughput" }
    }
}

/// The most instructions in loops that are analysed; a note reports any loops beyond.
const MOST_IN_LOOPS: usize = 20_000;

/// The bounds, the latencies used, and the number of loops left out.
type LoopsFound = (Vec<LoopBound>, HashMap<Key, Latency>, usize);

/// Analyses all loops, innermost loops first.
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
        let steps = instructions.iter().map(|index| &effects[*index]);
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
