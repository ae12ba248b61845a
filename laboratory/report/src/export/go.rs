//! Go's benchmark text (<https://golang.org/design/14313-benchmark-format>) for benchstat, a line for each
//! replicate.
//!
//! The condition is part of the benchmark's name as `/key=value`, so that `benchstat -col /variant` compares
//! the variants of a situation, and `benchstat -col .file before.txt after.txt` two runs.

use super::{ExportError, Exported};
use crate::json::condition;
use carryline_results::Cell;
use serde_json::Value;

pub(super) fn render(exported: &Exported<'_>) -> Result<String, ExportError> {
    let environment = &exported.run.environment;
    let target = environment["build"]["target"].as_str().unwrap_or_default();
    let mut out = String::new();
    let arch = match target.split('-').next() {
        Some("x86_64") => "amd64",
        Some("aarch64") => "arm64",
        other => other.unwrap_or_default(),
    };
    let os = if target.contains("-linux") { "linux" } else { "" };
    let cpu = environment["cpu"]["brand"].as_str().unwrap_or_default();
    let facts = [("goos", os), ("goarch", arch), ("pkg", "carryline"), ("cpu", cpu)];
    // No keys that differ from run to run: benchstat makes a separate table for each configuration.
    for (key, value) in facts {
        if !value.is_empty() {
            out.push_str(&format!("{key}: {}\n", crate::text::safe(value)));
        }
    }
    out.push_str("Unit ns/op better=lower\nUnit ticks/op better=lower\n");
    let per_ns = exported.run.ticks_per_ns.filter(|ticks| *ticks > 0.0);
    for cell in exported.measured() {
        let ticks = exported.by_replicate(cell);
        let calls =
            cell.observed.as_ref().map_or(1, |observed| observed.calls / ticks.len().max(1) as u64).max(1);
        let name = name(cell);
        for ticks in ticks {
            let ns = per_ns.map_or_else(String::new, |per_ns| format!(" {} ns/op", figure(ticks / per_ns)));
            out.push_str(&format!("{name} {calls}{ns} {} ticks/op\n", figure(ticks)));
        }
    }
    Ok(out)
}

/// Four decimals, enough for the precision of the measurement.
fn figure(value: f64) -> String {
    format!("{value:.4}")
}

/// `BenchmarkChecksum/variant=carryline/size=1500/...`.
fn name(cell: &Cell) -> String {
    let family: String =
        cell.family.name().split('_').map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect();
    let mut name = format!("Benchmark{family}/variant={}", word(&cell.variant));
    let condition = condition(&cell.condition);
    // The dependence comes last: Go strips a hyphen and digits from the end of a name, as the number of CPUs.
    for key in ["size", "offsets", "cache", "pages", "segments", "then", "beside", "dependence"] {
        let value = match &condition[key] {
            Value::String(text) => text.clone(),
            Value::Array(segments) if segments.is_empty() => continue,
            Value::Array(segments) => segments.iter().map(Value::to_string).collect::<Vec<_>>().join("+"),
            value => value.to_string(),
        };
        let usual =
            matches!((key, &*value), ("offsets", "0") | ("pages", "4k") | ("then" | "beside", "nothing"));
        if !usual {
            name.push_str(&format!("/{key}={}", word(&value)));
        }
    }
    name
}

/// Replaces spaces, which names cannot contain, and slashes, which separate their parts.
fn word(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() || c.is_control() || c == '/' { '_' } else { c }).collect()
}
