//! Decodes an input: arbitrary bytes are read as numbers, lengths and contents of buffers.
//!
//! The decoding favours values that find bugs, so that random bytes are good inputs and changing one byte is
//! a small change. Lengths are short or close to a step of some kernel's size ladder; buffers are full of ff,
//! 00 and words that make accumulators carry. Zeros follow the end of the input, so every input is valid.

/// The longest buffer of any target: a little more than two blocks of the kernel with the largest blocks.
pub const MOST_BYTES: usize = 272 << 10;

/// Lengths at which kernels switch to another code path, or might.
const STEPS: [usize; 20] = [
    16,
    32,
    64,
    128,
    192,
    256,
    320,
    512,
    576,
    1024,
    1500,
    2048,
    4096,
    8192,
    9000,
    2 * 8192,
    65_536,
    2046 * 64,
    2047 * 64,
    2 * 2047 * 64,
];

/// Words at the limits of 16, 32 and 64 bits.
const BOUNDS: [u64; 12] = [
    u64::MAX,
    u64::MAX - 1,
    1,
    0,
    0xffff_ffff_0000_0000,
    0x0000_0000_ffff_ffff,
    0x0001_0000_ffff_fffe,
    0x8000_8000_8000_8000,
    0x7fff_7fff_7fff_7fff,
    0x0001_ffff_0001_ffff,
    0x8000_0000_0000_0000,
    0xff00_ff00_ff00_ff00,
];

/// Seeds that cause carries in either half.
const SEEDS: [u32; 8] = [0, 1, 0xffff, 0x1_0000, 0x8000_0000, 0xffff_0000, 0xffff_fffe, 0xffff_ffff];

/// The rest of an input.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// The whole input.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { rest: bytes }
    }

    /// True if nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(most.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let taken = self.take(N);
        bytes[..taken.len()].copy_from_slice(taken);
        bytes
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    /// A number of two bytes.
    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// A number below `bound`, which is 1 to 65536.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.word()) % bound
    }

    /// The seed of a sum: one that causes carries, or arbitrary.
    pub fn seed(&mut self) -> u32 {
        match self.byte() {
            choice @ 0x80.. => SEEDS[usize::from(choice) % SEEDS.len()],
            _ => u32::from_le_bytes(self.array()),
        }
    }

    /// A length up to `most`: short, up to somewhat more than an Ethernet frame, or close to a step.
    pub fn length(&mut self, most: usize) -> usize {
        let length = match self.byte() {
            short @ ..0x70 => usize::from(short),
            0x70..0xc0 => usize::from(self.word()) % 2200,
            // Long ones are rare, because they are slow.
            choice => {
                let steps = if choice < 0xfc { 14 } else { STEPS.len() };
                let step = STEPS[usize::from(self.byte()) % steps];
                (step + usize::from(self.byte()) % 140).saturating_sub(70)
            }
        };
        if length <= most { length } else { length % (most + 1) }
    }

    /// Fills a buffer with repeated bytes of the input, with its bits as 00 and ff, or with words at limits.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        let (kind, count) = (self.byte(), usize::from(self.byte()));
        match kind {
            0..0x60 => {
                let pattern = self.take(count.min(buffer.len()));
                repeat(pattern, buffer);
            }
            0x60..0xa0 => {
                let bits = self.take((count % 32).min(buffer.len().div_ceil(8)));
                let mut bytes = [0; 8 * 32];
                for (index, byte) in bytes[..8 * bits.len()].iter_mut().enumerate() {
                    *byte = if bits[index / 8] >> (index % 8) & 1 == 1 { 0xff } else { 0 };
                }
                repeat(&bytes[..8 * bits.len()], buffer);
            }
            0xa0..0xf0 => {
                let words = self.take((count % 32).min(buffer.len().div_ceil(8)));
                let mut bytes = [0; 8 * 32];
                for (word, place) in words.iter().zip(bytes.chunks_exact_mut(8)) {
                    place.copy_from_slice(&BOUNDS[usize::from(*word) % BOUNDS.len()].to_ne_bytes());
                }
                repeat(&bytes[..8 * words.len()], buffer);
            }
            // All ones, with or without one different byte.
            _ => {
                buffer.fill(0xff);
                let other = self.byte();
                if let Some(byte) = buffer.get_mut(count) {
                    *byte = other;
                }
            }
        }
    }
}

/// Repeats the pattern; an empty pattern gives zeros.
fn repeat(pattern: &[u8], buffer: &mut [u8]) {
    let first = pattern.len().min(buffer.len());
    if first == 0 {
        buffer.fill(0);
        return;
    }
    buffer[..first].copy_from_slice(&pattern[..first]);
    let mut filled = first;
    while filled < buffer.len() {
        let more = filled.min(buffer.len() - filled);
        buffer.copy_within(..more, filled);
        filled += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_input_decodes_to_zeros() {
        let mut input = Input::new(&[]);
        assert_eq!((input.byte(), input.word(), input.seed(), input.length(9)), (0, 0, 0, 0));
        let mut buffer = [1; 5];
        input.fill(&mut buffer);
        assert_eq!(buffer, [0; 5]);
    }

    #[test]
    fn lengths_respect_their_limit_and_reach_every_step() {
        let mut seen = std::collections::BTreeSet::new();
        for kind in 0..=0xff {
            for step in 0..STEPS.len() as u8 {
                for beside in 0..140 {
                    let bytes = [kind, step, beside];
                    assert!(Input::new(&bytes).length(300) <= 300);
                    seen.insert(Input::new(&bytes).length(MOST_BYTES));
                }
            }
        }
        assert!(STEPS.iter().all(|step| (step - 16..step + 70).all(|length| seen.contains(&length))));
        assert!(seen.iter().all(|length| *length <= MOST_BYTES));
    }

    #[test]
    fn buffers_are_filled_to_the_end() {
        for kind in 0..=0xff {
            let bytes: Vec<u8> = [kind, 3].into_iter().chain([1; 40]).collect();
            let mut buffer = [0xee; 300];
            Input::new(&bytes).fill(&mut buffer);
            assert!(!buffer.contains(&0xee), "{kind:#x}: {buffer:x?}");
        }
    }
}
