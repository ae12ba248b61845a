//! From a condition to buffers and call lists: where the operands of each call lie, and how much is walked before a
//! line comes round again.
//!
//! An operand has `slots`, each wide enough for the largest call. A hot operand has one. A cold one has enough that
//! no line is used twice in a batch; with the arena method the slots fill a region too large to cache and each batch
//! takes the next window of it. Within a slot a cold buffer starts at a random line, lest all calls compete for the
//! same cache sets. A mixed operand has a hot slot, and behind it those of an arena.

use super::loops::Call;
use crate::condition::{Beside, CacheMethod, ColdBatch, Condition, Offsets, Operands, Then};
use crate::sizes::{Draw, SizeSource};
use carryline_variants::Family;
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// The cache sizes that conditions are laid out for, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSizes {
    /// First-level data cache of a core.
    pub l1: u64,
    /// Second level.
    pub l2: u64,
    /// Last level, as far as the machine tells.
    pub l3: u64,
}

impl CacheSizes {
    /// A buffer that no level holds: four times the last level, at least 64 MiB.
    #[must_use]
    pub fn too_large(&self) -> u64 {
        (4 * self.l3.max(self.l2)).max(64 << 20)
    }

    /// What is walked to evict everything: twice the last level.
    #[must_use]
    pub fn eviction(&self) -> u64 {
        (2 * self.l3.max(self.l2)).max(8 << 20)
    }

    /// The nearest level that holds `bytes`, leaving room for the stack and the lists: 32 KiB do not fit into 32 KiB.
    #[must_use]
    pub fn level(&self, bytes: u64) -> &'static str {
        match bytes {
            b if b <= self.l1 - self.l1 / 8 => "L1",
            b if b <= self.l2 - self.l2 / 8 => "L2",
            b if b <= self.l3 - self.l3 / 8 => "L3",
            _ => "memory",
        }
    }

    /// True if `bytes` do not fit into a level, but are less than twice its size: a part of them stays there.
    #[must_use]
    pub fn is_between(&self, bytes: u64) -> bool {
        let nearer = match self.level(bytes) {
            "L1" => return false,
            "L2" => self.l1,
            "L3" => self.l2,
            _ => self.l3,
        };
        bytes < 2 * nearer
    }
}

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
    /// from the last where calls are to be by themselves, lest a prefetcher expects them.
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
    /// After how many calls the arguments begin anew, in the same order for every batch; `None` where they are drawn
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

    /// Bytes that its buffers take.
    pub fn bytes(&self) -> u64 {
        self.dst.iter().chain(&self.src).map(|operand| operand.bytes() as u64).sum()
    }
}

impl Condition {
    /// True if sizes with a period are repeated under this condition: a cold batch is too short for one, and what
    /// follows calls has lists of its own.
    #[must_use]
    pub fn can_repeat(&self) -> bool {
        self.cache.is_hot() && self.segments.is_empty() && self.then == Then::Nothing
    }

    /// True if calls differ in size.
    fn sizes_vary(&self) -> bool {
        !matches!(self.sizes.draw, Draw::Fixed(_))
    }
}

/// Bytes of buffers that a cell needs, for checking against memory beforehand.
#[must_use]
pub fn buffer_bytes(family: Family, condition: &Condition, caches: &CacheSizes) -> u64 {
    let evict = if condition.cache.method == CacheMethod::Evict { caches.eviction() } else { 0 };
    let victim = if let Then::Victim(bytes) = condition.then { bytes } else { 0 };
    let beside = if condition.beside == Beside::Stream { caches.eviction() } else { 0 };
    Layout::new(family, condition, caches).bytes() + evict + victim + beside
}

/// The cache level that a cell's operands come from: the nearest that holds them when hot, `memory` when cold, [`MIXED`]
/// where some are here and some there.
#[must_use]
pub fn level_of(family: Family, condition: &Condition, caches: &CacheSizes) -> &'static str {
    match condition.cache.method {
        CacheMethod::Mixed { .. } => MIXED,
        CacheMethod::Hot => caches.level(Layout::new(family, condition, caches).hot_bytes()),
        _ => "memory",
    }
}

/// What [`level_of`] says of operands that come from no one level.
pub const MIXED: &str = "mixed";

/// A number below `bound`, every one equally often (to within 2^-32 for the bounds that occur here).
pub(crate) fn below(rng: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

/// Puts a list in random order.
pub(crate) fn shuffle<T>(rng: &mut Xoshiro256PlusPlus, list: &mut [T]) {
    for last in (1..list.len()).rev() {
        list.swap(last, below(rng, last + 1));
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
mod tests {
    use super::*;
    use crate::condition::{Cache, Pages};
    use rand_core::SeedableRng;

    const CACHES: CacheSizes = CacheSizes { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20 };

    fn condition(size: u64, cache: &str, offsets: &str) -> Condition {
        Condition {
            cache: cache.parse::<Cache>().expect("a cache state"),
            offsets: offsets.parse().expect("offsets"),
            pages: Pages::Base,
            ..Condition::plain(size)
        }
    }

    #[test]
    fn every_call_stays_inside_its_arena_and_cold_ones_share_no_line() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        for size in [0, 1, 40, 1500, 4096, 65_536, 8 << 20] {
            for cache in [
                "hot",
                "cold:clflush",
                "cold:evict:src",
                "cold:arena",
                "cold:arena:dst",
                "cold:clflush:single",
                "cold:arena:src:single",
                "mixed:40",
            ] {
                for offsets in ["0", "63", "100:4095", "random", "alias", "random-line", "end"] {
                    let condition = condition(size, cache, offsets);
                    for family in Family::ALL {
                        let layout = Layout::new(family, &condition, &CACHES);
                        let count = if layout.doubles { 2 } else { 1 } * layout.most_calls.min(LIST_CALLS);
                        let mut calls = vec![Call::default(); count];
                        draw_calls(
                            &layout,
                            &condition,
                            &SizeSource::new(&condition.sizes),
                            &mut rng,
                            &mut calls,
                        );
                        for (operand, pick) in [
                            (&layout.dst, (|c: &Call| c.dst) as fn(&Call) -> u32),
                            (&layout.src, |c: &Call| c.src),
                        ] {
                            let Some(operand) = operand else { continue };
                            let hot_slot = usize::from(operand.hot_percent.is_some());
                            let end = operand.stride * (operand.window + hot_slot);
                            assert!(end + operand.shift(operand.windows() - 1) <= operand.bytes());
                            let mut lines: Vec<(u64, u64)> = Vec::new();
                            for call in &calls {
                                let start = u64::from(pick(call));
                                assert!(start + call.len <= end as u64, "{family} {size} {cache} {offsets}");
                                if !operand.is_hot_slot(pick(call)) {
                                    lines.push((start / 64, (start + call.len.max(1) - 1) / 64));
                                }
                            }
                            lines.sort_unstable();
                            if operand.cold {
                                assert!(
                                    lines.windows(2).all(|w| w[0].1 < w[1].0),
                                    "{size} {cache} {offsets}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    fn drawn(family: Family, condition: &Condition, count: usize) -> Vec<Call> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let layout = Layout::new(family, condition, &CACHES);
        let mut calls = vec![Call::default(); count];
        draw_calls(&layout, condition, &SizeSource::new(&condition.sizes), &mut rng, &mut calls);
        calls
    }

    /// How far the destination lies above the source, modulo a page.
    fn distance(call: &Call) -> u32 {
        (call.dst + 4096 - call.src % 4096) % 4096
    }

    #[test]
    fn random_offsets_are_of_the_whole_page_and_of_each_buffer_by_itself() {
        for cache in ["hot", "cold:clflush", "cold:arena", "cold:clflush:src", "cold:evict:dst"] {
            let calls = drawn(Family::Copy, &condition(1500, cache, "random"), 1 << 17);
            for pick in [|c: &Call| c.dst % 4096, |c: &Call| c.src % 4096, distance] {
                let mut seen = [0_u32; 4096];
                calls.iter().for_each(|call| seen[pick(call) as usize] += 1);
                // 32 of each are expected.
                let extremes = (seen.iter().min().copied(), seen.iter().max().copied());
                assert!(extremes.0 >= Some(5) && extremes.1 <= Some(80), "{cache}: {extremes:?}");
            }
        }
    }

    #[test]
    fn an_alias_is_1_to_63_bytes_off_modulo_a_page_above_as_often_as_below() {
        for family in [Family::Copy, Family::CopyChecksum] {
            for cache in ["hot", "cold:clflush", "cold:arena:src"] {
                let calls = drawn(family, &condition(1500, cache, "alias"), 1 << 17);
                let mut distances = [0_u32; 4096];
                let mut starts = [0_u32; 4096];
                for call in &calls {
                    distances[distance(call) as usize] += 1;
                    starts[call.src as usize % 4096] += 1;
                }
                for (distance, count) in distances.into_iter().enumerate() {
                    let near = (1..=63).contains(&distance) || (4096 - 63..4096).contains(&distance);
                    // 1040 of each are expected.
                    assert!(
                        if near { (850..1250).contains(&count) } else { count == 0 },
                        "{distance}: {count}"
                    );
                }
                assert!(starts.iter().all(|count| *count > 0), "{cache}");
            }
        }
    }

    #[test]
    fn random_offsets_in_a_line_keep_hot_buffers_near_each_other_modulo_a_page() {
        let calls = drawn(Family::Copy, &condition(1500, "hot", "random-line"), 1 << 12);
        assert!(calls.iter().all(|call| call.dst < 64 && call.src < 64));
    }

    #[test]
    fn a_mixed_buffer_is_hot_as_often_as_said_and_each_by_itself() {
        for percent in [1_u32, 30, 99] {
            let condition = condition(1500, &format!("mixed:{percent}"), "random");
            let layout = Layout::new(Family::Copy, &condition, &CACHES);
            let (dst, src) = (layout.dst.expect("it writes"), layout.src.expect("it reads"));
            let calls = drawn(Family::Copy, &condition, 100_000);
            let share = |hot: &dyn Fn(&Call) -> bool| {
                calls.iter().filter(|call| hot(call)).count() as f64 / calls.len() as f64
            };
            let wanted = f64::from(percent) / 100.0;
            for (found, wanted) in [
                (share(&|call| dst.is_hot_slot(call.dst)), wanted),
                (share(&|call| src.is_hot_slot(call.src)), wanted),
                (share(&|call| dst.is_hot_slot(call.dst) && src.is_hot_slot(call.src)), wanted * wanted),
            ] {
                assert!((found - wanted).abs() < 0.01, "{percent}: {found} for {wanted}");
            }
        }
    }

    #[test]
    fn a_cold_batch_has_a_number_of_calls_that_sizes_and_caches_decide() {
        let calls = |size, cache: &str| {
            let layout = Layout::new(Family::Zero, &condition(size, cache, "0"), &CACHES);
            assert!(layout.stated);
            (layout.most_calls, layout.doubles)
        };
        assert_eq!(calls(40, "cold:clflush"), (256, true));
        assert_eq!(calls(4096, "cold:clflush"), (64, true));
        assert_eq!(calls(4096, "cold:arena"), (64, true));
        assert_eq!(calls(4096, "mixed:50"), (64, true));
        assert_eq!(calls(8 << 20, "cold:clflush"), (1, false));
        for cache in ["cold:clflush:single", "cold:evict:single", "cold:arena:single"] {
            assert_eq!(calls(40, cache), (1, false));
        }
        assert!(!Layout::new(Family::Zero, &condition(40, "hot", "0"), &CACHES).stated);
    }

    #[test]
    fn the_footprint_of_random_offsets_counts_the_page_they_are_drawn_from() {
        let hot =
            |offsets| Layout::new(Family::Copy, &condition(16 << 10, "hot", offsets), &CACHES).hot_bytes();
        assert_eq!((hot("0"), hot("random-line"), hot("random")), (32 << 10, 32 << 10, 40 << 10));
    }

    #[test]
    fn a_period_repeats_its_arguments_where_it_can() {
        let sizes = crate::sizes::Sizes::parse_list("1..64/period:100").expect("sizes").remove(0);
        let condition = |cache: &str| Condition { sizes: sizes.clone(), ..condition(0, cache, "random") };
        let hot = condition("hot");
        let layout = Layout::new(Family::Copy, &hot, &CACHES);
        assert_eq!((layout.period, layout.most_calls), (Some(100), 100));
        let mut calls = vec![Call::default(); 200];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        draw_calls(&layout, &hot, &SizeSource::new(&sizes), &mut rng, &mut calls);
        let key = |call: &Call| (call.len, call.dst, call.src);
        assert!((0..100).all(|at| key(&calls[at]) == key(&calls[at + 100])));
        assert!((1..100).any(|at| key(&calls[at]) != key(&calls[0])));
        let cold = condition("cold:arena");
        assert!(!cold.can_repeat() && Layout::new(Family::Copy, &cold, &CACHES).period.is_none());
    }

    #[test]
    fn an_arena_is_too_large_to_cache_and_has_several_windows() {
        let layout = Layout::new(Family::Checksum, &condition(1500, "cold:arena", "0"), &CACHES);
        let src = layout.src.expect("a checksum reads");
        assert!(src.windows() >= 2 && src.shift(src.windows()) == 0 && src.shift(1) > 0);
        assert!((src.stride * src.slots) as u64 >= CACHES.too_large() / 2);
    }

    #[test]
    fn calls_by_themselves_take_every_window_and_none_beside_the_last() {
        for count in [1, 2, 3, 8, 100, 5461, 35_840] {
            let step = far_step(count);
            let mut seen: Vec<usize> = (0..count).map(|batch| batch * step % count).collect();
            if count > 8 {
                assert!(seen.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > count / 4), "{count}");
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..count), "{count}");
        }
    }

    #[test]
    fn levels_follow_the_caches() {
        let levels: Vec<_> = [4096, 256 << 10, 8 << 20, 128 << 20].iter().map(|b| CACHES.level(*b)).collect();
        assert_eq!(levels, ["L1", "L2", "L3", "memory"]);
    }

    #[test]
    fn what_fills_a_level_does_not_fit_into_it() {
        let caches = CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20 };
        let level = |family, size| level_of(family, &condition(size, "hot", "0"), &caches);
        assert_eq!(level(Family::Checksum, 28 << 10), "L1");
        assert_eq!(level(Family::Checksum, 32 << 10), "L2");
        assert_eq!(level(Family::Copy, 16 << 10), "L2", "source and destination count together");
        assert_eq!(level(Family::Zero, 16 << 10), "L1");
        assert_eq!(level_of(Family::Zero, &condition(64, "cold:clflush", "0"), &caches), "memory");
        let between = [28, 32, 63, 64, 448, 512, 1023, 1024].map(|kib: u64| caches.is_between(kib << 10));
        assert_eq!(between, [false, true, true, false, false, true, true, false]);
        assert!(caches.is_between(48 << 20) && !caches.is_between(64 << 20));
    }

    #[test]
    fn a_shuffle_keeps_the_members() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut list: Vec<u32> = (0..100).collect();
        shuffle(&mut rng, &mut list);
        assert_ne!(list, (0..100).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..100).collect::<Vec<_>>());
    }
}
