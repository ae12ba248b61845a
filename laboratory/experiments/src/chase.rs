//! A chain of dependent loads: each line holds the index of the next, so each load must wait for the previous
//! one.

use carryline_verification::status::StatusPage;

/// Bytes of a line, which holds one link.
pub(crate) const LINE: usize = 64;

/// Lays a chain through `lines` lines (a power of two) that visits each line once, in the order of a
/// full-period linear congruential generator: the order looks random, and building the chain writes memory
/// sequentially.
///
/// # Safety
/// `lines` lines from `base` on must be valid for writes.
pub(crate) unsafe fn lay(base: *mut u8, lines: usize, status: &StatusPage) {
    debug_assert!(lines.is_power_of_two());
    let (factor, step) = (0x5851_f42d_4c95_7f2d_usize, 0x1405_7b7e_f767_814f_usize);
    for line in 0..lines {
        let next = line.wrapping_mul(factor).wrapping_add(step) & (lines - 1);
        // SAFETY: line < lines.
        unsafe { base.add(line * LINE).cast::<usize>().write(next) };
        if line % (1 << 16) == 0 {
            status.beat();
        }
    }
}

/// Follows `count` links starting at `link`; returns the last one.
///
/// # Safety
/// A chain must have been laid at `base`, and `link` must be the index of one of its lines.
#[inline(never)]
pub(crate) unsafe fn follow(base: *const u8, mut link: usize, count: usize) -> usize {
    for _ in 0..count {
        // SAFETY: links are indices of lines of the chain. Volatile, so that no load is removed.
        link = unsafe { base.add(link * LINE).cast::<usize>().read_volatile() };
    }
    link
}

/// The largest power of two that is at most `bytes`, in lines; at least 2.
pub(crate) fn lines_within(bytes: u64) -> usize {
    let lines = (bytes as usize / LINE).max(2);
    if lines.is_power_of_two() { lines } else { lines.next_power_of_two() / 2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_machine::arena::{Arena, Pages};

    #[test]
    fn a_chain_visits_every_line_once() {
        let status = StatusPage::create().expect("a page");
        for lines in [2_usize, 64, 1 << 12] {
            let arena = Arena::new(lines * LINE, Pages::Base).expect("a small arena");
            // SAFETY: that many lines of the arena.
            unsafe { lay(arena.start(), lines, &status) };
            let (mut link, mut seen) = (0, vec![false; lines]);
            for _ in 0..lines {
                assert!(!seen[link]);
                seen[link] = true;
                // SAFETY: link < lines.
                link = unsafe { follow(arena.start(), link, 1) };
            }
            assert_eq!(link, 0);
        }
    }

    #[test]
    fn lines_are_a_power_of_two_within_the_bytes() {
        assert_eq!([1, 128, 48 << 10, 64 << 10].map(lines_within), [2, 2, 512, 1024]);
    }
}
