//! Latencies measured on this machine with dependent chains, which are assembled at run time.
//!
//! For every [`Key`] a loop is assembled whose links depend on each other through the key's input and output;
//! the instructions that lead back from output to input come from `closers`. The loop is timed against a
//! chain of dependent additions of one cycle each in the same round, so the results are core cycles whatever
//! the clock, and a change of frequency affects both alike. Closers are timed by themselves and subtracted.
//!
//! Two checks are part of every calibration: chains of `add` and of `lea` must take one cycle per link, and
//! every chain must return the same number twice.
//!
//! The code is written to an anonymous mapping, which is then made executable and never writable again. If
//! the system forbids that, the result is [`CalibrateError::Forbidden`], and the tables are used.
//!
//! Division, string instructions and others whose time depends on data cannot be measured this way. Their
//! keys are left out, each with the reason.

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

/// The clock that times the chains.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Reads the clock before the timed code.
    pub start: fn() -> u64,
    /// Reads the clock after the timed code.
    pub stop: fn() -> u64,
    /// The ticks of an empty region.
    pub overhead_ticks: f64,
}

/// A measured latency.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The latency's key.
    pub key: Key,
    /// Core cycles: the median, rounded to a whole number if it is close to one.
    pub cycles: f64,
    /// The median of the rounds.
    pub median: f64,
    /// The 95 % interval of the median.
    pub interval: Range<f64>,
}

/// The result of a calibration.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// The latencies.
    pub measured: Vec<Measured>,
    /// The keys that were not measured, with the reasons.
    pub left_out: Vec<(Key, String)>,
    /// Cycles per link of the chains of `add` and `lea`, which must be one.
    pub checks: Vec<(&'static str, f64)>,
}

/// The largest deviation of a check from one cycle.
pub const TOLERANCE: f64 = 0.02;

impl Calibration {
    /// The measurements, to be added to a table.
    pub fn overlay(&self) -> impl Iterator<Item = (Key, f64)> + '_ {
        self.measured.iter().map(|measured| (measured.key.clone(), measured.cycles))
    }

    /// Descriptions of the checks that failed; if any did, no result is reliable.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let far = self.checks.iter().filter(|(_, cycles)| (cycles - 1.0).abs() > TOLERANCE);
        far.map(|(name, cycles)| format!("a chain of '{name}' takes {cycles:.3} cycles per link, not 1.00"))
            .collect()
    }
}

/// The reason nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The system refuses executable memory.
    #[error("this system does not let programs make memory executable ({0}); latencies come from the table")]
    Forbidden(String),
    /// The platform is not supported.
    #[error("latencies can be measured on x86-64 Unix systems only; they come from the table")]
    OtherMachine,
    /// The reference chain cannot be timed.
    #[error("the reference chain of additions could not be timed")]
    NoReference,
}

/// Measures the latencies of `keys`. `tell` receives the number of steps done, and their total.
///
/// # Errors
/// If nothing can be measured; a failure for one key only leaves out that key.
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
