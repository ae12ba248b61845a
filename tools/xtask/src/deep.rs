//! Checks that take too long for `cargo test`: the fuzzing targets for minutes instead of thousands of
//! inputs, and every test marked `#[ignore = "deep: ..."]`, in a module named `deep`. Everything is built
//! before the time starts, as for `cargo test`: at least half as fast as a release build, and with debug assertions. The time is
//! divided so that every check runs; a check that has found nothing when its share ends is stopped and named in the result.

use serde_json::Value;
use std::fmt;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// The default duration.
pub const DEFAULT: Duration = Duration::from_secs(900);

/// The result of deep checks of which none failed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Deep {
    /// Checks that completed.
    pub passed: Vec<String>,
    /// Checks stopped at the end of their share of the time, without a failure.
    pub cut_short: Vec<String>,
}

impl fmt::Display for Deep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "passed: {}", listed(&self.passed))?;
        write!(f, "stopped by the time limit, without a failure so far: {}", listed(&self.cut_short))
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Runs the deep checks for about `time`.
///
/// # Errors
/// If cargo cannot be started, or checks failed: the message names them, and they have printed the reason.
pub fn deep(time: Duration) -> io::Result<Deep> {
    build(&["--package", FUZZ, "--bin", FUZZ])?;
    let tests = tests()?;
    let begin = Instant::now();
    let (mut done, mut failed) = (Deep::default(), Vec::new());
    // A third of the time is for fuzzing, in equal shares.
    let targets = targets()?;
    let share = time / 3 / u32::try_from(targets.len().max(1)).unwrap_or(u32::MAX);
    // Different inputs every day; the command prints those that fail.
    let days =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |since| since.as_secs() / 86_400);
    let (share, seed) = (format!("{:.1}", share.as_secs_f64()), days.to_string());
    for target in targets {
        let status = fuzz().args([&target, "--quiet", "--seconds", &share, "--seed", &seed]).status()?;
        if status.success() {
            done.passed.push(target);
        } else {
            failed.push(target);
        }
    }
    for (at, test) in tests.iter().enumerate() {
        let left = (begin + time).saturating_duration_since(Instant::now());
        let share = left / u32::try_from(tests.len() - at).unwrap_or(u32::MAX);
        let mut child = test.command().process_group(0).spawn()?;
        match within(&mut child, Instant::now() + share)? {
            Some(status) if status.success() => done.passed.push(test.to_string()),
            Some(_) => failed.push(test.to_string()),
            None => done.cut_short.push(test.to_string()),
        }
    }
    if failed.is_empty() { Ok(done) } else { Err(io::Error::other(format!("failed: {}", listed(&failed)))) }
}

/// The package and the program of the fuzzing targets.
const FUZZ: &str = "carryline-fuzz";

fn cargo() -> Command {
    crate::cargo(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

fn build(what: &[&str]) -> io::Result<()> {
    let status = cargo().args(["build", "--quiet", "--locked"]).args(what).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("cargo build: {status}"))) }
}

fn fuzz() -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--locked", "--package", FUZZ, "--bin", FUZZ, "--"]);
    command
}

/// The fuzzing targets, from their program's list: one per line, the name first.
fn targets() -> io::Result<Vec<String>> {
    let lines = output(&mut fuzz())?;
    Ok(lines.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

/// A deep test and its program.
struct Test {
    program: PathBuf,
    /// The folder of its package, in which cargo runs it.
    folder: PathBuf,
    name: String,
}

impl Test {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--ignored", "--exact", &self.name]);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// Builds all tests and finds the deep ones.
fn tests() -> io::Result<Vec<Test>> {
    let built =
        output(cargo().args(["test", "--workspace", "--locked", "--no-run", "--message-format", "json"]))?;
    let mut tests = Vec::new();
    for line in built.lines() {
        let message: Value = serde_json::from_str(line)?;
        let (Some(program), Some(manifest)) =
            (message["executable"].as_str(), message["manifest_path"].as_str())
        else {
            continue;
        };
        if message["profile"]["test"] != true {
            continue;
        }
        let folder = Path::new(manifest).parent().unwrap_or(Path::new("."));
        let names =
            output(Command::new(program).args(["--list", "--ignored", "deep::"]).current_dir(folder))?;
        tests.extend(names.lines().filter_map(|line| line.strip_suffix(": test")).map(|name| Test {
            program: PathBuf::from(program),
            folder: folder.to_owned(),
            name: name.to_owned(),
        }));
    }
    Ok(tests)
}

/// The output of a command. Its standard error is inherited.
fn output(command: &mut Command) -> io::Result<String> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{}: {}", command.get_program().display(), output.status)));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

/// Waits for a process that leads a group until `end`, and then kills the whole group.
fn within(child: &mut Child, end: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-s", "KILL", "--", &group]).status()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
