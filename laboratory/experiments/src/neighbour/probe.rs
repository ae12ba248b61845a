//! A core that zeroes pages, and its effect on another core that does real work.
//!
//! A second thread, pinned to another core, is idle, spins in registers, or zeroes its own memory (larger
//! than any cache, if there is room) block by block, like an idle thread that keeps a pool of cleared pages.
//! Meanwhile the victim on the measuring CPU follows a chain of dependent loads through memory (`latency`) or
//! through a quarter of the last cache level (`cache latency`), or reads memory in order (`bandwidth`). A
//! sample counts only if the neighbour made progress during it. Series, in ticks per load or per line:
//! `VICTIM, MODE`; and `zeroed beside VICTIM, MODE` in bytes per tick.
//!
//! The facts give the two CPUs and whether they share a core.

use super::thread::{BLOCK, SPINNING, Shared, work};
use crate::chase::{self, LINE};
use carryline_engine::probe::{Impossible, Probe, Rounds, Series, Setup, Unusable, time};
use carryline_machine::arena::{Arena, Pages};
use carryline_machine::environment::CacheSizes;
use carryline_machine::{clock, process, second_core};
use carryline_results::claims::Unit;
use carryline_sampler::touch;
use carryline_statistics::{below, shuffle};
use carryline_verification::status::StatusPage;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// See the module.
pub static PROBE: Probe =
    Probe { name: "neighbour", what: "work on one core while another zeroes pages", start };

/// The victims.
pub const VICTIMS: [&str; 3] = ["latency", "bandwidth", "cache latency"];
/// The activities of the neighbour.
pub const MODES: [&str; 6] = [
    "alone",
    "alone again",
    "beside spinning",
    "beside cached zeroing",
    "beside rep zeroing",
    "beside NT zeroing",
];
/// The variants of the zeroing modes; the first that runs here is used.
const VARIANTS: [&[&str]; 3] =
    [&["avx512", "avx2", "sse2", "write_bytes"], &["rep_stosb"], &["avx512_nontemporal", "movntps"]];

/// The most memory for victim and neighbour each, so that both fit even on small machines.
const MOST_BYTES: u64 = 256 << 20;
/// A sample takes about this long.
const SAMPLE_NS: f64 = 1_000_000.0;
/// How long the neighbour may take to start working.
const PATIENCE: Duration = Duration::from_millis(100);

/// The name of a series.
#[must_use]
pub fn name(victim: &str, mode: &str) -> String {
    format!("{victim}, {mode}")
}

/// The name of the series of the neighbour's rate.
#[must_use]
pub fn name_of_rate(victim: &str, mode: &str) -> String {
    format!("zeroed beside {victim}, {mode}")
}

struct Neighbour {
    /// The indices in [`VICTIMS`] of the selected victims.
    victims: Vec<usize>,
    region: Arena,
    region_bytes: usize,
    /// The next link of the chain through memory, and of the one through the last level.
    links: [usize; 2],
    cached: Arena,
    cached_lines: usize,
    window_at: usize,
    /// Loads or lines per sample, by victim.
    counts: [usize; 3],
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
    unusable: Vec<Unusable>,
    cpus: (usize, usize),
    same_core: bool,
    overhead_ticks: f64,
    rng: Xoshiro256PlusPlus,
}

/// The parameters of the probe.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The logical CPUs that may be used.
    pub cpus: Vec<usize>,
    /// The victims to measure; all if empty.
    pub victims: Vec<String>,
}

/// The placement of the two threads.
#[derive(Deserialize, Serialize)]
pub(super) struct Facts {
    /// The victim's CPU.
    pub cpu: usize,
    /// The neighbour's CPU.
    pub neighbour: usize,
    /// The CPU on which the neighbour last ran; -1 if it never ran.
    pub neighbour_seen_on: i32,
    /// Whether they share a core.
    pub same_core: bool,
    /// The memory of each.
    pub bytes_of_each: usize,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    let Parameters { cpus: allowed, victims } = setup.parameters()?;
    let (mine, other, same_core) =
        second_core::choose(setup.cpu, &allowed, &second_core::siblings).map_err(Impossible)?;
    if setup.cpu.is_none() {
        process::pin(mine).map_err(Impossible)?;
    }
    let bytes = region_bytes(&setup.caches);
    let region = Arena::new(bytes, Pages::Huge)?;
    let cached_lines = chase::lines_within(setup.caches.l3 / 4);
    let cached = Arena::new(cached_lines * LINE, Pages::Huge)?;
    // SAFETY: the whole of both arenas, which nothing else uses yet.
    unsafe {
        chase::lay(region.start(), bytes / LINE, setup.status);
        chase::lay(cached.start(), cached_lines, setup.status);
    }
    let mut routines = [None; VARIANTS.len()];
    let mut unusable = Vec::new();
    for (at, names) in VARIANTS.iter().enumerate() {
        match setup.zeroing(names) {
            Ok((_, routine)) => routines[at] = Some(routine),
            Err(why) => {
                for victim in VICTIMS {
                    unusable.push(Unusable::new(name(victim, MODES[SPINNING + 1 + at]), &why));
                }
            }
        }
    }
    let shared = Arc::new(Shared { cpu: AtomicI32::new(-1), ..Shared::default() });
    let mut own = Arena::new(bytes, Pages::Base)?;
    own.prefault();
    setup.status.beat();
    let (pinned, waiting) = std::sync::mpsc::channel();
    let for_thread = Arc::clone(&shared);
    let thread = std::thread::spawn(move || {
        let kept = process::pin(other);
        let failed = kept.is_err();
        // The receiver waits for exactly this message.
        let _ = pinned.send(kept);
        if !failed {
            work(&for_thread, &own, bytes, &routines);
        }
    });
    let pin = waiting.recv().unwrap_or_else(|_| Err("the second thread ended".to_owned()));
    pin.map_err(|why| Impossible(format!("a second thread cannot work on another core: {why}")))?;
    let mut this = Box::new(Neighbour {
        victims: crate::chosen(&victims, &VICTIMS),
        region,
        region_bytes: bytes,
        links: [0, 0],
        cached,
        cached_lines,
        window_at: 0,
        counts: [1000; 3],
        shared,
        thread: Some(thread),
        unusable,
        cpus: (mine, other),
        same_core,
        overhead_ticks: clock::overhead_ticks(),
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
    });
    for victim in 0..VICTIMS.len() {
        this.victim(victim);
        let per_item = this.victim(victim).max(0.1);
        let most = bytes / LINE / 2;
        this.counts[victim] = ((SAMPLE_NS * setup.ticks_per_ns / per_item) as usize).clamp(100, most);
        setup.status.beat();
    }
    Ok(this)
}

/// The memory of the victim and of the neighbour each: a power of two, so that the chain is a full cycle.
fn region_bytes(caches: &CacheSizes) -> usize {
    chase::lines_within(caches.too_large().min(MOST_BYTES)) * LINE
}

impl Neighbour {
    /// The names of the selected victims.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.victims.iter().map(|victim| VICTIMS[*victim])
    }

    /// The ticks per load or line of a victim.
    fn victim(&mut self, victim: usize) -> f64 {
        let count = self.counts[victim];
        let base = self.region.start();
        let ticks = match victim {
            0 => self.follow(base, 0, count),
            2 => self.follow(self.cached.start(), 1, count),
            _ => {
                let bytes = count * LINE;
                if self.window_at + bytes > self.region_bytes {
                    self.window_at = 0;
                }
                let window = base.wrapping_add(self.window_at);
                self.window_at += bytes;
                // SAFETY: inside the region, which only this thread uses.
                time(self.overhead_ticks, || unsafe { touch(window, bytes, false) })
            }
        };
        ticks / count as f64
    }

    fn follow(&mut self, base: *const u8, chain: usize, count: usize) -> f64 {
        let mut link = self.links[chain];
        // SAFETY: the chain was laid by `start`, and `link` was reached in it.
        let ticks = time(self.overhead_ticks, || link = unsafe { chase::follow(base, link, count) });
        self.links[chain] = link;
        ticks
    }

    /// Sets the neighbour's mode and waits until it works in it; false if it takes too long.
    fn set(&self, mode: usize, status: &StatusPage) -> bool {
        self.shared.mode.store(mode, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
        status.beat();
        let begin = Instant::now();
        let from = self.shared.blocks.load(Ordering::Acquire);
        // The first block may still be of the previous mode.
        while self.shared.blocks.load(Ordering::Acquire) < from + 2 {
            if mode < SPINNING && self.shared.blocks.load(Ordering::Acquire) > from {
                break;
            }
            if begin.elapsed() > PATIENCE {
                return false;
            }
            std::hint::spin_loop();
        }
        true
    }

    /// A victim's time with the neighbour in that mode, and the bytes per tick that the neighbour zeroed
    /// meanwhile.
    fn sample(&mut self, victim: usize, mode: usize, status: &StatusPage) -> (f64, f64) {
        if !self.set(mode, status) {
            return (f64::NAN, f64::NAN);
        }
        if VICTIMS[victim] == "cache latency" {
            // Brings the chain into the cache while the neighbour works.
            self.follow(self.cached.start(), 1, self.cached_lines);
        }
        let from = self.shared.blocks.load(Ordering::Acquire);
        let ticks = self.victim(victim);
        let blocks = self.shared.blocks.load(Ordering::Acquire) - from;
        if mode < SPINNING {
            return (ticks, f64::NAN);
        }
        if blocks == 0 {
            return (f64::NAN, f64::NAN);
        }
        let rate = (blocks as usize * BLOCK) as f64 / (ticks * self.counts[victim] as f64);
        (ticks, if mode > SPINNING { rate } else { f64::NAN })
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the thread is of no interest here.
            let _ = thread.join();
        }
    }
}

impl Rounds for Neighbour {
    fn series(&self) -> Vec<Series> {
        let mut series = Vec::new();
        for victim in self.names() {
            series.extend(MODES.map(|mode| Series::ticks(name(victim, mode))));
        }
        for victim in self.names() {
            let rate = |mode: &&str| Series { name: name_of_rate(victim, mode), unit: Unit::BytesPerTick };
            series.extend(MODES.iter().skip(SPINNING + 1).map(rate));
        }
        series
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        (0..self.victims.len()).map(|place| (place * MODES.len(), place * MODES.len() + 1)).collect()
    }

    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        let cells = self.victims.len() * MODES.len();
        let zeroing = MODES.len() - SPINNING - 1;
        let mut samples = vec![f64::NAN; cells + self.victims.len() * zeroing];
        let mut turn: Vec<usize> = (0..cells).collect();
        shuffle(&mut self.rng, &mut turn);
        // A different part of memory in every round.
        self.window_at = below(&mut self.rng, self.region_bytes / 2) / LINE * LINE;
        for cell in turn {
            let (place, mode) = (cell / MODES.len(), cell % MODES.len());
            let victim = self.victims[place];
            if self.unusable.iter().any(|one| one.series == name(VICTIMS[victim], MODES[mode])) {
                continue;
            }
            let (ticks, rate) = self.sample(victim, mode, status);
            samples[cell] = ticks;
            if mode > SPINNING {
                samples[cells + place * zeroing + mode - SPINNING - 1] = rate;
            }
            status.beat();
        }
        self.set(0, status);
        Ok(samples)
    }

    fn facts(&mut self) -> serde_json::Value {
        crate::json(&Facts {
            cpu: self.cpus.0,
            neighbour: self.cpus.1,
            neighbour_seen_on: self.shared.cpu.load(Ordering::Relaxed),
            same_core: self.same_core,
            bytes_of_each: self.region_bytes,
        })
    }

    fn unusable(&self) -> Vec<Unusable> {
        self.unusable.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;

    #[test]
    fn the_neighbour_works_on_another_cpu() {
        let allowed = process::allowed_cpus();
        // In a separate thread, because the affinity persists.
        std::thread::spawn(move || {
            let status = StatusPage::create().expect("a page");
            let parameters = crate::json(&Parameters { cpus: allowed.clone(), victims: Vec::new() });
            let setup = setup(&parameters, &status);
            let mut rounds = match start(&setup) {
                Ok(rounds) => rounds,
                Err(reason) => {
                    assert!(allowed.len() < 2, "{reason}");
                    return;
                }
            };
            let samples = rounds.round(&status).expect("a round");
            assert_eq!(samples.len(), rounds.series().len());
            let facts: Facts = serde_json::from_value(rounds.facts()).expect("its own");
            assert_ne!(facts.cpu, facts.neighbour);
            // On a loaded machine the neighbour may never run; then there is no sample, rather than a wrong
            // one.
            let seen = facts.neighbour_seen_on;
            assert!(
                seen == -1 || usize::try_from(seen) == Ok(facts.neighbour),
                "{seen}, not {}",
                facts.neighbour
            );
            for (sample, series) in samples.iter().zip(rounds.series()) {
                assert!(sample.is_nan() || *sample > 0.0, "{}: {sample}", series.name);
            }
        })
        .join()
        .expect("the thread's assertions hold");
    }
}
