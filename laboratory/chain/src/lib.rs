//! The dependency graph of machine code, its critical chain, and the bounds on its speed.
//!
//! [`image`] (bytes) → [`decode`] (reachable instructions) → [`effects`] (inputs and outputs of each) →
//! [`graph`] (dependencies, weighted by [`latency`]) → [`analysis`] (longest paths, loop-carried chains,
//! throughput).
//!
//! The bounds show why a routine cannot be faster than it is and which dependency would have to be cut. A
//! measurement below a bound means that a number in the tables is wrong. [`window`] simulates how calls
//! overlap, from the instructions that they execute. Cache misses and mispredicted branches are not modelled.

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
mod fusion;
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
