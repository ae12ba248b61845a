//! The parts of a run as values, and their checksums.

use super::crc32::Crc32;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A run's number in its store. Numbers ascend and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The data known when a run begins: enough to repeat it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHeader {
    /// The arguments of the command, without the program's own name.
    pub command: Vec<String>,
    /// The seed of all its random choices.
    pub seed: u64,
    /// The machine and the properties that affect figures, without host and user names.
    pub environment: serde_json::Value,
    /// The plan of the measurement.
    pub plan: serde_json::Value,
}

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It has ended and has a result.
    Complete,
    /// It was interrupted and has the result of the finished part.
    Interrupted,
    /// It was killed, or is still running: it has finished rounds but no result.
    Incomplete,
    /// Its data does not match its checksums. It can be deleted.
    Damaged,
}

/// One entry of the history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// Its number.
    pub id: RunId,
    /// The start time in UTC: `2026-01-31T23:59:59Z`. Empty if damaged.
    pub started: String,
    /// The arguments of the command. Empty if damaged.
    pub command: Vec<String>,
    /// Its status.
    pub status: RunStatus,
    /// The number of measured situations; so far, if incomplete.
    pub situations: u64,
    /// The number of measured cells in all situations; so far, if incomplete.
    pub cells: u64,
    /// The number of stored rounds.
    pub rounds: u64,
}

impl RunSummary {
    pub(super) fn damaged(id: RunId) -> RunSummary {
        let (started, command) = (String::new(), vec![]);
        RunSummary { id, started, command, status: RunStatus::Damaged, situations: 0, cells: 0, rounds: 0 }
    }
}

/// A row of `progress`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Progress {
    /// `running`, `complete` or `interrupted`.
    pub status: String,
    pub rounds: i64,
    pub rounds_crc: u32,
    pub situations: i64,
    pub cells: i64,
}

pub(super) const RUNNING: &str = "running";

impl Progress {
    pub fn crc(&self, run: RunId) -> u32 {
        let sum =
            Crc32::new().field(b"progress").number(run.0).field(self.status.as_bytes()).number(self.rounds);
        sum.number(self.rounds_crc.into()).number(self.situations).number(self.cells).sum()
    }
}

/// The checksum over a run's rounds, extended by one round.
pub(super) fn chained(rounds_crc: u32, body: &[u8]) -> u32 {
    Crc32::new().number(rounds_crc.into()).field(body).sum()
}

pub(super) fn header_crc(run: RunId, started: &str, texts: &[String; 4]) -> u32 {
    let begin = Crc32::new().field(b"run").number(run.0).field(started.as_bytes());
    texts.iter().fold(begin, |sum, text| sum.field(text.as_bytes())).sum()
}

pub(super) fn result_crc(run: RunId, json: &str) -> u32 {
    Crc32::new().field(b"result").number(run.0).field(json.as_bytes()).sum()
}
