//! The layout of one operand: its slots, and the one that each call of each batch uses.

use super::super::prepare::LINE;
use super::{PAGE, START_PAGES};
use carryline_statistics::below;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const LINES_OF_PAGE: usize = PAGE / LINE;

/// The layout of one operand in its arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    /// The distance between slots in bytes; a multiple of the page size.
    pub stride: usize,
    /// The number of slots.
    pub slots: usize,
    /// The number of slots that one batch with twice the calls may use.
    pub window: usize,
    /// Whether its lines are made cold.
    pub cold: bool,
    /// The probability, in percent, that a call gets the first, hot slot; the other slots are the arena's.
    pub hot_percent: Option<u8>,
    /// Whether successive batches use windows far from each other.
    pub scattered: bool,
    /// The start of a buffer within its slot.
    pub place: Place,
    /// How the buffers of an arena move from pass to pass.
    pub turns: Turns,
}

/// The start of a buffer within its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// This many bytes after a line or page boundary.
    At(u16),
    /// Anywhere in the slot's first page.
    Page,
    /// In the slot's first line if hot; in any line of its first page if cold.
    Line,
    /// Ends with the slot. An empty buffer starts at the slot's last byte.
    End,
}

/// How the buffers of an arena move: a slot has several places, and each pass through the windows uses the next one,
/// so that all lines are used before any is used again. A buffer is much shorter than its slot, and with one place,
/// or with places drawn at random, a pass would mostly use the lines of the pass before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turns {
    /// The number of places.
    pub places: usize,
    /// The distance between places in bytes: whole lines, enough for a buffer of mean size.
    pub step: usize,
    /// Determines the line, within a page, where the buffers of each slot and of each window begin, so that calls do
    /// not all compete for the same cache sets. `None` if all begin at the same place within a page.
    pub lines: Option<u64>,
}

impl Turns {
    /// Slots with one place each.
    pub const ONE: Turns = Turns { places: 1, step: 0, lines: None };
}

/// A line of a page for each number, the same in every pass.
fn line(seed: u64, number: usize) -> usize {
    below(&mut Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number as u64)), LINES_OF_PAGE)
}

/// About 0.38 of `count`, without a common divisor: repeated steps visit every number below `count` before
/// repeating one.
pub(super) fn far_step(count: usize) -> usize {
    let share_a_divisor = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    (count * 3 / 8 + 1..).find(|step| !share_a_divisor(*step, count)).unwrap_or(1)
}

impl Operand {
    /// The bytes of its slots, the hot one included, and of the way that their buffers move.
    pub fn span(&self) -> usize {
        let slots = self.slots + usize::from(self.hot_percent.is_some());
        let window_line = if self.turns.lines.is_some() { PAGE } else { 0 };
        let turns = (self.turns.places - 1).saturating_mul(self.turns.step);
        self.stride.saturating_mul(slots).saturating_add(turns).saturating_add(window_line)
    }

    /// The bytes of the arena, including room for a random start page.
    pub fn bytes(&self) -> usize {
        self.span().saturating_add(START_PAGES * PAGE)
    }

    /// The start of a call of `len` bytes in a slot, if it is not random.
    pub fn fixed_offset(&self, len: u64) -> Option<u32> {
        match self.place {
            Place::At(offset) => Some(u32::from(offset)),
            Place::End => Some((self.stride - (len as usize).clamp(1, self.stride)) as u32),
            Place::Page | Place::Line => None,
        }
    }

    /// The bytes that calls of up to `largest` bytes touch in its hot slots. With offsets from the whole page, this is a
    /// page more than the call for each.
    pub fn hot_footprint(&self, largest: u64) -> u64 {
        let slots = match (self.cold, self.hot_percent) {
            (_, Some(_)) => 1,
            (true, None) => 0,
            (false, None) => self.slots as u64,
        };
        let drawn = if self.place == Place::Page { PAGE as u64 } else { 0 };
        largest.saturating_add(drawn).saturating_mul(slots)
    }

    /// The bytes of the lines that calls touch in all places of its cold slots, if one touches `per_call` bytes of lines
    /// in the mean: all before the first line is used again.
    pub fn cold_footprint(&self, per_call: f64) -> u64 {
        let all = if self.cold { per_call * (self.slots * self.turns.places) as f64 } else { 0.0 };
        (all as u64).min(self.span() as u64)
    }

    /// The number of windows.
    pub fn windows(&self) -> usize {
        (self.slots / self.window).max(1)
    }

    /// The distance from the slots of the first batch to the places of batch number `batch`, which uses the next
    /// window, and after a pass through all windows the next place in them. If calls are to be isolated, the window is
    /// far from the last, so that a prefetcher does not anticipate it; the place is always far from the last, so that
    /// one did not bring its lines in the pass before.
    pub fn shift(&self, batch: usize) -> usize {
        let Turns { places, step, lines } = self.turns;
        let windows = self.windows();
        let (pass, window) = (batch / windows % places, batch % windows);
        let window = if self.scattered { window * far_step(windows) % windows } else { window };
        let place = pass * far_step(places) % places;
        // Slots and windows must not draw from the same seeds.
        let line = lines.map_or(0, |seed| line(seed ^ u64::MAX, window));
        window * self.window * self.stride + place * step + line * LINE
    }

    /// Draws the page of the arena where its slots begin in a round, below [`START_PAGES`], if it varies; otherwise it is
    /// `first`. That of hot buffers with offsets from the whole page varies; METHODOLOGY.md (Known biases) says why.
    pub fn start_page(&self, first: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
        let varies = self.place == Place::Page && !self.cold && self.slots == 1 && self.hot_percent.is_none();
        if varies { below(rng, START_PAGES) } else { first }
    }

    /// Whether a call at this offset uses the hot slot of a mixed operand.
    pub fn is_hot_slot(&self, offset: u32) -> bool {
        self.hot_percent.is_some() && (offset as usize) < self.stride
    }

    /// Draws the start of call number `index` of a list, before the [shift](Operand::shift).
    pub fn offset(&self, index: usize, len: u64, rng: &mut Xoshiro256PlusPlus) -> u32 {
        let hot = match self.hot_percent {
            Some(percent) => below(rng, 100) < usize::from(percent),
            None => !self.cold,
        };
        let slot = match self.hot_percent {
            Some(_) if hot => 0,
            Some(_) => 1 + index % self.window,
            None => index % self.window,
        };
        let line = |rng: &mut Xoshiro256PlusPlus| match self.turns.lines {
            Some(seed) if !hot => line(seed, slot),
            _ => below(rng, LINES_OF_PAGE),
        };
        let inside = match (self.place, self.fixed_offset(len)) {
            // A fixed offset of a line or more is relative to a page; a smaller one is relative to a line.
            (Place::At(offset), _) if !hot && usize::from(offset) < LINE => {
                line(rng) * LINE + usize::from(offset)
            }
            (Place::Line, _) if hot => below(rng, LINE),
            (Place::Page | Place::Line, _) => line(rng) * LINE + below(rng, LINE),
            (Place::At(_) | Place::End, fixed) => fixed.unwrap_or(0) as usize,
        };
        (slot * self.stride + inside) as u32
    }

    /// The offset of a call that changes its number in a list. The slots of a hot operand are used in turn, lest a buffer
    /// that is read later be overwritten before; those of a cold one belong to the call.
    pub fn renumbered(&self, index: usize, offset: u32) -> u32 {
        if self.cold || self.hot_percent.is_some() {
            return offset;
        }
        (index % self.window * self.stride) as u32 + offset % self.stride as u32
    }
}
