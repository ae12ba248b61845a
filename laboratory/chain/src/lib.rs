//! From machine code to its dependency graph, its critical chain, and the bounds that follow from them.
//!
//! [`image`] (bytes) → [`decode`] (instructions that branches reach) → [`effects`] (what each waits for and makes) →
//! [`graph`] (which value waits for which, by [`latency`]) → [`analysis`] (longest paths, what loops carry,
//! throughput).
//!
//! It answers why a routine cannot be faster than it is, and what would have to be cut: a measurement below the bound says
//! that a number in the tables is wrong. How calls overlap is simulated over what they execute ([`window`]); cache misses and
//! mispredicted branches are in neither.

pub mod analysis;
pub mod blocks;
pub mod calibrate;
pub mod class;
pub mod decode;
pub mod draw;
pub mod effects;
pub mod error;
pub mod fold;
pub mod form;
pub mod graph;
pub mod image;
pub mod latencies;
pub mod latency;
mod location;
pub mod loops;
pub mod paths;
pub mod recurrence;
pub mod remedies;
mod rewrite;
pub mod signature;
mod sketch;
pub mod suggest;
pub mod symbol;
pub mod table;
pub mod text;
pub mod throughput;
pub mod trace;
pub mod window;

pub use analysis::{Analysis, Options, Scope};
pub use error::ChainError;
pub use image::Image;
pub use latencies::Latencies;
pub use latency::{Key, Latency, Source};
pub use signature::Signature;
