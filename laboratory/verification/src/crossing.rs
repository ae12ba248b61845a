//! Small buffers at and across the end of a page whose neighbours are accessible.
//!
//! A routine that handles the end of a page with care may forget the bytes behind it. The sweep over all lengths has
//! one page, between two guards, so no buffer of it crosses into another.

use super::Depth;
use super::ground::{Ground, Stop};
use super::note::{LINE, PAGE, Place, Spot, Stage};
use super::sweep::{SMALL, Verification};

/// Up to this length, buffers are split at every byte.
const EVERY: usize = 64;
/// The drawn splits of longer buffers.
const DRAWN: usize = 16;

/// A buffer of which `split` bytes are in the first page.
const fn across(split: usize) -> Place {
    Place::in_page(Spot::Middle, PAGE - split)
}

impl Verification<'_> {
    /// In turn: at this offset in a line, away from the ends of its page; ending with its page; in the page's first line;
    /// ending in its last. In at least three pages of memory.
    pub fn place_in_turn(&mut self, turn: usize, len: usize, offset: usize) -> Place {
        let end = 2 * PAGE - len % PAGE;
        let offset_in_page = match turn % 4 {
            1 => end,
            2 => self.random.below(LINE),
            3 => end - self.random.below(LINE),
            _ => return Place::in_line(Spot::Middle, offset),
        };
        if len > PAGE - 2 * LINE {
            // There would be no page on one side.
            return Place::in_line(Spot::Middle, offset);
        }
        Place::in_page(Spot::Middle, offset_in_page % PAGE)
    }

    /// A random length of each of `classes` equal parts of `low..high`, without those that the routine does not support.
    pub fn length_of_each_class(&mut self, low: usize, high: usize, classes: usize) -> Vec<usize> {
        let bound = |class: usize| low + (high - low) * class / classes;
        let drawn: Vec<usize> = (0..classes)
            .map(|class| bound(class) + self.random.below(bound(class + 1) - bound(class)))
            .collect();
        drawn.into_iter().filter(|len| self.lengths.contains(*len)).collect()
    }

    /// Lengths up to [`SMALL`], with the end of a page at every byte or at drawn ones.
    pub fn crossing(&mut self, ground: Ground<'_>) -> Result<(), Stop> {
        for len in self.supported(2..=SMALL).into_iter().filter(|len| *len > 1) {
            let splits: Vec<usize> = match self.depth {
                Depth::Full if len <= EVERY => (1..len).collect(),
                Depth::Full => {
                    let drawn = (0..DRAWN).map(|_| 1 + self.random.below(len - 1));
                    [1, len - 1].into_iter().chain(drawn).collect()
                }
                Depth::Replicate => vec![1 + self.random.below(len - 1)],
            };
            for split in splits {
                self.split(ground, len, split)?;
            }
        }
        Ok(())
    }

    fn split(&mut self, ground: Ground<'_>, len: usize, split: usize) -> Result<(), Stop> {
        let here = across(split);
        if !(self.family.reads() && self.family.writes()) {
            return (0..3).try_for_each(|_| self.at(Stage::Crossing, ground, len, here, here));
        }
        let anywhere = Place::in_page(Spot::Middle, self.random.below(PAGE));
        self.at(Stage::Crossing, ground, len, here, anywhere)?;
        self.at(Stage::Crossing, ground, len, anywhere, here)?;
        // Both cross: the second at a drawn byte, or less than a line from the first modulo 4096.
        let other = across(1 + self.random.below(len - 1));
        self.at(Stage::Crossing, ground, len, here, other)?;
        let near = (split + self.random.below(127)).saturating_sub(63).clamp(1, len - 1);
        self.at(Stage::Crossing, ground, len, here, across(near))
    }
}
