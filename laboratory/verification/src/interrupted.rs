//! Large calls, stopped when they reach chosen pages.
//!
//! Single-stepping a whole call of a mebibyte would take seconds, and a timer signal would arrive at a
//! different instruction every time. So pages of the source or the destination are made inaccessible: some
//! throughout the buffer, and always the first and the last. When the routine reaches one, it is stopped,
//! another thread makes a call of the same size, the page becomes accessible, and the routine continues by
//! single steps for a while, as small calls do from beginning to end ([`stops`](super::stops)). In the first
//! and the last page, this is long enough for most routines' heads and tails.

use super::companion::Companion;
use super::desk::{Desk, Spread};
use super::ground::Stop;
use super::note::{Note, PAGE, Place, Spot, Stage};
use super::patterns::{self, index};
use super::stops::StopPlan;
use super::sweep::{MIDDLING, SMALL, Verification};
use std::ops::Range;

/// The maximum number of stops in one verification, in its first round and in all.
const MOST_STEPS: [u32; 2] = [32_000, 24_000];
/// Single steps from the start of a call, and in its first and last page.
const EDGE_STEPS: u32 = 300;
/// The number of pages between them that stop a call.
const PAGES: usize = 24;
const LONGEST: usize = 1 << 20;
const LENGTHS: [usize; 17] = [
    320,
    1500,
    4096,
    700,
    9000,
    16 << 10,
    (16 << 10) + 70,
    64 << 10,
    (64 << 10) + 71,
    2000,
    (32 << 10) + 1,
    (128 << 10) + 3,
    (256 << 10) + 37,
    512 << 10,
    LONGEST,
    LONGEST - 1,
    5000,
];
/// The numbers of classes of lengths up to 1500 bytes and from there to 8 KiB, of each of which the seed draws one.
const CLASSES: [usize; 2] = [12, 4];
/// How far a buffer reaches into its first or last page if it does not fill it.
const REACH: usize = 70;

impl Verification<'_> {
    /// Calls of 300 bytes to 1 MiB, stopped at chosen pages, alternating between the buffers.
    pub fn interrupted(&mut self, companion: &Companion<'_>) -> Result<(), Stop> {
        let mut desk = Desk::new(LONGEST + 4 * PAGE)?;
        let mut steps = 0;
        let mut listed = self.supported(LENGTHS);
        listed.retain(|len| *len <= LONGEST);
        let mut drawn = self.length_of_each_class(SMALL + 1, 1501, CLASSES[0]);
        drawn.extend(self.length_of_each_class(1501, MIDDLING, CLASSES[1]));
        let mut left_out = Vec::new();
        for round in 0..2 {
            // One round of the drawn ones, before the large ones.
            let (shorter, longer) = listed.split_at(listed.len().min(4));
            let all = shorter.iter().chain(drawn.iter().filter(|_| round == 0)).chain(longer);
            for (turn, len) in all.copied().enumerate() {
                if steps >= MOST_STEPS[round] {
                    if round == 0 {
                        left_out.push(len);
                    }
                    continue;
                }
                let starts = [0, PAGE - REACH, PAGE - len % PAGE + REACH, self.random.below(PAGE)];
                let start = starts[(turn + round) % starts.len()] % PAGE;
                steps +=
                    self.interrupt(&mut desk, companion, len, start, (turn + round).is_multiple_of(2))?;
            }
        }
        self.note_left_out("large calls, stopped at chosen pages", left_out);
        Ok(())
    }

    fn interrupt(
        &mut self,
        desk: &mut Desk,
        companion: &Companion<'_>,
        len: usize,
        start: usize,
        at_source: bool,
    ) -> Result<u32, Stop> {
        let other = self.random.below(PAGE);
        let at_source = self.family.reads() && (at_source || !self.family.writes());
        let (dst, src) = if at_source { (other, start) } else { (start, other) };
        let place = |offset| Place::in_page(Spot::Middle, offset).within(desk.target.len(), len);
        let spread = Spread { dst_at: place(dst), src_at: place(src), len, seed: self.argument() };
        let (pattern, prefill) = (index::RANDOM, index::CONSTANT);
        let (from, to) = (spread.src_at, spread.src_at + len);
        patterns::fill(&mut desk.source.bytes_mut()[from..to], pattern, 0, self.seed);
        let around = spread.dst_at - PAGE..spread.dst_at + len + PAGE;
        patterns::fill(&mut desk.target.bytes_mut()[around], prefill, 0, self.seed);
        let note = Note {
            stage: Stage::Interrupted,
            pattern,
            shift: 0,
            prefill,
            dst: if self.family.writes() { Spot::Middle } else { Spot::None },
            src: if self.family.reads() { Spot::Middle } else { Spot::None },
        };
        let trial = desk.trial(self.family, spread, note);
        let region = if at_source { &desk.source } else { &desk.target };
        let begin = if at_source { spread.src_at } else { spread.dst_at };
        let windows = self.windows(region.len() / PAGE, begin / PAGE..(begin + len - 1) / PAGE + 1);
        let meeting = companion.meeting();
        meeting.begin(if len <= 64 << 10 { 32 } else { 16 }, len);
        let plan = StopPlan {
            first: EDGE_STEPS,
            meet_every: if len <= 1500 { 61 } else { 181 },
            meeting,
            quiet: false,
        };
        self.judged(&trial, companion, plan, Some((region, false, &windows)))
    }

    /// The number of single steps after reaching each page of a region; 0 for pages that do not stop the
    /// call.
    fn windows(&mut self, pages: usize, buffer: Range<usize>) -> Vec<u32> {
        let mut windows = vec![0; pages];
        let every = buffer.len().div_ceil(PAGES);
        for page in buffer.clone().skip(self.random.below(every)).step_by(every) {
            windows[page] = 12 + self.random.below(20) as u32;
        }
        windows[buffer.start] = EDGE_STEPS;
        windows[buffer.end - 1] = EDGE_STEPS;
        windows
    }
}
