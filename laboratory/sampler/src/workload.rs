//! Derives buffers and call lists from a condition: the positions of each call's operands, and how much
//! memory is used before a line is used again.
//!
//! An operand has `slots`, each wide enough for the largest call. A hot operand has one. A cold one has
//! enough that no line is used twice in a batch; with the arena method, the slots fill a region too large to
//! cache, each batch takes the next window of it, and each pass through the windows other lines of the slots.
//! Within a slot, a cold buffer starts at a random line, so that calls do not all compete for the same cache
//! sets. A mixed operand has a hot slot, followed by those of an arena.

mod level;
mod operand;

pub(crate) use self::level::is_between;
pub use self::level::{hot_bytes, level_of};
pub(crate) use self::operand::{Operand, Place};

use self::operand::Turns;
use super::loops::Call;
use super::prepare::LINE;
use super::{LEAST_LIST, limits};
use carryline_conditions::cache::EVICTING_PASSES;
use carryline_conditions::sizes::SizeSource;
use carryline_conditions::{Beside, CacheMethod, ColdBatch, Condition, Offsets, Operands, Then};
use carryline_machine::environment::CacheSizes;
use carryline_statistics::below;
use carryline_variants::Family;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The number of pages by which an operand's start varies between processes.
pub(crate) const START_PAGES: usize = 16;
pub(crate) const PAGE: usize = 4096;
/// The maximum number of calls in a batch from a list: 11 KiB of arguments, and 22 for a double batch, so
/// that they fit into L1 with the data; enough for a batch of the shortest calls to last a microsecond.
pub(crate) const LIST_CALLS: usize = 704;
/// The maximum number of calls in a batch with cold operands.
const COLD_CALLS: usize = 256;

/// The layout of a condition: the sizes of the buffers and the number of calls in a batch.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub dst: Option<Operand>,
    pub src: Option<Operand>,
    /// The size of the largest call.
    pub largest: u64,
    /// The mean size, rounded up.
    mean: usize,
    /// The maximum number of calls in a batch (double batches have twice as many).
    pub most_calls: usize,
    /// Whether every batch has [`Layout::most_calls`], however much time there is: for cold batches, in which
    /// a call's time depends on the number of misses before it.
    pub stated: bool,
    /// Whether a batch with twice the calls is equivalent (false if one call fills the arena, or must be
    /// isolated).
    pub doubles: bool,
    /// Whether the arguments of all calls are the same.
    pub uniform: bool,
    /// How many calls earlier the destination that is read was written; 0 if none is read, or that of the same call.
    pub lag: usize,
    /// The number of calls after which the arguments repeat, in the same order for every batch; `None` if
    /// they are drawn anew for every round and shuffled for every batch.
    pub period: Option<usize>,
}

impl Layout {
    /// Lays out a condition.
    pub fn new(family: Family, condition: &Condition, caches: &CacheSizes) -> Layout {
        let segments = condition.segments.len().max(1);
        let (largest, mean) = if condition.segments.is_empty() {
            (condition.sizes.max(), condition.sizes.mean())
        } else {
            let longest = condition.segments.iter().copied().max().unwrap_or(0);
            (u64::from(longest), f64::from(longest))
        };
        let place = |pick: fn(u16, u16) -> u16| match condition.offsets {
            Offsets::Fixed { dst, src } => Place::At(pick(dst, src)),
            Offsets::Random | Offsets::Alias => Place::Page,
            Offsets::RandomInLine => Place::Line,
            Offsets::End => Place::End,
        };
        let cold = |side: Operands| {
            !condition.cache.is_hot()
                && (condition.cache.operands == Operands::Both || condition.cache.operands == side)
        };
        let lag = match condition.then {
            Then::ReadLater(distance) => (distance as f64 / mean.max(1.0)).ceil().max(1.0) as usize,
            _ => 0,
        };
        let any_cold = !condition.cache.is_hot();
        let single = condition.cache.batch == ColdBatch::Single;
        let period = condition.sizes.period.filter(|_| condition.can_repeat()).map(|period| period as usize);
        // Room for the buffer, an offset of up to a page, and a random line of a page.
        let stride = |cold: bool| {
            let lines = if cold { PAGE } else { 0 };
            whole((largest as usize).saturating_add(usize::from(Offsets::MOST) + 1 + lines), PAGE)
        };
        // The cold operands of a double batch fill at most half of the second-level cache: otherwise the write-backs
        // of its first calls would overlap its last ones, and longer batches would take longer per call.
        let cold_operands = usize::from(family.writes() && cold(Operands::Destination))
            + usize::from(family.reads() && cold(Operands::Source));
        let bytes_per_call = mean.max(64.0) * cold_operands.max(1) as f64;
        let buffers_fitting = (caches.l2 as f64 / 2.0 / bytes_per_call).max(1.0) as usize;
        let most_calls = if let Some(period) = period {
            period
        } else if single {
            1
        } else if any_cold {
            (COLD_CALLS / segments).clamp(1, (buffers_fitting / (2 * segments)).max(1))
        } else if condition.sizes_vary() || segments > 1 || lag > 0 || condition.offsets.vary() {
            (LIST_CALLS / segments).max(1)
        } else {
            1 << 20
        };
        let doubles = !any_cold || (!single && buffers_fitting >= 2 * segments);
        let window = most_calls * segments * if doubles { 2 } else { 1 };
        let operand = |side: Operands, pick: fn(u16, u16) -> u16| {
            let cold = cold(side);
            let stride = stride(cold);
            let is_ring = !cold && lag > 0 && side == Operands::Destination;
            let slots = match condition.cache.method {
                _ if is_ring => lag.saturating_add(1),
                _ if !cold => 1,
                // The untimed calls after an eviction use the other window; if there is only one timed call, it
                // must not share lines of the page table with them.
                CacheMethod::Evict if !single => 2 * window,
                CacheMethod::Evict | CacheMethod::Arena | CacheMethod::Mixed { .. } => {
                    let region = caches.too_large() as usize;
                    ((region / stride) / window).max(if doubles { 2 } else { 1 }) * window
                }
                _ => window,
            };
            let hot_percent = condition.cache.mixed();
            let window = if is_ring { slots } else { window.min(slots) };
            let turns = match condition.cache.method {
                CacheMethod::Arena | CacheMethod::Mixed { .. } if cold => {
                    turns(condition, side, pick, stride, mean.ceil() as usize)
                }
                _ => Turns::ONE,
            };
            Operand { stride, slots, window, cold, hot_percent, scattered: single, place: place(pick), turns }
        };
        Layout {
            dst: family.writes().then(|| operand(Operands::Destination, |dst, _| dst)),
            src: family.reads().then(|| operand(Operands::Source, |_, src| src)),
            largest,
            mean: mean.ceil() as usize,
            most_calls,
            stated: any_cold,
            doubles,
            uniform: !any_cold
                && !condition.sizes_vary()
                && segments == 1
                && lag == 0
                && !condition.offsets.vary(),
            lag,
            period,
        }
    }

    /// Whether a buffer is needed that evicts the caches: before every batch, or before the first one in an arena,
    /// whose lines were just filled or used by another cell.
    pub fn evicts(&self, condition: &Condition) -> bool {
        condition.cache.method == CacheMethod::Evict || self.arenas(condition).next().is_some()
    }

    /// The entries of a list for a batch of this many: all destinations that are read later are in it.
    pub fn listed(&self, entries: usize) -> usize {
        if self.lag > 0 { entries.max(self.lag + 1) } else { entries }
    }

    /// Adds to the seeds of the lines where buffers begin, which are part of a replicate's layout.
    pub fn reseed(&mut self, by: u64) {
        for operand in self.dst.iter_mut().chain(&mut self.src) {
            operand.turns.lines = operand.turns.lines.map(|seed| seed.wrapping_add(by));
        }
    }

    /// The pages of their arenas where both operands begin in a round; each is drawn by itself, if it varies. `first` are
    /// those of the process.
    pub fn start_pages(&self, first: [usize; 2], rng: &mut Xoshiro256PlusPlus) -> [usize; 2] {
        let [dst, src] = first;
        [(self.dst, dst), (self.src, src)]
            .map(|(operand, first)| operand.map_or(first, |operand| operand.start_page(first, rng)))
    }

    /// The distances by which batch number `batch` moves the calls: of the destination and of the source.
    pub fn shifts(&self, batch: usize) -> [usize; 2] {
        [self.dst, self.src].map(|operand| operand.map_or(0, |operand| operand.shift(batch)))
    }

    /// A call moved by these distances; one on the hot slot of a mixed operand stays there.
    pub fn moved(&self, call: &Call, shifts: [usize; 2]) -> Call {
        let moved = |operand: &Option<Operand>, offset: u32, shift: usize| match operand {
            Some(operand) if !operand.is_hot_slot(offset) => offset + shift as u32,
            _ => offset,
        };
        let [dst, src] = shifts;
        Call { len: call.len, dst: moved(&self.dst, call.dst, dst), src: moved(&self.src, call.src, src) }
    }

    /// The operands in an arena.
    pub fn arenas(&self, condition: &Condition) -> impl Iterator<Item = &Operand> {
        let is_arena = matches!(condition.cache.method, CacheMethod::Arena | CacheMethod::Mixed { .. });
        self.dst.iter().chain(&self.src).filter(move |operand| is_arena && operand.cold)
    }

    /// The bytes that calls of up to `size` bytes touch if the operands are hot.
    pub fn hot_bytes(&self, size: u64) -> u64 {
        let footprints = self.dst.iter().chain(&self.src).map(|operand| operand.hot_footprint(size));
        footprints.fold(0, u64::saturating_add)
    }
}

/// `bytes`, rounded up to a multiple of `unit`; the last multiple if the next one does not fit. A size from a stored run may
/// be anything, and the memory that it needs is computed before it is refused.
fn whole(bytes: usize, unit: usize) -> usize {
    bytes.checked_next_multiple_of(unit).unwrap_or(usize::MAX / unit * unit)
}

/// How the buffers of an arena move within their slots. They move by lines, if their offsets allow it, otherwise by
/// pages.
fn turns(
    condition: &Condition,
    side: Operands,
    pick: fn(u16, u16) -> u16,
    stride: usize,
    mean: usize,
) -> Turns {
    let by_lines = || {
        // Both buffers move alike if one is drawn beside the other.
        let seed = match (condition.offsets, side) {
            (Offsets::Alias, _) => 0,
            (_, Operands::Destination) => 1 << 32,
            _ => 2 << 32,
        };
        (whole(mean.saturating_add(LINE - 1), LINE), Some(seed))
    };
    let by_pages = (whole(mean.max(1), PAGE), None);
    let (step, lines) = match condition.offsets {
        Offsets::Fixed { dst, src } => match usize::from(pick(dst, src)) {
            ..LINE => by_lines(),
            _ => by_pages,
        },
        Offsets::Random | Offsets::RandomInLine => by_lines(),
        Offsets::Alias if condition.cache.operands == Operands::Both && condition.cache.mixed().is_none() => {
            by_lines()
        }
        Offsets::Alias | Offsets::End => by_pages,
    };
    Turns { places: (stride / step.max(1)).max(1), step, lines }
}

/// The bytes of a worker's buffers after measuring all of these cells and the limits of their levels: it
/// keeps one buffer of each kind, as large as any cell needs.
#[must_use]
pub fn memory_bytes<'c>(
    cells: impl IntoIterator<Item = (Family, &'c Condition)>,
    caches: &CacheSizes,
) -> u64 {
    let [mut dst, mut src, mut evict, mut victim, mut stream] = [0; 5];
    for (family, condition) in cells {
        let layout = Layout::new(family, condition, caches);
        let bytes = |operand: &Option<Operand>| operand.map_or(0, |operand| operand.bytes() as u64);
        let limit = limits::largest_buffer(caches, &[level_of(family, condition, caches)]);
        dst = bytes(&layout.dst).max(limit).max(dst);
        src = bytes(&layout.src).max(src);
        if layout.evicts(condition) {
            evict = caches.eviction();
        }
        if let Then::Victim(bytes) = condition.then {
            victim = bytes.max(victim);
        }
        if condition.beside == Beside::Stream {
            stream = caches.eviction();
        }
    }
    [dst, src, evict, victim, stream].into_iter().fold(0, u64::saturating_add)
}

/// The minimum bytes that one member of a comparison processes in a worker, however little time there is: a
/// batch to measure its speed, three rounds, one of them with double batches, and a comparison with the
/// reference.
#[must_use]
pub fn least_bytes(family: Family, condition: &Condition, caches: &CacheSizes) -> u64 {
    const BATCHES: u64 = 4;
    const DOUBLED: u64 = 5;
    // Fill, call, compare.
    const RECHECK: u64 = 3;
    let layout = Layout::new(family, condition, caches);
    let calls = match (layout.stated, layout.uniform) {
        (true, _) => layout.most_calls as u64,
        (false, true) => 1,
        (false, false) => (LEAST_LIST + layout.lag) as u64,
    };
    let evicted = match condition.cache.method {
        CacheMethod::Evict => EVICTING_PASSES as u64 * caches.eviction(),
        _ => 0,
    };
    let batches = if layout.doubles { DOUBLED } else { BATCHES };
    layout.largest.saturating_mul(calls * batches + RECHECK).saturating_add(evicted * BATCHES)
}

/// Whether the buffers of an arena use so few lines that the caches keep them: those that are short and stay at one
/// place of a page.
#[must_use]
pub fn uses_few_lines(family: Family, condition: &Condition, caches: &CacheSizes) -> bool {
    let layout = Layout::new(family, condition, caches);
    let mean = whole(layout.mean.max(1), LINE);
    let used = |operand: &Operand| operand.slots.saturating_mul(operand.turns.places).saturating_mul(mean);
    layout
        .arenas(condition)
        .any(|operand| operand.turns.lines.is_none() && used(operand) as u64 <= caches.recent())
}

/// Fills `calls` with new random arguments, without allocating.
pub(crate) fn draw_calls(
    layout: &Layout,
    condition: &Condition,
    sizes: &SizeSource,
    rng: &mut Xoshiro256PlusPlus,
    calls: &mut [Call],
) {
    let segments = condition.segments.len();
    let (calls, repeated) = calls.split_at_mut(layout.period.unwrap_or(calls.len()).min(calls.len()));
    for (index, call) in calls.iter_mut().enumerate() {
        call.len =
            if segments > 0 { u64::from(condition.segments[index % segments]) } else { sizes.draw(rng) };
        if let Some(operand) = &layout.dst {
            call.dst = operand.offset(index, call.len, rng);
        }
        if let Some(operand) = &layout.src {
            call.src = operand.offset(index, call.len, rng);
        }
        if let (Offsets::Alias, Some(operand)) = (condition.offsets, &layout.dst) {
            let slot = call.dst - call.dst % operand.stride as u32;
            call.dst = slot + beside(call.src % PAGE as u32, rng);
        }
    }
    for (call, first) in repeated.iter_mut().zip(calls.iter().cycle()) {
        *call = *first;
    }
}

impl Layout {
    /// Shuffles a list of calls; messages of several segments as a whole.
    pub fn reorder(&self, segments: usize, rng: &mut Xoshiro256PlusPlus, calls: &mut [Call]) {
        let segments = segments.max(1);
        for last in (1..calls.len() / segments).rev() {
            let other = below(rng, last + 1);
            (0..segments).for_each(|at| calls.swap(last * segments + at, other * segments + at));
        }
        for (index, call) in calls.iter_mut().enumerate() {
            call.dst = self.dst.map_or(call.dst, |operand| operand.renumbered(index, call.dst));
            call.src = self.src.map_or(call.src, |operand| operand.renumbered(index, call.src));
        }
    }
}

/// An offset in a page that is 1 to 63 bytes above or below another, modulo the page.
fn beside(offset: u32, rng: &mut Xoshiro256PlusPlus) -> u32 {
    let most = usize::from(Offsets::ALIAS_MOST);
    let drawn = below(rng, 2 * most);
    let distance = if drawn < most { drawn + 1 } else { PAGE - (drawn - most + 1) };
    (offset + distance as u32) % PAGE as u32
}

#[cfg(test)]
mod reordering;
#[cfg(test)]
mod tests;
