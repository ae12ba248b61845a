//! From a plan to a result: prove every subject, run the replicates, store each round, put the cells together.

pub mod doubts;
pub mod impossible;
pub mod machine;
pub mod measure;
pub mod plan;
pub mod progress;
pub mod prove;
pub mod real;
pub mod select;
pub mod session;
pub mod standard;
pub mod thresholds;
