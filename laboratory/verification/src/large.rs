//! Typical large buffers, from 300 bytes to 4 MiB, as a documented product of cases.
//!
//! Programs copy whole pages between page-aligned buffers, packets of common sizes, and blocks with
//! power-of-two lengths. Random lengths and offsets would hardly ever include these. So the product is listed
//! here, and the seed only decides what is called random:
//!
//! - lengths ([`lengths`]): powers of two and adjacent lengths, one and a half times those, whole pages,
//!   packet sizes, thresholds of known implementations and adjacent lengths, and two random ones between
//!   powers of two;
//! - by pairs of offsets in a page ([`PAIRS`]): both buffers at the start of a page; at an equal offset; one
//!   of them at 1 or at 63; both ending with a page; random;
//! - by placements of the destination, or of the source if there is no destination: starting in the page
//!   after a guard, ending in the page before one, and more than a page away from both. A copy's source
//!   alternates between the three.
//!
//! Up to 256 KiB, the whole product is called. Above, page-aligned buffers still meet every placement, and
//! the other pairs alternate between them. In addition, a copy's buffers are 1 to 63 bytes apart modulo 4096,
//! in both directions: every distance for powers of two up to 64 KiB, and some distances for each other
//! length, so that every distance is used within a few lengths. Data, checksum seeds and the destination's
//! contents alternate.

use super::Depth;
use super::ground::{Ground, Stop};
use super::images::Album;
use super::note::{PAGE, Place, Spot, Stage, room_for};
use super::patterns::{Random, index};
use super::sweep::{SMALL, Verification, fields};
use carryline_variants::Family;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Up to this length, every pair of offsets meets every placement.
const WHOLE_PRODUCT: usize = 256 * KIB;
/// Lengths up to this one share an album and fields.
pub(super) const LARGE: usize = MIB + PAGE;
/// The longest length of the product.
const LARGEST: usize = 4 * MIB + 1;
pub(super) const LARGE_ROOM: usize = room_for(LARGE);
const LARGEST_ROOM: usize = room_for(LARGEST);

/// The payload sizes of Ethernet, TCP and jumbo frames.
const PACKETS: [usize; 8] = [512, 576, 1280, 1448, 1460, 1500, 8960, 9000];
/// Lengths at which known implementations change their method, except powers of two and their halves: string
/// instructions, loops and non-temporal stores in C libraries and kernels.
const THRESHOLDS: [usize; 8] = [320, 448, 640, 800, 896, 2112, 2560, 5000];

/// A pair of offsets in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    /// Both buffers begin with a page.
    PageAligned,
    /// Both begin at the same random offset.
    Equal,
    /// The destination at this offset, the source at 0.
    Destination(usize),
    /// The source at this offset, the destination at 0.
    Source(usize),
    /// Both end with a page.
    Ends,
    /// The destination is this far above the source modulo 4096, or below it.
    Apart(isize),
    Drawn,
}

const PAIRS: [Pair; 8] = [
    Pair::PageAligned,
    Pair::Equal,
    Pair::Destination(1),
    Pair::Source(1),
    Pair::Destination(63),
    Pair::Source(63),
    Pair::Ends,
    Pair::Drawn,
];

impl Pair {
    /// The offsets of the destination and the source.
    fn offsets(self, len: usize, random: &mut Random) -> (usize, usize) {
        let drawn = random.below(PAGE);
        match self {
            Pair::PageAligned => (0, 0),
            Pair::Equal => (drawn, drawn),
            Pair::Destination(offset) => (offset, 0),
            Pair::Source(offset) => (0, offset),
            Pair::Ends => [(PAGE - len % PAGE) % PAGE; 2].into(),
            Pair::Apart(distance) => ((drawn.wrapping_add_signed(distance)) % PAGE, drawn),
            Pair::Drawn => (drawn, random.below(PAGE)),
        }
    }

    /// Whether the pair differs from the others if there is only a destination, or only a source.
    fn applies(self, reads: bool, writes: bool) -> bool {
        match self {
            Pair::Destination(_) => writes,
            Pair::Source(_) => reads,
            Pair::Apart(_) => reads && writes,
            _ => true,
        }
    }
}

/// The lengths of the product, ascending.
pub(super) fn lengths(random: &mut Random) -> Vec<usize> {
    let mut all: Vec<usize> = PACKETS.to_vec();
    for threshold in THRESHOLDS {
        all.extend([threshold - 1, threshold, threshold + 1]);
    }
    for power in 9..=22 {
        let whole = 1_usize << power;
        let reach = if whole <= 64 * KIB { 2 } else { 1 };
        all.extend(whole - reach..=whole + reach);
        if whole < 4 * MIB {
            let middle = whole + whole / 2;
            all.extend([middle, whole + random.below(whole), whole + random.below(whole)]);
            if whole <= WHOLE_PRODUCT {
                all.extend([middle - 1, middle + 1, whole + whole / 4, middle + whole / 4]);
            }
        }
    }
    // Whole pages; larger numbers of pages are among the lengths above.
    all.extend((1..=16).map(|pages| pages * PAGE));
    all.extend([(16 + 1) * PAGE, (64 + 1) * PAGE, (256 + 1) * PAGE]);
    all.retain(|len| *len > SMALL);
    all.sort_unstable();
    all.dedup();
    all
}

/// The contents of the buffers; the first ones are also used for destinations.
pub(super) const fn patterns(family: Family, full: bool) -> &'static [usize] {
    const ALL: [usize; 11] = [
        index::RANDOM,
        index::ONES,
        index::PARTLY_ZERO,
        index::CANCELLING_SUMS,
        index::CANCELLING_XOR,
        index::BOUNDARIES,
        index::SIGNALING_NAN,
        index::LANES_64,
        index::LANES_OF_8,
        index::NEARLY_ONES,
        index::BOUNDARIES_AMONG_ONES,
    ];
    match (full, family.reads()) {
        (true, true) => &ALL,
        (true, false) => ALL.split_at(5).0,
        (false, _) => ALL.split_at(2).0,
    }
}

impl Verification<'_> {
    /// The part of the product with lengths in `within`.
    pub fn large(&mut self, ground: Ground<'_>, within: std::ops::RangeInclusive<usize>) -> Result<(), Stop> {
        let mut random = Random::new(self.seed ^ 0x6c61_7267_6521);
        let all = lengths(&mut random);
        for (turn, len) in all.into_iter().enumerate() {
            if !within.contains(&len) || !self.lengths.contains(len) {
                continue;
            }
            match self.depth {
                Depth::Full => self.product(ground, len, turn, &mut random)?,
                Depth::Replicate => self.sample(ground, len, turn, &mut random)?,
            }
        }
        Ok(())
    }

    /// The lengths for which memory is allocated separately.
    pub fn largest(&mut self) -> Result<(), Stop> {
        if !self.lengths.contains(LARGEST) {
            return Ok(());
        }
        let patterns = [index::RANDOM, index::BOUNDARIES];
        let count = if self.family.reads() { 2 } else { 1 };
        let album = Album::new(LARGEST_ROOM, patterns.into_iter().take(count), false, self.seed)?;
        let own = fields(self.family, &album, 1)?;
        self.large(Ground { album: &album, fields: &own }, LARGE + 1..=LARGEST)
    }

    /// All cases with one length.
    fn product(
        &mut self,
        ground: Ground<'_>,
        len: usize,
        turn: usize,
        random: &mut Random,
    ) -> Result<(), Stop> {
        for (order, pair) in PAIRS.into_iter().enumerate() {
            let all = len <= WHOLE_PRODUCT || pair == Pair::PageAligned;
            for spot in 0..if all { 3 } else { 1 } {
                self.paired(ground, len, pair, turn + order + spot, random)?;
            }
        }
        let (first, every) = match len {
            _ if len.is_power_of_two() && len <= 64 * KIB => (1, 1),
            _ if len <= WHOLE_PRODUCT => (1 + turn % 8, 8),
            _ => (1 + turn * 5 % 21, 21),
        };
        for distance in (first..64).step_by(every) {
            for distance in [distance as isize, -(distance as isize)] {
                self.paired(ground, len, Pair::Apart(distance), turn + distance.unsigned_abs(), random)?;
            }
        }
        Ok(())
    }

    /// One call of each length up to 64 KiB, and of a few above; over all lengths, every pair and every
    /// placement occurs.
    fn sample(
        &mut self,
        ground: Ground<'_>,
        len: usize,
        turn: usize,
        random: &mut Random,
    ) -> Result<(), Stop> {
        if len > 64 * KIB + 2 && !(len.is_power_of_two() || turn.is_multiple_of(4)) {
            return Ok(());
        }
        let (reads, writes) = (self.family.reads(), self.family.writes());
        let apart = Pair::Apart(1 + random.below(63) as isize);
        let pairs: Vec<Pair> =
            PAIRS.into_iter().chain([apart]).filter(|pair| pair.applies(reads, writes)).collect();
        let turn = turn + self.seed as usize % pairs.len();
        let pair = pairs[turn % pairs.len()];
        self.paired(ground, len, pair, turn, random)
    }

    fn paired(
        &mut self,
        ground: Ground<'_>,
        len: usize,
        pair: Pair,
        turn: usize,
        random: &mut Random,
    ) -> Result<(), Stop> {
        let (reads, writes) = (self.family.reads(), self.family.writes());
        if !pair.applies(reads, writes) {
            return Ok(());
        }
        let (dst, src) = pair.offsets(len, random);
        let spots = [Spot::ALL[turn % 3], Spot::ALL[(turn + turn / 3) % 3]];
        let [dst_spot, src_spot] = if writes { spots } else { [spots[1], spots[0]] };
        let (dst, src) = (Place::in_page(dst_spot, dst), Place::in_page(src_spot, src));
        self.at(Stage::Large, ground, len, dst, src)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::Checker;
    use carryline_variants::{Lengths, find};
    use std::collections::BTreeSet;

    #[test]
    fn common_lengths_are_included() {
        let all = lengths(&mut Random::new(3));
        let pages = (1..=16).map(|pages| pages * PAGE);
        let powers = (9..=22).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]);
        for len in pages.chain(powers).chain(PACKETS) {
            assert!(all.contains(&len), "{len}");
        }
        assert!(all.iter().all(|len| (SMALL + 1..=LARGEST).contains(len)));
    }

    /// For every seed, without knowledge of how the product is made.
    #[test]
    fn page_aligned_whole_pages_meet_every_placement() {
        let copy = find(Family::Copy, "libc_memcpy").expect("in the collection");
        let _alone = crate::signals::Handlers::install();
        crate::forked::arm();
        for seed in [0, 7] {
            let album = Album::new(LARGE_ROOM, [index::RANDOM], false, seed).expect("memory");
            let fields = fields(Family::Copy, &album, 1).expect("memory");
            let mut verification =
                Verification::new(Checker::new(copy.landing(), None, 0), Lengths::Any, Depth::Full, seed);
            verification
                .large(Ground { album: &album, fields: &fields }, 16 * KIB..=MIB)
                .expect("a correct routine");
            let cells = verification.checker.tally.cells();
            let aligned = |cell: &&crate::tally::Tried| cell.offsets == crate::tally::Offsets::PageAligned;
            let placements: BTreeSet<_> = cells.iter().filter(aligned).map(|cell| cell.placement).collect();
            assert!(placements.len() >= 3, "{placements:?}");
            let near = cells.iter().filter(|cell| cell.offsets == crate::tally::Offsets::Near);
            assert!(near.map(|cell| cell.calls).sum::<u64>() >= 126, "distances of 1 to 63");
        }
    }
}
