//! What a program gets to read: JSON.

use crate::Tuned;
use crate::change::What;
use crate::confirm::{Confirmed, Judged, Verdict};
use carryline_statistics::{Order, Ratio};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A decision in JSON.
#[derive(Clone, Debug, Serialize)]
pub struct DecisionRow {
    /// Its name in a profile, or the tunable's.
    pub name: String,
    /// The unit of its values.
    pub unit: &'static str,
    /// What was in force.
    pub default: Value,
    /// What the search found; the same where it found nothing better.
    pub found: Value,
    /// How many times as fast calls are by what was found, where the two differ.
    pub gain: Option<Ratio>,
    /// What the settings in force differ from themselves.
    pub floor: Option<f64>,
    /// True if it was confirmed, and is in the profile.
    pub kept: bool,
    /// Why it was kept, or not; null where there was nothing to confirm.
    pub verdict: Option<Verdict>,
}

impl DecisionRow {
    /// A decision for which the search found nothing better.
    #[must_use]
    pub fn unchanged(name: String, unit: &'static str, value: Value) -> DecisionRow {
        let default = value.clone();
        DecisionRow { name, unit, default, found: value, gain: None, floor: None, kept: false, verdict: None }
    }

    /// What became of a change.
    #[must_use]
    pub fn judged(judged: &Judged) -> DecisionRow {
        DecisionRow {
            name: judged.change.name.clone(),
            unit: judged.change.unit,
            default: judged.change.default.clone(),
            found: judged.change.found.clone(),
            gain: judged.gain.map(|time| Ratio {
                median: 1.0 / time.median,
                low: 1.0 / time.high,
                high: 1.0 / time.low,
            }),
            floor: Some(judged.floor),
            kept: judged.verdict == Verdict::Faster,
            verdict: Some(judged.verdict),
        }
    }
}

/// Every decision of the library.
#[must_use]
pub fn decisions(tuned: &Tuned) -> Vec<DecisionRow> {
    What::all()
        .map(|what| match tuned.judged.iter().find(|judged| judged.change.name == what.name()) {
            Some(judged) => DecisionRow::judged(judged),
            None => DecisionRow::unchanged(what.name(), what.unit(), what.value(&tuned.base)),
        })
        .collect()
}

/// Every cell that was confirmed: those of the decisions, then those of the whole.
#[must_use]
pub fn confirmation(tuned: &Tuned) -> Vec<&Confirmed> {
    tuned.judged.iter().flat_map(|judged| &judged.cells).chain(&tuned.whole).collect()
}

/// How an order is written.
pub(crate) fn order<S: Serializer>(order: &Order, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match order {
        Order::Faster => "faster",
        Order::Slower => "slower",
        Order::Tie => "same",
    })
}
