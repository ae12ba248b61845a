//! Checks that take too long for `cargo test`: the fuzzing targets for minutes instead of seconds, and every test
//! that is marked `#[ignore = "deep: ..."]`, in a module named `deep`. What there is to build is built before the
//! time begins to count.

use std::ffi::OsString;
use std::fmt::Write;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant, SystemTime};

/// How long it looks for faults if nothing else is requested.
pub const DEFAULT: Duration = Duration::from_secs(900);

/// The number of fuzzing targets, which share a third of the time.
const TARGETS: u32 = 5;

const FUZZ: [&str; 5] = ["run", "--quiet", "--release", "--package", "carryline-fuzz"];
const TESTS: [&str; 3] = ["test", "--workspace", "--no-fail-fast"];

/// Runs the deep checks for about `time`; tests that have not ended by then are ended. What was left out is in the text.
///
/// # Errors
/// Cargo cannot be started, or a check has failed; it has said why.
pub fn deep(time: Duration) -> io::Result<String> {
    success(
        "building the fuzzing targets",
        cargo(&["build", "--quiet", "--release", "--package", FUZZ[4]]).status()?,
    )?;
    success("building the tests", cargo(&TESTS).arg("--no-run").status()?)?;
    let begin = Instant::now();
    let seconds = format!("{:.1}", (time / 3 / TARGETS).as_secs_f64());
    // Other inputs every day; the command prints those that fail.
    let seed =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |since| since.as_secs() / 86_400);
    let seed = seed.to_string();
    let fuzzed =
        cargo(&FUZZ).args(["--", "all", "--quiet", "--seconds", &seconds, "--seed", &seed]).status()?;
    success("fuzzing", fuzzed)?;
    let mut tests = cargo(&TESTS).args(["--", "--ignored", "deep::"]).process_group(0).spawn()?;
    let mut said = String::new();
    match within(&mut tests, begin + time)? {
        Some(status) => success("a deep test", status)?,
        None => {
            let _ = write!(said, "the deep tests did not end within {} s and are undecided", time.as_secs());
        }
    }
    Ok(said)
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.args(arguments).arg("--locked").current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

fn success(what: &str, status: ExitStatus) -> io::Result<()> {
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{what}: {status}"))) }
}

/// Waits for a process that leads a group, until `end` at the latest: then the whole group is killed.
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
