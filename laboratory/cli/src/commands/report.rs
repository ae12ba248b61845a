//! `carryline report [RUN]`, and `--report` of commands that measure: writes a run as an HTML page.

use super::critical::page::codes;
use crate::cli::{Common, Effort, Format, Report};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::kept::{self, Stored};
use carryline_engine::machine::Here;
use carryline_engine::session::{Finished, command_line, open_kept};
use carryline_machine::environment::Environment;
use carryline_report::page::{About, Code, Contents, calls, page};
use carryline_report::redact::Redaction;
use carryline_report::roles::Roles;
use carryline_report::text::shell;
use carryline_report::units::Unit;
use carryline_results::RunResult;
use carryline_results::gather::Gathered;
use carryline_store::{RunStatus, RunSummary};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// A page that was written.
#[derive(Serialize)]
struct Written {
    run_id: Option<i64>,
    content_hash: Option<String>,
    file: PathBuf,
    bytes: usize,
    situations: usize,
    rows: usize,
    listings: usize,
    /// Why no machine code is shown; `None` if it is.
    no_code: Option<String>,
}

/// Writes the page of a stored run.
pub fn run(args: &Report, common: &Common) -> Result<u8, Failure> {
    let word = match &args.run {
        Some(word) => word.clone(),
        None => latest(common.db.as_deref())?,
    };
    let stored = kept::stored(&word, common.db.as_deref())?;
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("run-{}.html", stored.id)));
    output::check_writable(&path)?;
    let here = Here::look();
    let no_code = why_other_code(&stored.result.environment, &here.environment);
    let codes = codes_of(&stored.result, no_code.as_deref(), &here, common);
    let stored = if common.redact { stored.redacted() } else { stored };
    let is_printed = output::is_stdout(&path);
    if is_printed && common.format == Format::Json {
        return Err(usage("--output -: the page and the JSON cannot both go to standard output"));
    }
    let bytes = write(&path, &stored.result, args.unit, &about(&stored), &stored.gathered(), &codes)?;
    let mut situations: Vec<&str> = stored.result.cells.iter().map(|cell| cell.situation.as_str()).collect();
    situations.dedup();
    let written = Written {
        run_id: stored.result.run_id,
        content_hash: Some(stored.content_hash.clone()),
        file: path,
        bytes,
        situations: situations.len(),
        rows: stored.result.cells.len(),
        listings: codes.iter().filter(|code| code.found.is_ok()).count(),
        no_code,
    };
    match common.format {
        Format::Json => output::print_json("report", &json!(written), common)?,
        Format::Table => {
            if let Some(reason) = &written.no_code {
                output::note(&format!("the page shows no machine code: {reason}"), common);
            }
            if !is_printed {
                output::print(&written.file.to_string_lossy())?;
            }
        }
    }
    Ok(0)
}

/// The description of a stored run on its page.
fn about(stored: &Stored) -> About {
    About {
        started: stored.started.clone(),
        repeat: repeat(stored.header.command.iter().cloned(), stored.header.seed),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        content_hash: Some(stored.content_hash.clone()),
        label: stored.label(),
    }
}

/// Writes the page of a run that this process has measured.
pub fn of_finished(
    finished: &Finished,
    path: &Path,
    unit: Unit,
    effort: &Effort,
    common: &Common,
) -> Result<(), Failure> {
    let result = &finished.result;
    let codes = codes_of(result, None, &Here::look(), common);
    let stored = result.run_id.and_then(|id| kept::stored(&id.to_string(), common.db.as_deref()).ok());
    let about = match &stored {
        Some(stored) => about(stored),
        // The run was not saved.
        None => About {
            repeat: repeat(command_line().skip(1), result.seed),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            label: effort.label.clone(),
            ..About::default()
        },
    };
    match common.redact {
        false => write(path, result, unit, &about, &finished.gathered, &codes)?,
        true => {
            let situations: Vec<_> = finished.gathered.iter().map(|gathered| &gathered.situation).collect();
            let redaction = Redaction::of(&json!({ "command": about.repeat, "plan": situations }));
            let (mut result, mut gathered) = (result.clone(), finished.gathered.clone());
            redaction.result(&mut result);
            redaction.gathered(&mut gathered);
            let repeat = redaction.line(&about.repeat);
            write(path, &result, unit, &About { repeat, ..about }, &gathered, &codes)?
        }
    };
    output::note(&format!("wrote {}", path.display()), common);
    Ok(())
}

/// The number of the latest run that has ended.
fn latest(db: Option<&Path>) -> Result<String, Failure> {
    let store = open_kept(db).map_err(|error| usage(error.to_string()))?;
    let runs = match &store {
        Some(store) => store.runs(usize::MAX).map_err(|error| usage(error.to_string()))?,
        None => Vec::new(),
    };
    let ended = |run: &&RunSummary| matches!(run.status, RunStatus::Complete | RunStatus::Interrupted);
    match runs.iter().find(ended) {
        Some(run) => Ok(run.id.to_string()),
        None => Err(usage("no run is stored: 'carryline run --report page.html' makes one and its page")),
    }
}

/// Why this process has other machine code than the run; `None` if it has the same.
fn why_other_code(run: &serde_json::Value, here: &Environment) -> Option<String> {
    let Ok(there) = serde_json::from_value::<Environment>(run.clone()) else {
        return Some("another version of this command measured the run".to_owned());
    };
    let (a, b) = (&here.cpu, &there.cpu);
    let reason = match (&here.build.id, &there.build.id) {
        (None, _) | (_, None) => "the build that measured the run is not known",
        (Some(here), Some(there)) if here != there => "another build measured the run",
        _ if (&a.brand, a.family, a.model, a.stepping) != (&b.brand, b.family, b.model, b.stepping) => {
            "another CPU measured the run"
        }
        _ if a.masked_features != b.masked_features => "other CPU features were masked in the run",
        _ if here.system.libc != there.system.libc => "the run had another C library",
        _ if here.tuning != there.tuning => "the library used another profile in the run",
        _ => return None,
    };
    Some(reason.to_owned())
}

/// The machine code of each row's call, or the reason why it is not shown.
fn codes_of(result: &RunResult, no_code: Option<&str>, here: &Here, common: &Common) -> Vec<Code> {
    let calls = calls(result, &Roles::of_collection());
    match no_code {
        None => codes(calls, here, common),
        Some(reason) => {
            let none = |call| Code { call, found: Err(format!("not shown, because {reason}")) };
            calls.into_iter().map(none).collect()
        }
    }
}

/// Writes the page; returns its length in bytes.
fn write(
    path: &Path,
    run: &RunResult,
    unit: Unit,
    about: &About,
    gathered: &[Gathered],
    codes: &[Code],
) -> Result<usize, Failure> {
    let roles = Roles::of_collection();
    let html = page(&Contents { run, unit, roles: &roles, about, gathered, codes })?;
    output::write_to(Some(path), &html)?;
    Ok(html.len())
}

/// The command line that repeats a run.
fn repeat(arguments: impl Iterator<Item = String>, seed: u64) -> String {
    let mut words = vec!["carryline".to_owned()];
    let mut arguments = arguments;
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--seed" => _ = arguments.next(),
            given if given.starts_with("--seed=") => {}
            _ => words.push(word),
        }
    }
    words.extend(["--seed".to_owned(), seed.to_string()]);
    shell(words.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeating_command_has_the_seed_once() {
        let of = |line: &str| repeat(line.split(' ').map(str::to_owned), 7);
        assert_eq!(of("run --seed 3 --budget 5s"), "carryline run --budget 5s --seed 7");
        assert_eq!(of("run --seed=3"), "carryline run --seed 7");
    }

    #[test]
    fn code_is_shown_only_by_the_same_build_on_the_same_machine() {
        let mut here = Environment::here();
        here.build.id = Some("ab".to_owned());
        let reason = |change: &dyn Fn(&mut Environment)| {
            let mut there = here.clone();
            change(&mut there);
            why_other_code(&json!(there), &here)
        };
        assert_eq!(reason(&|_| ()), None);
        for (word, change) in [
            ("not known", (|e| e.build.id = None) as fn(&mut Environment)),
            ("another build", |e| e.build.id = Some("cd".to_owned())),
            ("another CPU", |e| e.cpu.brand = Some("Imaginary 9000".to_owned())),
            ("masked", |e| e.cpu.masked_features.push("avx2".to_owned())),
            ("C library", |e| e.system.libc.push('x')),
            ("profile", |e| e.tuning = None),
        ] {
            assert!(reason(&change).is_some_and(|reason| reason.contains(word)), "{word}");
        }
        assert!(why_other_code(&json!({}), &here).is_some_and(|reason| reason.contains("version")));
    }
}
