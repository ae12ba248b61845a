//! Latencies measured on this machine: dependent chains, assembled at run time.
//!
//! For every [`Key`] a loop is assembled whose links wait for each other through that key's input and output (a way back is
//! found by `closers`), and timed against a chain of dependent additions, which are a cycle each, in the same
//! round: so the figures are core cycles whatever the clock, and a change of frequency hits both alike. Closers are
//! timed by themselves and taken off.
//!
//! The method checks itself: chains of `add` and of `lea` must come out at one cycle, and every chain must return
//! the same number twice.
//!
//! The code is written into an anonymous mapping which then becomes executable and is never writable again; where a
//! platform forbids that, [`CalibrateError::Forbidden`] says so, and the tables are used.
//!
//! When not to use it: for division, string instructions and whatever else takes a time that depends on the data. Such keys are
//! left out, each with the reason.

pub mod keys;
pub mod rates;

#[cfg(all(target_arch = "x86_64", unix))]
mod closers;
#[cfg(all(target_arch = "x86_64", unix))]
mod features;
#[cfg(all(target_arch = "x86_64", unix))]
mod instance;
#[cfg(all(target_arch = "x86_64", unix))]
mod mapping;
#[cfg(all(target_arch = "x86_64", unix))]
mod program;
#[cfg(all(target_arch = "x86_64", unix))]
mod run;
#[cfg(all(target_arch = "x86_64", unix))]
mod samples;
#[cfg(all(test, target_arch = "x86_64", unix))]
mod tests;
#[cfg(all(target_arch = "x86_64", unix))]
mod units;

use crate::latency::Key;
use std::ops::Range;

/// The clock that chains are timed with.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Read before.
    pub start: fn() -> u64,
    /// Read after.
    pub stop: fn() -> u64,
    /// What an empty region reads.
    pub overhead_ticks: f64,
}

/// A latency as measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Of what.
    pub key: Key,
    /// Core cycles: the median of the rounds, made whole where it cannot be told from a whole number.
    pub cycles: f64,
    /// The rounds' median as it is.
    pub median: f64,
    /// 95 % interval of the median.
    pub interval: Range<f64>,
}

/// What a calibration found.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// The latencies.
    pub measured: Vec<Measured>,
    /// Keys that were not measured, and why.
    pub left_out: Vec<(Key, String)>,
    /// Cycles that a link of the chains of `add` and `lea` takes, which must be one.
    pub checks: Vec<(&'static str, f64)>,
}

/// How far a check may be from one cycle.
pub const BEARABLE: f64 = 0.02;

impl Calibration {
    /// What to put over a table.
    pub fn overlay(&self) -> impl Iterator<Item = (Key, f64)> + '_ {
        self.measured.iter().map(|measured| (measured.key.clone(), measured.cycles))
    }

    /// The checks that failed, in words; then no figure is to be trusted.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let far = self.checks.iter().filter(|(_, cycles)| (cycles - 1.0).abs() > BEARABLE);
        far.map(|(name, cycles)| format!("a chain of '{name}' takes {cycles:.3} cycles a link, not 1.00"))
            .collect()
    }
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The kernel refuses executable memory.
    #[error("this system lets no program make memory executable ({0}); latencies come from the table")]
    Forbidden(String),
    /// Another kind of machine.
    #[error("latencies can be measured on x86-64 Unix systems only; they come from the table")]
    OtherMachine,
    /// The closers or the reference cannot be timed.
    #[error("the chain of additions that all others are compared with gives no time")]
    NoReference,
}

/// Measures these latencies. `tell` hears how many chains of how many are assembled or timed.
///
/// # Errors
/// Where nothing can be measured at all; what fails for one key alone leaves out that key.
pub fn calibrate(
    keys: &[Key],
    clock: Clock,
    tell: &mut dyn FnMut(usize, usize),
) -> Result<Calibration, CalibrateError> {
    #[cfg(all(target_arch = "x86_64", unix))]
    {
        run::calibrate(keys, clock, tell)
    }
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    {
        let _ = (keys, clock, tell);
        Err(CalibrateError::OtherMachine)
    }
}
