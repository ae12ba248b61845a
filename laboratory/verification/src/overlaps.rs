//! Overlapping buffers, which `memmove` must handle, and a buffer copied to itself, which compilers request of
//! `memcpy`.
//!
//! Every length up to 300 is moved by every distance up to its own, in both directions; longer ones by chosen
//! distances, and by some that the seed draws.

use super::call::Call;
use super::ground::Stop;
use super::large;
use super::memory::Region;
use super::note::{PAGE, Stage};
use super::patterns::{self, Random, index};
use super::sweep::{MIDDLING, SMALL, Verification};

/// The memory in which small buffers overlap.
const ROOM: usize = 6 * PAGE;
/// Up to this length, every distance is tried at three placements.
const VECTORS: usize = 66;
/// Distances that matter to vectors, unrolled loops and overlap checks.
const DISTANCES: [usize; 24] =
    [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4095];
/// The pairs of a length up to 8 KiB and a distance that are drawn.
const DRAWN: usize = 2500;
/// The largest buffers that overlap.
const LARGEST: usize = 5 << 20;

/// Memory in which buffers overlap, and its contents before each call.
struct Room {
    region: Region,
    picture: Vec<u8>,
}

impl Room {
    fn new(mut region: Region, seed: u64) -> Room {
        let mut picture = vec![0; region.len()];
        patterns::fill(&mut picture, index::RANDOM, 0, seed);
        region.bytes_mut().copy_from_slice(&picture);
        Room { region, picture }
    }

    fn len(&self) -> usize {
        self.picture.len()
    }
}

/// A distance for buffers of `len` bytes: often short, sometimes nearly the length.
fn distance(random: &mut Random, len: usize, turn: usize) -> usize {
    let most = match turn % 4 {
        0 => 192,
        1 => 4200,
        2 => len,
        _ => return len - random.below(len.min(64)),
    };
    1 + random.below(most.min(len))
}

impl Verification<'_> {
    /// Moves `len` bytes from `src` to `dst` in a room with its contents, which are restored, and compares
    /// everything within a page.
    fn moved(
        &mut self,
        stage: Stage,
        room: &mut Room,
        dst: usize,
        src: usize,
        len: usize,
    ) -> Result<(), Stop> {
        let start = room.region.start();
        let call = Call { dst: start.wrapping_add(dst), src: start.wrapping_add(src), len, seed: 0 };
        self.made(stage, &call)?;
        let end = dst + len;
        let from = dst.min(src).saturating_sub(PAGE);
        let to = room.len().min(dst.max(src) + len + PAGE);
        for (at, right) in [(from, from..dst), (dst, src..src + len), (end, end..to)] {
            self.same(stage, &call, &room.region, at, &room.picture[right])?;
        }
        room.region.bytes_mut()[dst..end].copy_from_slice(&room.picture[dst..end]);
        Ok(())
    }

    /// Moves the buffer at `lower` up by `distance`, and the upper one down by as much.
    fn both_ways(&mut self, room: &mut Room, lower: usize, distance: usize, len: usize) -> Result<(), Stop> {
        self.moved(Stage::Overlap, room, lower + distance, lower, len)?;
        self.moved(Stage::Overlap, room, lower, lower + distance, len)
    }

    /// Buffers of up to 8 KiB: after a guard page, before one, and in the middle.
    pub fn small_overlaps(&mut self) -> Result<(), Stop> {
        let mut room = Room::new(Region::new(ROOM)?, self.seed);
        let longer = [511, 512, 513, 1000, 1024, 2047, 2048, 2049, 4000];
        for len in (0..=SMALL).chain(longer) {
            let chosen = DISTANCES.into_iter().chain([len / 2, len.saturating_sub(1), len, len + 1]);
            let mut distances: Vec<usize> =
                if len <= VECTORS { (0..=len + 1).collect() } else { chosen.collect() };
            distances.sort_unstable();
            distances.dedup();
            for distance in distances.iter().copied() {
                let most = ROOM - len - distance;
                for lower in [0, most, (most / 2 / 64 * 64 + (distance + len) % 64).min(most)] {
                    self.both_ways(&mut room, lower, distance, len)?;
                }
            }
            for distance in (1..if len <= SMALL { len } else { 1 }).filter(|it| !distances.contains(it)) {
                let lower = self.random.below(ROOM - len - distance + 1);
                self.both_ways(&mut room, lower, distance, len)?;
            }
        }
        for turn in 0..DRAWN {
            let most = [1200, 4200, MIDDLING][turn % 3];
            let len = VECTORS + 1 + self.random.below(most - VECTORS);
            let distance = distance(&mut self.random, len, turn / 3);
            let lower = self.random.below(ROOM - len - distance + 1);
            self.both_ways(&mut room, lower, distance, len)?;
        }
        Ok(())
    }

    /// Overlapping buffers across 2 and 4 GiB, where a signed or a 32-bit comparison overflows.
    pub fn overlaps_across_lines(&mut self) -> Result<(), Stop> {
        for line in [1_usize << 31, 1 << 32] {
            let Ok(region) = Region::at(line - ROOM, 2 * ROOM) else {
                self.note(&format!(
                    "not tried: overlapping buffers across address {line:#x}, which is not free"
                ));
                continue;
            };
            let mut room = Room::new(region, self.seed);
            for len in [1, 2, 7, 8, 16, 17, 33, 64, 65, 129, 300, 1500, 4096, 9000] {
                for distance in [1, 8, 63, 64, len / 2, len - 1, len] {
                    for before in [0, 1, len / 2, len] {
                        let lower = ROOM - before.min(ROOM - distance);
                        let lower = lower.min(2 * ROOM - len - distance);
                        self.both_ways(&mut room, lower, distance, len)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Lengths from which string instructions and non-temporal stores are used: some by chosen distances, those of
    /// [`large`](super::large) by drawn ones.
    pub fn large_overlaps(&mut self) -> Result<(), Stop> {
        let mut room = Room::new(Region::new(2 * LARGEST + 8 * PAGE)?, self.seed);
        for len in [8 << 10, (16 << 10) + 1, (64 << 10) - 1, (256 << 10) + 17, (1 << 20) + 63, LARGEST] {
            for distance in [1, 63, 64, 4095, 4096, len / 2 + 1, len - 1] {
                let lower = 3 * PAGE + (len + distance) % 64;
                self.both_ways(&mut room, lower, distance, len)?;
            }
            self.checker.beat();
        }
        let mut random = Random::new(self.seed ^ 0x6f76_6572_6c61_7073);
        let lengths = large::lengths(&mut random);
        for (turn, len) in lengths.into_iter().filter(|len| *len > MIDDLING).enumerate() {
            for number in 0..if len <= 256 << 10 { 4 } else { 1 } {
                let distance = distance(&mut random, len, turn + number);
                let lower = random.below(2 * PAGE);
                self.both_ways(&mut room, lower, distance, len)?;
            }
        }
        Ok(())
    }

    /// A buffer copied to itself: compilers call `memcpy` so for an assignment whose sides may be the same object.
    pub fn same_buffer(&mut self) -> Result<(), Stop> {
        const LONGEST: usize = (1 << 20) + 63;
        let mut room = Room::new(Region::new(LONGEST + 3 * PAGE)?, self.seed);
        let drawn: Vec<usize> = (0..300).map(|_| SMALL + 1 + self.random.below(MIDDLING - SMALL)).collect();
        let large = [16 << 10, (64 << 10) + 1, (256 << 10) + 17, LONGEST];
        for len in (0..=SMALL).chain(drawn).chain(large) {
            for at in [0, 1, 63, PAGE - 1 - len % 64, PAGE + self.random.below(PAGE)] {
                self.moved(Stage::SameBuffer, &mut room, at, at, len)?;
            }
        }
        Ok(())
    }
}
