//! From a variant to a number that can be believed: proof, condition, samples, estimate, store.

pub mod arena;
pub mod condition;
pub mod results;
pub mod sizes;
pub mod statistics;
pub mod status;
pub mod store;
pub mod subject;
