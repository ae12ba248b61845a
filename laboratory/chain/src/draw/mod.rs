//! The dependency graph as a picture: DOT text, or an SVG image.

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

/// Boxes that can be drawn so that a person can read them.
pub const MOST_BOXES: usize = 400;
