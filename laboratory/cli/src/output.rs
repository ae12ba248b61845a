//! Where text goes and how it looks there.

use crate::cli::{Common, Format};
use carryline_engine::failure::{Failure, usage};
use carryline_engine::session::command_line;
use carryline_report::json::Head;
use carryline_report::redact::redacted;
use carryline_report::table::Style;
use carryline_results::Warning;
use carryline_warnings::trust::condensed;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Lines that do not go to a terminal are shorter than 160 characters, except where a word is longer.
const PIPE_COLUMNS: u16 = 159;

/// How to print on standard output: colour and the terminal's width on a terminal, plain otherwise.
pub fn style() -> Style {
    style_of(&std::io::stdout())
}

fn style_of(stream: &impl IsTerminal) -> Style {
    let terminal = stream.is_terminal();
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = if terminal { terminal_width() } else { None };
    Style { colour: terminal && !refused, width: width.or(Some(PIPE_COLUMNS)) }
}

fn terminal_width() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col >= 40).then_some(size.ws_col)
}

/// Prints a result on standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Prints a result as JSON on standard output. `schema` names its JSON Schema, which `carryline schema` prints.
pub fn print_json<T: Serialize>(schema: &'static str, body: &T, common: &Common) -> Result<(), Failure> {
    let text = carryline_report::json::with_head(&head(schema), body)?;
    match common.redact {
        true => print(&serde_json::to_string_pretty(&redacted(serde_json::from_str(&text)?))?),
        false => print(&text),
    }
}

/// What JSON of that schema begins with.
pub fn head(schema: &'static str) -> Head {
    let date = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    Head { schema, command: command_line().collect(), date }
}

/// Refuses a file that cannot be written, before time is spent on its contents. Nothing is changed.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let refused = |error: std::io::Error| usage(format!("cannot write {}: {error}", path.display()));
    let was_there = path.exists();
    std::fs::OpenOptions::new().append(true).create(true).open(path).map_err(refused)?;
    if !was_there {
        std::fs::remove_file(path).map_err(refused)?;
    }
    Ok(())
}

/// Prints warnings on standard error where `--warnings` asks for them, and else how many there are; unless they are in the
/// JSON or not wanted.
pub fn warn(warnings: &[Warning], common: &Common) {
    if common.quiet || common.format == Format::Json || common.warnings {
        return warnings_wanted(warnings, common);
    }
    let condensed = condensed(warnings);
    let mut codes: Vec<&str> = condensed.iter().map(|warning| warning.code.as_str()).collect();
    codes.dedup();
    match codes.len() {
        0 => {}
        1 => note(&format!("a warning ({}): --warnings prints it", codes[0]), common),
        _ => note(&format!("warnings ({}): --warnings prints them", codes.join(", ")), common),
    }
}

/// Prints warnings on standard error where `--warnings` asks for them.
pub fn warnings_wanted(warnings: &[Warning], common: &Common) {
    if common.warnings && !common.quiet && common.format == Format::Table {
        say(&carryline_report::warnings::to_text(&condensed(warnings), style_of(&std::io::stderr())));
    }
}

/// A remark on standard error, unless it is not wanted.
pub fn note(text: &str, common: &Common) {
    if !common.quiet {
        complain(text);
    }
}

/// What must be said on standard error.
pub fn complain(text: &str) {
    say(&format!("carryline: {text}\n"));
}

/// What standard error does not take (a full disk, a closed pipe) is lost: it decides nothing.
fn say(text: &str) {
    let _lost = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Lets a closed pipe (`carryline list | head -1`) end the process quietly, as it ends other commands. Rust's runtime
/// ignores SIGPIPE.
pub fn restore_broken_pipe() {
    // SAFETY: sets a signal's action to its default, before any thread is started.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
