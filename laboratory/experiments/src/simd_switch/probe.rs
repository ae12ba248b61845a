//! A task switch with clean and with dirty vector state, and the cost of saving and restoring that state.
//!
//! Two threads on one CPU pass a byte back and forth through two pipes, so every pass is a switch. Before
//! each write both bring their registers into the same state, one of [`STATES`]: `XRSTOR` sets everything to
//! its initial state, then some registers are written. The kernel saves what is in use when it switches away,
//! and restores it before the thread continues. Series, in ticks: `switch, STATE`, minus the cost of
//! preparing the state; `setting, STATE`, that cost; and `pipe alone`, a write and a read by one thread,
//! without a switch.
//!
//! The instructions permitted in user mode, `XSAVE`, `XSAVEOPT`, `XSAVEC` and `XRSTOR`, are timed on each
//! component of [`PARTS`] with dirty registers, as `INSTRUCTION PART`; the kernel's own `XSAVES` and
//! `XRSTORS` are privileged.
//!
//! The facts give the components that the CPU reports as in use in each state.

use carryline_engine::probe::{Impossible, Probe, Rounds, Series, Setup};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[cfg(target_arch = "x86_64")]
mod registers;
#[cfg(target_arch = "x86_64")]
mod rounds;

/// Facts about the states.
#[derive(Deserialize, Serialize)]
pub(super) struct Facts {
    /// The components that the CPU reports as in use in each state, if it reports them.
    pub in_use: BTreeMap<String, u64>,
}

/// See the module.
pub static PROBE: Probe =
    Probe { name: "simd_switch", what: "task switches with clean and dirty vector state", start };

/// The states, named after the registers that are written after `XRSTOR`.
pub const STATES: [&str; 7] = ["clean", "clean again", "x87", "xmm", "ymm", "zmm", "zmm, then vzeroupper"];
/// The names of state components, with their bits in `XCR0`.
pub const PARTS: [(&str, u64); 8] = [
    ("x87", 1),
    ("xmm", 1 << 1),
    ("upper ymm", 1 << 2),
    ("opmask", 1 << 5),
    ("upper zmm0-15", 1 << 6),
    ("zmm16-31", 1 << 7),
    ("all", 0b1110_0111),
    ("all, clean", 0b1110_0111),
];
/// The instructions that save and restore.
pub const INSTRUCTIONS: [&str; 4] = ["XSAVE", "XSAVEOPT", "XSAVEC", "XRSTOR"];
/// The name of the series of a write and a read without a switch.
pub const PIPE: &str = "pipe alone";

/// The name of the series of a switch.
#[must_use]
pub fn switch(state: &str) -> String {
    format!("switch, {state}")
}

/// The name of the series of preparing a state.
#[must_use]
pub fn setting(state: &str) -> String {
    format!("setting, {state}")
}

/// The name of the series of an instruction.
#[must_use]
pub fn saving(instruction: &str, part: &str) -> String {
    format!("{instruction} {part}")
}

#[cfg(not(target_arch = "x86_64"))]
fn start(_setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    Err(Impossible("XSAVE exists only on x86-64 CPUs".to_owned()))
}

#[cfg(target_arch = "x86_64")]
fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    rounds::start(setup)
}

/// All series, in the order of the samples.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "nothing is sampled there"))]
fn all_series() -> Vec<Series> {
    let mut series: Vec<Series> = STATES.iter().map(|state| Series::ticks(switch(state))).collect();
    series.extend(STATES.iter().map(|state| Series::ticks(setting(state))));
    series.push(Series::ticks(PIPE));
    for (part, _) in PARTS {
        series.extend(INSTRUCTIONS.map(|instruction| Series::ticks(saving(instruction, part))));
    }
    series
}
