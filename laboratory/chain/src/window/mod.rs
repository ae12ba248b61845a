//! Simulates the out-of-order window of a core over several consecutive calls.
//!
//! The larger of two bounds (longest path, busiest ports) is rarely reached by calls that overlap. The window
//! is finite, so that few calls with a long chain are in flight at a time, and a front end that follows three
//! taken branches for eight instructions is busy with them alone. The simulation takes both into account. It
//! handles the instructions in program order:
//!
//! 1. the front end delivers an instruction ([`Front`]);
//! 2. it is dispatched when the dispatch width, the reorder buffer and its scheduler have room;
//! 3. each of its operations starts on the first free port after its inputs are ready; because older
//!    instructions choose their cycles first, younger ones fill the gaps;
//! 4. it retires, in order.
//!
//! The instructions come from a trace, so the outcome of every branch is known (and assumed to be predicted),
//! and so is every address: a load waits for the store that it reads from. Cache misses, mispredicted
//! branches, bank conflicts and replays are not modelled.

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
pub use core::{Assigns, Core, Scheduler};
pub use front::{Front, Leaves};
pub use ops::{Access, Op, Ops};
pub use run::{Limits, Simulated, simulate};
