//! Audits implementations; prints a table or JSON, or writes a document.

use crate::cli::{Audit, Common};
use crate::output;
use anyhow::Context;
use carryline_audit::render;
use carryline_audit::report::Audit as Found;
use carryline_audit::run::{self, Setting};
use carryline_audit::subjects::{self, Subject};
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::progress::Progress;
use carryline_engine::{interrupt, session};
use std::path::Path;
use std::time::Duration;

/// Audits the chosen implementations.
pub fn run(args: &Audit, common: &Common) -> Result<u8, Failure> {
    let subjects = chosen(args)?;
    if let Some(path) = &args.report {
        output::check_writable(path)?;
        output::check_writable(&data_file(path))?;
    }
    let supervisor = session::supervisor(args.patience)?;
    let progress = Progress::new(run::forecast(subjects.len()), common.quiet);
    let found = run::run(
        &subjects,
        &Setting {
            supervisor: &supervisor,
            timeout: Duration::from_secs(args.patience),
            seed: session::seed(common.seed),
            progress: &progress,
        },
    )?;
    progress.finish();
    output::print_result("audit", &found, |style| render::to_text(&found, style), common)?;
    output::end_of_partial(common)?;
    // An interrupted audit does not replace an earlier, complete one.
    if let Some(path) = args.report.as_ref().filter(|_| !interrupt::requested()) {
        let data = serde_json::to_string_pretty(&found.without_long_input())? + "\n";
        for (path, text) in [(path.clone(), render::to_markdown(&found)), (data_file(path), data)] {
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(status_of(&found, interrupt::requested()))
}

/// The path of a document's data.
fn data_file(document: &Path) -> std::path::PathBuf {
    document.with_extension("json")
}

fn chosen(args: &Audit) -> Result<Vec<Subject>, Failure> {
    let refused = |error: subjects::SubjectError| usage(error.to_string());
    if args.report.as_ref().is_some_and(|path| path.extension().is_some_and(|end| end == "json")) {
        return Err(usage(
            "--report: name the document, as in audit.md; the data is written next to it, as audit.json",
        ));
    }
    let mut subjects = subjects::named(&args.names).map_err(refused)?;
    for word in &args.plugin {
        subjects.push(subjects::object(word, args.form.as_deref()).map_err(refused)?);
    }
    subjects.extend(args.command.iter().cloned().map(Subject::Command));
    Ok(if subjects.is_empty() { subjects::collection() } else { subjects })
}

fn status_of(found: &Found, interrupted: bool) -> u8 {
    match (interrupted, found.is_any_wrong(), found.is_any_unusable()) {
        (true, ..) => status::INTERRUPTED,
        (false, true, _) => status::WRONG,
        (false, false, true) => status::USAGE,
        (false, false, false) => 0,
    }
}
