//! Drawings of the dependency graph, as DOT text or as an SVG image.

mod builder;
pub mod dot;
pub mod layout;
pub mod parts;
pub mod picture;
mod steps;
pub mod svg;

pub use dot::to_dot;
pub use parts::Picture;
pub use picture::{Hot, View, of_analysis, of_loop};
pub use svg::to_svg;

/// The largest number of boxes that remains readable.
pub const MOST_BOXES: usize = 400;
