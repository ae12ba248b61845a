//! From a variant to a number that can be believed: proof, condition, samples, estimate, store.

mod batches;
mod chase;
pub mod limits;
pub mod object_loops;
mod pages;
pub mod planted;
pub mod protocol;
pub mod sampler;
pub mod special;
pub mod supervise;
pub mod worker;
