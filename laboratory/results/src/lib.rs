//! What a run found, as it is stored, printed and exported. Fields are added, never renamed.

pub mod cells;
pub mod claims;
pub mod comparison;
pub mod content_hash;
pub mod gather;
pub mod limits;
pub mod round;
pub mod sources;

use crate::claims::ExperimentResult;
use carryline_conditions::Condition;
use carryline_machine::environment::Level;
use carryline_statistics::{Estimate, Ratio};
use carryline_variants::Family;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the JSON that `--format json` prints.
pub const SCHEMA_VERSION: u32 = 1;

/// What became of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Proved and measured.
    Ok,
    /// The CPU lacks an instruction, or the variant's authors do not support the length.
    Unsupported,
    /// The worker died in it.
    Crashed,
    /// The worker had to be killed.
    TimedOut,
    /// Proved wrong.
    Wrong,
    /// Not known to be right or wrong: its verification, or its timing, ended for a reason of its own.
    NotVerified,
}

/// Where a cell's cycles come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CycleBasis {
    /// Ticks and a chain of dependent additions: estimated.
    Est,
    /// A hardware counter: counted.
    Pmu,
}

impl fmt::Display for CycleBasis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CycleBasis::Est => "est",
            CycleBasis::Pmu => "pmu",
        })
    }
}

/// What the worker saw when it ran the cell; the labels of results come from here, not from the request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Calls timed, in all rounds of all replicates.
    pub calls: u64,
    /// Smallest size of a call.
    pub size_min: u64,
    /// Largest size of a call.
    pub size_max: u64,
    /// Mean size of a call.
    pub size_mean: f64,
    /// How many different sizes were drawn; those of 4095 bytes and more count as one.
    pub size_distinct: u64,
    /// How many different destination addresses modulo 64 were used; 0 where there is no destination.
    pub dst_alignments: u64,
    /// How many different source addresses modulo 64 were used; 0 where there is no source.
    pub src_alignments: u64,
    /// Bytes that the cell walks through before it comes back to the same line.
    pub footprint_bytes: u64,
    /// Bytes of its buffers that the kernel mapped with huge pages; `None` where it does not say.
    pub huge_bytes: Option<u64>,
    /// The nearest level that holds the footprint when hot, memory when cold, mixed when some of both.
    pub level: Level,
    /// True if the footprint is less than twice the next nearer level, which then holds a part of it: figures lie between
    /// those of the two levels.
    #[serde(default)]
    pub between: bool,
    /// Calls in a batch of a cold or mixed cell, every second batch having twice as many unless it is one call; `None`
    /// for hot cells, and for those stored when the number depended on the time there was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_calls: Option<u64>,
    /// The share of calls whose two buffers lie 1 to 63 bytes apart modulo 4096; `None` where there is one buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near_alias: Option<f64>,
    /// The share of buffers that were the hot one, in mixed cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_share: Option<f64>,
    /// Bytes that another core read and wrote meanwhile, where it was to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_bytes: Option<u64>,
}

/// A subject under a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The situation that the cell belongs to: cells of one situation were measured against each other.
    pub situation: String,
    /// The variant's name.
    pub variant: String,
    /// What it does.
    pub family: Family,
    /// What became of it.
    pub status: Status,
    /// Why, when the status is not `ok`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// What it tests.
    pub condition: Condition,
    /// What ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub observed: Option<Observed>,
    /// Mean bytes that a call was given.
    pub bytes_per_call: f64,
    /// Net of the null call.
    pub ticks_per_call: Option<Estimate>,
    /// The call included.
    pub gross: Option<Estimate>,
    /// Median net cycles.
    pub cycles_per_call: Option<f64>,
    /// Where the cycles come from; `None` where there are none.
    pub basis: Option<CycleBasis>,
    /// Bytes of a call over its gross core cycles.
    pub bytes_per_cycle: Option<f64>,
    /// The time that the machine's limit allows (the bytes at the limit's rate, but at least a null call, or the fastest call of
    /// the situation if that takes less) over the gross time: at most 1. `None` where no limit was measured or the cell
    /// is not a throughput.
    pub limit_share: Option<f64>,
    /// Gross time over that of the baseline: in the same rounds, or from the replicates' medians where no process has
    /// both.
    pub ratio_to_baseline: Option<Ratio>,
    /// The baseline here: of the C library's two rows, the faster. `None` where there is none, and in results that were
    /// stored when a family had one baseline.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub baseline: Option<String>,
    /// 1 for the fastest and everything tied with it; `None` where it is not ranked.
    pub rank: Option<u32>,
    /// Names of the variants of its situation from which it cannot be distinguished.
    pub ties_with: Vec<String>,
}

/// A warning about the run, or about one of its cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// `W01` and so on; `carryline explain CODE` says more.
    pub code: String,
    /// What was seen, in one sentence.
    pub cause: String,
    /// What to do about it, in one sentence.
    pub remedy: String,
}

/// Bytes per tick that one core can move at a cache level: the most that anything in the run moved there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Which.
    pub level: Level,
    /// Bytes of the buffer that was used.
    pub buffer_bytes: u64,
    /// Reads.
    pub load: f64,
    /// Cached stores.
    pub store: f64,
    /// Non-temporal stores.
    pub nt_store: f64,
    /// The variant (`checksum/carryline`) whose reads are the limit, because they beat the loops that measure it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load_by: Option<String>,
    /// The same of stores. How a variant stores is not known: its rate counts as that of cached stores.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub store_by: Option<String>,
}

/// A run's noise floor: the difference between the two halves of A/A pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// The largest of the situations' floors: a relative difference within which everything is a tie.
    pub relative: f64,
    /// How many A/A pairs it rests on.
    pub pairs: u32,
    /// The same by situation.
    pub by_situation: Vec<(String, f64)>,
}

/// Everything that a run found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The run's number in the store, when it was saved.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_id: Option<i64>,
    /// The seed of everything random in it.
    pub seed: u64,
    /// The machine and what of it matters to a figure.
    pub environment: serde_json::Value,
    /// The A/A floor.
    pub noise_floor: Option<NoiseFloor>,
    /// TSC ticks per core cycle, and per nanosecond.
    pub ticks_per_cycle: Option<f64>,
    /// TSC ticks per nanosecond.
    pub ticks_per_ns: Option<f64>,
    /// What the hardware allows.
    pub limits: Vec<Limit>,
    /// Doubts.
    pub warnings: Vec<Warning>,
    /// What was measured.
    pub cells: Vec<Cell>,
    /// What experiments made of it, with the verdicts on their claims; empty for other runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub experiments: Vec<ExperimentResult>,
    /// False when it was interrupted or a worker was lost.
    pub complete: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_its_name_in_json() {
        for family in Family::ALL {
            assert_eq!(serde_json::to_value(family).expect("a word"), family.name());
            assert_eq!(serde_json::from_value::<Family>(family.name().into()).expect("known"), family);
        }
        let error = serde_json::from_value::<Family>("chekcsum".into()).expect_err("no family");
        assert!(error.to_string().contains("`chekcsum`"), "{error}");
    }

    #[test]
    fn a_basis_keeps_its_name_in_json() {
        for (basis, name) in [(CycleBasis::Est, "est"), (CycleBasis::Pmu, "pmu")] {
            assert_eq!(serde_json::to_value(basis).expect("a word"), name);
            assert_eq!(serde_json::from_value::<CycleBasis>(name.into()).expect("known"), basis);
            assert_eq!(basis.to_string(), name);
        }
        assert!(serde_json::from_value::<CycleBasis>("guess".into()).is_err());
    }
}
