//! From a variant to a number that can be believed: proof, condition, samples, estimate, store.

pub mod arena;
pub mod clock;
pub mod condition;
pub mod counters;
pub mod limits;
pub mod plugin;
pub mod process;
pub mod protocol;
pub mod results;
pub mod sampler;
pub mod sizes;
pub mod status;
pub mod subject;
pub mod supervise;
pub mod verify;
pub mod worker;
