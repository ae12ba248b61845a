//! Selects the boxes and arrows of a drawing, before layout.
//!
//! The following is left out: instructions on which no result depends (comparisons, branches, counters), the
//! stack pointer, and arrows from an argument or a loop's pointer to addresses, which would lead to every
//! load. The longest path of each argument is always drawn.

use crate::analysis::{Analysis, LoopBound};
use crate::draw::builder::PictureBuilder;
use crate::draw::layout::lay_out;
use crate::draw::parts::{Arrow, Node, NodeKind, Picture};
use crate::draw::svg::LARGEST;
use crate::effects::{Effects, Location};
use crate::fold;
use crate::graph::{Edge, Graph, Vertex, VertexId, Via};
use crate::latency::Port;
use std::collections::{BTreeSet, HashMap};

/// The parts in red.
#[derive(Clone, Copy, Debug)]
pub enum Hot<'a> {
    /// The critical chain.
    Chain,
    /// These instructions, by index in the function: those that run on the busiest ports.
    Instructions(&'a [bool]),
    /// Nothing: all instructions share the limiting resource.
    Nothing,
}

/// Options of a drawing.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Draws every iteration of a loop instead of one for all.
    pub full: bool,
    /// The parts in red.
    pub hot: Hot<'a>,
}

/// Draws straight code, every path of branching code, or a trace.
#[must_use]
pub fn of_analysis(analysis: &Analysis, title: &str, chained: Option<&str>, view: View<'_>) -> Picture {
    let graph = &analysis.graph;
    let main = chained
        .and_then(|name| analysis.input(name))
        .filter(|input| input.path_cycles.is_some())
        .or_else(|| analysis.longest());
    let mut paths: BTreeSet<(VertexId, VertexId)> = BTreeSet::new();
    for input in &analysis.inputs {
        paths.extend(input.vertices.windows(2).map(|pair| (pair[0], pair[1])));
    }
    let critical: BTreeSet<(VertexId, VertexId)> = main
        .map(|input| input.vertices.windows(2).map(|pair| (pair[0], pair[1])).collect())
        .unwrap_or_default();
    let wanted = reaching(graph, analysis.outputs.iter().map(|(vertex, _)| *vertex));
    let mut builder = PictureBuilder::new(&analysis.function, graph, 0);
    if !view.full {
        builder.drawn = folded(&analysis.order);
    }
    let named: HashMap<&str, &str> =
        analysis.inputs.iter().map(|input| (input.register.as_str(), input.name.as_str())).collect();
    for vertex in (0..graph.vertices.len()).filter(|vertex| wanted[*vertex]) {
        builder.value(vertex);
    }
    for (vertex, incoming) in graph.incoming.iter().enumerate() {
        let Vertex::Value { instruction, .. } = graph.vertices[vertex] else { continue };
        if !wanted[vertex] {
            continue;
        }
        for edge in incoming.iter().filter(|edge| !is_stack_pointer(edge)) {
            for (from, is_critical, is_path) in builder.sources(edge.from, vertex, &critical, &paths) {
                if let Vertex::Input(location) = graph.vertices[from] {
                    let name = named.get(location.name().as_str());
                    let is_address = is_address(&analysis.effects[instruction], location);
                    let Some(name) = name.filter(|_| !is_address || is_path) else { continue };
                    builder.input(location, name);
                }
                builder.arrow(from, vertex, edge, is_critical, false);
            }
        }
    }
    let order_len = analysis.order.len();
    builder.outputs(&analysis.outputs, &critical, main.and_then(|input| input.vertices.last().copied()));
    let drawn = builder.nodes.iter().filter(|node| node.kind == NodeKind::Instruction).count();
    let folded = builder.drawn.iter().enumerate().filter(|(step, (shown, _))| step != shown).count();
    let left_out = order_len.saturating_sub(drawn + folded);
    let mut picture = builder.finish(title, left_out, &analysis.effects);
    if !view.full {
        picture = fitted(picture);
    }
    if !matches!(view.hot, Hot::Chain) {
        recolour(&mut picture, view.hot);
    }
    picture
}

/// Drops boxes far from the critical chain if the picture is too wide to read: first those on which no box of
/// the chain directly depends, then all outside the chain. A picture without a chain is returned unchanged.
fn fitted(picture: Picture) -> Picture {
    let is_chain = |node: usize| picture.nodes[node].is_critical;
    let feeds = |node: usize| picture.arrows.iter().any(|arrow| arrow.from == node && is_chain(arrow.to));
    let fits = |picture: &Picture| picture.nodes.len() <= MOST_LAID_OUT && lay_out(picture).width <= LARGEST;
    if !(0..picture.nodes.len()).any(is_chain) || fits(&picture) {
        return picture;
    }
    let near = kept(&picture, |node| is_chain(node) || feeds(node));
    if fits(&near) { near } else { kept(&picture, is_chain) }
}

/// Pictures of more boxes do not fit; they are not laid out to check, because layout recurses once per box.
const MOST_LAID_OUT: usize = 500;

/// The picture of the wanted boxes; the instructions among the others are counted in `beside`.
fn kept(picture: &Picture, is_wanted: impl Fn(usize) -> bool) -> Picture {
    let nodes: Vec<usize> = (0..picture.nodes.len()).filter(|node| is_wanted(*node)).collect();
    let new_index = |node: usize| nodes.iter().position(|known| *known == node);
    let arrow = |arrow: &Arrow| {
        Some(Arrow { from: new_index(arrow.from)?, to: new_index(arrow.to)?, ..arrow.clone() })
    };
    let instructions =
        |nodes: &[Node]| nodes.iter().filter(|node| node.kind == NodeKind::Instruction).count();
    let own: Vec<Node> = nodes.iter().map(|node| picture.nodes[*node].clone()).collect();
    Picture {
        arrows: picture.arrows.iter().filter_map(arrow).collect(),
        beside: picture.beside + instructions(&picture.nodes) - instructions(&own),
        nodes: own,
        ..picture.clone()
    }
}

/// The step that is drawn for each step: of a loop, those of the middle iteration, marked with the number of
/// iterations.
fn folded(order: &[usize]) -> Vec<(usize, String)> {
    let mut drawn = Vec::with_capacity(order.len());
    for body in fold::bodies(order) {
        let shown = body.first + body.length * (body.times / 2);
        for place in 0..body.length * body.times {
            let place = place % body.length;
            let times =
                if place == 0 && body.times > 1 { format!("x {}  ", body.times) } else { String::new() };
            drawn.push((shown + place, times));
        }
    }
    drawn
}

/// Highlights something other than the chain.
fn recolour(picture: &mut Picture, hot: Hot<'_>) {
    for arrow in &mut picture.arrows {
        arrow.is_critical = false;
    }
    for node in &mut picture.nodes {
        let is_hot = |index: usize| match hot {
            Hot::Instructions(hot) => hot.get(index).copied().unwrap_or(false),
            Hot::Chain | Hot::Nothing => false,
        };
        node.is_critical = node.instruction.is_some_and(is_hot);
    }
}

/// Draws one iteration of a loop; carried dependencies lead from the bottom back to the top.
#[must_use]
pub fn of_loop(analysis: &Analysis, bound: &LoopBound, title: &str, hot: Hot<'_>) -> Picture {
    let (graph, second) = (&bound.graph, bound.second);
    let mut builder = PictureBuilder::new(&analysis.function, graph, second);
    // The second iteration is drawn; the first only supplies its inputs.
    let steps_in_one = bound.instructions.len();
    let links: BTreeSet<usize> = bound.chain.iter().map(|link| link.instruction).collect();
    let carried: Vec<VertexId> = graph.incoming[second..].iter().flatten().map(|edge| edge.from).collect();
    let again: HashMap<(usize, Port), VertexId> = graph
        .vertices
        .iter()
        .enumerate()
        .skip(second)
        .filter_map(|(id, vertex)| match vertex {
            Vertex::Value { instruction, port, .. } => Some(((*instruction, *port), id)),
            _ => None,
        })
        .collect();
    let second_of = |vertex: VertexId| match graph.vertices[vertex] {
        Vertex::Value { instruction, port, .. } => again.get(&(instruction, port)).copied(),
        _ => None,
    };
    // Values that the next iteration depends on, and stores.
    let stores = (second..graph.vertices.len())
        .filter(|vertex| matches!(graph.vertices[*vertex], Vertex::Value { port: Port::Memory, .. }));
    let ends = carried.into_iter().filter(|from| *from < second).filter_map(second_of).chain(stores);
    let wanted = reaching(graph, ends);
    for vertex in (second..graph.vertices.len()).filter(|vertex| wanted[*vertex]) {
        builder.value(vertex);
    }
    let none = BTreeSet::new();
    for vertex in (second..graph.vertices.len()).filter(|vertex| wanted[*vertex]) {
        let Vertex::Value { instruction, .. } = graph.vertices[vertex] else { continue };
        for edge in graph.incoming[vertex].iter().filter(|edge| !is_stack_pointer(edge)) {
            for (from, _, _) in builder.sources(edge.from, vertex, &none, &none) {
                let is_carried = from < second;
                let Some(shown) = (if is_carried { second_of(from) } else { Some(from) }) else { continue };
                let before = match graph.vertices[from] {
                    Vertex::Value { instruction, .. } => instruction,
                    _ => continue,
                };
                let is_critical = follows(&bound.chain, before, instruction) && links.contains(&before);
                let is_pointer = match edge.via {
                    Via::Location(location) => is_address(&analysis.effects[instruction], location),
                    Via::Memory => false,
                };
                if is_carried && is_pointer && !links.contains(&before) {
                    continue;
                }
                builder.arrow(shown, vertex, edge, is_critical, is_carried);
            }
        }
    }
    let mut picture = builder.finish(title, 0, &analysis.effects);
    drop_counters(&mut picture);
    picture.left_out = steps_in_one.saturating_sub(picture.nodes.len());
    let mut picture = fitted(picture);
    if !matches!(hot, Hot::Chain) {
        recolour(&mut picture, hot);
    }
    picture
}

/// Removes boxes that only depend on their own previous value and that no other box depends on: the counters
/// of branches.
fn drop_counters(picture: &mut Picture) {
    let is_needed = |node: usize| {
        let mut others = picture.arrows.iter().filter(|arrow| (arrow.from == node) != (arrow.to == node));
        picture.nodes[node].is_critical || others.next().is_some()
    };
    let beside = picture.beside;
    let needed = kept(picture, is_needed);
    *picture = Picture { beside, ..needed };
}

/// True if the chain leads directly from one instruction to the other.
fn follows(chain: &[crate::recurrence::Link], from: usize, to: usize) -> bool {
    let next = chain.iter().cycle().skip(1);
    chain.iter().zip(next).any(|(a, b)| a.instruction == from && b.instruction == to)
}

/// The vertices on which any of the ends depends.
fn reaching(graph: &Graph, ends: impl Iterator<Item = VertexId>) -> Vec<bool> {
    let mut wanted = vec![false; graph.vertices.len()];
    let mut open: Vec<VertexId> = ends.collect();
    while let Some(vertex) = open.pop() {
        if !std::mem::replace(&mut wanted[vertex], true) {
            let incoming = graph.incoming[vertex].iter();
            open.extend(incoming.filter(|edge| !is_stack_pointer(edge)).map(|edge| edge.from));
        }
    }
    wanted
}

/// True for dependencies through the stack pointer, which are not drawn.
fn is_stack_pointer(edge: &Edge) -> bool {
    edge.via == Via::Location(Location::RSP)
}

/// True if an instruction uses the location only for addresses.
fn is_address(effects: &Effects, location: Location) -> bool {
    let uses = effects.inputs.iter().filter(|(known, _)| *known == location);
    uses.clone().count() > 0 && uses.into_iter().all(|(_, port)| *port == Port::Address)
}
