//! Load latencies: a chain of loads, each of which gives the address of the next, through buffers of growing
//! size.
//!
//! Buffers hold one pointer per line. The order is that of a full-period linear congruential generator drawn
//! for every replicate: it visits every line once before it returns to the first, looks random to a
//! prefetcher, and needs no table. A buffer is linked again in every round, line by line, which brings it
//! into the caches as far as it fits. A buffer that could be partly in the second level is then walked once,
//! untimed, and a larger one in part; then the walk is timed. Series are `PAGES, BYTES`, in ticks per load;
//! `PAGES, in steps of 128 bytes, BYTES` is the walk of old benchmarks, which a prefetcher predicts.

use carryline_engine::probe::{Impossible, Probe, Rounds, Series, Setup, Unusable};
use carryline_machine::arena::{Arena, Pages};
use carryline_machine::clock;
use carryline_statistics::{below, shuffle};
use carryline_verification::status::StatusPage;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// See the module.
pub static PROBE: Probe =
    Probe { name: "latency", what: "chains of dependent loads through buffers of growing size", start };

/// The names of the kinds of pages.
pub const PAGES: [&str; 2] = ["4 KB pages", "huge pages"];
/// Bytes of a line.
const LINE: u64 = 64;
/// Bytes between loads in the sequential walk.
const STEP: u64 = 128;
/// Loads per sample.
const LOADS: u32 = 8192;
/// Loads per iteration of the chain's loop.
const TURN: u32 = 16;

/// The name of a series.
#[must_use]
pub fn name(pages: &str, bytes: u64) -> String {
    format!("{pages}, {bytes}")
}

/// The name of the series of a sequential walk.
#[must_use]
pub fn orderly(pages: &str, bytes: u64) -> String {
    format!("{pages}, in steps of {STEP} bytes, {bytes}")
}

/// Sizes from 4 KB to `most`: powers of two, and, if `fine`, the sizes half-way between them.
#[must_use]
pub fn ladder(most: u64, fine: bool) -> Vec<u64> {
    let mut sizes: Vec<u64> = (12..40).map(|power| 1 << power).take_while(|size| *size <= most).collect();
    if fine {
        let between: Vec<u64> = sizes.iter().map(|size| size / 2 * 3).filter(|size| *size <= most).collect();
        sizes.extend(between);
        sizes.sort_unstable();
    }
    sizes
}

/// The parameters of the probe.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The sizes of the buffers, multiples of a line.
    pub sizes: Vec<u64>,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    let Parameters { sizes } = setup.parameters()?;
    if sizes.iter().any(|size| *size < 4 * LINE || size % LINE != 0) {
        return Err(Impossible("a size is not a multiple of a line".to_owned()));
    }
    let most = sizes.iter().copied().max().ok_or_else(|| Impossible("no size was given".to_owned()))?;
    let (mut buffers, mut unusable) = (Vec::new(), Vec::new());
    for (label, pages) in PAGES.into_iter().zip([Pages::Base, Pages::Huge]) {
        let mut arena = Arena::new(most as usize, pages)?;
        arena.prefault();
        setup.status.beat();
        let huge = arena.huge_bytes();
        // The kernel may give fewer huge pages, or none.
        if pages == Pages::Huge && huge.is_none_or(|huge| (huge as u64) < most / 10 * 9) {
            let got =
                huge.map_or("it does not say how many".to_owned(), |huge| format!("{} KiB", huge >> 10));
            let why = format!("the kernel gave no huge pages for the whole buffer ({got})");
            unusable.push(Unusable::new(label, why));
            continue;
        }
        buffers.push((label, arena));
    }
    let mut series = Vec::new();
    let mut walks = Vec::new();
    for (buffer, (label, _)) in buffers.iter().enumerate() {
        for bytes in &sizes {
            walks.push(Walk { buffer, bytes: *bytes, orderly: false });
            series.push(Series::ticks(name(label, *bytes)));
        }
        walks.push(Walk { buffer, bytes: most, orderly: true });
        series.push(Series::ticks(orderly(label, most)));
    }
    let smallest = sizes.iter().copied().min().unwrap_or(most);
    walks.push(Walk { buffer: 0, bytes: smallest, orderly: false });
    series.push(Series::ticks(format!("{} again", name(PAGES[0], smallest))));
    let first = series.iter().position(|one| one.name == name(PAGES[0], smallest)).unwrap_or(0);
    Ok(Box::new(Ladder {
        buffers,
        twins: vec![(first, series.len() - 1)],
        series,
        walks,
        unusable,
        second_level: setup.caches.l2,
        overhead_ticks: clock::overhead_ticks(),
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
    }))
}

#[derive(Clone, Copy)]
struct Walk {
    buffer: usize,
    bytes: u64,
    orderly: bool,
}

struct Ladder {
    buffers: Vec<(&'static str, Arena)>,
    series: Vec<Series>,
    walks: Vec<Walk>,
    twins: Vec<(usize, usize)>,
    unusable: Vec<Unusable>,
    second_level: u64,
    overhead_ticks: f64,
    rng: Xoshiro256PlusPlus,
}

impl Rounds for Ladder {
    fn series(&self) -> Vec<Series> {
        self.series.clone()
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        self.twins.clone()
    }

    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        let mut samples = vec![f64::NAN; self.walks.len()];
        let mut order: Vec<usize> = (0..self.walks.len()).collect();
        shuffle(&mut self.rng, &mut order);
        for place in order {
            let Walk { buffer, bytes, orderly } = self.walks[place];
            let (step, order) =
                if orderly { (STEP, Order::NEXT) } else { (LINE, Order::drawn(bytes / LINE, &mut self.rng)) };
            let base = self.buffers[buffer].1.start();
            // SAFETY: the buffer has `bytes` bytes, a multiple of the step; `&mut self` excludes other walks.
            unsafe { link(base, bytes / step, step, order) };
            status.beat();
            let once_around = (bytes / step).next_multiple_of(u64::from(TURN));
            let warm =
                if bytes <= 4 * self.second_level && !orderly { once_around } else { u64::from(LOADS) / 4 };
            let warm = u32::try_from(warm).unwrap_or(u32::MAX) / TURN * TURN;
            // SAFETY: every line of the buffer holds the address of another one.
            let at = unsafe { chase(base, warm.max(TURN)) };
            let begin = clock::start();
            // SAFETY: the previous walk ended at a line of the buffer, and every line holds the address of
            // another one.
            let end = unsafe { chase(at, LOADS) };
            let ticks = clock::stop().wrapping_sub(begin) as f64 - self.overhead_ticks;
            std::hint::black_box(end);
            samples[place] = ticks / f64::from(LOADS);
            status.beat();
        }
        Ok(samples)
    }

    fn unusable(&self) -> Vec<Unusable> {
        self.unusable.clone()
    }
}

/// The order of a walk through `lines` places: place i is followed by `(multiplier * i + increment) % lines`.
#[derive(Clone, Copy, Debug)]
struct Order {
    multiplier: u64,
    increment: u64,
}

impl Order {
    /// Sequential.
    const NEXT: Order = Order { multiplier: 1, increment: 1 };

    /// A full period through `lines` places, a power of two or three times one: the increment has no factor
    /// in common with their number, and the multiplier minus 1 is divisible by each of its prime factors and
    /// by 4 (Hull and Dobell).
    fn drawn(lines: u64, rng: &mut Xoshiro256PlusPlus) -> Order {
        let factors = if lines.is_multiple_of(3) { 12 } else { 4 };
        let most = (lines / factors).max(2);
        // Not so small that neighbours stay neighbours.
        let part = most / 4 + below(rng, (most / 2).max(1) as usize) as u64;
        let mut increment = below(rng, lines as usize) as u64 | 1;
        while increment.is_multiple_of(3) {
            increment += 2;
        }
        Order { multiplier: factors * part.max(1) + 1, increment }
    }
}

/// Writes into every place the address of the next one.
///
/// # Safety
/// `lines * step` bytes at `base`, aligned to 8, must be valid for writes.
unsafe fn link(base: *mut u8, lines: u64, step: u64, order: Order) {
    let mut next = order.increment % lines;
    for place in 0..lines {
        let (at, to) =
            (base.wrapping_add((place * step) as usize), base.wrapping_add((next * step) as usize));
        // SAFETY: place < lines.
        unsafe { at.cast::<*mut u8>().write(to) };
        // The successor of the next place is one multiplier further.
        next += order.multiplier % lines;
        next -= if next >= lines { lines } else { 0 };
    }
}

/// Follows the chain for a number of loads, a nonzero multiple of [`TURN`].
///
/// # Safety
/// `at` and every place reached from it must hold the address of such a place.
#[inline(never)]
unsafe fn chase(at: *mut u8, loads: u32) -> *mut u8 {
    #[cfg(target_arch = "x86_64")]
    {
        let mut at = at;
        // SAFETY: reads only the chain, by the caller's contract.
        unsafe {
            core::arch::asm!(
                "2:",
                ".rept 16",
                "mov {at}, [{at}]",
                ".endr",
                "dec {turns:e}",
                "jnz 2b",
                at = inout(reg) at,
                turns = inout(reg) loads / TURN => _,
                options(nostack, readonly)
            );
        }
        at
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let mut at = at;
        for _ in 0..loads {
            // SAFETY: the chain continues, by the caller's contract.
            at = unsafe { at.cast::<*mut u8>().read_volatile() };
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;

    #[test]
    fn a_walk_visits_every_line_once() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        for lines in [64_u64, 96, 1024, 1536, 1 << 14, 3 << 13] {
            let order = Order::drawn(lines, &mut rng);
            let mut memory = vec![0_u64; (lines * LINE / 8) as usize];
            let base = memory.as_mut_ptr().cast::<u8>();
            // SAFETY: lines * LINE bytes.
            unsafe { link(base, lines, LINE, order) };
            let mut seen = vec![false; lines as usize];
            let mut at = base;
            let mut neighbours = 0;
            for _ in 0..lines {
                let place = (at.addr() - base.addr()) / LINE as usize;
                assert!(!std::mem::replace(&mut seen[place], true), "{lines} lines: {place} twice");
                // SAFETY: a linked place.
                let next = unsafe { at.cast::<*mut u8>().read() };
                let after = (order.multiplier * place as u64 + order.increment) % lines;
                assert_eq!((next.addr() - base.addr()) as u64, after * LINE);
                neighbours += usize::from(next.addr().abs_diff(at.addr()) <= 2 * LINE as usize);
                at = next;
            }
            assert_eq!(at, base, "{lines} lines");
            // An order that a prefetcher could predict has many more.
            assert!(neighbours <= lines as usize / 8, "{lines} lines: {neighbours} neighbours, {order:?}");
            // SAFETY: every place of the chain was linked above.
            assert_eq!(unsafe { chase(base, lines as u32) }, base);
        }
    }

    #[test]
    fn sizes_are_measured_and_invalid_ones_are_refused() {
        assert_eq!(ladder(20_000, true), [4096, 6144, 8192, 12_288, 16_384]);
        assert_eq!(ladder(20_000, false), [4096, 8192, 16_384]);
        let status = StatusPage::create().expect("a page");
        let parameters = crate::json(&Parameters { sizes: vec![4096, 6144, 65_536] });
        let mut rounds = start(&setup(&parameters, &status)).expect("64 KB");
        let samples = rounds.round(&status).expect("a round");
        assert_eq!(samples.len(), rounds.series().len());
        assert!(rounds.series().iter().any(|one| one.name == name(PAGES[0], 6144)));
        for (wrong, named) in [
            (serde_json::json!({ "size": [4096] }), "unknown field `size`"),
            (serde_json::json!({ "sizes": ["4K"] }), "\"4K\""),
            (crate::json(&Parameters { sizes: vec![100] }), "multiple of a line"),
            (serde_json::Value::Null, "no size"),
        ] {
            let reason = start(&setup(&wrong, &status)).err().expect("unusable").to_string();
            assert!(reason.contains(named), "{reason}");
        }
    }
}
