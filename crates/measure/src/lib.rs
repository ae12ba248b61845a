//! From a variant to a number that can be believed: proof, condition, samples, estimate, store.

pub mod arena;
pub mod capture;
pub mod condition;
pub mod environment;
pub mod explain;
pub mod fleet;
pub mod nearest;
pub mod results;
pub mod sizes;
pub mod status;
pub mod subject;
pub mod warning;
