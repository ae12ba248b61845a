//! Reads a run from a file written by `--format json` or `carryline export --to json`.

use super::{Kept, former};
use crate::failure::{Failure, usage};
use crate::plan::RunPlan;
use carryline_machine::environment::Level;
use carryline_results::comparison::{Evidence, Reach, Row};
use carryline_results::content_hash::content_hash;
use carryline_results::round::{Round, RoundRecord};
use carryline_statistics::Estimate;
use carryline_variants::Family;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The fields that are read; others are ignored.
#[derive(Deserialize)]
struct RunFile {
    #[serde(default)]
    content_hash: Option<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    started: Option<String>,
    #[serde(default)]
    redacted: bool,
    environment: Value,
    noise_floor: Option<Floor>,
    cells: Vec<FileCell>,
    #[serde(default)]
    plan: Option<Value>,
    #[serde(default)]
    rounds: Vec<FileRound>,
}

#[derive(Deserialize)]
struct Floor {
    by_situation: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct FileCell {
    situation: String,
    variant: String,
    family: Family,
    status: String,
    detail: Option<String>,
    condition: Value,
    observed: Option<Seen>,
    bytes_per_call: f64,
    gross: Option<Estimate>,
}

#[derive(Deserialize)]
struct Seen {
    level: Level,
    #[serde(default)]
    batch_calls: Option<u64>,
}

/// A round in an export.
#[derive(Deserialize)]
struct FileRound {
    situation: String,
    replicate: u32,
    #[serde(flatten)]
    round: Round,
}

/// Reads a run from a file.
pub(super) fn read(path: &Path) -> Result<Kept, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        usage(format!(
            "'{shown}' is not a run: neither a number nor the start of a content hash, and as a file it cannot be read: {error}"
        ))
    })?;
    let file: RunFile = serde_json::from_str(&text).map_err(|error| {
        usage(format!(
            "{shown} is not a run ({error}); 'carryline export RUN --to json --raw --output FILE' writes one"
        ))
    })?;
    kept(file, &shown.to_string())
}

fn kept(file: RunFile, title: &str) -> Result<Kept, Failure> {
    let rounds: Vec<RoundRecord> = file
        .rounds
        .into_iter()
        .map(|FileRound { situation, replicate, round }| RoundRecord { situation, replicate, round })
        .collect();
    // A redacted plan lacks words, so its hash differs.
    if let (Some(plan), Some(hash), false) = (&file.plan, &file.content_hash, file.redacted)
        && content_hash(plan, &rounds) != *hash
    {
        return Err(usage(format!("{title} was modified: its rounds do not match its content hash")));
    }
    let plan: Option<RunPlan> = file.plan.and_then(|plan| serde_json::from_value(plan).ok());
    let floors = file.noise_floor.map(|floor| floor.by_situation).unwrap_or_default();
    let mut kept = Kept {
        title: title.to_owned(),
        id: None,
        content_hash: file.content_hash,
        label: file.label,
        started: file.started.unwrap_or_default(),
        environment: file.environment,
        rows: Vec::new(),
        conditions: BTreeMap::new(),
        bytes_per_call: BTreeMap::new(),
        plan: None,
    };
    let renamed = plan.as_ref().map(former::names).unwrap_or_default();
    for mut cell in file.cells {
        let noise_floor = floors.get(&cell.situation).copied();
        // Files written before the words changed; the cells of later ones have today's already.
        if let Some(now) = renamed.get(cell.situation.as_str()) {
            cell.situation.clone_from(&now.name);
            cell.condition = carryline_report::json::condition(&now.condition);
        }
        let calls = cell.observed.as_ref().and_then(|seen| seen.batch_calls);
        kept.rows.push(Row {
            noise_floor,
            situation: cell.situation.clone(),
            variant: cell.variant,
            family: cell.family,
            reach: Reach::of(cell.observed.map(|seen| seen.level)),
            evidence: cell.gross.map_or(Evidence::Nothing, Evidence::Estimate),
            absent: (cell.status != "ok").then_some(cell.detail).flatten(),
        });
        kept.bytes_per_call.insert(cell.situation.clone(), cell.bytes_per_call);
        kept.conditions.insert(cell.situation, super::alike::with_batch(cell.condition, calls));
    }
    if let Some(plan) = &plan {
        kept.put_samples(&former::gathered(plan, &rounds));
    }
    kept.plan = plan.map(former::plan);
    Ok(kept)
}
