//! One run, from the plan to the result, across processes: every subject verified, replicates run in workers, each round
//! stored, the cells put together. The worker's side of it is here too.

pub mod allocator;
mod end;
pub mod failure;
pub mod forecast;
pub mod gate;
pub mod impossible;
pub mod interrupt;
pub mod kept;
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
