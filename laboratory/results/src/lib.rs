//! The results of a run, as stored, printed and exported. Fields are added, never renamed.

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

/// The version of the JSON printed by `--format json`.
pub const SCHEMA_VERSION: u32 = 1;

/// The status of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Verified and measured.
    Ok,
    /// The CPU lacks an instruction, or the variant does not support the length.
    Unsupported,
    /// Its worker died while calling it.
    Crashed,
    /// Its worker was killed because it did not return, or there was no time to measure it.
    TimedOut,
    /// It returned a wrong result.
    Wrong,
    /// No verdict: its verification or its timing ended for another reason.
    NotVerified,
}

/// The source of a cell's cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CycleBasis {
    /// Estimated from ticks and a chain of dependent additions.
    Est,
    /// Counted by the hardware.
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

/// The conditions that the worker observed; the labels of results come from here, not from the request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// The number of calls timed, in all rounds of all replicates.
    pub calls: u64,
    /// The smallest size of a call in bytes.
    pub size_min: u64,
    /// The largest size of a call in bytes.
    pub size_max: u64,
    /// The mean size of a call in bytes.
    pub size_mean: f64,
    /// The number of different sizes in a replicate, or the largest of these numbers.
    pub size_distinct: u64,
    /// False if there may be more sizes: replicates have different numbers, or one has more than are counted. Also
    /// false in cells stored before 2026-11-27, in which all sizes from 4095 bytes count as one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub size_distinct_is_exact: bool,
    /// The number of different destination addresses modulo 64; 0 without a destination.
    pub dst_alignments: u64,
    /// The number of different source addresses modulo 64; 0 without a source.
    pub src_alignments: u64,
    /// The bytes that the cell accesses before it returns to the same cache line: of cold buffers whole lines, of hot ones
    /// the largest call, and a page more if offsets are drawn from the page.
    pub footprint_bytes: u64,
    /// The bytes of its buffers that the kernel mapped with huge pages; `None` if the kernel does not report
    /// it.
    pub huge_bytes: Option<u64>,
    /// The nearest level that holds the footprint if hot, memory if cold, mixed if some of both.
    pub level: Level,
    /// True if a nearer level holds a part of the operands, so that the figures lie between those of two levels: the
    /// footprint is less than twice its size, or over 5 % of the bytes belong to sizes whose footprint is.
    #[serde(default)]
    pub between: bool,
    /// The number of calls in a batch of a cold or mixed cell (every second batch has twice as many, unless
    /// it is one call). `None` for hot cells, and for cells stored when the number depended on the available
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_calls: Option<u64>,
    /// The fraction of calls whose two buffers are 1 to 63 bytes apart modulo 4096; `None` with one buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near_alias: Option<f64>,
    /// The fraction of buffers that were hot, in mixed cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_share: Option<f64>,
    /// The bytes that another core read and wrote meanwhile, in cells with load on another core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_bytes: Option<u64>,
}

/// The result for one subject under one condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The name of its situation; the cells of a situation were measured together.
    pub situation: String,
    /// The variant's name.
    pub variant: String,
    /// The variant's family.
    pub family: Family,
    /// Its status.
    pub status: Status,
    /// The reason, if the status is not `ok`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// The condition requested.
    pub condition: Condition,
    /// The condition observed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub observed: Option<Observed>,
    /// The mean number of bytes per call.
    pub bytes_per_call: f64,
    /// Ticks per call, net of the null call.
    pub ticks_per_call: Option<Estimate>,
    /// Ticks per call, gross: with the cost of the call.
    pub gross: Option<Estimate>,
    /// The median of net cycles per call.
    pub cycles_per_call: Option<f64>,
    /// The source of the cycles; `None` if there are none.
    pub basis: Option<CycleBasis>,
    /// The bytes of a call divided by its gross core cycles.
    pub bytes_per_cycle: Option<f64>,
    /// The least time that the machine's limits allow, divided by the gross time: at most 1. That least time
    /// is the bytes at the limit's rate, but at least a null call, or the fastest call of the situation if it
    /// is faster than that. `None` if no limit was measured or the cell does not measure throughput.
    pub limit_share: Option<f64>,
    /// Gross time divided by that of the baseline: within rounds, or from the replicates' medians if no
    /// process has both.
    pub ratio_to_baseline: Option<Ratio>,
    /// The name of the baseline: the faster of the C library's two rows. `None` if there is none, and in
    /// results stored when a family had a single baseline.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub baseline: Option<String>,
    /// Gross time divided by that of the leader of rank 1: within rounds, or from the replicates' medians if no process
    /// has both. Exactly 1 for the leader; `None` in results stored before 2026-11-29.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ratio_to_leader: Option<Ratio>,
    /// 1 for the fastest cell and all that tie with it; `None` if it is not ranked.
    pub rank: Option<u32>,
    /// The names of the variants of its situation that it ties with.
    pub ties_with: Vec<String>,
}

/// A warning about the run or one of its cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// `W01` and so on; `carryline explain CODE` prints the details.
    pub code: String,
    /// What was observed, in one sentence.
    pub cause: String,
    /// What to do about it, in one sentence.
    pub remedy: String,
}

/// The bytes per tick that one core can move at a cache level: the highest rate of anything in the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The level.
    pub level: Level,
    /// The size in bytes of the buffer used.
    pub buffer_bytes: u64,
    /// The rate of reads.
    pub load: f64,
    /// The rate of cached stores.
    pub store: f64,
    /// The rate of non-temporal stores.
    pub nt_store: f64,
    /// The variant (`checksum/carryline`) whose reads are the limit because they are faster than the loops
    /// that measure it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load_by: Option<String>,
    /// The same for stores. Which stores a variant uses is unknown; its rate counts for cached stores.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub store_by: Option<String>,
}

/// The noise floor of a run: the difference between the two members of A/A pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// The largest noise floor of the situations, a relative difference.
    pub relative: f64,
    /// The number of A/A pairs.
    pub pairs: u32,
    /// The noise floor of each situation.
    pub by_situation: Vec<(String, f64)>,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The run's number in the store, if it was stored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_id: Option<i64>,
    /// The random seed.
    pub seed: u64,
    /// The machine and the settings that affect figures.
    pub environment: serde_json::Value,
    /// The noise floor.
    pub noise_floor: Option<NoiseFloor>,
    /// TSC ticks per core cycle.
    pub ticks_per_cycle: Option<f64>,
    /// TSC ticks per nanosecond.
    pub ticks_per_ns: Option<f64>,
    /// The machine's limits.
    pub limits: Vec<Limit>,
    /// The warnings.
    pub warnings: Vec<Warning>,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The results of experiments, with the verdicts on their claims; empty for other runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub experiments: Vec<ExperimentResult>,
    /// False if it was interrupted or a worker was lost.
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
