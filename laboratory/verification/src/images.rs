//! Read-only pages of data, with the exact sum of any range in constant time. A verification makes a million
//! calls; summing each buffer again would take longer than the calls. An image keeps the running sums of its
//! even and its odd bytes, so that the sum of a range is a subtraction. A test compares it with the
//! collection's frozen reference.

use super::memory::Region;
use super::patterns::{self, PATTERNS};
use carryline_machine::arena::MapError;

/// The distance between stored sums: shorter for small images, which millions of calls read.
const SHORT_STEP: usize = 8;
const LONG_STEP: usize = 64;

/// A read-only region filled with a pattern.
#[derive(Debug)]
pub(super) struct Image {
    region: Region,
    /// The pattern's index, for the status page.
    pub pattern: usize,
    /// The sums of the bytes at even and at odd offsets before each multiple of `step`.
    sums: Vec<(u64, u64)>,
    step: usize,
}

impl Image {
    /// `len` bytes of a pattern, shifted right by `shift`.
    pub fn new(len: usize, pattern: usize, shift: usize, seed: u64) -> Result<Image, MapError> {
        let mut region = Region::new(len)?;
        patterns::fill(region.bytes_mut(), pattern, shift, seed);
        region.set_read_only(true)?;
        let step = if len <= 64 << 10 { SHORT_STEP } else { LONG_STEP };
        let mut sums = Vec::with_capacity(region.len() / step + 1);
        let (mut even, mut odd) = (0, 0);
        for part in region.bytes().chunks(step) {
            sums.push((even, odd));
            let (more_even, more_odd) = sum_bytes(part);
            (even, odd) = (even + more_even, odd + more_odd);
        }
        sums.push((even, odd));
        Ok(Image { region, pattern, sums, step })
    }

    /// The first byte.
    pub fn start(&self) -> *const u8 {
        self.region.start()
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        self.region.bytes()
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.region.len()
    }

    fn sums_before(&self, at: usize) -> (u64, u64) {
        let whole = at / self.step * self.step;
        let (even, odd) = self.sums[at / self.step];
        let (more_even, more_odd) = sum_bytes(&self.bytes()[whole..at]);
        (even + more_even, odd + more_odd)
    }

    /// The folded sum of `len` bytes at `at`, plus `seed`.
    pub fn checksum(&self, at: usize, len: usize, seed: u32) -> u16 {
        let (from, to) = (self.sums_before(at), self.sums_before(at + len));
        let (even, odd) = (to.0 - from.0, to.1 - from.1);
        // The parity of the buffer's start decides which of its bytes are the first of a word.
        let (first, second) = if at.is_multiple_of(2) { (even, odd) } else { (odd, even) };
        fold(weigh(first, second) + u64::from(seed))
    }
}

/// The sums of the bytes at even and at odd offsets.
fn sum_bytes(bytes: &[u8]) -> (u64, u64) {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    // Four 16-bit fields, each at most 255: the product's highest field is their sum.
    let fields = |word: u64| word.wrapping_mul(0x0001_0001_0001_0001) >> 48;
    let (words, rest) = bytes.as_chunks::<8>();
    let (mut even, mut odd) = sum_few(rest);
    for word in words {
        let word = u64::from_le_bytes(*word);
        even += fields(word & EVEN);
        odd += fields(word >> 8 & EVEN);
    }
    (even, odd)
}

fn sum_few(bytes: &[u8]) -> (u64, u64) {
    bytes.iter().enumerate().fold((0, 0), |(even, odd), (i, byte)| {
        if i.is_multiple_of(2) { (even + u64::from(*byte), odd) } else { (even, odd + u64::from(*byte)) }
    })
}

fn weigh(first: u64, second: u64) -> u64 {
    if cfg!(target_endian = "little") { first + (second << 8) } else { (first << 8) + second }
}

/// Folds the carries until the sum fits into 16 bits: 0 only for 0.
pub(super) fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The folded sum of bytes plus `seed`, without an image.
pub(super) fn checksum_of(bytes: &[u8], seed: u32) -> u16 {
    let (first, second) = sum_bytes(bytes);
    fold(weigh(first, second) + u64::from(seed))
}

/// The images that the sweeps read: one of every pattern and, for patterns whose words should begin at the
/// start of the buffer, seven more, each shifted right by another byte.
#[derive(Debug)]
pub(super) struct Album {
    images: Vec<Image>,
    patterns: Vec<usize>,
    first_of_pattern: [Option<usize>; PATTERNS.len()],
    shifted: bool,
}

impl Album {
    /// Images of `len` bytes of the given patterns; `shifted` includes the seven shifted ones of each.
    pub fn new(
        len: usize,
        patterns: impl IntoIterator<Item = usize>,
        shifted: bool,
        seed: u64,
    ) -> Result<Album, MapError> {
        let first_of_pattern = [None; PATTERNS.len()];
        let mut album = Album { images: Vec::new(), patterns: Vec::new(), first_of_pattern, shifted };
        for pattern in patterns {
            album.patterns.push(pattern);
            album.first_of_pattern[pattern] = Some(album.images.len());
            for shift in 0..if shifted && PATTERNS[pattern].follows_start { 8 } else { 1 } {
                album.images.push(Image::new(len, pattern, shift, seed)?);
            }
        }
        Ok(album)
    }

    /// The patterns of this album, in order.
    pub fn patterns(&self) -> &[usize] {
        &self.patterns
    }

    fn first(&self, pattern: usize) -> usize {
        self.first_of_pattern[pattern].expect("stages ask for patterns that they gave the album")
    }

    /// The image of a pattern whose words are at multiples of their size.
    pub fn of(&self, pattern: usize) -> &Image {
        &self.images[self.first(pattern)]
    }

    /// The image of a pattern whose words begin at offset `at` modulo 8, if there is one.
    pub fn following(&self, pattern: usize, at: usize) -> &Image {
        let shift = if self.shifted && PATTERNS[pattern].follows_start { at % 8 } else { 0 };
        &self.images[self.first(pattern) + shift]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::{Random, SEEDS};
    use carryline_variants::{Routine, checksum};

    #[test]
    fn sums_of_ranges_equal_the_frozen_reference() {
        let Routine::Checksum(reference) = checksum::reference::VARIANT.routine else {
            panic!("the reference is a checksum");
        };
        let album = Album::new(4096, 0..PATTERNS.len(), true, 11).expect("pages");
        let mut random = Random::new(5);
        for image in &album.images {
            for trial in 0..400 {
                let at = random.below(4096);
                let len = random.below(4097 - at).min(if trial % 2 == 0 { 70 } else { 4096 });
                let seed = SEEDS[trial % SEEDS.len()];
                // SAFETY: at + len <= 4096 readable bytes.
                let right = unsafe { reference(image.start().add(at), len, seed) };
                assert_eq!(
                    u32::from(image.checksum(at, len, seed)),
                    right,
                    "at {at} len {len} seed {seed:x}"
                );
                let bytes = &image.bytes()[at..at + len];
                assert_eq!(u32::from(checksum_of(bytes, seed)), right, "direct, at {at} len {len}");
            }
        }
    }
}
