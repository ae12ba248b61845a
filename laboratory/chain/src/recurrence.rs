//! The chain that a loop carries from one iteration to the next, and its cycles: the recurrence bound.
//!
//! The graph holds two consecutive iterations. A value of the first that the second depends on is *carried*.
//! The longest paths from each carried value to those of the next iteration form a matrix; its largest mean
//! cycle weight (Karp 1978) is the bound: the cycles per iteration that no reordering avoids.

use crate::blocks::{Blocks, Loop};
use crate::decode::Function;
use crate::effects::{Effects, Location};
use crate::graph::{Builder, Graph, MachineState, Model, Vertex, VertexId, Via};
use crate::latency::{Key, Latency};
use std::collections::HashMap;

/// A link of a carried chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The instruction, as an index into the function.
    pub instruction: usize,
    /// The register, flag or memory through which it depends on the previous link.
    pub via: Via,
    /// The latency of that dependency.
    pub cycles: f64,
    /// True if the previous link is in the previous iteration.
    pub is_carried: bool,
}

/// The recurrence of a loop.
#[derive(Debug)]
pub struct Recurrence {
    /// Cycles per iteration; 0 if nothing is carried.
    pub cycles: f64,
    /// The critical chain; it spans several iterations if they alternate.
    pub chain: Vec<Link>,
    /// The largest distance by which memory operands move per iteration, of those read or else of those
    /// written.
    pub stride: Option<u64>,
    /// The graph of two iterations.
    pub graph: Graph,
    /// The first vertex of the second iteration.
    pub second: VertexId,
    /// The latencies that were used.
    pub used: HashMap<Key, Latency>,
}

/// The identity of a vertex within an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Role {
    Value(usize, crate::latency::Port),
    Choice(usize, Option<Location>),
}

fn role(vertex: Vertex) -> Option<Role> {
    match vertex {
        Vertex::Input(_) => None,
        Vertex::Value { instruction, port, .. } => Some(Role::Value(instruction, port)),
        Vertex::Choice { block, location } => Some(Role::Choice(block, location)),
    }
}

/// Analyses a loop.
#[must_use]
pub fn of(
    function: &Function,
    effects: &[Effects],
    blocks: &Blocks,
    found: &Loop,
    model: Model<'_>,
) -> Recurrence {
    let mut builder = Builder::new(model);
    let ends = iteration(&mut builder, function, effects, blocks, found, MachineState::new());
    let second = builder.graph.vertices.len();
    let first_places = std::mem::take(&mut builder.places);
    let latches: Vec<&MachineState> = found.latches.iter().filter_map(|latch| ends.get(latch)).collect();
    let entry = builder.merge(found.header, &latches);
    iteration(&mut builder, function, effects, blocks, found, entry);
    let stride = stride(&first_places, &builder.places, effects);
    let (cycles, chain) = carried(&builder.graph, second);
    Recurrence { cycles, chain, stride, graph: builder.graph, second, used: builder.used }
}

/// Adds one iteration; returns the state at the end of each block.
fn iteration(
    builder: &mut Builder<'_>,
    function: &Function,
    effects: &[Effects],
    blocks: &Blocks,
    found: &Loop,
    entry: MachineState,
) -> HashMap<usize, MachineState> {
    let mut ends: HashMap<usize, MachineState> = HashMap::new();
    for block in &found.blocks {
        let mut state = if *block == found.header {
            entry.clone()
        } else {
            let before = blocks.blocks[*block].predecessors.iter();
            let states: Vec<&MachineState> =
                before.filter(|p| !blocks.is_retreating(**p, *block)).filter_map(|p| ends.get(p)).collect();
            builder.merge(*block, &states)
        };
        for index in &blocks.blocks[*block].instructions {
            builder.step(&mut state, *index, &function.instructions[*index], &effects[*index], None);
        }
        ends.insert(*block, state);
    }
    ends
}

type Places = [(usize, usize, crate::symbol::Address)];

fn stride(first: &Places, second: &Places, effects: &[Effects]) -> Option<u64> {
    let moved = |is_wanted: &dyn Fn(&crate::effects::Memory) -> bool| {
        let pairs = first.iter().filter_map(|(instruction, operand, place)| {
            let memory = effects[*instruction].memory.get(*operand).filter(|memory| is_wanted(memory))?;
            let again = second.iter().find(|(i, o, _)| (i, o) == (instruction, operand))?;
            (memory.bytes > 0 || memory.is_written).then(|| again.2.distance(place))?.map(i64::unsigned_abs)
        });
        pairs.filter(|bytes| *bytes > 0).max()
    };
    moved(&|memory| memory.is_read).or_else(|| moved(&|memory| memory.is_written))
}

/// The largest mean of a cycle through carried values, and the links of such a cycle.
fn carried(graph: &Graph, second: VertexId) -> (f64, Vec<Link>) {
    // The carried values: those of the first iteration on which the second depends.
    let mut sources: Vec<VertexId> = graph.incoming[second..]
        .iter()
        .flatten()
        .map(|edge| edge.from)
        .filter(|from| *from < second && role(graph.vertices[*from]).is_some())
        .collect();
    sources.sort_unstable();
    sources.dedup();
    let mut again: HashMap<Role, VertexId> = HashMap::new();
    for (id, vertex) in graph.vertices.iter().enumerate().skip(second) {
        if let Some(role) = role(*vertex) {
            again.insert(role, id);
        }
    }
    let targets: Vec<Option<VertexId>> =
        sources.iter().map(|s| role(graph.vertices[*s]).and_then(|r| again.get(&r)).copied()).collect();
    // Only paths that lie in the second iteration except for their first step: a path within the first would
    // pass another carried value and is found as two paths.
    let weight: Vec<Vec<Option<f64>>> = sources
        .iter()
        .map(|source| {
            let one = longest_across(graph, *source, second);
            targets.iter().map(|target| target.and_then(|target| one[target - second])).collect()
        })
        .collect();
    let Some((mean, cycle)) = largest_mean_cycle(&weight) else { return (0.0, Vec::new()) };
    let mut chain = Vec::new();
    for pair in 0..cycle.len() {
        let (from, to) = (cycle[pair], cycle[(pair + 1) % cycle.len()]);
        let Some(target) = targets[to] else { continue };
        chain.extend(links(graph, sources[from], target, second));
    }
    (mean, chain)
}

/// The longest path from a value of the first iteration to each value of the second that leaves the first at
/// once.
fn longest_across(graph: &Graph, source: VertexId, second: VertexId) -> Vec<Option<f64>> {
    let mut cycles: Vec<Option<f64>> = vec![None; graph.vertices.len() - second];
    for vertex in second..graph.vertices.len() {
        for edge in &graph.incoming[vertex] {
            if let Some(start) = start(edge.from, source, second, &cycles) {
                let here = &mut cycles[vertex - second];
                *here = Some(here.unwrap_or(f64::NEG_INFINITY).max(start + edge.cycles));
            }
        }
    }
    cycles
}

/// The cycle in which a value is ready if the source is at 0; `None` if no such path leads to it.
fn start(from: VertexId, source: VertexId, second: VertexId, cycles: &[Option<f64>]) -> Option<f64> {
    if from == source { Some(0.0) } else { cycles[from.checked_sub(second)?] }
}

/// The instructions on the longest path from a value of the first iteration to one of the second.
fn links(graph: &Graph, source: VertexId, target: VertexId, second: VertexId) -> Vec<Link> {
    let cycles = longest_across(graph, source, second);
    let mut chain = Vec::new();
    let mut at = target;
    while at >= second {
        let best = graph.incoming[at]
            .iter()
            .filter_map(|edge| Some((start(edge.from, source, second, &cycles)? + edge.cycles, edge)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, edge)) = best else { break };
        if let Vertex::Value { instruction, .. } = graph.vertices[at] {
            let is_carried = edge.from < second;
            chain.push(Link { instruction, via: edge.via, cycles: edge.cycles, is_carried });
        }
        at = edge.from;
    }
    chain.reverse();
    chain
}

/// The largest mean weight of a cycle, and such a cycle (Karp 1978; potentials identify the cycle).
fn largest_mean_cycle(weight: &[Vec<Option<f64>>]) -> Option<(f64, Vec<usize>)> {
    let count = weight.len();
    let step = |before: &[Option<f64>], less: f64| -> Vec<Option<f64>> {
        let best = |to: usize| {
            let ways = (0..count).filter_map(|from| Some(before[from]? + weight[from][to]? - less));
            ways.reduce(f64::max)
        };
        (0..count).map(best).collect()
    };
    // The best walk of k steps to each value, from any start.
    let mut walks = vec![vec![Some(0.0); count]];
    for k in 0..count {
        walks.push(step(&walks[k], 0.0));
    }
    let mean = (0..count)
        .filter_map(|v| {
            let whole = walks[count][v]?;
            let rest = (0..count).filter_map(|k| Some((whole - walks[k][v]?) / (count - k) as f64));
            rest.reduce(f64::min)
        })
        .reduce(f64::max)?;
    // With the mean subtracted, no cycle has a positive weight, and the edges of the best cycle are tight.
    let mut potential = vec![Some(0.0); count];
    for _ in 0..count {
        let next = step(&potential, mean);
        for (known, new) in potential.iter_mut().zip(next) {
            *known = known.zip(new).map(|(a, b): (f64, f64)| a.max(b)).or(*known);
        }
    }
    let is_tight = |from: usize, to: usize| {
        let value = |index: usize| potential[index].unwrap_or(0.0);
        weight[from][to].is_some_and(|weight| (value(from) + weight - mean - value(to)).abs() < 1e-6)
    };
    cycle_among(count, &is_tight).map(|cycle| (mean, cycle))
}

/// Any cycle along these edges.
fn cycle_among(count: usize, is_edge: &dyn Fn(usize, usize) -> bool) -> Option<Vec<usize>> {
    // 0: not seen, 1: on the path, 2: done.
    let mut seen = vec![0_u8; count];
    for start in 0..count {
        let mut path: Vec<(usize, usize)> = Vec::new();
        if seen[start] == 0 {
            seen[start] = 1;
            path.push((start, 0));
        }
        while let Some((at, next)) = path.pop() {
            let Some(to) = (next..count).find(|to| is_edge(at, *to) && seen[*to] != 2) else {
                seen[at] = 2;
                continue;
            };
            path.push((at, to + 1));
            if seen[to] == 1 {
                let from = path.iter().position(|(vertex, _)| *vertex == to)?;
                return Some(path[from..].iter().map(|(vertex, _)| *vertex).collect());
            }
            seen[to] = 1;
            path.push((to, 0));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cycle_with_the_largest_mean_is_found() {
        // 0 -> 0 weighs 3; 0 -> 1 -> 0 weighs 1 + 7, a mean of 4; 2 -> 2 weighs 2.
        let weight =
            vec![vec![Some(3.0), Some(1.0), None], vec![Some(7.0), None, None], vec![None, None, Some(2.0)]];
        let (mean, mut cycle) = largest_mean_cycle(&weight).expect("there are cycles");
        cycle.sort_unstable();
        assert!((mean - 4.0).abs() < 1e-9, "{mean}");
        assert_eq!(cycle, [0, 1]);
        assert!(largest_mean_cycle(&[vec![None, Some(1.0)], vec![None, None]]).is_none());
        assert!(largest_mean_cycle(&[]).is_none());
    }
}
