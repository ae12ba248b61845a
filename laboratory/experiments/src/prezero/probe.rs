//! Clearing pages ahead of their use: the cost of the clearing and of the first use, by the amount of work in
//! between.
//!
//! A block of [`BLOCK_BYTES`] starts cold (flushed) and is cleared by one of [`METHODS`]. Then other work
//! reads and writes a given number of bytes of other memory, and then the block is used: a word of every line
//! is read and written. Distance 0 is a kernel that clears on demand; the other distances are one that keeps
//! a pool of cleared pages. A block that is never used costs only the clearing. Both times end when the
//! stores are in the cache or in memory. Series, in ticks per 4 KB: `clear METHOD DISTANCE`,
//! `use METHOD DISTANCE`, `sum METHOD DISTANCE`; the method `cached again` makes the A/A pair.

use crate::pages::{self, Lines, drain};
use carryline_engine::probe::{Impossible, Probe, Rounds, Series, Setup, Unusable, time};
use carryline_machine::arena::{Arena, Pages};
use carryline_machine::clock;
use carryline_sampler::touch;
use carryline_statistics::shuffle;
use carryline_verification::Zeroing;
use carryline_verification::status::StatusPage;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// See the module.
pub static PROBE: Probe =
    Probe { name: "prezero", what: "clearing pages at once or ahead, and their first use", start };

/// The block cleared at a time: 16 pages.
pub const BLOCK_BYTES: usize = 64 << 10;
/// The methods of clearing, by their names in series.
pub const METHODS: [&str; 4] = ["cached", "rep", "NT", "cached again"];
/// The variants of each method; the first that runs here is used. The last method repeats the first.
const VARIANTS: [&[&str]; 4] = [
    &["avx512", "avx2", "sse2", "write_bytes"],
    &["rep_stosb"],
    &["avx512_nontemporal", "movntps"],
    &["avx512", "avx2", "sse2", "write_bytes"],
];
/// Bytes of other work between clearing and use.
pub const DISTANCES: [(&str, usize); 8] = [
    ("at once", 0),
    ("after 16 KB", 16 << 10),
    ("after 64 KB", 64 << 10),
    ("after 256 KB", 256 << 10),
    ("after 1 MB", 1 << 20),
    ("after 4 MB", 4 << 20),
    ("after 16 MB", 16 << 20),
    ("after 64 MB", 64 << 20),
];
const PARTS: [&str; 3] = ["clear", "use", "sum"];

/// The name of a series.
#[must_use]
pub fn name(part: &str, method: &str, distance: &str) -> String {
    format!("{part} {method} {distance}")
}

/// Facts about the methods.
#[derive(Deserialize, Serialize)]
pub(super) struct Facts {
    /// The variant of each method.
    pub variants: BTreeMap<String, String>,
}

struct Prezero {
    block: Arena,
    other: Arena,
    routines: Vec<Result<(&'static str, Zeroing), Impossible>>,
    overhead_ticks: f64,
    rng: Xoshiro256PlusPlus,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Impossible(
            "the block is made cold by clflush, which is an x86-64 instruction".to_owned(),
        ));
    }
    let arena = |bytes: usize| {
        let mut arena = Arena::new(bytes, Pages::Base)?;
        arena.prefault();
        setup.status.beat();
        Ok::<_, Impossible>(arena)
    };
    let furthest = DISTANCES.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    Ok(Box::new(Prezero {
        block: arena(BLOCK_BYTES)?,
        other: arena(furthest)?,
        routines: VARIANTS.iter().map(|names| setup.zeroing(names)).collect(),
        overhead_ticks: clock::overhead_ticks(),
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
    }))
}

impl Prezero {
    /// Ticks per 4 KB of the clearing and of the use, with `distance` bytes of other work in between.
    fn once(&self, clear: Zeroing, distance: usize, status: &StatusPage) -> (f64, f64) {
        let (base, other) = (self.block.start(), self.other.start());
        let per_page = 4096.0 / BLOCK_BYTES as f64;
        // SAFETY: all accesses are inside the two arenas, the second of which has the largest distance; the
        // routine is verified.
        unsafe {
            pages::leave(base, BLOCK_BYTES, Lines::Cold);
            // Loads the address translations of the block.
            for page in (0..BLOCK_BYTES).step_by(4096) {
                base.add(page).read_volatile();
            }
            pages::leave(base, BLOCK_BYTES, Lines::Cold);
            let cleared = time(self.overhead_ticks, || {
                clear.call(base, BLOCK_BYTES);
                drain();
            });
            for at in (0..distance).step_by(1 << 20) {
                touch(other.add(at), (distance - at).min(1 << 20), true);
                status.beat();
            }
            let used = time(self.overhead_ticks, || {
                touch(base, BLOCK_BYTES, true);
                drain();
            });
            (cleared * per_page, used * per_page)
        }
    }
}

impl Rounds for Prezero {
    fn series(&self) -> Vec<Series> {
        let mut series = Vec::new();
        for method in METHODS {
            for (distance, _) in DISTANCES {
                series.extend(PARTS.map(|part| Series::ticks(name(part, method, distance))));
            }
        }
        series
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        let each = PARTS.len();
        let method = DISTANCES.len() * each;
        // Only for the series that claims use, because every further pair would widen the floor of all.
        [0, DISTANCES.len() - 1].map(|at| (at * each + 2, 3 * method + at * each + 2)).into()
    }

    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        let cells = METHODS.len() * DISTANCES.len();
        let mut samples = vec![f64::NAN; cells * PARTS.len()];
        let mut turn: Vec<usize> = (0..cells).collect();
        shuffle(&mut self.rng, &mut turn);
        for cell in turn {
            let (method, distance) = (cell / DISTANCES.len(), cell % DISTANCES.len());
            let Ok((_, clear)) = self.routines[method] else { continue };
            let (cleared, used) = self.once(clear, DISTANCES[distance].1, status);
            samples[cell * 3..][..3].copy_from_slice(&[cleared, used, cleared + used]);
        }
        Ok(samples)
    }

    fn facts(&mut self) -> serde_json::Value {
        let by = METHODS.iter().zip(&self.routines);
        let used = by.filter_map(|(method, routine)| Some((method, routine.as_ref().ok()?.0)));
        let variants = used.map(|(method, variant)| ((*method).to_owned(), variant.to_owned())).collect();
        crate::json(&Facts { variants })
    }

    fn unusable(&self) -> Vec<Unusable> {
        let mut unusable = Vec::new();
        for (method, routine) in METHODS.iter().zip(&self.routines) {
            if let Err(why) = routine {
                unusable.extend(PARTS.map(|part| Unusable::new(format!("{part} {method}"), why)));
            }
        }
        unusable
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::testing::setup;

    #[test]
    fn every_cell_is_sampled_or_has_a_reason() {
        let status = StatusPage::create().expect("a page");
        let setup = setup(&serde_json::Value::Null, &status);
        let mut rounds = start(&setup).expect("an x86-64 CPU");
        let samples = rounds.round(&status).expect("a round");
        let series = rounds.series();
        assert_eq!(samples.len(), series.len());
        let facts: Facts = serde_json::from_value(rounds.facts()).expect("its own");
        assert_eq!(facts.variants.get("cached"), facts.variants.get("cached again"));
        assert_ne!(facts.variants.get("cached"), facts.variants.get("NT"));
        let unusable = rounds.unusable();
        for (sample, series) in samples.iter().zip(&series) {
            assert!(
                sample.is_finite() || unusable.iter().any(|one| series.name.starts_with(&one.series)),
                "{}",
                series.name
            );
        }
        for (one, other) in rounds.twins() {
            assert_eq!(series[one].name.replace("cached", "cached again"), series[other].name);
        }
    }
}
