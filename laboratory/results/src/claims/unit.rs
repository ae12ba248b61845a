//! Units of figures.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The unit of a figure. The words are stored in results: new ones may be added, but none renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// None: a ratio, or a count described by the figure's name.
    #[serde(rename = "")]
    None,
    /// Ticks of the time-stamp counter.
    #[serde(rename = "ticks")]
    Ticks,
    /// Core cycles, estimated from ticks.
    #[serde(rename = "cycles est.")]
    CyclesEst,
    /// Core cycles, counted by the hardware.
    #[serde(rename = "cycles pmu")]
    CyclesPmu,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Ns,
    /// Nanoseconds per 4 KB.
    #[serde(rename = "ns per 4 KB")]
    NsPer4Kb,
    /// Microseconds.
    #[serde(rename = "us")]
    Us,
    /// Seconds.
    #[serde(rename = "s")]
    S,
    /// Millions per second.
    #[serde(rename = "M/s")]
    MillionPerS,
    /// 10^9 bytes per second.
    #[serde(rename = "GB/s")]
    GbPerS,
    /// Bytes per tick of the time-stamp counter.
    #[serde(rename = "bytes/tick")]
    BytesPerTick,
    /// Bytes per core cycle, estimated from ticks.
    #[serde(rename = "B/cycle est.")]
    BytesPerCycleEst,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// 1024 bytes.
    #[serde(rename = "KB")]
    Kb,
    /// Page faults.
    #[serde(rename = "faults")]
    Faults,
    /// Switches between tasks.
    #[serde(rename = "switches")]
    Switches,
    /// Chains at drawn alignments.
    #[serde(rename = "draws")]
    Draws,
    /// Percent.
    #[serde(rename = "%")]
    Percent,
}

impl Unit {
    /// All units.
    pub const ALL: [Unit; 18] = [
        Unit::None,
        Unit::Ticks,
        Unit::CyclesEst,
        Unit::CyclesPmu,
        Unit::Ns,
        Unit::NsPer4Kb,
        Unit::Us,
        Unit::S,
        Unit::MillionPerS,
        Unit::GbPerS,
        Unit::BytesPerTick,
        Unit::BytesPerCycleEst,
        Unit::Bytes,
        Unit::Kb,
        Unit::Faults,
        Unit::Switches,
        Unit::Draws,
        Unit::Percent,
    ];

    /// The word after a count of one.
    #[must_use]
    pub const fn singular(self) -> &'static str {
        match self {
            Unit::Faults => "fault",
            Unit::Switches => "switch",
            Unit::Draws => "draw",
            other => other.word(),
        }
    }

    /// The word in tables and stored results; empty if there is no unit.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Ticks => "ticks",
            Unit::CyclesEst => "cycles est.",
            Unit::CyclesPmu => "cycles pmu",
            Unit::Ns => "ns",
            Unit::NsPer4Kb => "ns per 4 KB",
            Unit::Us => "us",
            Unit::S => "s",
            Unit::MillionPerS => "M/s",
            Unit::GbPerS => "GB/s",
            Unit::BytesPerTick => "bytes/tick",
            Unit::BytesPerCycleEst => "B/cycle est.",
            Unit::Bytes => "bytes",
            Unit::Kb => "KB",
            Unit::Faults => "faults",
            Unit::Switches => "switches",
            Unit::Draws => "draws",
            Unit::Percent => "%",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_their_words_in_json() {
        for unit in Unit::ALL {
            assert_eq!(serde_json::to_value(unit).expect("a word"), unit.word());
            assert_eq!(serde_json::from_value::<Unit>(unit.word().into()).expect("known"), unit);
        }
        let error = serde_json::from_value::<Unit>("furlongs".into()).expect_err("no unit");
        assert!(error.to_string().contains("`furlongs`"), "{error}");
    }
}
