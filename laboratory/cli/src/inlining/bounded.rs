//! Runs a program that may fail, hang or print without end: with a time limit, in its own process group, its
//! output in files of limited size.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The maximum size of an output file; a probe's object needs less than a tenth of it.
const LARGEST_FILE_BYTES: u64 = 64 << 20;
/// The maximum number of bytes read from a program's output.
const MOST_PRINTED_BYTES: u64 = 64 << 10;

/// Why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It could not be started.
    #[error("cannot be started: {0}")]
    Start(#[from] std::io::Error),
    /// It ended with an error.
    #[error("{0}")]
    Failed(String),
    /// It did not end in time.
    #[error("did not end within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// Runs a command until it ends, its time is over or `stop` returns true, and returns its standard output.
/// `scratch` is the path of temporary files, used by this run alone.
///
/// # Errors
/// If the command does not end successfully in time.
pub fn run(
    command: &mut Command,
    limit: Duration,
    scratch: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<String, RunError> {
    let (out, err) = (scratch.with_extension("out"), scratch.with_extension("err"));
    command
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .process_group(0);
    // SAFETY: between fork and exec, makes one async-signal-safe call, with a value captured by copy.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit { rlim_cur: LARGEST_FILE_BYTES, rlim_max: LARGEST_FILE_BYTES };
            match libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let mut group = Group(command.spawn()?);
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = group.0.try_wait()? {
            break status;
        }
        if stop() {
            return Err(RunError::Interrupted);
        }
        if begin.elapsed() > limit {
            return Err(RunError::TimedOut(limit));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    drop(group);
    if status.success() { Ok(printed(&out)) } else { Err(RunError::Failed(failure(status, &printed(&err)))) }
}

/// A program and all processes that it started.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(group @ 2..) = i32::try_from(self.0.id()) {
            // SAFETY: has no memory effects; the group was created for this child, which is reaped only below
            // or by the `try_wait` that saw its end, after which only its descendants can be in the group.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        let _already_reaped = self.0.wait();
    }
}

fn printed(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_PRINTED_BYTES).read_to_end(&mut bytes));
    if read.is_err() { String::new() } else { String::from_utf8_lossy(&bytes).into_owned() }
}

/// The first line with "error", else the first line, else how the program ended.
fn failure(status: ExitStatus, text: &str) -> String {
    const LONGEST: usize = 160;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.clone().find(|line| line.contains("error")).or_else(|| lines.next());
    match line {
        Some(line) => line.chars().take(LONGEST).collect(),
        None => format!("failed without a message ({status})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit_ms: u64) -> Result<String, RunError> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(&mut command, Duration::from_millis(limit_ms), &folder.path().join("run"), &|| false)
    }

    #[test]
    fn output_is_returned_and_failures_explained() {
        assert_eq!(shell("echo here", 60_000).expect("it ends well"), "here\n");
        let failed = shell("echo a note >&2; echo 'x.c:1: error: no' >&2; exit 3", 60_000);
        assert_eq!(failed.expect_err("exit 3").to_string(), "x.c:1: error: no");
        assert!(shell("kill -9 $$", 60_000).expect_err("a signal").to_string().contains("signal: 9"));
    }

    #[test]
    fn a_hang_is_killed_with_its_descendants() {
        let begin = Instant::now();
        let hung = shell("sleep 3600 & sleep 3600", 50);
        assert!(matches!(hung, Err(RunError::TimedOut(_))), "{hung:?}");
        assert!(begin.elapsed() < Duration::from_secs(600));
        let stopped = {
            let folder = tempfile::tempdir().expect("a folder");
            let mut command = Command::new("sleep");
            run(command.arg("3600"), Duration::from_secs(3600), &folder.path().join("run"), &|| true)
        };
        assert!(matches!(stopped, Err(RunError::Interrupted)), "{stopped:?}");
    }

    #[test]
    fn endless_output_is_limited() {
        let endless = shell("yes", 120_000);
        assert!(matches!(endless, Err(RunError::Failed(_))), "{endless:?}");
    }
}
