//! The throughput bound of instructions, regardless of dependencies: issue width and execution ports.

use crate::blocks::Blocks;
use crate::effects::Effects;
use crate::graph::Model;
use crate::table::Table;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The fewest cycles in which instructions can start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// The larger of the two bounds.
    pub cycles: f64,
    /// The bound by issue width.
    pub issue_cycles: f64,
    /// Issue slots: memory operands are fused with their instructions, and jumps with those before them, as the table says.
    pub issued: f64,
    /// The bound by the busiest set of ports.
    pub port_cycles: f64,
    /// The names of those ports.
    pub ports: Vec<String>,
}

impl Throughput {
    /// The larger bound, in words.
    #[must_use]
    pub fn binding(&self) -> String {
        match self.port_cycles > self.issue_cycles {
            true => format!("ports {}", self.ports.join(" ")),
            false => "issue width".to_owned(),
        }
    }
}

/// The bound of instructions in execution order.
#[must_use]
pub fn bound<'a>(
    table: &Table,
    eliminates_moves: bool,
    steps: impl Iterator<Item = &'a Effects>,
) -> Throughput {
    let mut issued = 0.0;
    // Operations by the set of ports that can start them.
    let mut work: BTreeMap<u32, f64> = BTreeMap::new();
    let mut is_second = false;
    for effects in steps {
        let is_free = effects.is_idiom || effects.is_move && eliminates_moves;
        issued += if is_second { 0.0 } else { table.slots(&effects.form) };
        is_second = effects.is_fused;
        if !is_free {
            for ports in table.work(effects) {
                *work.entry(ports.ports).or_default() += ports.operations;
            }
        }
    }
    let (port_cycles, ports) = busiest(&work);
    let issue_cycles = issued / table.issue_width;
    Throughput {
        cycles: issue_cycles.max(port_cycles),
        issue_cycles,
        issued,
        port_cycles,
        ports: table.names_of(ports),
    }
}

/// The bound of the path from the entry to an end with the fewest instructions.
#[must_use]
pub fn of_shortest(effects: &[Effects], blocks: &Blocks, model: Model<'_>) -> Throughput {
    let mut best: HashMap<usize, (usize, Option<usize>)> = HashMap::new();
    let mut end: Option<(usize, usize)> = None;
    for block in &blocks.order {
        let before = blocks.blocks[*block].predecessors.iter();
        let known = before.filter(|p| !blocks.is_retreating(**p, *block));
        let first = known.filter_map(|p| best.get(p).map(|(length, _)| (*length, *p))).min();
        let length = first.map_or(0, |(length, _)| length) + blocks.blocks[*block].instructions.len();
        best.insert(*block, (length, first.map(|(_, block)| block)));
        if blocks.blocks[*block].successors.is_empty() && end.is_none_or(|(known, _)| length < known) {
            end = Some((length, *block));
        }
    }
    let mut path = Vec::new();
    let mut at = end.map(|(_, block)| block);
    while let Some(block) = at {
        path.push(block);
        at = best.get(&block).and_then(|(_, before)| *before);
    }
    path.reverse();
    let steps =
        path.iter().flat_map(|block| &blocks.blocks[*block].instructions).map(|index| &effects[*index]);
    bound(model.latencies.table(), model.eliminates_moves, steps)
}

/// The set of ports with the most work per port, which bounds any assignment of work to ports (Hall's
/// theorem). Only unions of the sets that occur can be the busiest.
fn busiest(work: &BTreeMap<u32, f64>) -> (f64, u32) {
    let mut unions: Vec<u32> = Vec::new();
    for set in work.keys() {
        let with: Vec<u32> = unions.iter().map(|union| union | set).chain([*set]).collect();
        for union in with {
            if !unions.contains(&union) {
                unions.push(union);
            }
        }
    }
    let load = |union: u32| {
        let inside = work.iter().filter(|(set, _)| **set & !union == 0).map(|(_, operations)| operations);
        inside.sum::<f64>() / f64::from(union.count_ones())
    };
    unions.into_iter().map(|union| (load(union), union)).fold((0.0, 0), |best, next| {
        // Of equally busy sets, the smaller is more specific.
        let is_better = next.0 > best.0 + 1e-9
            || (next.0 - best.0).abs() <= 1e-9 && next.1.count_ones() < best.1.count_ones();
        if is_better { next } else { best }
    })
}
