//! `carryline reproduce --from`: the results of stored runs or files. Runs of one machine are merged; those of
//! several machines stand side by side in the page.

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

/// A machine's merged runs, and the word that named the first of them.
pub struct Merged {
    pub word: String,
    pub result: RunResult,
}

/// The results of runs, merged for each machine. If several runs of a machine contain an experiment, the last
/// one counts.
pub fn runs(words: &[String], common: &Common) -> Result<Vec<Merged>, Failure> {
    let mut machines: Vec<Merged> = Vec::new();
    for word in &without_folders(words)? {
        let run = run(word, common)?;
        if run.experiments.is_empty() {
            return Err(usage(format!(
                "run {word} has no experiments; 'carryline history' shows which runs are of 'reproduce'"
            )));
        }
        match machines.iter_mut().find(|known| of_one_machine(&known.result, &run)) {
            Some(known) => known.result = merge(known.result.clone(), run, &known.word, word)?,
            None => machines.push(Merged { word: word.clone(), result: run }),
        }
    }
    Ok(machines)
}

/// The result of the only machine; an error that says how the first two differ.
pub fn only(mut machines: Vec<Merged>) -> Result<RunResult, Failure> {
    if let [first, second, ..] = &machines[..] {
        let differences = differences(&first.result, &second.result).join("\n  ");
        return Err(Failure::Unlike(format!(
            "runs {} and {} are of different machines; --markdown prints them side by side. They differ in:\n  \
             {differences}",
            first.word, second.word
        )));
    }
    machines.pop().map(|machine| machine.result).ok_or_else(|| usage("--from names no run"))
}

/// True unless the CPUs are known to be of different models.
fn of_one_machine(one: &RunResult, other: &RunResult) -> bool {
    let model = |run: &RunResult| {
        let here = environment(run)?;
        Some((here.cpu.vendor, here.cpu.family, here.cpu.model, here.cpu.brand))
    };
    model(one).zip(model(other)).is_none_or(|(one, other)| one == other)
}

fn environment(run: &RunResult) -> Option<Environment> {
    serde_json::from_value(run.environment.clone()).ok()
}

fn differences(one: &RunResult, other: &RunResult) -> Vec<String> {
    let both = environment(one).zip(environment(other));
    both.map(|(one, other)| one.differences(&other)).unwrap_or_default()
}

/// The words with each folder replaced by its JSON files, in the order of their names.
fn without_folders(words: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for word in words {
        let folder = Path::new(word);
        if word.parse::<i64>().is_ok() || !folder.is_dir() {
            found.push(word.clone());
            continue;
        }
        let cannot = |why: String| usage(format!("cannot read the runs in {word}: {why}"));
        let entries = std::fs::read_dir(folder).map_err(|error| cannot(error.to_string()))?;
        let mut files: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.path().into_os_string().into_string().ok())
            .filter(|path| path.ends_with(".json"))
            .collect();
        if files.is_empty() {
            return Err(cannot("it has no file whose name ends with .json".to_owned()));
        }
        files.sort();
        found.append(&mut files);
    }
    Ok(found)
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
    let differences = differences(&before, &run);
    if !differences.is_empty() {
        return Err(Failure::Unlike(format!(
            "runs {first} and {second} cannot be merged; they differ in:\n  {}",
            differences.join("\n  ")
        )));
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
