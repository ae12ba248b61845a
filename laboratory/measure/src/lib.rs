//! From a variant to a number that can be believed: proof, condition, samples, estimate, store.

mod batches;
mod chase;
mod pages;
pub mod special;
