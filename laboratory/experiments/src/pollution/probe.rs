//! The part of a working set that remains in the caches after a large buffer is cleared or copied.
//!
//! A victim's working set, half of a cache level (a quarter of the last), is followed twice as a chain of
//! dependent loads, so that it is cached. Then memory of twice that level is cleared, or half of it is copied
//! to the other half. Then the chain is followed once more and timed. `undisturbed` is the same with nothing
//! in between. The memory to clear is flushed first, except for the last level, which it exceeds.
//!
//! Series, in ticks per load: `VICTIM, METHOD`.

use crate::chase::{self, LINE};
use crate::pages::{self, Lines};
use carryline_engine::probe::{Impossible, Probe, Rounds, Series, Setup, Unusable, time};
use carryline_machine::arena::{Arena, Pages};
use carryline_machine::clock;
use carryline_machine::environment::CacheSizes;
use carryline_statistics::shuffle;
use carryline_verification::status::StatusPage;
use carryline_verification::{Copying, Zeroing};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// See the module.
pub static PROBE: Probe = Probe {
    name: "pollution",
    what: "a working set read again after a large buffer is cleared or copied",
    start,
};

/// The victims, by the cache level of their working set.
pub const VICTIMS: [&str; 3] = ["L1", "L2", "L3"];
/// The disturbances.
pub const METHODS: [&str; 8] = [
    "undisturbed",
    "undisturbed again",
    "zero, cached",
    "zero, rep",
    "zero, NT",
    "copy, cached",
    "copy, rep",
    "copy, NT",
];
/// The most memory that is cleared, so that it fits even on small machines.
const MOST_BYTES: u64 = 256 << 20;
/// The most memory cleared between two progress beats.
const STEP: usize = 4 << 20;

/// Bytes of a victim's working set, a power of two.
#[must_use]
pub fn set_bytes(victim: usize, caches: &CacheSizes) -> usize {
    let bytes = [caches.l1 / 2, caches.l2 / 2, caches.l3 / 4][victim];
    chase::lines_within(bytes) * LINE
}

/// Bytes that are cleared, or read and written by a copy: twice the level, but for L1 as many as for L2.
#[must_use]
pub fn moved_bytes(victim: usize, caches: &CacheSizes) -> usize {
    let bytes = [2 * caches.l2, 2 * caches.l2, (2 * caches.l3).min(MOST_BYTES)][victim];
    (bytes as usize).next_multiple_of(1 << 16)
}

/// The name of a series.
#[must_use]
pub fn name(victim: &str, method: &str) -> String {
    format!("{victim}, {method}")
}

/// The parameters of the probe.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The victims to measure; all if empty.
    pub victims: Vec<String>,
}

/// Facts about the methods.
#[derive(Deserialize, Serialize)]
pub(super) struct Facts {
    /// The variant of each method.
    pub variants: BTreeMap<String, String>,
}

#[derive(Clone, Copy)]
enum Between {
    Nothing,
    Zero(Zeroing),
    Copy(Copying),
}

struct Pollution {
    /// The indices in [`VICTIMS`] of the selected victims.
    victims: Vec<usize>,
    sets: Vec<Arena>,
    moved: Arena,
    caches: CacheSizes,
    between: [Result<(&'static str, Between), Impossible>; METHODS.len()],
    overhead_ticks: f64,
    rng: Xoshiro256PlusPlus,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Impossible(
            "the memory is made cold by clflush, which is an x86-64 instruction".to_owned(),
        ));
    }
    let mut sets = Vec::new();
    let victims = crate::chosen(&setup.parameters::<Parameters>()?.victims, &VICTIMS);
    for victim in &victims {
        let bytes = set_bytes(*victim, &setup.caches);
        let arena = Arena::new(bytes, Pages::Huge)?;
        // SAFETY: the arena's own lines.
        unsafe { chase::lay(arena.start(), bytes / LINE, setup.status) };
        sets.push(arena);
    }
    let largest = victims.iter().map(|victim| moved_bytes(*victim, &setup.caches)).max().unwrap_or(0);
    let mut moved = Arena::new(largest, Pages::Base)?;
    moved.prefault();
    setup.status.beat();
    let zero = |names: &[&'static str]| setup.zeroing(names).map(|(name, f)| (name, Between::Zero(f)));
    let copy = |names: &[&'static str]| setup.copying(names).map(|(name, f)| (name, Between::Copy(f)));
    let nothing = || Ok(("nothing", Between::Nothing));
    Ok(Box::new(Pollution {
        victims,
        sets,
        moved,
        caches: setup.caches,
        between: [
            nothing(),
            nothing(),
            zero(&["avx512", "avx2", "sse2"]),
            zero(&["rep_stosb"]),
            zero(&["avx512_nontemporal", "movntps"]),
            copy(&["avx512", "avx2", "sse2"]),
            copy(&["rep_movsb"]),
            copy(&["avx512_nontemporal"]),
        ],
        overhead_ticks: clock::overhead_ticks(),
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
    }))
}

impl Pollution {
    /// The ticks per load of a selected victim's chain, by its index, after the disturbance.
    fn once(&self, place: usize, between: Between, status: &StatusPage) -> f64 {
        let (set, victim) = (self.sets[place].start(), self.victims[place]);
        let lines = set_bytes(victim, &self.caches) / LINE;
        let (memory, bytes) = (self.moved.start(), moved_bytes(victim, &self.caches));
        // SAFETY: each range lies inside its arena, which only this thread uses; the chain was laid by
        // `start`, and `lines` links lead from its first line back to it; the routines are verified, and the
        // two halves do not overlap.
        unsafe {
            if VICTIMS[victim] != "L3" {
                pages::leave(memory, bytes, Lines::Cold);
            }
            chase::follow(set, 0, 2 * lines);
            status.beat();
            let mut at = 0;
            while at < bytes {
                let step = (bytes - at).min(STEP);
                match between {
                    Between::Nothing => break,
                    Between::Zero(zero) => zero.call(memory.add(at), step),
                    Between::Copy(copy) => {
                        copy.call(memory.add(bytes / 2 + at / 2), memory.add(at / 2), step / 2);
                    }
                }
                at += step;
                status.beat();
            }
            time(self.overhead_ticks, || {
                chase::follow(set, 0, lines);
            }) / lines as f64
        }
    }
}

impl Rounds for Pollution {
    fn series(&self) -> Vec<Series> {
        let of = |victim: &usize| METHODS.map(|method| Series::ticks(name(VICTIMS[*victim], method)));
        self.victims.iter().flat_map(of).collect()
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        (0..self.victims.len()).map(|place| (place * METHODS.len(), place * METHODS.len() + 1)).collect()
    }

    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        let cells = self.victims.len() * METHODS.len();
        let mut samples = vec![f64::NAN; cells];
        let mut turn: Vec<usize> = (0..cells).collect();
        shuffle(&mut self.rng, &mut turn);
        for cell in turn {
            if let Ok((_, between)) = self.between[cell % METHODS.len()] {
                samples[cell] = self.once(cell / METHODS.len(), between, status);
            }
        }
        Ok(samples)
    }

    fn facts(&mut self) -> serde_json::Value {
        let by = METHODS.iter().zip(&self.between);
        let used = by.filter_map(|(method, between)| Some((method, between.as_ref().ok()?.0)));
        let variants = used.map(|(method, variant)| ((*method).to_owned(), variant.to_owned())).collect();
        crate::json(&Facts { variants })
    }

    fn unusable(&self) -> Vec<Unusable> {
        let mut unusable = Vec::new();
        for (method, between) in METHODS.iter().zip(&self.between) {
            if let Err(why) = between {
                unusable.extend(VICTIMS.map(|victim| Unusable::new(name(victim, method), why)));
            }
        }
        unusable
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::testing::setup;

    const CACHES: CacheSizes = CacheSizes { l1: 48 << 10, l2: 256 << 10, l3: 1 << 20, l3_held: None };

    #[test]
    fn sets_fit_in_their_level_and_moved_memory_does_not() {
        for (victim, level) in [CACHES.l1, CACHES.l2, CACHES.l3].into_iter().enumerate() {
            assert!((set_bytes(victim, &CACHES) as u64) <= level / 2);
            assert!((moved_bytes(victim, &CACHES) as u64) >= 2 * level);
        }
        let huge = CacheSizes { l3: 2 << 30, ..CACHES };
        assert!(moved_bytes(2, &huge) as u64 <= MOST_BYTES);
    }

    #[test]
    fn chains_stay_intact_and_every_possible_cell_is_sampled() {
        let status = StatusPage::create().expect("a page");
        let setup = Setup { caches: CACHES, ..setup(&serde_json::Value::Null, &status) };
        let mut rounds = start(&setup).expect("an x86-64 CPU");
        // A chain that was written over would lead out of its arena in the second round.
        for _ in 0..2 {
            let samples = rounds.round(&status).expect("a round");
            let unusable = rounds.unusable();
            for (sample, series) in samples.iter().zip(rounds.series()) {
                let is_unusable = unusable.iter().any(|one| one.series == series.name);
                assert_eq!(sample.is_nan(), is_unusable, "{}", series.name);
            }
        }
    }
}
