//! The data patterns of verifications, for verifiers outside this crate: over a pipe, in another language.

use crate::patterns::{self, PATTERNS, index};

/// The number of data patterns; they are numbered from 0.
pub const KINDS: usize = PATTERNS.len();

/// The patterns that overflow accumulators at the smallest lengths.
pub const OVERFLOWING: [usize; 5] =
    [index::ONES, index::NEARLY_ONES, index::BOUNDARIES_AMONG_ONES, index::RANDOM, 8];

/// `len` bytes of a pattern; `seed` determines the random bytes.
///
/// # Panics
/// If `kind` is not below [`KINDS`].
///
/// ```
/// use carryline_verification::adversarial::{KINDS, bytes};
/// assert!((0..KINDS).all(|kind| bytes(kind, 3, 1).len() == 3));
/// ```
#[must_use]
pub fn bytes(kind: usize, len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    patterns::fill(&mut bytes, kind, 0, seed);
    bytes
}
