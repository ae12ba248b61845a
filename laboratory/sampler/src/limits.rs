//! The limits of the hardware: bytes per tick that one core loads, stores, and stores non-temporally, by
//! cache level.
//!
//! Several plain loops are tried at each level: loads in one stream and in four, with and without a prefetch,
//! in the widest registers and in 256-bit ones; stores of the same widths, by `rep stosb`, and non-temporal.
//! The best sample of the best loop is the limit, since it is an upper bound. If a variant of the run is
//! faster than that, its rate becomes the limit ([`carryline_results::limits::raise`]).

mod kernels;

use carryline_machine::arena::Arena;
use carryline_machine::clock;
use carryline_machine::environment::{CacheSizes, Level};
use carryline_results::Limit;
use carryline_verification::status::{Now, Phase, StatusPage};
pub use kernels::{Kernel, TURN, kernels};

/// The minimum length of a sample, in nanoseconds.
const SAMPLE_NS: f64 = 100_000.0;
/// The number of samples for every loop, and for the best one.
const FIRST_SAMPLES: usize = 2;
const MORE_SAMPLES: usize = 5;
/// The maximum bytes of one pass: larger buffers are processed window by window, so that no sample takes
/// long.
const WINDOW: usize = 32 << 20;

/// The buffer size in bytes for each level: half of it, so that everything fits; of the last level, which is shared, at most
/// a quarter and eight times the second level, as a virtual machine may have a small part of it; for memory, a size that no
/// level holds, or eight times what the last level was measured to hold.
#[must_use]
pub fn buffers(caches: &CacheSizes) -> [(Level, u64); 4] {
    [
        (Level::L1, caches.l1 / 2),
        (Level::L2, caches.l2 / 2),
        (Level::L3, (caches.l3 / 4).min(8 * caches.l2)),
        (Level::Memory, caches.l3_held.map_or(u64::MAX, |held| 8 * held).min(caches.too_large())),
    ]
}

/// The size of the largest buffer needed for the limits of these levels.
#[must_use]
pub fn largest_buffer(caches: &CacheSizes, levels: &[Level]) -> u64 {
    let wanted = buffers(caches).into_iter().filter(|(level, _)| levels.contains(level));
    wanted.map(|(_, bytes)| bytes).max().unwrap_or(0)
}

/// Measures these levels in `arena`, which must be prefaulted; levels that need a larger buffer are skipped.
#[must_use]
pub fn measure(
    caches: &CacheSizes,
    levels: &[Level],
    arena: &mut Arena,
    ticks_per_ns: f64,
    status: &StatusPage,
) -> Vec<Limit> {
    let kinds = kernels();
    let stores: Vec<Kernel> = kinds.stores.into_iter().chain(kinds.string_store).collect();
    let mut limits = Vec::new();
    for (level, bytes) in buffers(caches) {
        let len = bytes as usize / TURN * TURN;
        if len == 0 || len > arena.len() || !levels.contains(&level) {
            continue;
        }
        let mut walk = Walk { arena, len, window: len.min(WINDOW), at: 0, ticks_per_ns, status };
        limits.push(Limit {
            level,
            buffer_bytes: len as u64,
            load: walk.best_of(&kinds.loads),
            store: walk.best_of(&stores),
            nt_store: walk.best_of(&kinds.nt_stores),
            load_by: None,
            store_by: None,
        });
    }
    limits
}

/// A buffer that is processed window by window, so that every pass of one too large to cache reads from
/// memory.
pub(crate) struct Walk<'a> {
    pub arena: &'a mut Arena,
    pub len: usize,
    pub window: usize,
    pub at: usize,
    pub ticks_per_ns: f64,
    pub status: &'a StatusPage,
}

impl Walk<'_> {
    /// The bytes per tick of the fastest loop's best sample.
    fn best_of(&mut self, kernels: &[Kernel]) -> f64 {
        let Some((best, kernel)) = self.fastest(kernels) else { return 0.0 };
        best.max(self.rate(kernel, MORE_SAMPLES))
    }

    /// The fastest loop, with the bytes per tick of its best sample; `None` if there is no loop.
    pub fn fastest(&mut self, kernels: &[Kernel]) -> Option<(f64, Kernel)> {
        let rates = kernels.iter().map(|kernel| (self.rate(*kernel, FIRST_SAMPLES), *kernel));
        rates.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The bytes per tick of the best of several samples.
    pub fn rate(&mut self, kernel: Kernel, samples: usize) -> f64 {
        let least_ticks = SAMPLE_NS * self.ticks_per_ns;
        let mut best = f64::INFINITY;
        let mut turns = 1_u32;
        let mut taken = 0;
        while taken < samples {
            self.status.set(Now {
                subject: u64::MAX,
                phase: Phase::Limits as u64,
                len: self.len as u64,
                ..Now::default()
            });
            let begin = clock::start();
            for _ in 0..turns {
                let at = self.next_window();
                // SAFETY: `window` bytes at `at` are in the arena; both are multiples of 512 and the arena
                // starts at a page boundary; the exclusive borrow means that it is not shared.
                unsafe { kernel(self.arena.start().add(at), self.window) };
            }
            let ticks = clock::stop().wrapping_sub(begin) as f64;
            if ticks < least_ticks && turns < 1 << 20 {
                let short_by = least_ticks / ticks.max(1.0);
                turns = (f64::from(turns) * short_by.clamp(1.5, 64.0)).ceil() as u32;
                continue;
            }
            best = best.min(ticks / f64::from(turns));
            taken += 1;
        }
        self.window as f64 / best
    }

    /// The start of the next window.
    fn next_window(&mut self) -> usize {
        let at = self.at;
        let next = at + self.window;
        self.at = if next + self.window <= self.len { next } else { 0 };
        at
    }
}

/// Keeps, level by level, the higher of two measurements of the same machine.
pub fn merge(into: &mut Vec<Limit>, other: &[Limit]) {
    for limit in other {
        match into.iter_mut().find(|known| known.level == limit.level) {
            Some(known) => {
                if limit.load > known.load {
                    (known.load, known.load_by) = (limit.load, limit.load_by.clone());
                }
                if limit.store > known.store {
                    (known.store, known.store_by) = (limit.store, limit.store_by.clone());
                }
                known.nt_store = known.nt_store.max(limit.nt_store);
            }
            None => into.push(limit.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_machine::arena::Pages;

    #[test]
    fn every_level_has_a_limit_and_merging_keeps_the_higher_one() {
        let caches = CacheSizes { l1: 32 << 10, l2: 256 << 10, l3: 1 << 20, l3_held: None };
        let mut arena = Arena::new(1 << 20, Pages::Base).expect("1 MiB");
        arena.prefault();
        let status = StatusPage::create().expect("a page");
        let levels = [Level::L1, Level::L2, Level::L3, Level::Memory];
        assert_eq!(largest_buffer(&caches, &levels[..2]), 128 << 10);
        assert_eq!(largest_buffer(&caches, &levels), 64 << 20);
        assert_eq!(largest_buffer(&CacheSizes { l3_held: Some(768 << 10), ..caches }, &levels), 6 << 20);
        let mut limits = measure(&caches, &levels, &mut arena, 1.0, &status);
        assert_eq!(limits.iter().map(|l| l.level).collect::<Vec<_>>(), levels[..3]);
        assert!(limits.iter().all(|l| l.load > 0.0 && l.store > 0.0 && l.nt_store > 0.0));
        let mut better = limits[0].clone();
        better.load *= 2.0;
        better.load_by = Some("checksum/carryline".to_owned());
        merge(&mut limits, &[better.clone()]);
        assert_eq!((limits[0].load, &limits[0].load_by), (better.load, &better.load_by));
        assert_eq!(limits.len(), 3);
    }

    #[test]
    fn large_buffers_are_processed_window_by_window() {
        let mut arena = Arena::new(64 << 10, Pages::Base).expect("64 KiB");
        let status = StatusPage::create().expect("a page");
        let window = 3 * TURN;
        let mut walk =
            Walk { arena: &mut arena, len: 8 * TURN, window, at: 0, ticks_per_ns: 1.0, status: &status };
        let begins: Vec<usize> = (0..4).map(|_| walk.next_window()).collect();
        assert_eq!(begins, [0, window, 0, window], "no window reaches past the end");
    }
}
