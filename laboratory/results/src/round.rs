//! A round: the unit of pairing, the same type from the worker that measures it to the page that shows it.

use serde::{Deserialize, Serialize};

/// One round of one replicate: every member of a situation is sampled once, moments apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Its number in the situation and replicate, from 0.
    pub number: u32,
    /// The number of calls in a batch as a multiple of the usual one: 1 or 2.
    pub multiplier: u32,
    /// Gross ticks per call; NaN for a missing sample. In the order of the members in the worker's messages,
    /// elsewhere by place (see [`Situation::places`](crate::gather::Situation::places)).
    #[serde(with = "nan_as_null")]
    pub samples: Vec<f64>,
    /// Gross ticks per null call.
    pub null_ticks: f64,
    /// Ticks per core cycle: from the hardware counter over the round's batches, or else from a chain of
    /// dependent additions around them; 0 if neither is available.
    pub ticks_per_cycle: f64,
    /// True if cycles were counted, not estimated. False for rounds from a store of version 1, which did not
    /// record it.
    pub counted: bool,
}

impl Round {
    /// An empty round for this number of samples.
    #[must_use]
    pub fn of(members: usize) -> Round {
        Round { samples: vec![f64::NAN; members], ..Round::default() }
    }
}

/// A round with its place in the run.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundRecord {
    /// The name of the situation; up to 65,535 bytes.
    pub situation: String,
    /// The index of the worker process.
    pub replicate: u32,
    /// The samples, by place.
    pub round: Round,
}

/// JSON has no NaN: a missing sample is `null`.
mod nan_as_null {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(samples: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(samples.iter().map(|sample| Some(*sample).filter(|sample| sample.is_finite())))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let samples = Vec::<Option<f64>>::deserialize(from)?;
        Ok(samples.into_iter().map(|sample| sample.unwrap_or(f64::NAN)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_with_a_missing_sample_survives_json() {
        let round = Round { samples: vec![1.5, f64::NAN, 0.1], null_ticks: 4.0, ..Round::of(3) };
        let json = serde_json::to_string(&round).expect("written");
        let back: Round = serde_json::from_str(&json).expect("read back");
        assert!(back.samples[1].is_nan());
        assert_eq!((back.samples[0], back.samples[2], back.null_ticks), (1.5, 0.1, 4.0));
    }
}
