//! Drawings as DOT text for Graphviz.

use crate::draw::parts::{Arrow, Node, NodeKind, Picture};
use std::fmt::Write;

/// The drawing in the DOT language, with groups as clusters and the critical chain in bold.
#[must_use]
pub fn to_dot(picture: &Picture) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "digraph critical {{");
    let _ = writeln!(out, "  label={}; labelloc=t; fontname=\"sans-serif\";", quoted(&picture.title));
    let _ = writeln!(out, "  node [shape=box, fontname=\"monospace\", fontsize=11];");
    let _ = writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=9];");
    for (group, name) in picture.groups.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{group} {{");
        let _ = writeln!(out, "    label={}; style=rounded; color=gray;", quoted(name));
        for (index, node) in picture.nodes.iter().enumerate().filter(|(_, n)| n.group == Some(group)) {
            let _ = writeln!(out, "    {}", vertex(index, node));
        }
        let _ = writeln!(out, "  }}");
    }
    for (index, node) in picture.nodes.iter().enumerate().filter(|(_, node)| node.group.is_none()) {
        let _ = writeln!(out, "  {}", vertex(index, node));
    }
    for arrow in &picture.arrows {
        let _ = writeln!(out, "  {}", edge(arrow));
    }
    let _ = writeln!(out, "}}");
    out
}

fn vertex(index: usize, node: &Node) -> String {
    let shape = match node.kind {
        NodeKind::Input => ", shape=oval",
        NodeKind::Output => ", shape=oval, peripheries=2",
        NodeKind::Instruction => "",
    };
    let bold = if node.is_critical { ", style=bold, color=red" } else { "" };
    format!("n{index} [label={}{shape}{bold}];", quoted(&node.text))
}

fn edge(arrow: &Arrow) -> String {
    let bold = if arrow.is_critical { ", style=bold, color=red, penwidth=2.5" } else { "" };
    let carried = if arrow.is_carried { ", constraint=false, style=dashed" } else { "" };
    format!("n{} -> n{} [label={}{bold}{carried}];", arrow.from, arrow.to, quoted(&arrow.labels.join(" ")))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
