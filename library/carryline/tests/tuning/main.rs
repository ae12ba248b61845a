//! Tests of the active profile: in a separate process, since it applies to the whole process, and one test at
//! a time.
#![cfg(all(unix, feature = "std"))]

mod active;
mod every_profile;
#[cfg(all(target_os = "linux", target_arch = "x86_64", feature = "environment"))]
mod rights;
mod toml;

// Shared with the crate's own tests.
#[allow(dead_code, reason = "only a part is used here")]
#[path = "../../src/tests/guarded.rs"]
mod guarded;
#[allow(dead_code, reason = "only a part is used here")]
#[path = "../../src/tests/patterns.rs"]
mod patterns;

use carryline::internals::tuning::{Decision, Profile, built_in};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Gives the caller exclusive use of the active profile until the guard is dropped.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The safe defaults, as a starting point.
fn unmeasured() -> Profile<'static> {
    *built_in("unmeasured").expect("a built-in profile")
}

/// The active value of a decision.
fn active_value(decision: Decision) -> usize {
    let active = carryline::tuning::active();
    let mut decisions = active.decisions();
    decisions.find(|(name, _)| *name == decision.name()).expect("every decision is there").1
}
