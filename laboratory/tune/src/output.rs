//! The result as JSON.

use crate::Tuned;
use crate::change::Entry;
use crate::confirm::{ChangeVerdict, Confirmed, Judged};
use carryline_statistics::{Order, Ratio};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A decision in JSON.
#[derive(Clone, Debug, Serialize)]
pub struct DecisionRow {
    /// Its name in a profile, or the tunable's name.
    pub name: String,
    /// The unit of its values.
    pub unit: &'static str,
    /// The value that was in force.
    pub default: Value,
    /// The value that the search found; equal to `default` if it found no better one.
    pub found: Value,
    /// The speed with the found value as a multiple of that with the default; null if they are equal.
    pub gain: Option<Ratio>,
    /// The noise floor: the difference between two arms with the settings in force; null if there was no
    /// comparison.
    pub floor: Option<f64>,
    /// True if it was confirmed and is in the profile.
    pub kept: bool,
    /// Why it was kept or not; null if there was nothing to confirm.
    pub verdict: Option<ChangeVerdict>,
}

impl DecisionRow {
    /// A decision for which the search found no better value.
    #[must_use]
    pub fn unchanged(name: String, unit: &'static str, value: Value) -> DecisionRow {
        let default = value.clone();
        DecisionRow { name, unit, default, found: value, gain: None, floor: None, kept: false, verdict: None }
    }

    /// A judged change.
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
            floor: (judged.verdict != ChangeVerdict::NotCompared).then_some(judged.floor),
            kept: judged.verdict == ChangeVerdict::Faster,
            verdict: Some(judged.verdict),
        }
    }
}

/// All decisions of the library.
#[must_use]
pub fn decisions(tuned: &Tuned) -> Vec<DecisionRow> {
    Entry::all()
        .map(|entry| match tuned.judged.iter().find(|judged| judged.change.name == entry.name()) {
            Some(judged) => DecisionRow::judged(judged),
            None => DecisionRow::unchanged(entry.name(), entry.unit(), entry.value(&tuned.base)),
        })
        .collect()
}

/// All confirmed cells: those of the changes, then those of the settings as a whole.
#[must_use]
pub fn confirmation(tuned: &Tuned) -> Vec<&Confirmed> {
    tuned.judged.iter().flat_map(|judged| &judged.cells).chain(&tuned.whole).collect()
}

/// Serializes an order.
pub(crate) fn order<S: Serializer>(order: &Order, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match order {
        Order::Faster => "faster",
        Order::Slower => "slower",
        Order::Tie => "same",
    })
}
