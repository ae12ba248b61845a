//! Unbiased random draws.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A uniformly distributed number below `bound`: the upper half of a product, redrawn if its lower half would
/// cause a bias (Lemire). 0 if `bound` is 0.
pub fn below(rng: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    let bound = bound as u64;
    let mut product = u128::from(rng.next_u64()) * u128::from(bound);
    if (product as u64) < bound {
        let biased_below = bound.wrapping_neg() % bound;
        while (product as u64) < biased_below {
            product = u128::from(rng.next_u64()) * u128::from(bound);
        }
    }
    (product >> 64) as usize
}

/// Shuffles a list.
pub fn shuffle<T>(rng: &mut Xoshiro256PlusPlus, list: &mut [T]) {
    for last in (1..list.len()).rev() {
        list.swap(last, below(rng, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    #[test]
    fn a_shuffle_keeps_the_members() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut list: Vec<u32> = (0..100).collect();
        shuffle(&mut rng, &mut list);
        assert_ne!(list, (0..100).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn draws_below_a_bound_are_uniform() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut counts = [0_u32; 3];
        for _ in 0..30_000 {
            counts[below(&mut rng, 3)] += 1;
        }
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
        // A bound of three quarters of the word's range: a plain remainder would hit the first third twice as
        // often.
        let third = 1_usize << (usize::BITS - 2);
        let mut counts = [0_u32; 3];
        for _ in 0..30_000 {
            counts[below(&mut rng, 3 * third) / third] += 1;
        }
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
        // Half of all draws are redrawn for this bound.
        let bound = (1_usize << (usize::BITS - 1)) + 1;
        assert!((0..1000).all(|_| below(&mut rng, bound) < bound));
        assert_eq!((below(&mut rng, 1), below(&mut rng, 0)), (0, 0));
    }
}
