//! The format of `hyperfine --export-json`: a command for each cell, with a time in seconds for each
//! replicate.

use super::{ExportError, Exported};
use carryline_results::Cell;
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
struct Results {
    results: Vec<CommandResult>,
}

#[derive(Serialize)]
struct CommandResult {
    command: String,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    exit_codes: Vec<i32>,
    parameters: Map<String, Value>,
}

pub(super) fn render(exported: &Exported<'_>) -> Result<String, ExportError> {
    let per_ns =
        exported.run.ticks_per_ns.filter(|ticks| *ticks > 0.0).ok_or(ExportError::NoTime("hyperfine"))?;
    let result = |cell: &Cell| -> Option<CommandResult> {
        let times: Vec<f64> =
            exported.by_replicate(cell).into_iter().map(|ticks| ticks / per_ns * 1e-9).collect();
        let count = times.len() as f64;
        let median = carryline_statistics::median(&times)?;
        let mean = times.iter().sum::<f64>() / count;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        // All conditions as text, like the values of hyperfine's parameters.
        let mut parameters = Map::new();
        parameters.insert("variant".to_owned(), cell.variant.clone().into());
        parameters.insert("family".to_owned(), cell.family.name().into());
        if let Value::Object(condition) = crate::json::condition(&cell.condition) {
            let text = |value: Value| match value {
                Value::String(text) => text,
                other => other.to_string(),
            };
            parameters.extend(condition.into_iter().map(|(key, value)| (key, text(value).into())));
        }
        Some(CommandResult {
            command: exported.name(cell),
            mean,
            stddev: (times.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            median,
            // Timed code makes no system calls.
            user: mean,
            system: 0.0,
            min: times.iter().copied().fold(f64::INFINITY, f64::min),
            max: times.iter().copied().fold(0.0, f64::max),
            exit_codes: vec![0; times.len()],
            times,
            parameters,
        })
    };
    let results = exported.measured().filter_map(result).collect();
    Ok(serde_json::to_string_pretty(&Results { results })? + "\n")
}
