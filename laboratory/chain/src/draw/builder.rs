//! Builds a picture from the vertices of a graph: one box per step, one arrow per pair of boxes.

use crate::decode::Function;
use crate::draw::parts::{Arrow, Node, NodeKind, Picture};
use crate::draw::steps;
use crate::effects::{Effects, Location};
use crate::graph::{Edge, Graph, Vertex, VertexId, Via};
use std::collections::{BTreeMap, BTreeSet};

/// Builds a picture.
pub(super) struct PictureBuilder<'a> {
    function: &'a Function,
    graph: &'a Graph,
    pub(super) nodes: Vec<Node>,
    /// Boxes by step, and by argument.
    of_step: BTreeMap<usize, usize>,
    of_input: BTreeMap<Location, usize>,
    arrows: BTreeMap<(usize, usize, bool), Arrow>,
    ready: Vec<f64>,
    /// For each step, the step that is drawn in its place, and a prefix of its text.
    pub(super) drawn: Vec<(usize, String)>,
}

impl<'a> PictureBuilder<'a> {
    /// All vertices before `first` are ready at 0.
    pub(super) fn new(function: &'a Function, graph: &'a Graph, first: VertexId) -> PictureBuilder<'a> {
        let mut ready = vec![0.0_f64; graph.vertices.len()];
        for (vertex, incoming) in graph.incoming.iter().enumerate().skip(first) {
            ready[vertex] = incoming.iter().map(|edge| ready[edge.from] + edge.cycles).fold(0.0, f64::max);
        }
        PictureBuilder {
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

    /// The step that is drawn for this step.
    fn shown(&self, step: usize) -> usize {
        self.drawn.get(step).map_or(step, |(shown, _)| *shown)
    }

    /// True if a dependency leads from one iteration of a folded loop to the next.
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

    pub(super) fn value(&mut self, vertex: VertexId) {
        let Vertex::Value { step, instruction, .. } = self.graph.vertices[vertex] else { return };
        let (own, step) = (step, self.shown(step));
        // A folded iteration is ready when the drawn one is.
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

    pub(super) fn input(&mut self, location: Location, name: &str) {
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

    /// The values behind an edge, through choices; for each, whether the way lies on the critical path and on
    /// any longest path.
    pub(super) fn sources(
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

    pub(super) fn arrow(
        &mut self,
        from: VertexId,
        to: VertexId,
        edge: &Edge,
        is_critical: bool,
        is_carried: bool,
    ) {
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

    /// Adds boxes for the results.
    pub(super) fn outputs(
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

    pub(super) fn finish(mut self, title: &str, left_out: usize, effects: &[Effects]) -> Picture {
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
