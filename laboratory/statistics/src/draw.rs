//! Random draws.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A number below `bound`, every one equally often: the upper half of a product, drawn again where the lower half is one
/// that comes too often (Lemire). 0 if `bound` is 0.
pub fn below(rng: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    let bound = bound as u64;
    let mut product = u128::from(rng.next_u64()) * u128::from(bound);
    if (product as u64) < bound {
        let too_often = bound.wrapping_neg() % bound;
        while (product as u64) < too_often {
            product = u128::from(rng.next_u64()) * u128::from(bound);
        }
    }
    (product >> 64) as usize
}

/// Puts a list in random order.
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
    fn what_is_drawn_below_a_bound_comes_equally_often() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut often = [0_u32; 3];
        for _ in 0..30_000 {
            often[below(&mut rng, 3)] += 1;
        }
        assert!(often.iter().all(|count| count.abs_diff(10_000) < 500), "{often:?}");
        // Below three quarters of what a word holds: a remainder falls into the first third every other time.
        let third = 1_usize << (usize::BITS - 2);
        let mut often = [0_u32; 3];
        for _ in 0..30_000 {
            often[below(&mut rng, 3 * third) / third] += 1;
        }
        assert!(often.iter().all(|count| count.abs_diff(10_000) < 500), "{often:?}");
        // Half of what can be drawn is drawn again for this one.
        let bound = (1_usize << (usize::BITS - 1)) + 1;
        assert!((0..1000).all(|_| below(&mut rng, bound) < bound));
        assert_eq!((below(&mut rng, 1), below(&mut rng, 0)), (0, 0));
    }
}
