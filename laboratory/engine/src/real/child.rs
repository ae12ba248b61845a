//! Runs the command once, and takes its resource usage from the kernel.

use super::preload::{Form, Interposer};
use super::{STDERR, STDOUT};
use crate::failure::{Failure, usage};
use serde::Serialize;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The resource usage of a run: `getrusage` of the child and of its children that it waited for.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub real_s: f64,
    pub user_s: f64,
    pub system_s: f64,
    pub peak_memory_bytes: f64,
    pub minor_faults: f64,
    pub major_faults: f64,
    pub voluntary_switches: f64,
    pub involuntary_switches: f64,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With this exit status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

impl Exit {
    /// True for status 0.
    pub fn success(self) -> bool {
        self == Exit::Status(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Status(status) => write!(f, "status {status}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// A finished run.
pub struct FinishedRun {
    pub usage: Usage,
    pub exit: Exit,
    pub elapsed: Duration,
}

/// Runs the command once; its outputs become files in `outputs`.
pub fn run(
    command: &[OsString],
    interposer: &Interposer,
    form: &Form<'_>,
    outputs: &Path,
) -> Result<FinishedRun, Failure> {
    let Some((program, arguments)) = command.split_first() else { return Err(usage("no command given")) };
    let file = |name: &str| File::create(outputs.join(name));
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(file(STDOUT)?).stderr(file(STDERR)?);
    interposer.set_environment(&mut command, form);
    let begin = Instant::now();
    let child = command.spawn().map_err(|error| unusable(program, &error))?;
    let (status, used) = wait(child.id())?;
    let elapsed = begin.elapsed();
    let exit = match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Status(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(0)),
    };
    Ok(FinishedRun { usage: usage_of(&used, elapsed), exit, elapsed })
}

fn unusable(program: &OsString, error: &io::Error) -> Failure {
    let program = program.to_string_lossy();
    match error.kind() {
        io::ErrorKind::NotFound if program.contains('/') => {
            usage(format!("{program}: no such file, or its interpreter does not exist"))
        }
        io::ErrorKind::NotFound => usage(format!("'{program}': no such command on the PATH")),
        _ => usage(format!("{program} cannot be started: {error}")),
    }
}

/// Waits for a child and returns its resource usage.
fn wait(pid: u32) -> io::Result<(ExitStatus, libc::rusage)> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    // SAFETY: all fields are integers, for which zero is valid.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    let mut status = 0;
    loop {
        // SAFETY: both pointers are valid for the duration of the call.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut used) } == pid {
            return Ok((ExitStatus::from_raw(status), used));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The unit of `ru_maxrss`: KiB, but bytes on macOS.
const MEMORY_UNIT_BYTES: f64 = if cfg!(target_vendor = "apple") { 1.0 } else { 1024.0 };

fn usage_of(used: &libc::rusage, elapsed: Duration) -> Usage {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    Usage {
        real_s: elapsed.as_secs_f64(),
        user_s: seconds(used.ru_utime),
        system_s: seconds(used.ru_stime),
        peak_memory_bytes: used.ru_maxrss as f64 * MEMORY_UNIT_BYTES,
        minor_faults: used.ru_minflt as f64,
        major_faults: used.ru_majflt as f64,
        voluntary_switches: used.ru_nvcsw as f64,
        involuntary_switches: used.ru_nivcsw as f64,
    }
}

/// The peak memory of this process. The kernel initializes a child's peak with that of its parent.
pub fn own_peak_memory_bytes() -> f64 {
    // SAFETY: all fields are integers, for which zero is valid.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for the duration of the call.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut used) } == 0 {
        used.ru_maxrss as f64 * MEMORY_UNIT_BYTES
    } else {
        0.0
    }
}
