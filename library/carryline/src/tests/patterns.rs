//! Bytes that expose wrong sums, and the naive sum that all kernels are compared with.

/// Seeds: zero, the extremes of both halves, and those whose addition carries.
pub(super) const SEEDS: [u32; 9] =
    [0, 1, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_0000, 0xffff_fffe, 0xffff_ffff];

/// The contents of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pattern {
    Zeros,
    Ones,
    /// All 0xff except for one byte with this value.
    OnesBut(u8),
    /// All zero except for one byte of 1.
    ZerosButOne,
    /// Words 0x8000 in the machine's byte order: the smallest signed words.
    SmallestSigned,
    /// Words 0x7fff.
    LargestSigned,
    /// Words 1 and 0xfffe alternating: every pair adds to 0xffff.
    Carries,
    Random,
}

impl Pattern {
    pub(super) const ALL: [Pattern; 9] = [
        Pattern::Zeros,
        Pattern::Ones,
        Pattern::OnesBut(0xfe),
        Pattern::OnesBut(0),
        Pattern::ZerosButOne,
        Pattern::SmallestSigned,
        Pattern::LargestSigned,
        Pattern::Carries,
        Pattern::Random,
    ];

    /// Fills the buffer; `salt` moves the single byte and seeds the random bytes.
    pub(super) fn fill(self, buffer: &mut [u8], salt: usize) {
        let len = buffer.len();
        let mut fill_words = |words: [u16; 2]| {
            for (index, byte) in buffer.iter_mut().enumerate() {
                *byte = words[index / 2 % 2].to_ne_bytes()[index % 2];
            }
        };
        match self {
            Pattern::Zeros => buffer.fill(0),
            Pattern::Ones => buffer.fill(0xff),
            Pattern::OnesBut(other) => {
                buffer.fill(0xff);
                if len > 0 {
                    buffer[salt % len] = other;
                }
            }
            Pattern::ZerosButOne => {
                buffer.fill(0);
                if len > 0 {
                    buffer[salt % len] = 1;
                }
            }
            Pattern::SmallestSigned => fill_words([0x8000; 2]),
            Pattern::LargestSigned => fill_words([0x7fff; 2]),
            Pattern::Carries => fill_words([1, 0xfffe]),
            Pattern::Random => fill_random(buffer, salt as u64),
        }
    }
}

/// Bytes of splitmix64.
pub(super) fn fill_random(buffer: &mut [u8], salt: u64) {
    let mut state = salt.wrapping_mul(0x2545_f491_4f6c_dd1d);
    for chunk in buffer.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        chunk.copy_from_slice(&(mixed ^ mixed >> 31).to_le_bytes()[..chunk.len()]);
    }
}

/// The exact sum of the words in memory order, unfolded.
pub(super) fn exact_sum(data: &[u8]) -> u64 {
    let word = |pair: &[u8]| u64::from(u16::from_ne_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
    data.chunks(2).map(word).sum()
}

/// The expected folded sum: the remainder modulo 65535, with 0xffff for 0 unless the sum is 0.
pub(super) fn expected(exact_sum: u64, seed: u32) -> u16 {
    match exact_sum + u64::from(seed) {
        0 => 0,
        total => ((total - 1) % 0xffff + 1) as u16,
    }
}
