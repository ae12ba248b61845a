//! Carries out a run: verifies every subject, measures replicates in worker processes, stores each round and
//! assembles the result. The worker's side is here too.

pub mod allocator;
mod end;
pub mod failure;
pub mod forecast;
pub mod gate;
pub mod impossible;
pub mod interrupt;
pub mod kept;
pub mod last_level;
mod lines;
pub mod machine;
pub mod measure;
mod members;
pub mod parallel;
pub mod pattern;
pub mod plan;
pub mod planted;
pub mod probe;
pub mod progress;
pub mod protocol;
pub mod prove;
pub mod real;
pub mod select;
pub mod session;
pub mod standard;
pub mod supervise;
pub mod thresholds;
pub mod warnings;
pub mod worker;
