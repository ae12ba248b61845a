//! The name of a run that does not depend on the store it is in: a hash of what was measured.

use crate::round::RoundRecord;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Digits that tables show.
pub const SHOWN_DIGITS: usize = 8;
/// Digits that are asked for at least where a run is named by its hash.
pub const LEAST_DIGITS: usize = 6;

/// The hash of a run's plan, as it is stored, and of its rounds: SHA-256 in 64 hexadecimal digits.
///
/// # Examples
/// ```
/// use carryline_results::content_hash::content_hash;
/// let plan = serde_json::json!({"seed": 1});
/// assert_eq!(content_hash(&plan, &[]).len(), 64);
/// assert_ne!(content_hash(&plan, &[]), content_hash(&serde_json::json!({"seed": 2}), &[]));
/// ```
#[must_use]
pub fn content_hash(plan: &serde_json::Value, rounds: &[RoundRecord]) -> String {
    let mut hash = Sha256::new();
    // Every text has its length before it, so that no two runs are the same bytes.
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(b"carryline run 1");
    // serde_json keeps the keys of an object in order.
    field(plan.to_string().as_bytes());
    for RoundRecord { situation, replicate, round } in rounds {
        field(situation.as_bytes());
        let mut numbers: Vec<u8> = Vec::with_capacity(32 + 8 * round.samples.len());
        for number in [*replicate, round.number, round.multiplier, u32::from(round.counted)] {
            numbers.extend(number.to_le_bytes());
        }
        for value in [round.null_ticks, round.ticks_per_cycle].iter().chain(&round.samples) {
            // Samples that are missing have one form.
            let bits = if value.is_finite() { value.to_bits() } else { u64::MAX };
            numbers.extend(bits.to_le_bytes());
        }
        field(&numbers);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::Round;

    #[test]
    fn every_part_of_a_round_counts_and_the_kind_of_gap_does_not() {
        let record = RoundRecord {
            situation: "zero 40".to_owned(),
            replicate: 1,
            round: Round { samples: vec![1.5, f64::NAN], null_ticks: 4.0, multiplier: 1, ..Round::default() },
        };
        let plan = serde_json::json!({});
        let of = |record: &RoundRecord| content_hash(&plan, std::slice::from_ref(record));
        let (name, mut changed) = (of(&record), Vec::new());
        for change in 0..5 {
            let mut other = record.clone();
            match change {
                0 => other.situation.push('x'),
                1 => other.replicate += 1,
                2 => other.round.samples[0] += 1e-12,
                3 => other.round.samples.push(f64::NAN),
                _ => other.round.counted = true,
            }
            changed.push(of(&other));
        }
        assert!(changed.iter().all(|other| *other != name), "{changed:?}");
        let mut same = record.clone();
        same.round.samples[1] = f64::INFINITY;
        assert_eq!(of(&same), name);
        assert_ne!(content_hash(&plan, &[record.clone(), record]), name);
    }
}
