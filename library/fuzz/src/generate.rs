//! Generates random inputs for the driver without coverage feedback.
//!
//! The decoding of bytes ([`input`](crate::input)) already favours interesting calls, so inputs are mostly
//! uniform. Runs of one byte and copies of earlier parts add descriptions that uniform bytes would not give.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The longest input in bytes.
const MOST_BYTES: usize = 512;

/// A sequence of inputs that is determined by its seed.
#[derive(Debug)]
pub struct Generator {
    seed: u64,
    number: u64,
    input: Vec<u8>,
}

impl Generator {
    /// The sequence of a seed, from the beginning.
    #[must_use]
    pub fn new(seed: u64) -> Generator {
        Generator { seed, number: 0, input: Vec::with_capacity(MOST_BYTES) }
    }

    /// Continues with the input of this number; the first one is 0.
    pub fn skip_to(&mut self, number: u64) {
        self.number = number;
    }

    /// The next input. It depends only on the seed and its own number.
    pub fn next_input(&mut self) -> &[u8] {
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(self.seed ^ self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.number = self.number.wrapping_add(1);
        let mut below = |bound: usize| (random.next_u64() % bound as u64) as usize;
        // Short inputs are faster and equally effective.
        let most = if below(4) == 0 { MOST_BYTES } else { 64 };
        let len = below(most + 1);
        self.input.clear();
        self.input.extend((0..len).map(|_| below(256) as u8));
        for _ in 0..below(4) {
            let (from, to, run) = (below(len + 1), below(len + 1), below(24));
            if below(2) == 0 {
                let byte = [0, 0xff, 0x80, 1][below(4)];
                self.input[from..(from + run).min(len)].fill(byte);
            } else {
                let run = run.min(len - from).min(len - to);
                self.input.copy_within(from..from + run, to);
            }
        }
        &self.input
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_input_follows_the_last() {
        let mut generator = Generator::new(7);
        let first = generator.next_input().to_vec();
        generator.skip_to(u64::MAX);
        assert_ne!(generator.next_input(), first);
        assert_eq!(generator.next_input(), first);
    }

    #[test]
    fn an_input_depends_only_on_its_seed_and_number() {
        let mut generator = Generator::new(7);
        let inputs: Vec<Vec<u8>> = (0..50).map(|_| generator.next_input().to_vec()).collect();
        for number in [49, 3, 0] {
            generator.skip_to(number as u64);
            assert_eq!(generator.next_input(), inputs[number]);
        }
        let other: Vec<Vec<u8>> = (0..50)
            .map({
                let mut generator = Generator::new(8);
                move |_| generator.next_input().to_vec()
            })
            .collect();
        assert_ne!(inputs, other);
    }
}
