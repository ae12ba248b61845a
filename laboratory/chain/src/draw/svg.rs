//! Drawings as SVG images.
//!
//! The SVG is written by hand: colours are classes in a style sheet for light and dark, text remains text,
//! and arrows follow the bends of the layout.

use crate::draw::layout::{BOX_HEIGHT, CHARACTER, Layout, Point, Rectangle, lay_out};
use crate::draw::parts::{Arrow, Node, NodeKind, Picture};
use std::fmt::Write;

/// Colours are repeated in every class, because many SVG viewers do not support CSS variables and would draw
/// everything in black.
const STYLE: &str = "
svg { background: #ffffff; }
text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1c2024; }
text.title { font: 600 14px system-ui, sans-serif; }
text.remark { font: 600 12px system-ui, sans-serif; }
text.small, text.ready { font: 10px system-ui, sans-serif; fill: #5b6470; }
text.group { font: italic 10px system-ui, sans-serif; fill: #5b6470; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
text.label { font: 10px system-ui, sans-serif; fill: #5b6470; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; }
text.label.critical { fill: #c4161c; font-weight: 600; }
rect.box { fill: #f4f6f8; stroke: #8b95a1; }
rect.input, rect.output { fill: #ffffff; stroke: #1c2024; }
rect.critical { stroke: #c4161c; stroke-width: 2; }
rect.box.critical { fill: #fdeceb; }
g.group { opacity: 0.28; }
g.group path { fill: none; stroke-width: 34; stroke-linecap: round; stroke-linejoin: round; }
.tint-0 rect { fill: #7fb0e6; } .tint-1 rect { fill: #e6c27f; } .tint-2 rect { fill: #93cf9a; } .tint-3 rect { fill: #c3a0e0; }
.tint-0 path { stroke: #7fb0e6; } .tint-1 path { stroke: #e6c27f; } .tint-2 path { stroke: #93cf9a; } .tint-3 path { stroke: #c3a0e0; }
path.arrow { fill: none; stroke: #8b95a1; stroke-width: 1.2; marker-end: url(#tip); }
path.arrow.critical { stroke: #c4161c; stroke-width: 3; marker-end: url(#hot-tip); }
path.arrow.carried { stroke-dasharray: 6 4; }
marker path { fill: #8b95a1; }
marker#hot-tip path { fill: #c4161c; }
@media (prefers-color-scheme: dark) {
  svg { background: #14171a; }
  text { fill: #e6e9ec; }
  text.small, text.ready, text.group, text.label { fill: #9aa5b1; }
  text.group, text.label { stroke: #14171a; }
  text.label.critical { fill: #ff6b63; }
  rect.box { fill: #1d2226; stroke: #76808b; }
  rect.input, rect.output { fill: #14171a; stroke: #e6e9ec; }
  rect.critical { stroke: #ff6b63; }
  rect.box.critical { fill: #3a1d1d; }
  path.arrow { stroke: #76808b; }
  path.arrow.critical { stroke: #ff6b63; }
  marker path { fill: #76808b; }
  marker#hot-tip path { fill: #ff6b63; }
}
";

const LEGEND: &str = "red: the critical chain, or the work of the busiest ports; right of a box: the cycle in which it is ready if all arguments are \
                      ready at 0; dashed: to the next iteration";

/// The longest side of an image, in pixels.
pub const LARGEST: f64 = 1990.0;

/// The picture as an SVG document.
#[must_use]
pub fn to_svg(picture: &Picture) -> String {
    let layout = lay_out(picture);
    let title = format!("{}{}{}", picture.title, left_out(picture.left_out), beside(picture.beside));
    let width =
        layout.width.max(title.chars().count() as f64 * 8.3 + 48.0).max(LEGEND.len() as f64 * 5.4 + 48.0);
    let width = width.max(picture.remark.chars().count() as f64 * 7.0 + 48.0);
    let legend = layout.height + 8.0;
    let height = layout.height + if picture.remark.is_empty() { 24.0 } else { 46.0 };
    // Larger drawings are scaled down; a viewer can zoom in.
    let scale = (LARGEST / width.max(height)).min(1.0);
    let (shown_width, shown_height) = (width * scale, height * scale);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{shown_width:.0}\" \
         height=\"{shown_height:.0}\" role=\"img\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(&title));
    let _ = writeln!(out, "<style>{STYLE}</style>");
    for (id, size) in [("tip", 7), ("hot-tip", 4)] {
        let _ = writeln!(
            out,
            "<defs><marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"{size}\" \
             markerHeight=\"{size}\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>"
        );
    }
    let _ = writeln!(out, "<text class=\"title\" x=\"24\" y=\"28\">{}</text>", escaped(&title));
    groups(&mut out, picture, &layout);
    // Critical arrows are drawn on top.
    let by_weight = |critical: bool| {
        let arrows = picture.arrows.iter().zip(&layout.arrows);
        arrows.filter(move |(arrow, _)| arrow.is_critical == critical)
    };
    for (arrow, points) in by_weight(false).chain(by_weight(true)) {
        let _ = writeln!(out, "<path class=\"arrow{}\" d=\"{}\"/>", classes(arrow), path(points));
    }
    for (node, place) in picture.nodes.iter().zip(&layout.nodes) {
        draw_node(&mut out, node, place);
    }
    for (arrow, points) in picture.arrows.iter().zip(&layout.arrows) {
        label(&mut out, arrow, points);
    }
    let _ = writeln!(out, "<text class=\"small\" x=\"24\" y=\"{legend:.0}\">{LEGEND}</text>");
    if !picture.remark.is_empty() {
        let (y, text) = (legend + 22.0, escaped(&picture.remark));
        let _ = writeln!(out, "<text class=\"remark\" x=\"24\" y=\"{y:.0}\">{text}</text>");
    }
    let _ = writeln!(out, "</svg>");
    out
}

fn left_out(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " (1 instruction that no result depends on is not drawn)".to_owned(),
        _ => format!(" ({count} instructions that no result depends on are not drawn)"),
    }
}

fn beside(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "; 1 outside the critical chain is left out".to_owned(),
        _ => format!("; {count} outside the critical chain are left out"),
    }
}

/// A tinted background for each group's boxes and arrows, with its name above the first box.
fn groups(out: &mut String, picture: &Picture, layout: &Layout) {
    for (group, name) in picture.groups.iter().enumerate() {
        let is_own = |node: usize| picture.nodes[node].group == Some(group);
        let _ = writeln!(out, "<g class=\"group tint-{}\">", group % 4);
        for (arrow, points) in picture.arrows.iter().zip(&layout.arrows) {
            if is_own(arrow.from) && is_own(arrow.to) && !arrow.is_carried {
                let _ = writeln!(out, "<path d=\"{}\"/>", path(points));
            }
        }
        for index in (0..picture.nodes.len()).filter(|index| is_own(*index)) {
            let Rectangle { left, top, width, height } = layout.nodes[index];
            let _ = writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"10\"/>",
                left - 9.0,
                top - 9.0,
                width + 18.0,
                height + 18.0
            );
        }
        let _ = writeln!(out, "</g>");
        let own = (0..picture.nodes.len()).filter(|index| is_own(*index)).map(|index| layout.nodes[index]);
        if let Some(first) = own.min_by(|a, b| a.top.total_cmp(&b.top)) {
            let _ = writeln!(
                out,
                "<text class=\"group\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                first.left - 4.0,
                first.top - 12.0,
                escaped(name)
            );
        }
    }
}

fn draw_node(out: &mut String, node: &Node, place: &Rectangle) {
    let Rectangle { left, top, width, height } = *place;
    let critical = if node.is_critical { " critical" } else { "" };
    let (class, round) = match node.kind {
        NodeKind::Instruction => ("box", 4.0),
        NodeKind::Input => ("input", BOX_HEIGHT / 2.0),
        NodeKind::Output => ("output", BOX_HEIGHT / 2.0),
    };
    let _ = writeln!(
        out,
        "<rect class=\"{class}{critical}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         rx=\"{round}\"/>"
    );
    let (x, y) = (left + 10.0, top + BOX_HEIGHT / 2.0 + 4.0);
    let length = node.text.chars().count() as f64 * (CHARACTER - 0.08);
    let fitted = if node.kind == NodeKind::Instruction {
        format!(" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\"")
    } else {
        String::new()
    };
    let x = if node.kind == NodeKind::Instruction { x } else { left + width / 2.0 - length / 2.0 };
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\"{fitted}>{}</text>", escaped(&node.text));
    if let Some(ready) = node.ready {
        let right = left + width - 6.0;
        let _ = writeln!(
            out,
            "<text class=\"ready\" x=\"{right:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>",
            crate::text::cycles(ready)
        );
    }
}

fn classes(arrow: &Arrow) -> String {
    let critical = if arrow.is_critical { " critical" } else { "" };
    let carried = if arrow.is_carried { " carried" } else { "" };
    format!("{critical}{carried}")
}

/// A line through the points: straight if vertical or horizontal, otherwise curved.
fn path(points: &[Point]) -> String {
    let Some((x, y)) = points.first() else { return String::new() };
    let mut out = format!("M{x:.1},{y:.1}");
    for pair in points.windows(2) {
        let ((x0, y0), (x, y)) = (pair[0], pair[1]);
        if (x - x0).abs() < 0.5 || (y - y0).abs() < 0.5 {
            let _ = write!(out, " L{x:.1},{y:.1}");
        } else {
            let middle = (y0 + y) / 2.0;
            let _ = write!(out, " C{x0:.1},{middle:.1} {x:.1},{middle:.1} {x:.1},{y:.1}");
        }
    }
    out
}

/// The registers and flags of an arrow, near its end.
fn label(out: &mut String, arrow: &Arrow, points: &[Point]) {
    let [.., before, end] = points else { return };
    if arrow.labels.is_empty() {
        return;
    }
    let text = arrow.labels.join(" ");
    // Beside a straight arrow; on a bent one, whose line is interrupted around the letters.
    let is_straight = (before.0 - end.0).abs() < 3.0;
    let (x, y, anchor) = match arrow.is_carried {
        true if arrow.from == arrow.to => {
            (points[1].0 + 4.0, (points[1].1 + points[2].1) / 2.0 + 3.0, "start")
        }
        true => (points[3].0, (points[2].1 + points[3].1) / 2.0, "middle"),
        false if is_straight => (end.0 + 7.0, before.1 + (end.1 - before.1) * 0.55, "start"),
        false => ((before.0 + 2.0 * end.0) / 3.0, before.1 + (end.1 - before.1) * 0.6, "middle"),
    };
    let critical = if arrow.is_critical { " critical" } else { "" };
    let _ = writeln!(
        out,
        "<text class=\"label{critical}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
        escaped(&text)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
