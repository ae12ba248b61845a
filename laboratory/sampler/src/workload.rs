//! From a condition to buffers and call lists: where the operands of each call lie, and how much is walked before a
//! line comes round again.
//!
//! An operand has `slots`, each wide enough for the largest call. A hot operand has one. A cold one has enough that
//! no line is used twice in a batch; with the arena method the slots fill a region too large to cache and each batch
//! takes the next window of it. Within a slot a cold buffer starts at a random line, so that calls do not all compete
//! for the same cache sets. A mixed operand has a hot slot, followed by those of an arena.

use super::loops::Call;
use super::{LEAST_LIST, limits};
use carryline_conditions::sizes::SizeSource;
use carryline_conditions::{Beside, CacheMethod, ColdBatch, Condition, Offsets, Operands, Then};
use carryline_machine::environment::{CacheSizes, Level};
use carryline_statistics::below;
use carryline_variants::Family;
use rand_xoshiro::Xoshiro256PlusPlus;

/// One operand's place in its arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    /// Bytes from slot to slot; a multiple of the page size.
    pub stride: usize,
    /// Slots in all.
    pub slots: usize,
    /// Slots that one batch of twice the calls may use.
    pub window: usize,
    /// True if its lines are made cold.
    pub cold: bool,
    /// How often a call gets the hot slot, the first, in percent: the others are then the arena's.
    pub hot_percent: Option<u8>,
    /// True if successive batches use windows far from each other.
    pub scattered: bool,
    /// Where in its slot a buffer begins.
    pub place: Place,
}

/// About 0.38 of `count`, and without a common divisor: steps of it reach every number below `count` before one again.
fn far_step(count: usize) -> usize {
    let divides = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    (count * 3 / 8 + 1..).find(|step| !divides(*step, count)).unwrap_or(1)
}

/// Where in its slot a buffer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many bytes past a line or page boundary.
    At(u16),
    /// Anywhere in the slot's first page.
    Page,
    /// In the slot's first line if hot; in any line of its first page if cold.
    Line,
    /// Such that it ends with the slot. An empty one begins at the slot's last byte.
    End,
}

impl Operand {
    /// Bytes of the arena, room for a random start page included.
    pub fn bytes(&self) -> usize {
        self.stride * (self.slots + usize::from(self.hot_percent.is_some())) + START_PAGES * PAGE
    }

    /// Where a call of `len` bytes begins in a slot, if that does not depend on chance.
    pub fn fixed_offset(&self, len: u64) -> Option<u32> {
        match self.place {
            Place::At(offset) => Some(u32::from(offset)),
            Place::End => Some((self.stride - (len as usize).clamp(1, self.stride)) as u32),
            Place::Page | Place::Line => None,
        }
    }

    /// Bytes that calls of up to `largest` bytes touch in all its slots together. In a hot slot with offsets from the
    /// whole page that is a page more than the call.
    pub fn footprint(&self, largest: u64) -> u64 {
        let drawn = match self.place {
            Place::Page if !self.cold => PAGE as u64,
            _ => 0,
        };
        (largest + drawn) * self.slots as u64
    }

    /// How many windows there are.
    pub fn windows(&self) -> usize {
        (self.slots / self.window).max(1)
    }

    /// By how much the calls of batch number `batch` lie behind those of the first: they use the next window, or one far
    /// from the last where calls are to be isolated, so that a prefetcher does not anticipate them.
    pub fn shift(&self, batch: usize) -> usize {
        let windows = self.windows();
        let window =
            if self.scattered { batch % windows * far_step(windows) % windows } else { batch % windows };
        window * self.window * self.stride
    }

    /// Whether a call at that offset uses the hot slot of a mixed operand.
    pub fn is_hot_slot(&self, offset: u32) -> bool {
        self.hot_percent.is_some() && (offset as usize) < self.stride
    }
}

/// Pages by which an operand's start varies from process to process.
pub(crate) const START_PAGES: usize = 16;
const PAGE: usize = 4096;
/// Calls in a batch of a list, at most: 11 KiB of arguments, and 22 for a double batch, so that they stay beside the data in
/// L1; enough for the shortest calls to make a batch of a microsecond.
pub(crate) const LIST_CALLS: usize = 704;
/// Calls in a batch with cold operands, at most.
const COLD_CALLS: usize = 256;

/// A condition laid out: how large the buffers are and how many calls a batch can have.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub dst: Option<Operand>,
    pub src: Option<Operand>,
    /// Largest size of a call.
    pub largest: u64,
    /// Most calls of a batch (the double batch has twice as many).
    pub most_calls: usize,
    /// Whether every batch has [`Layout::most_calls`], whatever time there is: a cold one, in which a call's time depends
    /// on how many misses went before.
    pub stated: bool,
    /// Whether a batch of twice the calls means the same (not when one call fills the arena, or is to be by itself).
    pub doubles: bool,
    /// True if the arguments of all calls are alike.
    pub uniform: bool,
    /// How many calls earlier the result that is read was written.
    pub lag: usize,
    /// After how many calls the arguments start again, in the same order for every batch; `None` where they are drawn
    /// anew for every round and shuffled for every batch.
    pub period: Option<usize>,
}

impl Layout {
    /// Lays a condition out.
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
        // Room for the buffer, for an offset of up to a page, and for a random line of a page.
        let stride = |cold: bool| {
            let lines = if cold { PAGE } else { 0 };
            (largest as usize).saturating_add(usize::from(Offsets::MOST) + 1 + lines).next_multiple_of(PAGE)
        };
        // What a batch touches stays within half the second level: else the write-backs of a batch's first calls fall
        // into its last ones, and a longer batch costs more per call.
        let buffers_fitting = (caches.l2 as f64 / 2.0 / mean.max(64.0)).max(1.0) as usize;
        let most_calls = if let Some(period) = period {
            period
        } else if single {
            1
        } else if any_cold {
            (COLD_CALLS / segments).clamp(1, (buffers_fitting / (2 * segments)).max(1))
        } else if condition.sizes_vary() || segments > 1 || lag > 0 || condition.offsets.vary() {
            (LIST_CALLS / segments).max(1).max(lag)
        } else {
            1 << 20
        };
        let doubles = !any_cold || (!single && buffers_fitting >= 2 * segments);
        let window = most_calls * segments * if doubles { 2 } else { 1 };
        let operand = |side: Operands, pick: fn(u16, u16) -> u16| {
            let cold = cold(side);
            let stride = stride(cold);
            let slots = match condition.cache.method {
                _ if !cold && lag > 0 && side == Operands::Destination => lag + 1,
                _ if !cold => 1,
                CacheMethod::Arena | CacheMethod::Mixed { .. } => {
                    let region = caches.too_large() as usize;
                    ((region / stride) / window).max(if doubles { 2 } else { 1 }) * window
                }
                _ => window,
            };
            let hot_percent = condition.cache.mixed();
            let window = window.min(slots);
            Operand { stride, slots, window, cold, hot_percent, scattered: single, place: place(pick) }
        };
        Layout {
            dst: family.writes().then(|| operand(Operands::Destination, |dst, _| dst)),
            src: family.reads().then(|| operand(Operands::Source, |_, src| src)),
            largest,
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

    /// Bytes that the calls touch when the operands are hot.
    pub fn hot_bytes(&self) -> u64 {
        self.dst.iter().chain(&self.src).map(|operand| operand.footprint(self.largest)).sum()
    }
}

/// Bytes of the buffers that a worker has when it has measured all of these cells, and the limits of their levels: it keeps
/// one buffer of each kind, as large as any cell needs it.
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
        if condition.cache.method == CacheMethod::Evict {
            evict = caches.eviction();
        }
        if let Then::Victim(bytes) = condition.then {
            victim = bytes.max(victim);
        }
        if condition.beside == Beside::Stream {
            stream = caches.eviction();
        }
    }
    dst + src + evict + victim + stream
}

/// Bytes that one member of a comparison processes at least in a worker, however little time there is: a batch to learn
/// its speed, three rounds of which one has batches of twice the calls, and once more compared with the reference.
#[must_use]
pub fn least_bytes(family: Family, condition: &Condition, caches: &CacheSizes) -> u64 {
    const BATCHES: u64 = 4;
    const DOUBLED: u64 = 5;
    // Filled, called, compared.
    const RECHECK: u64 = 3;
    let layout = Layout::new(family, condition, caches);
    let calls = match (layout.stated, layout.uniform) {
        (true, _) => layout.most_calls as u64,
        (false, true) => 1,
        (false, false) => LEAST_LIST as u64,
    };
    let evicted = if condition.cache.method == CacheMethod::Evict { caches.eviction() } else { 0 };
    let batches = if layout.doubles { DOUBLED } else { BATCHES };
    layout.largest.saturating_mul(calls * batches + RECHECK) + evicted * BATCHES
}

/// The cache level that a cell's operands come from: the nearest that holds them when hot, [`Level::Memory`] when cold,
/// [`Level::Mixed`] where some are here and some there.
#[must_use]
pub fn level_of(family: Family, condition: &Condition, caches: &CacheSizes) -> Level {
    match condition.cache.method {
        CacheMethod::Mixed { .. } => Level::Mixed,
        CacheMethod::Hot => caches.level(Layout::new(family, condition, caches).hot_bytes()),
        _ => Level::Memory,
    }
}

/// Fills `calls` with fresh arguments. Allocates nothing.
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
            call.dst = offset(operand, index, call.len, rng);
        }
        if let Some(operand) = &layout.src {
            call.src = offset(operand, index, call.len, rng);
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

fn offset(operand: &Operand, index: usize, len: u64, rng: &mut Xoshiro256PlusPlus) -> u32 {
    let hot = match operand.hot_percent {
        Some(percent) => below(rng, 100) < usize::from(percent),
        None => !operand.cold,
    };
    let slot = match operand.hot_percent {
        Some(_) if hot => 0,
        Some(_) => 1 + index % operand.window,
        None => index % operand.window,
    };
    let inside = match (operand.place, operand.fixed_offset(len)) {
        // A fixed offset of a line or more is meant relative to a page; a smaller one within a line.
        (Place::At(offset), _) if !hot && offset < 64 => below(rng, PAGE / 64) * 64 + usize::from(offset),
        (Place::Line, _) if hot => below(rng, 64),
        (Place::Page | Place::Line, _) => below(rng, PAGE),
        (Place::At(_) | Place::End, fixed) => fixed.unwrap_or(0) as usize,
    };
    (slot * operand.stride + inside) as u32
}

/// An offset of a page that is 1 to 63 bytes above or below another, modulo the page.
fn beside(offset: u32, rng: &mut Xoshiro256PlusPlus) -> u32 {
    let most = usize::from(Offsets::ALIAS_MOST);
    let drawn = below(rng, 2 * most);
    let distance = if drawn < most { drawn + 1 } else { PAGE - (drawn - most + 1) };
    (offset + distance as u32) % PAGE as u32
}

#[cfg(test)]
mod tests;
