//! From a variant to a number that can be believed: proof, condition, samples, estimate, store.

mod batches;
pub mod cells;
mod chase;
pub mod claims;
pub mod explain;
pub mod forked;
pub mod gather;
pub mod limits;
pub mod object_loops;
mod pages;
pub mod planted;
pub mod plugin;
pub mod protocol;
pub mod results;
pub mod sampler;
pub mod special;
pub mod status;
pub mod store;
pub mod subject;
pub mod supervise;
pub mod trace;
pub mod verify;
pub mod warning;
pub mod worker;
