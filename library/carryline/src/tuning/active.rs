//! The active decisions.
//!
//! Each is a separate atomic number, read with one relaxed load by the calls that need it. Loading another
//! profile replaces them one by one while other threads make calls, which may see a mix of old and new
//! values. That is harmless, because a kernel is correct with every decision at every length; only the time
//! of a call depends on them.
//!
//! 0 stands for a number not yet known. At the first use, [`fill`] stores the profile for this CPU, or the
//! one that the environment names. Cache sizes stay 0 until they are needed, because CPUID traps to the host
//! in a virtual machine. These values only replace 0, so that a profile that another thread loads meanwhile
//! stays active.

use crate::cpu::caches::Caches;
use crate::cpu::{self, Features, Model};
use crate::dispatch::{self, Function};
use crate::intent::LOOPS_BELOW_BYTES;
use crate::profile::{DETECTED, Decision, NAME_MOST_BYTES, NEVER, Profile, built_in_for, kernel_names};
use core::fmt;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering, fence};

/// The decisions, in the order of [`Decision::ALL`].
static DECISIONS: [AtomicUsize; Decision::ALL.len()] = [const { AtomicUsize::new(0) }; Decision::ALL.len()];

/// The kernels that functions prefer, in the order of [`Function::ALL`]: 1 for none, 2 for the first of
/// [`kernel_names`].
static KERNELS: [AtomicU8; Function::ALL.len()] = [const { AtomicU8::new(0) }; Function::ALL.len()];

/// Set once everything but the cache sizes is known.
static IS_FILLED: AtomicBool = AtomicBool::new(false);

/// The active value; never [`DETECTED`].
#[inline(always)]
pub(crate) fn decided(decision: Decision) -> usize {
    match DECISIONS[decision as usize].load(Ordering::Relaxed) {
        0 => find(decision),
        bytes => bytes,
    }
}

/// The active value, if it is known already.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn known(decision: Decision) -> Option<usize> {
    let bytes = DECISIONS[decision as usize].load(Ordering::Relaxed);
    (bytes != 0).then_some(bytes)
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

/// The value of a decision that a profile leaves to cache detection.
fn detected(decision: Decision, caches: Caches) -> usize {
    match decision {
        Decision::LastLevel => caches.last_level_bytes,
        _ => caches.core_share_bytes,
    }
}

/// The value in bytes of a decision that a profile leaves to cache detection, whatever the active profile says:
/// [`Decision::LastLevel`], or the share of the caches.
#[must_use]
pub fn detected_here(decision: Decision) -> usize {
    detected(decision, Caches::detect())
}

/// Stores a number unless one is already known, and returns the known one.
fn keep(decision: Decision, bytes: usize) -> usize {
    let place = &DECISIONS[decision as usize];
    place
        .compare_exchange(0, bytes, Ordering::Relaxed, Ordering::Relaxed)
        .map_or_else(|found| found, |_| bytes)
}

/// The kernel that a function prefers, if any.
pub(crate) fn preferred(function: Function) -> Option<&'static str> {
    let place = &KERNELS[function as usize];
    if place.load(Ordering::Relaxed) == 0 {
        fill();
    }
    let index = usize::from(place.load(Ordering::Relaxed)).checked_sub(2)?;
    kernel_names(function).get(index).copied()
}

/// The value in [`KERNELS`] for a preference.
fn code(function: Function, kernel: Option<&str>) -> u8 {
    let index = kernel_names(function).iter().position(|name| Some(*name) == kernel);
    index.map_or(1, |index| index as u8 + 2)
}

/// Initialises everything not yet known, except for the cache sizes. Runs at the first call; two threads that
/// race here store the same values.
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
            RECORD.unless_written(|record| record.set_first(Origin::Environment, profile.name));
            true
        }
        Ok(None) => false,
        Err(error) => {
            static REPORTED: AtomicBool = AtomicBool::new(false);
            crate::environment::ignore(&REPORTED, &error);
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

/// Programs without vectors, such as operating systems, are compiled without SSE2.
const HAS_VECTORS: bool = cfg!(target_feature = "sse2");

/// The value of a decision on a CPU with these features, in a program with or without vectors, so that no call has to look at
/// them: without fast string instructions or `clzero`, their thresholds are [`NEVER`]; and kernels read the same decisions
/// whatever the width of their stores.
fn value(profile: &Profile<'_>, decision: Decision, features: Features, has_vectors: bool) -> usize {
    let is_narrow = !has_vectors || !features.contains(Features::AVX2);
    let [narrow_stosb, narrow_movsb] = match has_vectors {
        true => [Decision::RepStosbNarrow, Decision::RepMovsbNarrow],
        false => [Decision::RepStosbScalar, Decision::RepMovsbScalar],
    };
    match decision {
        _ if decision.is_of_string() && !features.contains(Features::ERMS) => NEVER,
        Decision::Clzero if !features.contains(Features::CLZERO) => NEVER,
        Decision::RepStosb if is_narrow => profile.decisions.get(narrow_stosb),
        Decision::RepMovsb if is_narrow => profile.decisions.get(narrow_movsb),
        // Without a limit: the loop by 8 bytes takes 1.4 times as long there from 28 to 512 KiB on Granite Rapids.
        Decision::RepMovsbNear if !has_vectors && profile.decisions.get(decision) != NEVER => {
            profile.decisions.get(narrow_movsb)
        }
        // Every CPU with AVX2 executes `prefetchw`, if only as no operation; the first 64-bit ones need not.
        Decision::ZeroPrefetch | Decision::CopyPrefetch if is_narrow => NEVER,
        // On Zen 3, `rep stosb` and reading take 1.11 and 1.15 times as long at 4 KiB, medians of two runs, 0.71 and 0.89
        // times at 16 KiB.
        Decision::RepStosbReadHere if is_narrow => profile.decisions.get(narrow_stosb).max(LOOPS_BELOW_BYTES),
        _ => profile.decisions.get(decision),
    }
}

fn begin_with(profile: &Profile<'_>) {
    for decision in Decision::ALL {
        keep(*decision, value(profile, *decision, cpu::features(), HAS_VECTORS));
    }
    for function in Function::ALL {
        let (place, code) = (&KERNELS[function as usize], code(function, profile.kernel(function)));
        // Keeps what another thread has stored or loaded.
        let _ = place.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Activates a profile in place of the previous one. The CPU must be able to run its kernels.
pub(super) fn replace(profile: &Profile<'_>, origin: Origin) {
    RECORD.write(|record| {
        let caches = Caches::detect();
        for decision in Decision::ALL {
            let bytes = match value(profile, *decision, cpu::features(), HAS_VECTORS) {
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

/// The origin of the active profile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Origin {
    /// Built in, for this CPU's model or for unmeasured CPUs.
    BuiltIn,
    /// Named by the variable `CARRYLINE_TUNING`.
    Environment,
    /// Applied or loaded by the program.
    Program,
}

/// Name and origin of the active profile.
struct Record {
    /// Odd while a thread writes the other fields and the decisions, which no other thread does meanwhile; each start
    /// and each end adds 1. Kernels and their first calls never wait for an end, and readers not for ever: after a
    /// `fork`, nobody may be left to reach it.
    writes: AtomicUsize,
    /// An [`Origin`] as a number; [`Origin::BuiltIn`] has no name here.
    origin: AtomicU8,
    name: [AtomicU8; NAME_MOST_BYTES],
    name_bytes: AtomicUsize,
}

static RECORD: Record = Record::new();

/// How often a reader tries to read what no thread writes meanwhile: together some tens of milliseconds, where writing
/// takes microseconds.
const TRIES: u32 = if cfg!(miri) { 100 } else { 1 << 20 };

impl Record {
    const fn new() -> Record {
        Record {
            writes: AtomicUsize::new(0),
            origin: AtomicU8::new(Origin::BuiltIn as u8),
            name: [const { AtomicU8::new(0) }; NAME_MOST_BYTES],
            name_bytes: AtomicUsize::new(0),
        }
    }

    /// Writes as soon as no other thread does.
    fn write(&self, act: impl FnOnce(&Record)) {
        while !self.begin() {
            spin_loop();
        }
        act(self);
        self.end();
    }

    /// As `write`, unless another thread writes: it records the same profile, or one that replaces it.
    #[cfg(feature = "environment")]
    fn unless_written(&self, act: impl FnOnce(&Record)) {
        if self.begin() {
            act(self);
            self.end();
        }
    }

    /// False if another thread writes.
    fn begin(&self) -> bool {
        let before = self.writes.load(Ordering::Relaxed);
        let begins = before.is_multiple_of(2)
            && self
                .writes
                .compare_exchange(before, before.wrapping_add(1), Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        // A reader that sees anything written from here on also sees the odd number, or a later one.
        fence(Ordering::Release);
        begins
    }

    fn end(&self) {
        self.writes.fetch_add(1, Ordering::Release);
    }

    /// The result of `read` while no thread writes. After so many tries, that of the last one, which may mix two profiles.
    fn read<T>(&self, tries: u32, mut read: impl FnMut(&Record) -> T) -> T {
        for _ in 1..tries {
            let before = self.writes.load(Ordering::Acquire);
            if before.is_multiple_of(2) {
                let result = read(self);
                fence(Ordering::Acquire);
                if self.writes.load(Ordering::Relaxed) == before {
                    return result;
                }
            }
            spin_loop();
        }
        read(self)
    }

    fn set(&self, origin: Origin, name: &str) {
        self.origin.store(origin as u8, Ordering::Relaxed);
        self.name_bytes.store(name.len().min(NAME_MOST_BYTES), Ordering::Relaxed);
        for (place, byte) in self.name.iter().zip(name.bytes()) {
            place.store(byte, Ordering::Relaxed);
        }
    }

    /// As `set`, unless something has been set.
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

/// The active profile: its name, origin and values. Returned by [`active`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Active {
    origin: Origin,
    name: [u8; NAME_MOST_BYTES],
    name_bytes: usize,
    decisions: [usize; Decision::ALL.len()],
}

impl Active {
    /// The CPU that the profile is for, by the profile's name for it.
    #[must_use]
    pub fn name(&self) -> &str {
        core::str::from_utf8(&self.name[..self.name_bytes]).unwrap_or_default()
    }

    /// The origin of the profile.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Each decision's name in files and value: a number of bytes, or [`usize::MAX`] for "never". Values that
    /// a profile leaves to detection are returned as detected, and those that other decisions
    /// replace here, such as `rep_stosb_narrow_from_bytes`, as replaced.
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

/// The active profile. While another thread loads one, this waits for it, but not for ever: in the child of a `fork`
/// that thread may be gone. The result may then be a mix of two profiles. Not for signal handlers.
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
    RECORD.read(TRIES, |record| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{built_in, built_in_names};

    #[test]
    fn features_decide_on_string_instructions() {
        let zen3 = built_in("amd-zen3").expect("a built-in profile");
        let narrow = zen3.decisions.get(Decision::RepStosbNarrow);
        assert!(narrow < NEVER);
        let [without_avx2, with_avx2] = [Features::SSE2, Features::AVX2]
            .map(|features| features.union(Features::ERMS).union(Features::CLZERO));
        assert_eq!(value(zen3, Decision::RepStosb, without_avx2, true), narrow);
        let granite_rapids = built_in("intel-granite-rapids").expect("a built-in profile");
        let narrow_copies = granite_rapids.decisions.get(Decision::RepMovsbNarrow);
        assert!(narrow_copies < LOOPS_BELOW_BYTES);
        assert_eq!(value(granite_rapids, Decision::RepMovsb, without_avx2, true), narrow_copies);
        assert_eq!(value(granite_rapids, Decision::RepMovsb, with_avx2, true), NEVER);
        // Without vectors, whatever the CPU has.
        let scalar =
            [Decision::RepStosbScalar, Decision::RepMovsbScalar].map(|d| granite_rapids.decisions.get(d));
        for features in [without_avx2, with_avx2] {
            let of = |decision| value(granite_rapids, decision, features, false);
            assert_eq!([of(Decision::RepStosb), of(Decision::RepMovsb)], scalar);
            assert_eq!(of(Decision::RepMovsbNear), scalar[1], "measured at such distances");
            assert_eq!(value(zen3, Decision::RepMovsbNear, features, false), NEVER);
            assert_eq!(of(Decision::RepStosbReadHere), LOOPS_BELOW_BYTES);
        }
        assert_ne!(value(granite_rapids, Decision::RepMovsbNear, without_avx2, true), scalar[1]);
        for decision in [Decision::ZeroPrefetch, Decision::CopyPrefetch] {
            assert_ne!(value(granite_rapids, decision, with_avx2, true), NEVER);
            assert_eq!(value(granite_rapids, decision, without_avx2, true), NEVER);
        }
        assert_eq!(value(zen3, Decision::RepStosbReadHere, without_avx2, true), LOOPS_BELOW_BYTES);
        let unmeasured = built_in("unmeasured").expect("a built-in profile");
        for decision in [Decision::RepStosb, Decision::RepStosbReadHere] {
            assert_eq!(value(zen3, decision, with_avx2, true), NEVER);
            assert_eq!(value(unmeasured, decision, without_avx2, true), NEVER);
        }
        for name in built_in_names() {
            let profile = built_in(name).expect("its name is listed");
            for decision in Decision::ALL.iter().copied() {
                let own = profile.decisions.get(decision);
                assert_eq!(value(profile, decision, with_avx2, true), own, "{name}");
                let needs_feature =
                    ["rep_", "clzero_"].iter().any(|start| decision.name().starts_with(start));
                let without = value(profile, decision, Features::AVX2, true);
                assert_eq!(without, if needs_feature { NEVER } else { own }, "{name}");
            }
        }
    }

    /// Another thread may have been writing when this process was forked.
    #[cfg(feature = "environment")]
    #[test]
    fn the_name_of_a_profile_is_not_waited_for() {
        let record = Record::new();
        assert!(record.begin());
        record.unless_written(|record| record.set_first(Origin::Environment, "one"));
        assert_eq!(record.origin(), Origin::BuiltIn);
        record.end();
        record.unless_written(|record| record.set_first(Origin::Environment, "one"));
        assert_eq!(record.origin(), Origin::Environment);
        record.write(|record| record.set_first(Origin::Program, "two"));
        assert_eq!((record.origin(), record.name_bytes.load(Ordering::Relaxed)), (Origin::Environment, 3));
    }

    #[test]
    fn readers_do_not_wait_for_ever() {
        let record = Record::new();
        record.write(|record| record.set(Origin::Program, "whole"));
        let name_bytes = |record: &Record| record.name_bytes.load(Ordering::Relaxed);
        assert_eq!(record.read(2, name_bytes), 5);
        assert!(record.begin() && !record.begin());
        record.set(Origin::Program, "half");
        assert_eq!(record.read(3, name_bytes), 4);
        record.end();
        assert!(record.begin());
    }

    /// Every byte that a reader sees is of the same name, also when the number of writes starts again from 0.
    #[test]
    fn readers_see_no_mix_of_names() {
        let record = Record::new();
        record.writes.store(usize::MAX - 5, Ordering::Relaxed);
        let rounds: u8 = if cfg!(miri) { 10 } else { 250 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..rounds {
                    let name = [b'A' + round % 26; NAME_MOST_BYTES];
                    let name = core::str::from_utf8(&name).expect("letters");
                    record.write(|record| record.set(Origin::Program, name));
                }
            });
            loop {
                let bytes = record
                    .read(u32::MAX, |record| record.name.each_ref().map(|byte| byte.load(Ordering::Relaxed)));
                assert!(bytes.iter().all(|byte| *byte == bytes[0]), "{bytes:?}");
                if record.writes.load(Ordering::Relaxed)
                    == (usize::MAX - 5).wrapping_add(2 * usize::from(rounds))
                {
                    break;
                }
            }
        });
    }
}
