//! Positions of boxes and arrows.
//!
//! The arrows determine the layers: each box is as low as the boxes that depend on it allow, so that a load
//! is next to its use. An arrow over several layers gets a vertex of no width in each layer between, which
//! routes it around boxes. The order within layers and the horizontal positions come from Sugiyama's
//! algorithm (the `rust-sugiyama` crate).

use crate::draw::parts::{NodeKind, Picture};
use rust_sugiyama::configure::{Config, CrossingMinimization, RankingType};
use std::collections::HashMap;

/// A point; `y` grows downwards.
pub type Point = (f64, f64);

/// A rectangle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rectangle {
    /// The left edge.
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

impl Rectangle {
    /// The centre.
    #[must_use]
    pub fn middle(&self) -> Point {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    /// True if the rectangles overlap.
    #[must_use]
    pub fn overlaps(&self, other: &Rectangle) -> bool {
        self.left < other.left + other.width
            && other.left < self.left + self.width
            && self.top < other.top + other.height
            && other.top < self.top + self.height
    }

    /// The smallest rectangle that contains both.
    #[must_use]
    pub fn with(&self, other: &Rectangle) -> Rectangle {
        let (left, top) = (self.left.min(other.left), self.top.min(other.top));
        let right = (self.left + self.width).max(other.left + other.width);
        let bottom = (self.top + self.height).max(other.top + other.height);
        Rectangle { left, top, width: right - left, height: bottom - top }
    }
}

/// The layout of a picture.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The rectangle of each box.
    pub nodes: Vec<Rectangle>,
    /// The points of each arrow.
    pub arrows: Vec<Vec<Point>>,
    /// The total width.
    pub width: f64,
    /// The total height.
    pub height: f64,
}

/// The height of a box.
pub const BOX_HEIGHT: f64 = 26.0;
/// The distance between layers.
const LAYER: f64 = 58.0;
/// The width of a character in a box.
pub const CHARACTER: f64 = 7.3;
/// The space between boxes.
const GAP: f64 = 26.0;
/// How far an arrow from a box to itself extends beyond it.
const SELF_ARROW: f64 = 14.0;
/// The margin around the drawing.
const MARGIN: f64 = 24.0;

/// Computes the layout of a picture.
#[must_use]
pub fn lay_out(picture: &Picture) -> Layout {
    let layers = layers(picture);
    let count = picture.nodes.len();
    let mut sizes: Vec<(u32, (f64, f64))> = Vec::new();
    for (index, node) in picture.nodes.iter().enumerate() {
        // Room for an arrow to itself and its label, on both sides to keep the box centred.
        let has_own = picture.arrows.iter().any(|arrow| arrow.from == index && arrow.to == index);
        let room = if has_own { 2.0 * (SELF_ARROW + 20.0) } else { 0.0 };
        sizes.push((index as u32, (box_width(&node.text, node.kind) + GAP + room, BOX_HEIGHT)));
    }
    let mut edges: Vec<(u32, u32)> = Vec::new();
    // The vertices along each arrow.
    let mut routes: Vec<Vec<usize>> = Vec::new();
    let mut layer_of: Vec<usize> = layers.clone();
    for arrow in &picture.arrows {
        let mut route = vec![arrow.from];
        if !arrow.is_carried {
            for layer in layers[arrow.from] + 1..layers[arrow.to] {
                let bend = sizes.len();
                sizes.push((bend as u32, (GAP, BOX_HEIGHT)));
                layer_of.push(layer);
                route.push(bend);
            }
            route.push(arrow.to);
            edges.extend(route.windows(2).map(|pair| (pair[0] as u32, pair[1] as u32)));
        }
        routes.push(route);
    }
    let across = places_across(&sizes, &edges);
    let top = |vertex: usize| MARGIN + 34.0 + layer_of[vertex] as f64 * LAYER;
    let nodes: Vec<Rectangle> = (0..count)
        .map(|index| {
            let width = box_width(&picture.nodes[index].text, picture.nodes[index].kind);
            Rectangle {
                left: MARGIN + across[index] - width / 2.0,
                top: top(index),
                width,
                height: BOX_HEIGHT,
            }
        })
        .collect();
    let arrows = picture
        .arrows
        .iter()
        .zip(&routes)
        .map(|(arrow, route)| {
            if arrow.is_carried {
                return Vec::new();
            }
            let mut points = Vec::with_capacity(route.len());
            for (place, vertex) in route.iter().enumerate() {
                let x = MARGIN + across[*vertex];
                if place == 0 {
                    points.push((x, top(*vertex) + BOX_HEIGHT));
                } else if place + 1 == route.len() {
                    points.push((x, top(*vertex)));
                } else {
                    points.extend([(x, top(*vertex)), (x, top(*vertex) + BOX_HEIGHT)]);
                }
            }
            points
        })
        .collect();
    let bends = (0..sizes.len()).map(|vertex| MARGIN + across[vertex]);
    let right = nodes.iter().map(|node| node.left + node.width).chain(bends).fold(0.0, f64::max);
    let bottom = nodes.iter().map(|node| node.top + node.height).fold(0.0, f64::max);
    let mut layout = Layout { nodes, arrows, width: right + MARGIN, height: bottom + MARGIN };
    carry_around(picture, &mut layout);
    layout
}

/// The width of a box with this text.
fn box_width(text: &str, kind: NodeKind) -> f64 {
    let room = if kind == NodeKind::Instruction { 40.0 } else { 24.0 };
    text.chars().count() as f64 * CHARACTER + room
}

/// The layer of each box from the top: as low as its dependents allow, arguments directly above their first
/// use.
fn layers(picture: &Picture) -> Vec<usize> {
    let count = picture.nodes.len();
    let arrows = || picture.arrows.iter().filter(|arrow| !arrow.is_carried);
    // Except for arguments and results, nodes are in execution order, so a few passes suffice.
    let mut height = vec![0_usize; count];
    for _ in 0..=count {
        let mut changed = false;
        for arrow in arrows() {
            if height[arrow.from] < height[arrow.to] + 1 {
                height[arrow.from] = height[arrow.to] + 1;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let highest = height.iter().copied().max().unwrap_or(0);
    height.into_iter().map(|height| highest - height).collect()
}

/// The horizontal position of every vertex, from 0; disconnected parts are placed side by side.
fn places_across(sizes: &[(u32, (f64, f64))], edges: &[(u32, u32)]) -> Vec<f64> {
    let config = Config {
        minimum_length: 1,
        vertex_spacing: 4.0,
        dummy_vertices: true,
        dummy_size: 1.0,
        ranking_type: RankingType::MinimizeEdgeLength,
        c_minimization: CrossingMinimization::Barycenter,
        transpose: sizes.len() < 200,
    };
    let mut unique: Vec<(u32, u32)> = edges.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let mut across = vec![0.0; sizes.len()];
    let mut begin = 0.0;
    for (part, _, _) in rust_sugiyama::from_vertices_and_edges(sizes, &unique, &config) {
        let width: HashMap<usize, f64> =
            part.iter().map(|(vertex, _)| (*vertex, sizes[*vertex].1.0)).collect();
        let left = part.iter().map(|(vertex, (x, _))| x - width[vertex] / 2.0).fold(f64::INFINITY, f64::min);
        let right = part.iter().map(|(vertex, (x, _))| x + width[vertex] / 2.0).fold(0.0, f64::max);
        for (vertex, (x, _)) in &part {
            across[*vertex] = begin + x - left;
        }
        begin += right - left + GAP;
    }
    across
}

/// Routes loop-carried arrows from the bottom, along the right side, back to the top.
fn carry_around(picture: &Picture, layout: &mut Layout) {
    let (own, carried): (Vec<usize>, Vec<usize>) = (0..picture.arrows.len())
        .filter(|index| picture.arrows[*index].is_carried)
        .partition(|index| picture.arrows[*index].from == picture.arrows[*index].to);
    for index in own {
        let place = layout.nodes[picture.arrows[index].from];
        let (right, y) = (place.left + place.width, place.middle().1);
        let out = right + SELF_ARROW;
        layout.arrows[index] = vec![(right, y + 7.0), (out, y + 7.0), (out, y - 7.0), (right, y - 7.0)];
        layout.width = layout.width.max(out + 2.0 * MARGIN);
    }
    let edge = layout.width - MARGIN + 12.0;
    let bottom = layout.nodes.iter().map(|node| node.top + node.height).fold(0.0, f64::max);
    for (lane, index) in carried.iter().enumerate() {
        let arrow = &picture.arrows[*index];
        let x = edge + lane as f64 * 12.0;
        let (from, to) = (layout.nodes[arrow.from], layout.nodes[arrow.to]);
        let (start, end) = (from.top + from.height, to.top);
        // Between layers, and along the edge, each in its own lane.
        let (low, high) = (start + 10.0 + 3.0 * (lane % 4) as f64, end - 14.0 - 3.0 * (lane % 4) as f64);
        layout.arrows[*index] = vec![
            (from.middle().0 + 10.0, start),
            (from.middle().0 + 10.0, low),
            (x, low),
            (x, high),
            (to.middle().0 + 10.0, high),
            (to.middle().0 + 10.0, end),
        ];
        layout.width = layout.width.max(x + 2.0 * MARGIN);
        layout.height = layout.height.max(low.max(bottom) + MARGIN);
    }
}
