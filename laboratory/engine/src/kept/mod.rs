//! An earlier run, from the store or a file: its results, its machine and its name.

mod alike;
mod file;
pub mod former;

pub use alike::unlike;

use crate::failure::{Failure, usage};
use crate::plan::RunPlan;
use crate::session::{open_kept, partial};
use anyhow::Context;
use carryline_report::json::About;
use carryline_report::redact::{Redaction, redacted};
use carryline_results::cells::{self, Summary};
use carryline_results::comparison::{Evidence, Row};
use carryline_results::content_hash::{LEAST_DIGITS, content_hash};
use carryline_results::gather::Gathered;
use carryline_results::round::RoundRecord;
use carryline_results::{Cell, RunResult, SCHEMA_VERSION};
use carryline_store::{RunHeader, RunId, Store, StoreError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A complete run from the store.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its number.
    pub id: RunId,
    /// When it began, in UTC.
    pub started: String,
    /// The data stored when it began.
    pub header: RunHeader,
    /// Every finished round.
    pub rounds: Vec<RoundRecord>,
    /// Its result; if the run was killed, the result of its finished rounds.
    pub result: RunResult,
    /// The hash that identifies it in any store or file.
    pub content_hash: String,
    /// False if it was killed or is still running.
    pub ended: bool,
}

/// An earlier run, in the form in which runs are compared.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its name in messages: `run 12`, or the file.
    pub title: String,
    /// Its number in the store.
    pub id: Option<i64>,
    /// See [`content_hash`]; `None` if the file has none.
    pub content_hash: Option<String>,
    /// The user's label.
    pub label: Option<String>,
    /// When it began, in UTC; empty if unknown.
    pub started: String,
    /// The machine and the build.
    pub environment: Value,
    /// What was to be measured, if known.
    pub plan: Option<RunPlan>,
    /// Its results.
    pub rows: Vec<Row>,
    /// The conditions of its situations, as on the command line.
    pub conditions: BTreeMap<String, Value>,
    /// Mean bytes per call in each situation.
    pub bytes_per_call: BTreeMap<String, f64>,
}

/// Finds the run that a word names: a number, the start of a content hash, or a file.
///
/// # Errors
/// Fails if there is no such run or file or it cannot be read; the error states the word and the possible
/// forms.
pub fn find(word: &str, db: Option<&Path>) -> Result<Kept, Failure> {
    match word.parse::<i64>() {
        Ok(_) => stored(word, db).map(Kept::from),
        Err(_) if is_digest(word) && !Path::new(word).exists() => stored(word, db).map(Kept::from),
        Err(_) => file::read(Path::new(word)),
    }
}

/// Finds the stored run that a word names: a number, or the start of a content hash.
///
/// # Errors
/// Fails if no run or more than one matches.
pub fn stored(word: &str, db: Option<&Path>) -> Result<Stored, Failure> {
    let store = open_kept(db).map_err(|error| usage(error.to_string()))?;
    let store = store.ok_or_else(|| usage(format!("there is no run {word}: no run is stored")))?;
    let known = |error: StoreError| usage(error.to_string());
    if let Ok(id) = word.parse::<i64>() {
        match load(&store, RunId(id)) {
            Err(StoreError::UnknownRun { .. }) if is_digest(word) => {}
            other => return other.map_err(known)?,
        }
    }
    if !is_digest(word) {
        return Err(usage(format!(
            "'{word}' is not a run: give its number, or at least {LEAST_DIGITS} digits of its content hash ('carryline history' \
             shows both)"
        )));
    }
    let mut found: Vec<RunId> = Vec::new();
    for run in store.runs(usize::MAX).map_err(known)? {
        let Ok(hash) = hash_of(&store, run.id) else { continue };
        if hash.starts_with(&word.to_ascii_lowercase()) {
            found.push(run.id);
        }
    }
    match *found.as_slice() {
        [id] => load(&store, id).map_err(known)?,
        [] => Err(usage(format!("there is no run {word}: 'carryline history' lists the stored runs"))),
        _ => {
            let numbers: Vec<String> = found.iter().map(ToString::to_string).collect();
            Err(usage(format!(
                "'{word}' matches the content hashes of runs {}; give more digits",
                numbers.join(", ")
            )))
        }
    }
}

/// True if the word may be the start of a content hash.
fn is_digest(word: &str) -> bool {
    (LEAST_DIGITS..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The content hash of a stored run.
///
/// # Errors
/// Fails if the run cannot be read.
pub fn hash_of(store: &Store, id: RunId) -> Result<String, StoreError> {
    Ok(content_hash(&store.header(id)?.plan, &store.rounds(id)?))
}

/// Reads a run. The outer error is the store's; the inner one is for a run made by an older version.
fn load(store: &Store, id: RunId) -> Result<Result<Stored, Failure>, StoreError> {
    let (started, header) = store.started(id)?;
    let rounds = store.rounds(id)?;
    let (result, ended) = match store.load_run(id) {
        Err(StoreError::Unfinished { .. }) => match from_rounds(id, &header, &rounds) {
            Ok(result) => (result, false),
            Err(failure) => return Ok(Err(failure)),
        },
        other => (other?, true),
    };
    let content_hash = content_hash(&header.plan, &rounds);
    let result = former::renamed(result);
    Ok(Ok(Stored { id, started, header, rounds, result, content_hash, ended }))
}

impl Stored {
    /// What was to be measured, in the words of then; `None` for experiments, which have plans of their own.
    fn plan(&self) -> Option<RunPlan> {
        serde_json::from_value(self.header.plan.clone()).ok()
    }

    /// The user's label.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        label(&self.header.command)
    }

    /// What its JSON states besides the result.
    #[must_use]
    pub fn about(&self) -> About {
        let command =
            std::iter::once("carryline".to_owned()).chain(self.header.command.iter().cloned()).collect();
        let (content_hash, started) = (Some(self.content_hash.clone()), Some(self.started.clone()));
        About { content_hash, label: self.label(), started, made_by: command }
    }

    /// This run without what identifies the machine and its user.
    #[must_use]
    pub fn redacted(mut self) -> Stored {
        let whole = json!({
            "command": self.header.command,
            "environment": self.header.environment,
            "plan": self.header.plan,
        });
        let redaction = Redaction::of(&whole);
        let mut whole = redacted(whole);
        self.header.command = serde_json::from_value(whole["command"].take()).unwrap_or_default();
        self.header.environment = whole["environment"].take();
        self.header.plan = whole["plan"].take();
        redaction.rounds(&mut self.rounds);
        redaction.result(&mut self.result);
        self
    }

    /// Its rounds by situation; empty for experiments.
    #[must_use]
    pub fn gathered(&self) -> Vec<Gathered> {
        self.plan().map(|plan| former::gathered(&plan, &self.rounds)).unwrap_or_default()
    }
}

/// The label given on a command line.
#[must_use]
pub fn label(command: &[String]) -> Option<String> {
    let mut words = command.iter().take_while(|word| *word != "--");
    let mut label = None;
    while let Some(word) = words.next() {
        match word.strip_prefix("--label") {
            Some("") => label = words.next().cloned(),
            Some(rest) => label = rest.strip_prefix('=').map(str::to_owned).or(label),
            None => {}
        }
    }
    label
}

impl From<Stored> for Kept {
    fn from(stored: Stored) -> Kept {
        let gathered = stored.gathered();
        let mut kept = Kept::of_result(&stored.result);
        kept.put_samples(&gathered);
        Kept {
            title: format!("run {}", stored.id),
            id: Some(stored.id.0),
            label: stored.label(),
            plan: stored.plan().map(former::plan),
            content_hash: Some(stored.content_hash),
            started: stored.started,
            environment: stored.header.environment,
            ..kept
        }
    }
}

impl Kept {
    /// A result as an earlier run, without samples.
    #[must_use]
    pub fn of_result(result: &RunResult) -> Kept {
        let floors: BTreeMap<&str, f64> = result
            .noise_floor
            .iter()
            .flat_map(|floor| &floor.by_situation)
            .map(|(name, floor)| (name.as_str(), *floor))
            .collect();
        let row = |cell| Row::of_cell(cell, floors.get(cell.situation.as_str()).copied());
        let cells = &result.cells;
        let condition = |cell: &Cell| {
            let calls = cell.observed.as_ref().and_then(|observed| observed.batch_calls);
            alike::with_batch(carryline_report::json::condition(&cell.condition), calls)
        };
        Kept {
            title: "this run".to_owned(),
            id: result.run_id,
            content_hash: None,
            label: None,
            started: String::new(),
            environment: result.environment.clone(),
            plan: None,
            rows: cells.iter().map(row).collect(),
            conditions: cells.iter().map(|cell| (cell.situation.clone(), condition(cell))).collect(),
            bytes_per_call: cells.iter().map(|cell| (cell.situation.clone(), cell.bytes_per_call)).collect(),
        }
    }

    /// False if its figures are estimates without the samples from which they were made.
    #[must_use]
    pub fn has_samples(&self) -> bool {
        !self.rows.iter().any(|row| matches!(row.evidence, Evidence::Estimate(_)))
    }

    /// Replaces the estimates by the samples from which they were made.
    fn put_samples(&mut self, gathered: &[Gathered]) {
        for gathered in gathered {
            let situation = &gathered.situation;
            for (place, name) in situation.subjects.iter().enumerate() {
                let same = |row: &&mut Row| row.situation == situation.name && row.variant == *name;
                let Some(row) = self.rows.iter_mut().find(same) else { continue };
                if row.evidence != Evidence::Nothing {
                    row.evidence = Evidence::Samples(gathered.gross(place));
                }
            }
        }
    }

    /// Its number or file, its date and its label.
    #[must_use]
    pub fn name(&self) -> String {
        let day = self.started.get(..16).map(|time| time.replace('T', " "));
        let about: Vec<String> = day.into_iter().chain(self.label.clone()).collect();
        match about.is_empty() {
            true => self.title.clone(),
            false => format!("{} ({})", self.title, about.join(", ")),
        }
    }
}

/// The result of a run that did not end, from its plan and its rounds.
fn from_rounds(id: RunId, header: &RunHeader, rounds: &[RoundRecord]) -> Result<RunResult, Failure> {
    let plan: RunPlan = serde_json::from_value(header.plan.clone())
        .context("the plan of this run is from another version")?;
    let gathered = Gathered::restore(plan.situations, rounds);
    let summaries: Vec<(String, Summary)> = gathered
        .iter()
        .map(|gathered| (gathered.situation.name.clone(), cells::summarise(gathered, &[], header.seed)))
        .collect();
    let mut cells: Vec<Cell> =
        summaries.iter().flat_map(|(_, summary)| summary.cells.iter().cloned()).collect();
    let warnings = vec![partial(&mut cells)];
    Ok(RunResult {
        schema_version: SCHEMA_VERSION,
        run_id: Some(id.0),
        seed: header.seed,
        environment: header.environment.clone(),
        noise_floor: cells::noise_floor(&summaries),
        ticks_per_cycle: cells::ticks_per_cycle(&gathered),
        ticks_per_ns: None,
        limits: Vec::new(),
        warnings,
        cells,
        experiments: Vec::new(),
        complete: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_label_counts() {
        let of = |line: &str| label(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of("run --label before --budget 5s"), Some("before".to_owned()));
        assert_eq!(of("run --label=a --label=b=c"), Some("b=c".to_owned()));
        assert_eq!(of("real -- cmd --label x"), None);
        assert_eq!(of("run --labels x"), None);
        assert_eq!(of("run --label"), None);
    }

    #[test]
    fn six_to_64_hexadecimal_digits_may_start_a_hash() {
        assert!(is_digest("0a1b2c") && is_digest(&"f".repeat(64)) && is_digest("123456"));
        assert!(!is_digest("0a1b2") && !is_digest("base.json") && !is_digest(&"f".repeat(65)));
    }
}
