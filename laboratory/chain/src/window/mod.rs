//! Calls that overlap: a simulation of the out-of-order window over what several calls execute.
//!
//! The larger of two sums (the longest path, the busiest ports) is a bound, and a call that overlaps with its neighbours
//! rarely reaches it: the window is finite, so that a long chain in each call keeps only so many of them in flight, and a
//! front end that follows three taken branches for eight instructions is busy with them alone. Both are simulated
//! here, in the order of the program:
//!
//! 1. the front end delivers an instruction ([`Front`]);
//! 2. it is dispatched: the dispatch width, the reorder buffer and its scheduler have room;
//! 3. each of its operations starts on the first port that is free once its inputs are there. Instructions are looked at in
//!    program order, and each takes the earliest free cycle of a port, so older ones go first, and younger ones fill the gaps;
//! 4. it retires, in order.
//!
//! The instructions are those of a trace, so every branch goes where it went, and is taken to be predicted; addresses are
//! known, so a load waits for the store that it reads. What is not in it: misses of any cache, mispredicted branches,
//! conflicts of cache banks, and replays.

mod binds;
mod caller;
mod core;
mod front;
mod ops;
mod ports;
mod run;
#[cfg(test)]
mod tests;

pub use binds::{Binds, binds};
pub use caller::{Calls, called};
pub use core::{Core, Scheduler};
pub use front::{Front, Leaves};
pub use ops::{Access, Op, Ops};
pub use run::{Limits, Simulated, simulate};
