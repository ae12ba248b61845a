//! What is drawn: instructions as boxes, what waits for what as arrows; before anything has a place.
//!
//! Left out is what no result waits for (comparisons, branches, counters), the stack pointer, and the arrows from
//! an argument or a loop's pointer to addresses, which would go to every load: the longest path of each argument is
//! drawn, whatever it goes through.

use crate::analysis::{Analysis, LoopBound};
use crate::decode::Function;
use crate::draw::layout::lay_out;
use crate::draw::parts::{Arrow, Node, NodeKind, Picture};
use crate::draw::steps;
use crate::draw::svg::LARGEST;
use crate::effects::{Effects, Location};
use crate::fold;
use crate::graph::{Edge, Graph, Vertex, VertexId, Via};
use crate::latency::Port;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A picture in the making.
struct Maker<'a> {
    function: &'a Function,
    graph: &'a Graph,
    nodes: Vec<Node>,
    /// By step, or by argument.
    of_step: BTreeMap<usize, usize>,
    of_input: BTreeMap<Location, usize>,
    arrows: BTreeMap<(usize, usize, bool), Arrow>,
    ready: Vec<f64>,
    /// By step: the step that is drawn for it, and what is written before its text.
    drawn: Vec<(usize, String)>,
}

/// What is shown in red.
#[derive(Clone, Copy, Debug)]
pub enum Hot<'a> {
    /// The critical chain.
    Chain,
    /// These instructions, by their place in the function: those that the busiest ports start.
    Instructions(&'a [bool]),
    /// Nothing: all instructions take their share of what binds.
    Nothing,
}

/// How a picture is made.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Every turn of a loop is drawn, and not one for all.
    pub full: bool,
    /// What is in red.
    pub hot: Hot<'a>,
}

/// The picture of straight code, of every path, or of a trace; `title` is what it shows.
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
    let mut maker = Maker::new(&analysis.function, graph, 0);
    if !view.full {
        maker.drawn = folded(&analysis.order);
    }
    let named: HashMap<&str, &str> =
        analysis.inputs.iter().map(|input| (input.register.as_str(), input.name.as_str())).collect();
    for vertex in (0..graph.vertices.len()).filter(|vertex| wanted[*vertex]) {
        maker.value(vertex);
    }
    for (vertex, incoming) in graph.incoming.iter().enumerate() {
        let Vertex::Value { instruction, .. } = graph.vertices[vertex] else { continue };
        if !wanted[vertex] {
            continue;
        }
        for edge in incoming.iter().filter(|edge| !is_stack_pointer(edge)) {
            for (from, is_critical, is_path) in maker.sources(edge.from, vertex, &critical, &paths) {
                if let Vertex::Input(location) = graph.vertices[from] {
                    let name = named.get(location.name().as_str());
                    let is_address = is_address(&analysis.effects[instruction], location);
                    let Some(name) = name.filter(|_| !is_address || is_path) else { continue };
                    maker.input(location, name);
                }
                maker.arrow(from, vertex, edge, is_critical, false);
            }
        }
    }
    let order_len = analysis.order.len();
    maker.outputs(&analysis.outputs, &critical, main.and_then(|input| input.vertices.last().copied()));
    let drawn = maker.nodes.iter().filter(|node| node.kind == NodeKind::Instruction).count();
    let folded = maker.drawn.iter().enumerate().filter(|(step, (shown, _))| step != shown).count();
    let left_out = order_len.saturating_sub(drawn + folded);
    let mut picture = maker.finish(title, left_out, &analysis.effects);
    if !view.full {
        picture = fitted(picture);
    }
    if !matches!(view.hot, Hot::Chain) {
        recolour(&mut picture, view.hot);
    }
    picture
}

/// A picture that is too wide to be read without what is far from the critical chain: first what no box of the chain waits for
/// directly, then all that is not of the chain. Of a picture without a chain everything stays.
fn fitted(picture: Picture) -> Picture {
    let is_chain = |node: usize| picture.nodes[node].is_critical;
    let feeds = |node: usize| picture.arrows.iter().any(|arrow| arrow.from == node && is_chain(arrow.to));
    let fits = |picture: &Picture| picture.nodes.len() <= MOST_BOXES && lay_out(picture).width <= LARGEST;
    if !(0..picture.nodes.len()).any(is_chain) || fits(&picture) {
        return picture;
    }
    let near = kept(&picture, |node| is_chain(node) || feeds(node));
    if fits(&near) { near } else { kept(&picture, is_chain) }
}

/// More boxes are too wide without trying: laying them out takes a call on the stack for each.
const MOST_BOXES: usize = 500;

/// The picture of the boxes that are wanted; the instructions among the others count as left out.
fn kept(picture: &Picture, is_wanted: impl Fn(usize) -> bool) -> Picture {
    let nodes: Vec<usize> = (0..picture.nodes.len()).filter(|node| is_wanted(*node)).collect();
    let new_place = |node: usize| nodes.iter().position(|known| *known == node);
    let arrow = |arrow: &Arrow| {
        Some(Arrow { from: new_place(arrow.from)?, to: new_place(arrow.to)?, ..arrow.clone() })
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

/// For each step the one that is drawn: of a loop's turns the one in the middle, with how many there are.
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

/// Shows something else in red than the chain.
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

/// The picture of one iteration of a loop; what it carries leads from the bottom back to the top.
#[must_use]
pub fn of_loop(analysis: &Analysis, bound: &LoopBound, title: &str, hot: Hot<'_>) -> Picture {
    let (graph, second) = (&bound.graph, bound.second);
    let mut maker = Maker::new(&analysis.function, graph, second);
    // Drawn is the second iteration; of the first, where its values come from.
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
    // What the next iteration waits for, and stores.
    let stores = (second..graph.vertices.len())
        .filter(|vertex| matches!(graph.vertices[*vertex], Vertex::Value { port: Port::Memory, .. }));
    let ends = carried.into_iter().filter(|from| *from < second).filter_map(second_of).chain(stores);
    let wanted = reaching(graph, ends);
    for vertex in (second..graph.vertices.len()).filter(|vertex| wanted[*vertex]) {
        maker.value(vertex);
    }
    let none = BTreeSet::new();
    for vertex in (second..graph.vertices.len()).filter(|vertex| wanted[*vertex]) {
        let Vertex::Value { instruction, .. } = graph.vertices[vertex] else { continue };
        for edge in graph.incoming[vertex].iter().filter(|edge| !is_stack_pointer(edge)) {
            for (from, _, _) in maker.sources(edge.from, vertex, &none, &none) {
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
                maker.arrow(shown, vertex, edge, is_critical, is_carried);
            }
        }
    }
    let mut picture = maker.finish(title, 0, &analysis.effects);
    drop_counters(&mut picture);
    picture.left_out = steps_in_one.saturating_sub(picture.nodes.len());
    let mut picture = fitted(picture);
    if !matches!(hot, Hot::Chain) {
        recolour(&mut picture, hot);
    }
    picture
}

/// Takes out what waits for nothing but its own last value, and nothing else in the picture for it: the counters of
/// branches.
fn drop_counters(picture: &mut Picture) {
    let is_needed = |node: usize| {
        let mut others = picture.arrows.iter().filter(|arrow| (arrow.from == node) != (arrow.to == node));
        picture.nodes[node].is_critical || others.next().is_some()
    };
    let beside = picture.beside;
    let needed = kept(picture, is_needed);
    *picture = Picture { beside, ..needed };
}

/// True if the chain goes from one instruction right to the other.
fn follows(chain: &[crate::recurrence::Link], from: usize, to: usize) -> bool {
    let next = chain.iter().cycle().skip(1);
    chain.iter().zip(next).any(|(a, b)| a.instruction == from && b.instruction == to)
}

/// Which vertices some end waits for.
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

/// Where the stack lies is not part of a computation.
fn is_stack_pointer(edge: &Edge) -> bool {
    edge.via == Via::Location(Location::RSP)
}

/// True if an instruction uses the location for addresses alone.
fn is_address(effects: &Effects, location: Location) -> bool {
    let uses = effects.inputs.iter().filter(|(known, _)| *known == location);
    uses.clone().count() > 0 && uses.into_iter().all(|(_, port)| *port == Port::Address)
}

impl<'a> Maker<'a> {
    /// Everything before the vertex `first` is ready at 0.
    fn new(function: &'a Function, graph: &'a Graph, first: VertexId) -> Maker<'a> {
        let mut ready = vec![0.0_f64; graph.vertices.len()];
        for (vertex, incoming) in graph.incoming.iter().enumerate().skip(first) {
            ready[vertex] = incoming.iter().map(|edge| ready[edge.from] + edge.cycles).fold(0.0, f64::max);
        }
        Maker {
            function,
            graph,
            nodes: Vec::new(),
            of_step: BTreeMap::new(),
            of_input: BTreeMap::new(),
            arrows: BTreeMap::new(),
            ready,
            drawn: Vec::new(),
        }
    }

    /// The step that is drawn for a step.
    fn shown(&self, step: usize) -> usize {
        self.drawn.get(step).map_or(step, |(shown, _)| *shown)
    }

    /// True if what goes from one value to another goes from a turn of a folded loop to the next.
    fn is_around(&self, from: VertexId, to: VertexId) -> bool {
        match (self.graph.vertices[from], self.graph.vertices[to]) {
            (Vertex::Value { step: from, .. }, Vertex::Value { step: to, .. }) => {
                from < to && self.shown(from) >= self.shown(to)
            }
            _ => false,
        }
    }

    fn push(
        &mut self,
        text: String,
        kind: NodeKind,
        ready: Option<f64>,
        instruction: Option<usize>,
    ) -> usize {
        self.nodes.push(Node { text, ready, kind, group: None, is_critical: false, instruction });
        self.nodes.len() - 1
    }

    fn value(&mut self, vertex: VertexId) {
        let Vertex::Value { step, instruction, .. } = self.graph.vertices[vertex] else { return };
        let (own, step) = (step, self.shown(step));
        // A folded turn is ready when the one that is drawn is.
        let ready = if own == step { self.ready[vertex] } else { 0.0 };
        if let Some(node) = self.of_step.get(&step) {
            let known = &mut self.nodes[*node].ready;
            *known = known.map(|known| known.max(ready));
            return;
        }
        let times = self.drawn.get(step).map_or("", |(_, times)| times.as_str());
        let text = format!("{times}{}", self.function.text(instruction));
        let node = self.push(text, NodeKind::Instruction, Some(ready), Some(instruction));
        self.of_step.insert(step, node);
    }

    fn input(&mut self, location: Location, name: &str) {
        if !self.of_input.contains_key(&location) {
            let node = self.push(name.to_owned(), NodeKind::Input, None, None);
            self.of_input.insert(location, node);
        }
    }

    fn node(&self, vertex: VertexId) -> Option<usize> {
        match self.graph.vertices[vertex] {
            Vertex::Value { step, .. } => self.of_step.get(&self.shown(step)).copied(),
            Vertex::Input(location) => self.of_input.get(&location).copied(),
            Vertex::Choice { .. } => None,
        }
    }

    /// The values behind an edge, through choices, with whether each lies on the critical and on any longest path.
    fn sources(
        &self,
        from: VertexId,
        to: VertexId,
        critical: &BTreeSet<(VertexId, VertexId)>,
        paths: &BTreeSet<(VertexId, VertexId)>,
    ) -> Vec<(VertexId, bool, bool)> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![(from, to, true, true)];
        while let Some((from, to, is_critical, is_path)) = open.pop() {
            let is_critical = is_critical && critical.contains(&(from, to));
            let is_path = is_path && paths.contains(&(from, to));
            if !seen.insert((from, is_critical, is_path)) {
                continue;
            }
            match self.graph.vertices[from] {
                Vertex::Choice { .. } => {
                    let before = self.graph.incoming[from].iter();
                    open.extend(before.map(|edge| (edge.from, from, is_critical, is_path)));
                }
                _ => found.push((from, is_critical, is_path)),
            }
        }
        found
    }

    fn arrow(&mut self, from: VertexId, to: VertexId, edge: &Edge, is_critical: bool, is_carried: bool) {
        let is_carried = is_carried || self.is_around(from, to);
        let (Some(from), Some(to)) = (self.node(from), self.node(to)) else { return };
        if from == to && !is_carried {
            return;
        }
        let label = match edge.via {
            Via::Location(location) => location.name(),
            Via::Memory => "memory".to_owned(),
        };
        let arrow = self.arrows.entry((from, to, is_carried)).or_insert_with(|| Arrow {
            from,
            to,
            labels: Vec::new(),
            cycles: 0.0,
            is_critical: false,
            is_carried,
        });
        if !arrow.labels.contains(&label) {
            arrow.labels.push(label);
        }
        arrow.cycles = arrow.cycles.max(edge.cycles);
        arrow.is_critical |= is_critical;
    }

    /// Boxes for the results.
    fn outputs(
        &mut self,
        outputs: &[(VertexId, String)],
        critical: &BTreeSet<(VertexId, VertexId)>,
        last: Option<VertexId>,
    ) {
        for (vertex, name) in outputs.iter().filter(|(_, name)| name != "memory") {
            let known =
                self.nodes.iter().position(|node| node.kind == NodeKind::Output && node.text == *name);
            let to = known.unwrap_or_else(|| self.push(name.clone(), NodeKind::Output, None, None));
            for (from, _, _) in self.sources(*vertex, *vertex, critical, critical) {
                let Some(from) = self.node(from) else { continue };
                let is_critical = last == Some(*vertex);
                self.arrows.insert(
                    (from, to, false),
                    Arrow { from, to, labels: Vec::new(), cycles: 0.0, is_critical, is_carried: false },
                );
            }
        }
    }

    fn finish(mut self, title: &str, left_out: usize, effects: &[Effects]) -> Picture {
        let arrows: Vec<Arrow> = std::mem::take(&mut self.arrows).into_values().collect();
        for arrow in arrows.iter().filter(|arrow| arrow.is_critical) {
            self.nodes[arrow.from].is_critical = true;
            self.nodes[arrow.to].is_critical = true;
        }
        let mut picture = Picture {
            title: title.to_owned(),
            nodes: self.nodes,
            arrows,
            groups: Vec::new(),
            remark: String::new(),
            left_out,
            beside: 0,
        };
        steps::group(&mut picture, self.function, effects);
        picture
    }
}
