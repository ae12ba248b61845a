//! How much of the last cache level holds this machine's data.
//!
//! A virtual machine is told the size of the whole level, which it shares with other guests, or of which it gets a part. Buffers
//! between the two sizes would count as cached although they are in memory: on a Granite Rapids that reports 480 MiB, reads of
//! 16, 48, 64, 96 and 128 MiB moved 10.9, 9.8, 8.6, 5.2 and 4.6 bytes per tick, those of 256 MiB 4.5; half an hour later, those of
//! 96 MiB 9.4 and those of 128 MiB 8.1.

use crate::limits::{TURN, Walk, kernels};
use carryline_machine::arena::Arena;
use carryline_machine::environment::CacheSizes;
use carryline_verification::status::StatusPage;

/// Passes over a buffer; the best one counts, since others use the level too.
const SAMPLES: usize = 4;
/// A buffer is in the level if it is read at this share of the rate of the smallest one. By the limits stored in
/// `docs/benchmarks`, the last level is read 1.6 to 3.1 times as fast as memory on five CPU models. On a Sapphire Rapids it is
/// 1.2 times: there, nothing is found, and the two limits hardly differ.
const HELD_RATE: f64 = 0.75;
/// How often the step to the first buffer that is not in the level is halved.
const HALVINGS: u32 = 2;

/// The size of a buffer that is surely in the last level and not in a nearer one, with which larger ones are compared; `None` if
/// the last level is too small to have one, as where it is the second.
#[must_use]
pub fn smallest(caches: &CacheSizes) -> Option<u64> {
    Some((4 * caches.l2).min(caches.l3 / 2)).filter(|bytes| *bytes >= 2 * caches.l2)
}

/// How much of the last level holds this machine's data, for buffers of up to `most` bytes; `None` if all of these are in it.
/// `arena` must be prefaulted and have `most` bytes.
#[must_use]
pub fn held(
    caches: &CacheSizes,
    most: u64,
    arena: &mut Arena,
    ticks_per_ns: f64,
    status: &StatusPage,
) -> Option<u64> {
    let most = most.min(arena.len() as u64);
    let mut walk = Walk { arena, len: 0, window: 0, at: 0, ticks_per_ns, status };
    let least = smallest(caches)?;
    let (_, load) = walk.whole(least).fastest(&kernels().loads)?;
    let largest = largest_held(least, most, |bytes| walk.whole(bytes).rate(load, SAMPLES))?;
    // An eighth of the level is for the stack and the lists, see `CacheSizes::level`.
    Some(largest.div_ceil(7) * 8)
}

impl Walk<'_> {
    /// Reads these first bytes of the buffer in every pass.
    fn whole(&mut self, bytes: u64) -> &mut Self {
        self.len = bytes as usize / TURN * TURN;
        (self.window, self.at) = (self.len, 0);
        self
    }
}

/// The largest buffer, from `least` to `most` bytes, that is read at nearly the rate of the smallest; `None` if all are.
fn largest_held(least: u64, most: u64, mut rate: impl FnMut(u64) -> f64) -> Option<u64> {
    let enough = HELD_RATE * rate(least);
    let mut held = least;
    let mut too_large = loop {
        if held >= most {
            return None;
        }
        let next = (2 * held).min(most);
        if rate(next) < enough {
            break next;
        }
        held = next;
    };
    for _ in 0..HALVINGS {
        let middle = u64::midpoint(held, too_large);
        if rate(middle) < enough {
            too_large = middle;
        } else {
            held = middle;
        }
    }
    Some(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_machine::arena::Pages;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_largest_buffer_at_nearly_the_rate_of_the_smallest_is_found() {
        // As measured on a Granite Rapids.
        let rate = |bytes: u64| match bytes.div_ceil(MIB) {
            ..=16 => 10.9,
            17..=48 => 9.8,
            49..=64 => 8.6,
            65..=96 => 5.2,
            _ => 4.6,
        };
        for (most, held) in [(8, None), (64, None), (65, Some(64)), (128, Some(64)), (420, Some(64))] {
            assert_eq!(largest_held(8 * MIB, most * MIB, rate), held.map(|held| held * MIB), "{most} MiB");
        }
        let sharp = |bytes: u64| if bytes < 100 * MIB { 10.0 } else { 5.0 };
        assert_eq!(largest_held(8 * MIB, 420 * MIB, sharp), Some(96 * MIB));
        let never = |bytes: u64| if bytes == 8 * MIB { 10.0 } else { 1.0 };
        assert_eq!(largest_held(8 * MIB, 420 * MIB, never), Some(8 * MIB));
    }

    #[test]
    fn nothing_is_read_beyond_the_buffer() {
        let caches = CacheSizes { l1: 32 << 10, l2: 128 << 10, l3: 4 << 20, l3_held: None };
        let mut arena = Arena::new(1 << 20, Pages::Base).expect("1 MiB");
        arena.prefault();
        let status = StatusPage::create().expect("a page");
        let found = held(&caches, 3 << 20, &mut arena, 1.0, &status);
        assert!(found.is_none_or(|bytes| Some(bytes) >= smallest(&caches)), "{found:?}");
    }

    #[test]
    fn a_small_last_level_is_not_measured() {
        let smallest = |l2, l3| smallest(&CacheSizes { l1: 32 << 10, l2, l3, l3_held: None });
        assert_eq!(smallest(2 * MIB, 480 * MIB), Some(8 * MIB));
        assert_eq!(smallest(2 * MIB, 8 * MIB), Some(4 * MIB));
        assert_eq!((smallest(2 * MIB, 6 * MIB), smallest(MIB, MIB)), (None, None));
    }
}
