//! Profiles in force: a process of its own, as they hold for the whole process, and one test at a time.
#![cfg(all(unix, feature = "std"))]

mod every_profile;
mod in_force;
mod toml;

// The buffers and bytes of the crate's own tests.
#[allow(dead_code, reason = "a part is used here")]
#[path = "../../src/tests/guarded.rs"]
mod guarded;
#[allow(dead_code, reason = "a part is used here")]
#[path = "../../src/tests/patterns.rs"]
mod patterns;

use carryline::internals::tuning::{Decision, Profile, built_in};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Makes the profile the caller's alone until the guard goes.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The safe defaults, to be changed.
fn unmeasured() -> Profile<'static> {
    *built_in("unmeasured").expect("it is built in")
}

/// The value of a decision that is in force.
fn in_force(decision: Decision) -> usize {
    let active = carryline::tuning::active();
    let mut decisions = active.decisions();
    decisions.find(|(name, _)| *name == decision.name()).expect("every decision is there").1
}
