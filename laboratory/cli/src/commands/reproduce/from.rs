//! `carryline reproduce --from`: the results of stored runs or files; several of one machine are merged.

use crate::cli::Common;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::kept;
use carryline_machine::environment::Environment;
use carryline_results::claims::ExperimentResult;
use carryline_results::{NoiseFloor, RunResult, SCHEMA_VERSION, Warning};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The fields read from a run's JSON.
#[derive(Deserialize)]
struct RunFile {
    seed: u64,
    complete: bool,
    environment: Value,
    ticks_per_cycle: Option<f64>,
    ticks_per_ns: Option<f64>,
    noise_floor: Option<FileFloor>,
    warnings: Vec<Warning>,
    experiments: Vec<ExperimentResult>,
}

#[derive(Deserialize)]
struct FileFloor {
    relative: f64,
    pairs: u32,
    by_situation: BTreeMap<String, f64>,
}

/// The merged results of runs. If several contain an experiment, the last one counts.
pub fn runs(words: &[String], common: &Common) -> Result<RunResult, Failure> {
    let mut all: Option<RunResult> = None;
    for word in words {
        let run = run(word, common)?;
        if run.experiments.is_empty() {
            return Err(usage(format!(
                "run {word} has no experiments; 'carryline history' shows which runs are of 'reproduce'"
            )));
        }
        all = Some(match all {
            None => run,
            Some(before) => merge(before, run, &words[0], word)?,
        });
    }
    all.ok_or_else(|| usage("--from names no run"))
}

fn run(word: &str, common: &Common) -> Result<RunResult, Failure> {
    let path = Path::new(word);
    // A number is always a run's; any other word that is or looks like a path is a file.
    let is_path = path.exists() || word.contains(['.', '/']);
    match word.parse::<i64>().is_err() && is_path {
        true => file(path),
        false => Ok(kept::stored(word, common.db.as_deref())?.result),
    }
}

fn file(path: &Path) -> Result<RunResult, Failure> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| usage(format!("cannot read {shown}: {error}")))?;
    let file: RunFile = serde_json::from_str(&text).map_err(|error| {
        usage(format!(
            "{shown} is not a run of experiments ({error}); 'carryline reproduce --from RUN --format json' writes one"
        ))
    })?;
    let floor = |FileFloor { relative, pairs, by_situation }| NoiseFloor {
        relative,
        pairs,
        by_situation: by_situation.into_iter().collect(),
    };
    Ok(RunResult {
        schema_version: SCHEMA_VERSION,
        run_id: None,
        seed: file.seed,
        environment: file.environment,
        noise_floor: file.noise_floor.map(floor),
        ticks_per_cycle: file.ticks_per_cycle,
        ticks_per_ns: file.ticks_per_ns,
        limits: Vec::new(),
        warnings: file.warnings,
        cells: Vec::new(),
        experiments: file.experiments,
        complete: file.complete,
    })
}

/// Merges two runs of one machine, without their cells.
fn merge(before: RunResult, run: RunResult, first: &str, second: &str) -> Result<RunResult, Failure> {
    let read = |value: &Value| serde_json::from_value::<Environment>(value.clone());
    if let (Ok(one), Ok(other)) = (read(&before.environment), read(&run.environment)) {
        let differences = one.differences(&other);
        if !differences.is_empty() {
            return Err(Failure::Unlike(format!(
                "runs {first} and {second} cannot be merged; they differ in:\n  {}",
                differences.join("\n  ")
            )));
        }
    }
    let mut experiments = before.experiments;
    experiments.retain(|known| run.experiments.iter().all(|new| new.id != known.id));
    experiments.extend(run.experiments);
    let mut warnings = before.warnings;
    for warning in run.warnings {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let noise_floor = match (before.noise_floor, run.noise_floor) {
        (Some(mut floor), Some(other)) => {
            floor.relative = floor.relative.max(other.relative);
            floor.pairs += other.pairs;
            floor.by_situation.extend(other.by_situation);
            Some(floor)
        }
        (one, other) => one.or(other),
    };
    Ok(RunResult {
        run_id: None,
        cells: Vec::new(),
        limits: Vec::new(),
        complete: before.complete && run.complete,
        noise_floor,
        warnings,
        experiments,
        ..before
    })
}
