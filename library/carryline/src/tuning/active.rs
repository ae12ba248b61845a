//! The decisions in force.
//!
//! Each is an atomic number of its own, read with one relaxed load by the calls that need it. A load of another profile
//! replaces them one after the other while other threads call: those may see old and new ones side by side. That is
//! harmless, as a kernel is right with every decision at every length; only the time that a call takes depends on them.
//!
//! 0 stands for a number that has not been found yet. At the first use [`fill`] puts the profile of this CPU there,
//! or the one that the environment names; the sizes of the caches stay 0 until they are asked for, as CPUID traps to
//! the host in a virtual machine. What is found replaces nothing but 0, so that a profile that another thread loads
//! meanwhile stays in force.

use crate::cpu::Model;
use crate::cpu::caches::Caches;
use crate::dispatch::{self, Function};
use crate::profile::{DETECTED, Decision, NAME_MOST_BYTES, Profile, built_in_for, kernel_names};
use core::fmt;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

/// The decisions, in the order of [`Decision::ALL`].
static DECISIONS: [AtomicUsize; Decision::ALL.len()] = [const { AtomicUsize::new(0) }; Decision::ALL.len()];

/// The kernels that functions prefer, in the order of [`Function::ALL`]: 1 is none, 2 the first of [`kernel_names`].
static KERNELS: [AtomicU8; Function::ALL.len()] = [const { AtomicU8::new(0) }; Function::ALL.len()];

/// Set when there is nothing left to find but the sizes of the caches.
static IS_FILLED: AtomicBool = AtomicBool::new(false);

/// The value in force; never [`DETECTED`].
#[inline(always)]
pub(crate) fn decided(decision: Decision) -> usize {
    match DECISIONS[decision as usize].load(Ordering::Relaxed) {
        0 => find(decision),
        bytes => bytes,
    }
}

#[cold]
#[inline(never)]
fn find(decision: Decision) -> usize {
    fill();
    let bytes = match DECISIONS[decision as usize].load(Ordering::Relaxed) {
        DETECTED => detected(decision, Caches::detect()),
        bytes => bytes,
    };
    keep(decision, bytes)
}

/// What the caches say of a decision that a profile leaves to them.
fn detected(decision: Decision, caches: Caches) -> usize {
    match decision {
        Decision::LastLevel => caches.last_level_bytes,
        _ => caches.core_share_bytes,
    }
}

/// Puts a number where none has been found yet, and gives back what is there then.
fn keep(decision: Decision, bytes: usize) -> usize {
    let place = &DECISIONS[decision as usize];
    place
        .compare_exchange(0, bytes, Ordering::Relaxed, Ordering::Relaxed)
        .map_or_else(|found| found, |_| bytes)
}

/// The kernel that a function prefers.
pub(crate) fn preferred(function: Function) -> Option<&'static str> {
    let place = &KERNELS[function as usize];
    if place.load(Ordering::Relaxed) == 0 {
        fill();
    }
    let index = usize::from(place.load(Ordering::Relaxed)).checked_sub(2)?;
    kernel_names(function).get(index).copied()
}

/// How [`KERNELS`] has it.
fn code(function: Function, kernel: Option<&str>) -> u8 {
    let index = kernel_names(function).iter().position(|name| Some(*name) == kernel);
    index.map_or(1, |index| index as u8 + 2)
}

/// Finds what has not been found yet, except for the sizes of the caches: at the first call; two threads that race here
/// find the same.
#[cold]
#[inline(never)]
pub fn fill() {
    if IS_FILLED.load(Ordering::Acquire) {
        return;
    }
    #[cfg(feature = "environment")]
    let is_from_environment = crate::environment::with_tuning(|tuning| match tuning {
        Ok(Some(profile)) => {
            begin_with(profile);
            RECORD.locked(|record| record.set_first(Origin::Environment, profile.name));
            true
        }
        Ok(None) => false,
        Err(error) => {
            static SAID: AtomicBool = AtomicBool::new(false);
            crate::environment::ignore(&SAID, &error);
            false
        }
    });
    #[cfg(not(feature = "environment"))]
    let is_from_environment = false;
    if !is_from_environment {
        begin_with(built_in_for(Model::here()).1);
    }
    IS_FILLED.store(true, Ordering::Release);
}

fn begin_with(profile: &Profile<'_>) {
    for decision in Decision::ALL {
        keep(*decision, profile.decisions.get(*decision));
    }
    for function in Function::ALL {
        let (place, code) = (&KERNELS[function as usize], code(function, profile.kernel(function)));
        // What another thread has found or loaded stays.
        let _ = place.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Puts a profile in force, whatever was before. The CPU can run its kernels.
pub(super) fn replace(profile: &Profile<'_>, origin: Origin) {
    RECORD.locked(|record| {
        let caches = Caches::detect();
        for decision in Decision::ALL {
            let bytes = match profile.decisions.get(*decision) {
                DETECTED => detected(*decision, caches),
                bytes => bytes,
            };
            DECISIONS[*decision as usize].store(bytes, Ordering::Relaxed);
        }
        for function in Function::ALL {
            KERNELS[function as usize].store(code(function, profile.kernel(function)), Ordering::Relaxed);
        }
        IS_FILLED.store(true, Ordering::Release);
        dispatch::choose_again();
        record.set(origin, profile.name);
    });
}

/// Where the profile in force comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Origin {
    /// It is built in, and for this CPU's model, or for CPUs that nobody measured.
    BuiltIn,
    /// The variable `CARRYLINE_TUNING` names it.
    Environment,
    /// The program has applied or loaded it.
    Program,
}

/// Name and origin of the profile in force, for those who ask.
struct Record {
    /// Taken by who reads or writes the rest. Kernels and their first calls never take it, unless the environment
    /// names a profile.
    is_taken: AtomicBool,
    /// An [`Origin`], as a number; [`Origin::BuiltIn`] has no name here.
    origin: AtomicU8,
    name: [AtomicU8; NAME_MOST_BYTES],
    name_bytes: AtomicUsize,
}

static RECORD: Record = Record {
    is_taken: AtomicBool::new(false),
    origin: AtomicU8::new(Origin::BuiltIn as u8),
    name: [const { AtomicU8::new(0) }; NAME_MOST_BYTES],
    name_bytes: AtomicUsize::new(0),
};

impl Record {
    fn locked<T>(&self, act: impl FnOnce(&Record) -> T) -> T {
        while self.is_taken.swap(true, Ordering::Acquire) {
            spin_loop();
        }
        let result = act(self);
        self.is_taken.store(false, Ordering::Release);
        result
    }

    fn set(&self, origin: Origin, name: &str) {
        self.origin.store(origin as u8, Ordering::Relaxed);
        self.name_bytes.store(name.len().min(NAME_MOST_BYTES), Ordering::Relaxed);
        for (place, byte) in self.name.iter().zip(name.bytes()) {
            place.store(byte, Ordering::Relaxed);
        }
    }

    /// The same, unless something has been set.
    #[cfg(feature = "environment")]
    fn set_first(&self, origin: Origin, name: &str) {
        if self.origin() == Origin::BuiltIn {
            self.set(origin, name);
        }
    }

    fn origin(&self) -> Origin {
        let number = self.origin.load(Ordering::Relaxed);
        [Origin::Environment, Origin::Program]
            .into_iter()
            .find(|origin| *origin as u8 == number)
            .unwrap_or(Origin::BuiltIn)
    }
}

/// The profile in force: its name, where it comes from, and its numbers. Made by [`active`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Active {
    origin: Origin,
    name: [u8; NAME_MOST_BYTES],
    name_bytes: usize,
    decisions: [usize; Decision::ALL.len()],
}

impl Active {
    /// The CPU that the profile is for, as the profile calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        core::str::from_utf8(&self.name[..self.name_bytes]).unwrap_or_default()
    }

    /// Where the profile comes from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Each decision with its name in files and its value: a number of bytes, [`usize::MAX`] for "never". What a profile
    /// leaves to detection is there as it was detected.
    pub fn decisions(&self) -> impl Iterator<Item = (&'static str, usize)> {
        Decision::ALL.iter().map(|decision| decision.name()).zip(self.decisions)
    }
}

/// `AMD Zen 5 (EPYC 9005), built in`.
impl fmt::Display for Active {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            Origin::BuiltIn => "built in",
            Origin::Environment => "from CARRYLINE_TUNING",
            Origin::Program => "loaded by the program",
        };
        write!(f, "{}, {origin}", self.name())
    }
}

/// The profile in force. Not for signal handlers.
///
/// ```
/// let active = carryline::tuning::active();
/// println!("{active}");
/// for (name, bytes) in active.decisions() {
///     println!("{name} = {bytes}");
///     assert!(bytes >= 512);
/// }
/// ```
#[must_use]
pub fn active() -> Active {
    fill();
    RECORD.locked(|record| {
        let origin = record.origin();
        let (mut name, name_bytes) = ([0; NAME_MOST_BYTES], record.name_bytes.load(Ordering::Relaxed));
        for (byte, place) in name.iter_mut().zip(&record.name) {
            *byte = place.load(Ordering::Relaxed);
        }
        let mut active = Active { origin, name, name_bytes, decisions: [0; Decision::ALL.len()] };
        if origin == Origin::BuiltIn {
            let of_cpu = built_in_for(Model::here()).1.name;
            active.name[..of_cpu.len()].copy_from_slice(of_cpu.as_bytes());
            active.name_bytes = of_cpu.len();
        }
        for (bytes, decision) in active.decisions.iter_mut().zip(Decision::ALL) {
            *bytes = decided(*decision);
        }
        active
    })
}
