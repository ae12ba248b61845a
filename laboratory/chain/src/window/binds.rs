//! Finds the bottleneck of a simulated call: the part of the core without which it takes the fewest cycles.

use super::run::{Limits, simulate};
use super::{Core, Ops};
use serde::Serialize;

/// A part of the core that can be the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Binds {
    /// Execution ports.
    Ports,
    /// Dispatch and retirement.
    Issue,
    /// The dependencies from one call to the next, or those within a call that fills the window.
    Chain,
    /// The front end: taken branches.
    FrontEnd,
    /// The number of calls in flight.
    Window,
}

impl Binds {
    /// The name, in words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Binds::Ports => "ports",
            Binds::Issue => "issue width",
            Binds::Chain => "chain",
            Binds::FrontEnd => "front end",
            Binds::Window => "window",
        }
    }
}

/// The least relative gain that makes a part the bottleneck; smaller ones are within the noise of
/// measurements.
const WORTH: f64 = 0.02;

/// The bottleneck of calls that take this many cycles, and the cycles without it; `None` if no single part
/// limits them.
#[must_use]
pub fn binds(ops: &Ops, core: &Core, port_count: usize, cycles: f64) -> Option<(Binds, f64)> {
    let all = Limits::ALL;
    let without = [
        (Binds::Chain, Limits { inputs: false, ..all }),
        (Binds::Ports, Limits { ports: false, ..all }),
        (Binds::Issue, Limits { width: false, ..all }),
        (Binds::FrontEnd, Limits { front: false, ..all }),
        (Binds::Window, Limits { window: false, ..all }),
    ];
    let left = without.map(|(part, limits)| (part, simulate(ops, core, port_count, limits).cycles));
    let best = left.into_iter().reduce(|best, next| if next.1 < best.1 - 1e-9 { next } else { best })?;
    (best.1 < cycles * (1.0 - WORTH)).then_some(best)
}
