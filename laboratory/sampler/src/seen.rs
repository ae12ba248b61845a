//! Facts about the calls that ran, for labelling a result; collected while the calls are drawn.

use super::Bench;
use super::loops::Call;
use super::prepare::LINE;
use super::streamer::Streamer;
use super::workload::{Layout, Operand, PAGE};
use carryline_results::Observed;

/// Facts about the calls drawn so far.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) calls: u64,
    pub(super) bytes: u64,
    pub(super) drawn: u64,
    pub(super) size_min: u64,
    pub(super) size_max: u64,
    pub(super) dst_alignments: u64,
    pub(super) src_alignments: u64,
    /// The cache lines of cold destinations and sources.
    pub(super) cold_lines: [u64; 2],
    pub(super) sizes: Sizes,
    /// Calls whose buffers are 1 to 63 bytes apart modulo a page.
    pub(super) near: u64,
    /// The number of buffers of mixed operands, and how many of them were hot.
    pub(super) mixed: [u64; 2],
}

impl Seen {
    pub(super) fn new() -> Seen {
        Seen {
            calls: 0,
            bytes: 0,
            drawn: 0,
            size_min: u64::MAX,
            size_max: 0,
            dst_alignments: 0,
            src_alignments: 0,
            cold_lines: [0; 2],
            sizes: Sizes::new(),
            near: 0,
            mixed: [0; 2],
        }
    }

    /// Notes the calls of a round whose first batch has number `batch`.
    pub(super) fn note(&mut self, calls: &[Call], layout: &Layout, batch: usize) {
        let shifts = layout.shifts(batch).map(|shift| shift % PAGE);
        let (writes, reads) = (layout.dst.is_some(), layout.src.is_some());
        for call in calls {
            self.near += u64::from(writes && reads && is_near(&layout.moved(call, shifts)));
            let operands = [(&layout.dst, call.dst), (&layout.src, call.src)];
            for ((operand, offset), lines) in operands.into_iter().zip(&mut self.cold_lines) {
                let Some(operand) = operand.as_ref().filter(|operand| operand.cold) else { continue };
                let is_hot = operand.is_hot_slot(offset);
                if operand.hot_percent.is_some() {
                    self.mixed[0] += 1;
                    self.mixed[1] += u64::from(is_hot);
                }
                if !is_hot && call.len > 0 {
                    // Calls are moved by whole lines.
                    *lines += (u64::from(offset) % LINE as u64 + call.len).div_ceil(LINE as u64);
                }
            }
            self.drawn += 1;
            self.bytes += call.len;
            self.size_min = self.size_min.min(call.len);
            self.size_max = self.size_max.max(call.len);
            if writes {
                self.dst_alignments |= 1 << (call.dst % 64);
            }
            if reads {
                self.src_alignments |= 1 << (call.src % 64);
            }
            self.sizes.note(call.len);
        }
    }

    /// The bytes that calls access before they return to a line that was cold.
    fn footprint(&self, layout: &Layout) -> u64 {
        let operands = [layout.dst, layout.src].into_iter().zip(self.cold_lines);
        let bytes = operands.filter_map(|(operand, lines)| {
            let per_call = (lines * LINE as u64) as f64 / self.drawn.max(1) as f64;
            Some(operand?.hot_footprint(layout.largest) + operand?.cold_footprint(per_call))
        });
        bytes.sum()
    }
}

/// The different sizes that were drawn.
#[derive(Debug)]
pub(super) struct Sizes {
    /// A bit for each size below [`FEW`].
    small: [u64; FEW as usize / 64],
    /// The others, in ascending order; no more than [`MOST_LARGE`].
    large: Vec<u64>,
    /// Whether there were more.
    more: bool,
}

/// Smaller sizes are counted without a bound.
const FEW: u64 = 4096;
/// At most this many different larger sizes are counted.
const MOST_LARGE: usize = 1024;

impl Sizes {
    fn new() -> Sizes {
        // A round does not allocate.
        Sizes { small: [0; FEW as usize / 64], large: Vec::with_capacity(MOST_LARGE), more: false }
    }

    fn note(&mut self, size: u64) {
        if size < FEW {
            self.small[size as usize / 64] |= 1 << (size % 64);
        } else if let Err(at) = self.large.binary_search(&size) {
            if self.large.len() < MOST_LARGE {
                self.large.insert(at, size);
            } else {
                self.more = true;
            }
        }
    }

    /// The number of different sizes, and whether there are no others.
    fn distinct(&self) -> (u64, bool) {
        let small: u64 = self.small.iter().map(|word| u64::from(word.count_ones())).sum();
        (small + self.large.len() as u64, !self.more)
    }
}

impl Bench<'_> {
    /// Facts about the calls that ran, for labelling the result.
    #[must_use]
    pub fn observed(&self) -> Observed {
        let uniform = self.layout.uniform;
        let seen = &self.seen;
        let segments = self.condition.segments.len().max(1) as f64;
        let (size_distinct, size_distinct_is_exact) = if uniform { (1, true) } else { seen.sizes.distinct() };
        Observed {
            calls: seen.calls,
            size_min: if uniform { self.layout.largest } else { seen.size_min.min(seen.size_max) },
            size_max: if uniform { self.layout.largest } else { seen.size_max },
            size_mean: if uniform || seen.drawn == 0 {
                self.layout.largest as f64
            } else {
                seen.bytes as f64 / seen.drawn as f64 * segments
            },
            size_distinct,
            size_distinct_is_exact,
            dst_alignments: alignments(uniform, self.layout.dst, seen.dst_alignments),
            src_alignments: alignments(uniform, self.layout.src, seen.src_alignments),
            footprint_bytes: seen.footprint(&self.layout),
            huge_bytes: self.huge_bytes,
            level: self.level,
            between: self.between,
            batch_calls: self.layout.stated.then_some(self.layout.most_calls as u64),
            near_alias: (self.family.reads() && self.family.writes()).then(|| match self.fixed_call() {
                Some(call) => f64::from(u8::from(is_near(&call))),
                None => seen.near as f64 / seen.drawn.max(1) as f64,
            }),
            hot_share: (seen.mixed[0] > 0).then(|| seen.mixed[1] as f64 / seen.mixed[0] as f64),
            beside_bytes: self.streamer.as_ref().map(Streamer::bytes),
        }
    }
}

/// Whether the two buffers of a call are 1 to 63 bytes apart modulo a page. Operands start at a page
/// boundary.
fn is_near(call: &Call) -> bool {
    let apart = call.dst.wrapping_sub(call.src) as usize % PAGE;
    (1..64).contains(&apart) || apart > PAGE - 64
}

fn alignments(uniform: bool, operand: Option<Operand>, seen: u64) -> u64 {
    match operand {
        None => 0,
        Some(_) if uniform => 1,
        Some(_) => u64::from(seen.count_ones()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::draw_calls;
    use carryline_conditions::Condition;
    use carryline_conditions::sizes::SizeSource;
    use carryline_machine::environment::CacheSizes;
    use carryline_variants::Family;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// The footprint of copies as stated, and the bytes of the lines of all batches until their places repeat.
    fn footprints(size: u64, cache: &str, offsets: &str) -> (u64, u64) {
        let caches = CacheSizes { l1: 48 << 10, l2: 1 << 20, l3: 16 << 20, l3_held: None };
        let condition = Condition {
            cache: cache.parse().expect("a cache state"),
            offsets: offsets.parse().expect("offsets"),
            ..Condition::plain(size)
        };
        let layout = Layout::new(Family::Copy, &condition, &caches);
        let (mut seen, mut rng) = (Seen::new(), Xoshiro256PlusPlus::seed_from_u64(3));
        let sizes = SizeSource::new(&condition.sizes);
        let [dst, src] = [layout.dst, layout.src].map(|operand| operand.expect("both"));
        let mut used = [dst, src].map(|operand| vec![false; operand.span() / LINE + 1]);
        let mut calls = vec![Call::default(); dst.window.max(src.window)];
        let batches = [dst, src].map(|operand| operand.windows() * operand.turns.places);
        for batch in 0..batches[0].max(batches[1]) {
            draw_calls(&layout, &condition, &sizes, &mut rng, &mut calls);
            seen.note(&calls, &layout, batch);
            for call in calls.iter().map(|call| layout.moved(call, layout.shifts(batch))) {
                for (used, start) in used.iter_mut().zip([call.dst, call.src]) {
                    let lines = start as usize / LINE..(start as usize + call.len as usize).div_ceil(LINE);
                    used[lines].fill(true);
                }
            }
        }
        let lines = used.iter().flatten().filter(|used| **used).count();
        (seen.footprint(&layout), (lines * LINE) as u64)
    }

    #[test]
    fn footprints_of_cold_buffers_count_whole_lines() {
        for (size, cache, offsets) in [
            (40, "cold:clflush", "0"),
            (40, "cold:clflush", "30"),
            (40, "cold:clflush", "random"),
            (1500, "cold:clflush", "random"),
            (1500, "cold:evict", "63"),
            (1500, "cold:clflush", "end"),
            (1500, "cold:arena", "random"),
            (4096, "cold:arena", "0"),
            (1500, "mixed:40", "random"),
        ] {
            let (stated, found) = footprints(size, cache, offsets);
            let ratio = stated as f64 / found as f64;
            // Neighbouring slots of an arena overlap a little, and a hot slot has a page that few calls leave untouched.
            assert!((0.99..1.06).contains(&ratio), "{size} {cache} {offsets}: {stated} for {found}");
        }
        // The hot buffer is the size of a call.
        let (stated, found) = footprints(4096, "cold:clflush:src", "0");
        assert_eq!(stated, found);
    }

    #[test]
    fn large_sizes_are_counted_one_by_one_up_to_a_bound() {
        let mut sizes = Sizes::new();
        assert_eq!(sizes.distinct(), (0, true));
        for size in [0, 40, 4095, 4096, 8192, 8192, 1 << 40, 4096] {
            sizes.note(size);
        }
        assert_eq!(sizes.distinct(), (6, true));
        (0..MOST_LARGE as u64 - 3).for_each(|more| sizes.note(10_000 + more));
        assert_eq!(sizes.distinct(), (MOST_LARGE as u64 + 3, true));
        sizes.note(8192);
        assert!(sizes.distinct().1, "not another one");
        sizes.note(9000);
        assert_eq!(sizes.distinct(), (MOST_LARGE as u64 + 3, false));
        assert!(sizes.large.is_sorted() && sizes.large.capacity() == MOST_LARGE);
    }
}
