//! From machine code to its dependency graph, its critical chain, and the bounds that follow from them.

pub mod class;
pub mod form;
pub mod latency;
pub mod table;
