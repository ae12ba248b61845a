//! Printing on standard output and standard error.

use crate::cli::{Common, Format};
use carryline_engine::failure::{Failure, usage};
use carryline_engine::interrupt;
use carryline_engine::session::command_line;
use carryline_report::json::Head;
use carryline_report::redact::redacted;
use carryline_report::table::Style;
use carryline_report::text::wrap;
use carryline_results::Warning;
use carryline_warnings::trust::condensed;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;

/// What every command says that the user interrupted.
pub const INTERRUPTED: &str = "Interrupted: partial results.";

/// Line width if standard output is no terminal: lines stay below 160 characters unless a single word is
/// longer.
const PIPE_COLUMNS: u16 = 159;
/// The least line width on a terminal.
const LEAST_COLUMNS: u16 = 40;

/// The style of standard output: colour and the terminal's width on a terminal, otherwise plain.
pub fn style() -> Style {
    style_of(&std::io::stdout())
}

fn style_of(stream: &(impl IsTerminal + AsFd)) -> Style {
    let terminal = stream.is_terminal();
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = if terminal { terminal_width(stream) } else { None };
    Style { colour: terminal && !refused, width: width.or(Some(PIPE_COLUMNS)) }
}

/// The columns of a terminal: where there are few, lines are longer, as a word would be. Some terminals report none.
fn terminal_width(terminal: &impl AsFd) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.max(LEAST_COLUMNS))
}

/// Prints text on standard output, ending in a newline.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end)).and_then(|()| out.flush());
    written.map_err(|error| anyhow::anyhow!("cannot write to standard output: {error}"))?;
    Ok(())
}

/// Prints a result in the requested format: as JSON of this schema, or as text.
pub fn print_result<T: Serialize>(
    schema: &'static str,
    body: &T,
    text: impl FnOnce(Style) -> String,
    common: &Common,
) -> Result<(), Failure> {
    match common.format {
        Format::Json => print_json(schema, body, common),
        Format::Table => print(&text(style())),
    }
}

/// Prints a value as JSON on standard output, with the name of its schema in front.
pub fn print_json<T: Serialize>(schema: &'static str, body: &T, common: &Common) -> Result<(), Failure> {
    let text = carryline_report::json::with_head(&head(schema), body)?;
    match common.redact {
        true => print(&serde_json::to_string_pretty(&redacted(serde_json::from_str(&text)?))?),
        false => print(&text),
    }
}

/// The fields that begin all JSON output.
pub fn head(schema: &'static str) -> Head {
    let date = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    Head { schema, command: command_line().collect(), date }
}

/// Prints a text, or writes it to a file; `-` is standard output.
pub fn write_to(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    match path.filter(|path| !is_stdout(path)) {
        None => print(text),
        Some(path) => {
            std::fs::write(path, text)
                .map_err(|error| anyhow::anyhow!("cannot write {}: {error}", path.display()))?;
            Ok(())
        }
    }
}

/// True for `-`, which as an output is no file.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Fails if a file cannot be written, before time is spent on its contents. Changes nothing.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    if is_stdout(path) {
        return Ok(());
    }
    let refused = |error: std::io::Error| usage(format!("cannot write {}: {error}", path.display()));
    let was_there = path.exists();
    std::fs::OpenOptions::new().append(true).create(true).open(path).map_err(refused)?;
    if !was_there {
        std::fs::remove_file(path).map_err(refused)?;
    }
    Ok(())
}

/// Prints warnings on standard error: in full with `--warnings`, otherwise only their codes. Prints nothing
/// with `--quiet` or if the warnings are in the JSON.
pub fn warn(warnings: &[Warning], common: &Common) {
    if common.quiet || common.format == Format::Json || common.warnings {
        return warn_in_full(warnings, common);
    }
    let condensed = condensed(warnings);
    let mut codes: Vec<&str> = condensed.iter().map(|warning| warning.code.as_str()).collect();
    codes.dedup();
    match codes.len() {
        0 => {}
        1 => note(&format!("a warning ({}); see it with --warnings", codes[0]), common),
        _ => note(&format!("warnings ({}); see them with --warnings", codes.join(", ")), common),
    }
}

/// Prints warnings in full on standard error, but only with `--warnings`.
pub fn warn_in_full(warnings: &[Warning], common: &Common) {
    if common.warnings && !common.quiet && common.format == Format::Table {
        to_stderr(&carryline_report::warnings::to_text(&condensed(warnings), style_of(&std::io::stderr())));
    }
}

/// Says after its results that the user interrupted the command: where they are, or on standard error if they are
/// JSON.
pub fn end_of_partial(common: &Common) -> Result<(), Failure> {
    match common.format {
        _ if !interrupt::requested() => Ok(()),
        Format::Json => {
            message(INTERRUPTED);
            Ok(())
        }
        Format::Table => print(INTERRUPTED),
    }
}

/// Prints a note on standard error unless `--quiet` is given.
pub fn note(text: &str, common: &Common) {
    if !common.quiet {
        message(text);
    }
}

/// Prints a message on standard error, prefixed with the program's name.
pub fn message(text: &str) {
    let stream = std::io::stderr();
    // Only a terminal has lines: elsewhere a message is one.
    let width = if stream.is_terminal() { style_of(&stream).width } else { None };
    to_stderr(&format!("{}\n", wrap(&format!("carryline: {text}"), width, 2)));
}

/// Writes to standard error. Errors (a full disk, a closed pipe) are ignored.
fn to_stderr(text: &str) {
    let _ignored = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Restores the default action of SIGPIPE, which Rust's runtime ignores, so that a closed pipe (`carryline
/// list | head -1`) ends the process quietly.
pub fn restore_broken_pipe() {
    // SAFETY: sets a signal's action to its default, before any thread is started.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
