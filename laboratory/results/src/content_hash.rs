//! A name for a run that does not depend on the store: a hash of what was measured.

use crate::round::RoundRecord;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The number of digits shown in tables.
pub const SHOWN_DIGITS: usize = 8;
/// The least number of digits by which a user may name a run.
pub const LEAST_DIGITS: usize = 6;

/// The SHA-256 hash of a run's plan (as stored) and its rounds, as 64 hexadecimal digits.
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
    // Each field is preceded by its length, so that different runs never give the same bytes.
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(b"carryline run 1");
    // serde_json sorts the keys of an object.
    field(plan.to_string().as_bytes());
    for RoundRecord { situation, replicate, round } in rounds {
        field(situation.as_bytes());
        let mut numbers: Vec<u8> = Vec::with_capacity(32 + 8 * round.samples.len());
        for number in [*replicate, round.number, round.multiplier, u32::from(round.counted)] {
            numbers.extend(number.to_le_bytes());
        }
        for value in [round.null_ticks, round.ticks_per_cycle].iter().chain(&round.samples) {
            // All missing samples have the same representation.
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
    fn every_field_counts_but_missing_samples_are_equal() {
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
