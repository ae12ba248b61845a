//! The contents of buffers: data chosen to expose faults, and random data.
//!
//! A checksum fails where an accumulator wraps exactly, where one of several wraps and the others do not, and
//! where adding the accumulators wraps. Each width (16, 32, 64, 128 bits) and each number of streams has a
//! pattern for this. Random data causes such a carry once in 2^16 to 2^64 trials, so it would hardly ever
//! find one. Copying and zeroing fail where code examines the existing contents; the same patterns serve as
//! the destination's contents before the call.

/// A small generator (SplitMix64) with the same sequence for a seed on every machine.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        let (words, rest) = bytes.as_chunks_mut::<8>();
        words.iter_mut().for_each(|word| *word = self.next().to_ne_bytes());
        rest.fill_with(|| self.next() as u8);
    }

    /// A number below `bound`, approximately uniform.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// How the bytes of a pattern are made.
enum Make {
    Byte(fn(usize) -> u8),
    Half(fn(usize) -> u32),
    Word(fn(usize) -> u64),
    Random(fn(usize, &mut Random) -> u64),
}

/// A kind of data.
pub(super) struct Pattern {
    /// The name in reports.
    pub name: &'static str,
    make: Make,
    /// Whether it must also be tried with its words starting where the buffer does, at every address modulo
    /// 8.
    pub follows_start: bool,
}

/// The indices of some patterns in the list.
pub(super) mod index {
    pub const ZEROS: usize = 0;
    pub const ONES: usize = 1;
    pub const NEARLY_ONES: usize = 2;
    pub const CONSTANT: usize = 4;
    pub const RANDOM: usize = 6;
    pub const SIGNALING_NAN: usize = 11;
    pub const CANCELLING_SUMS: usize = 12;
    pub const CANCELLING_XOR: usize = 13;
    pub const LANES_64: usize = 16;
    pub const LANES_OF_8: usize = 20;
    pub const BOUNDARIES_AMONG_ONES: usize = 22;
    pub const BOUNDARIES: usize = 23;
    pub const PARTLY_ZERO: usize = 26;
}

/// All patterns. The status page holds an index into this list.
pub(super) const PATTERNS: &[Pattern] = &[
    plain("zeros", Make::Byte(|_| 0)),
    plain("all ones", Make::Byte(|_| 0xff)),
    plain("all ones with a few other bytes", Make::Byte(|i| if i % 67 == 13 { 0xfe } else { 0xff })),
    plain("zeros with a few other bytes", Make::Byte(|i| if i % 71 == 29 { 1 << (i % 8) } else { 0 })),
    plain("constant a5", Make::Byte(|_| 0xa5)),
    plain("counting", Make::Byte(|i| (i + 3 * (i >> 8)) as u8)),
    plain("random", Make::Random(|_, random| random.next())),
    plain("random, another stream", Make::Random(|_, random| random.next())),
    plain("words 8000", Make::Word(|_| 0x8000_8000_8000_8000)),
    plain("words 7fff", Make::Word(|_| 0x7fff_7fff_7fff_7fff)),
    plain("alternating words ffff and 0001", Make::Word(|_| 0x0001_ffff_0001_ffff)),
    plain(
        "signaling NaN",
        Make::Word(|i| [0x7ff0_0000_0000_0001, 0xfff4_0000_0000_0000, 0x7f80_0001_ff80_0001][i % 3]),
    ),
    plain("pairs that cancel under +", Make::Word(|i| pair(i, u64::wrapping_neg))),
    plain("pairs that cancel under xor", Make::Word(|i| pair(i, |word| word))),
    plain("pairs of complements", Make::Word(|i| pair(i, |word| !word))),
    follows("ffffffff then 00000001, 32 bits each", Make::Half(|i| [u32::MAX, 1][i % 2])),
    follows("ff..ff then 01 00.., 64 bits each", Make::Word(|i| [u64::MAX, 1][i % 2])),
    follows("ff..ff then 01 00.., 128 bits each", Make::Word(|i| [u64::MAX, u64::MAX, 1, 0][i % 4])),
    follows("1 added to 2^64 - 1 in some of 2 lanes", Make::Word(|i| lanes(i, 2))),
    follows("1 added to 2^64 - 1 in some of 4 lanes", Make::Word(|i| lanes(i, 4))),
    follows("1 added to 2^64 - 1 in some of 8 lanes", Make::Word(|i| lanes(i, 8))),
    follows("words at the bounds of every width, sparse", Make::Random(|_, random| boundary(random, 8, 0))),
    follows("words at the bounds of every width, among ones", Make::Random(|_, r| boundary(r, 5, u64::MAX))),
    follows("words at the bounds of every width", Make::Random(|_, random| boundary(random, 1, 0))),
    follows("16-bit words at their bounds", Make::Random(|_, random| boundary_16(random))),
    plain("one column of ff in 16 bytes", Make::Byte(|i| if i % 16 / 2 == 5 { 0xff } else { 0 })),
    plain("partly zero", Make::Random(|i, r| if i % 3 == 0 { 0 } else { r.next() | 0x0100_0000_0000_0001 })),
    plain("zero and random blocks", Make::Random(|i, r| if i / 8 % 2 == 0 { 0 } else { r.next() })),
];

const fn plain(name: &'static str, make: Make) -> Pattern {
    Pattern { name, make, follows_start: false }
}

const fn follows(name: &'static str, make: Make) -> Pattern {
    Pattern { name, make, follows_start: true }
}

fn pair(i: usize, partner: fn(u64) -> u64) -> u64 {
    let word = Random::new(i as u64 / 2).next();
    if i.is_multiple_of(2) { word } else { partner(word) }
}

/// Two rows of `streams` words: a subset of the lanes, different in each pair of rows, adds 1 to 2^64 - 1.
fn lanes(i: usize, streams: usize) -> u64 {
    let (lane, row) = (i % streams, i / streams);
    let subset = (row / 2).wrapping_mul(0x9e37) >> 3;
    match (subset >> lane & 1, row % 2) {
        (1, 0) => u64::MAX,
        (1, _) => 1,
        _ => 0,
    }
}

/// `background`, except that one word in `spacing` is at the bound of some width.
fn boundary(random: &mut Random, spacing: usize, background: u64) -> u64 {
    const BOUNDS: [u64; 16] = [
        0,
        1,
        u64::MAX,
        u64::MAX - 1,
        0xffff,
        0x1_0000,
        0xffff_ffff,
        0x1_0000_0000,
        0xffff_ffff_0000_0000,
        0xffff_0000_0000_0000,
        0x0001_0000_0000_0000,
        0x8000_0000_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000,
        0x7fff_ffff,
        0xffff_0000_ffff_0000,
    ];
    if random.below(spacing) == 0 { BOUNDS[random.below(BOUNDS.len())] } else { background }
}

fn boundary_16(random: &mut Random) -> u64 {
    const BOUNDS: [u16; 8] = [0, 1, 0xffff, 0xfffe, 0x8000, 0x7fff, 0x00ff, 0xff00];
    (0..4).fold(0, |word, _| word << 16 | u64::from(BOUNDS[random.below(BOUNDS.len())]))
}

/// The bytes of a pattern from its start; `shift` moves it right by 0 to 7 bytes.
pub(super) fn fill(bytes: &mut [u8], pattern: usize, shift: usize, seed: u64) {
    let mut random = Random::new(seed ^ (pattern as u64) << 32);
    let (lead, body) = bytes.split_at_mut(shift.min(bytes.len()));
    lead.fill(0x6b);
    match PATTERNS[pattern].make {
        Make::Byte(make) => body.iter_mut().enumerate().for_each(|(i, byte)| *byte = make(i)),
        Make::Half(make) => spread(body, |i| make(i).to_ne_bytes()),
        Make::Word(make) => spread(body, |i| make(i).to_ne_bytes()),
        Make::Random(make) => spread(body, |i| make(i, &mut random).to_ne_bytes()),
    }
}

fn spread<const N: usize>(body: &mut [u8], mut make: impl FnMut(usize) -> [u8; N]) {
    for (i, part) in body.chunks_mut(N).enumerate() {
        part.copy_from_slice(&make(i)[..part.len()]);
    }
}

/// The seeds that every checksum is tried with, in addition to random ones.
pub(super) const SEEDS: [u32; 10] = [0, 1, 2, 3, 4, 0xffff, 0x1_0000, 0x8000_0000, 0xffff_0000, 0xffff_ffff];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_match_the_list() {
        assert_eq!(PATTERNS[index::ZEROS].name, "zeros");
        assert_eq!(PATTERNS[index::ONES].name, "all ones");
        assert_eq!(PATTERNS[index::CONSTANT].name, "constant a5");
        assert_eq!(PATTERNS[index::RANDOM].name, "random");
        assert_eq!(PATTERNS[index::BOUNDARIES].name, "words at the bounds of every width");
        assert_eq!(PATTERNS[index::PARTLY_ZERO].name, "partly zero");
        assert!(PATTERNS.len() < 64, "the status page keeps a pattern in one byte, with room for prefills");
    }

    #[test]
    fn shifts_move_the_data() {
        for (pattern, about) in PATTERNS.iter().enumerate() {
            let (mut plain, mut shifted) = ([0; 256], [0; 256]);
            fill(&mut plain, pattern, 0, 9);
            fill(&mut shifted, pattern, 5, 9);
            assert_eq!(plain[..251], shifted[5..], "{}", about.name);
        }
    }

    #[test]
    fn lanes_wrap_in_every_combination() {
        let mut seen = [false; 16];
        for pair in 0..4096 {
            let subset =
                (0..4).filter(|lane| lanes(pair * 8 + lane, 4) == u64::MAX).map(|l| 1 << l).sum::<usize>();
            seen[subset] = true;
        }
        assert_eq!(seen, [true; 16]);
    }
}
