//! Starts worker processes and survives them.
//!
//! A worker has a process group, a status page and a pipe of its own; its standard output and error are
//! discarded. It is killed if its status page does not change for longer than the patience (plus the time for
//! the bytes that it processes), if the caller asks to stop, and by the kernel if this process dies.
//! Processes that it leaves in its group are killed after it.

use crate::end;
pub use crate::end::End;
use crate::lines::Lines;
pub use crate::lines::UnreadableLine;
use crate::protocol::{
    CHANNEL_VARIABLE, Job, Message, PADDING_VARIABLE, STATUS_VARIABLE, THRESHOLDS_VARIABLE, TOKEN_VARIABLE,
    Task,
};
use carryline_machine::c_library::{self, TUNABLES_VARIABLE};
use carryline_variants::c_library::Thresholds;
use carryline_verification::status::StatusPage;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Descriptor numbers in the worker: high, because a routine may close low ones.
const CHANNEL_FD: RawFd = 200;
const STATUS_FD: RawFd = 201;
/// The value of [`THRESHOLDS_VARIABLE`] for a worker whose C library has raised thresholds.
const RAISED: &str = "raised";
const POLL: Duration = Duration::from_millis(50);

/// A worker could not be started, or did not follow the protocol.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    /// It cannot be started, or its pipe cannot be read.
    #[error("cannot start a worker process: {0}")]
    Spawn(#[from] std::io::Error),
    /// It sent a line that is not a message: a bug, or memory overwritten by a routine.
    #[error("a worker process ({job}) sent a line that cannot be read: {line}")]
    Line {
        /// The job.
        job: String,
        /// The line and its error.
        line: UnreadableLine,
    },
    /// It sent an answer out of turn.
    #[error(
        "a worker process answered for situation {situation}, which it had not begun or which is not part of its job"
    )]
    Unannounced {
        /// The situation's index in the plan.
        situation: u32,
    },
    /// It sent an answer about a subject that is not in its job.
    #[error("a worker process answered for subject {subject}, which is not part of its job")]
    NotInJob {
        /// The index in the answer: of the job's subjects, or of a round's members.
        subject: usize,
    },
}

impl From<rustix::io::Errno> for SuperviseError {
    fn from(errno: rustix::io::Errno) -> SuperviseError {
        SuperviseError::Spawn(errno.into())
    }
}

/// The thresholds of this process, a worker.
pub(crate) fn own_thresholds() -> Thresholds {
    match std::env::var(THRESHOLDS_VARIABLE) {
        Ok(word) if word == RAISED => Thresholds::Raised,
        _ => Thresholds::AsInstalled,
    }
}

/// How workers are started.
#[derive(Clone, Debug)]
pub struct Supervisor {
    /// The program; it is called with the argument `worker`.
    pub program: PathBuf,
    /// How long a worker's status page may stay unchanged, besides the time for the bytes that it processes.
    pub patience: Duration,
    /// Environment variables that workers get in addition to those of this process, or instead of them.
    pub environment: Vec<(String, String)>,
}

impl Supervisor {
    /// Starts a worker on a job, passes on its answers as they come, and returns when it has ended. `stop` is
    /// called about twenty times a second. `padding` shifts the worker's stack. Its C library has the
    /// thresholds as installed.
    ///
    /// # Errors
    /// Fails if the process cannot be started or sends a line that cannot be read.
    pub fn run<T: Task>(
        &self,
        task: T,
        padding: usize,
        stop: &dyn Fn() -> bool,
        on_answer: &mut dyn FnMut(T::Answer),
    ) -> Result<End, SuperviseError> {
        self.run_with(Thresholds::AsInstalled, task, padding, stop, on_answer)
    }

    /// The same with a worker whose C library has these thresholds.
    ///
    /// # Errors
    /// As [`Supervisor::run`].
    pub fn run_with<T: Task>(
        &self,
        thresholds: Thresholds,
        task: T,
        padding: usize,
        stop: &dyn Fn() -> bool,
        on_answer: &mut dyn FnMut(T::Answer),
    ) -> Result<End, SuperviseError> {
        let job = task.into();
        let status = StatusPage::create()?;
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        let token = format!(
            "{:016x}",
            u64::from(std::process::id()) << 32 | u64::from(reader.as_raw_fd().unsigned_abs())
        );
        let child = self.spawn(thresholds, &job, padding, &token, &status, &writer)?;
        drop(writer);
        let mut guard = Guard { child };
        let mut lines = Lines::new(File::from(reader), token);
        let killings = end::memory_killings();
        let (mut done, mut panic) = (false, None);
        let mut take = |message| match message {
            Message::Answer(answer) => on_answer(answer),
            Message::Panicked(text) => panic = Some(text),
            Message::Done => done = true,
        };
        let mut beat = (status.now().beat, Instant::now());
        let outcome = loop {
            lines.wait(POLL)?;
            let mut silent = true;
            while let Some(message) = lines.next().map_err(|error| error.during(&job))? {
                silent = false;
                take(message);
            }
            if let Some(exit) = guard.child.try_wait()? {
                // Messages that it sent before it ended are still in the pipe.
                while let Some(message) = lines.next().map_err(|error| error.during(&job))? {
                    take(message);
                }
                break End::of(exit, done, panic, &status, killings);
            }
            if stop() {
                break End::Stopped;
            }
            let now = status.now();
            if now.beat != beat.0 || !silent {
                beat = (now.beat, Instant::now());
            } else if beat.1.elapsed() > end::patience_at(&now, self.patience) {
                break End::TimedOut { now };
            }
        };
        Ok(outcome)
    }

    fn spawn(
        &self,
        thresholds: Thresholds,
        job: &Job,
        padding: usize,
        token: &str,
        status: &StatusPage,
        channel: &OwnedFd,
    ) -> Result<Child, SuperviseError> {
        let mut input = File::from(memfd_create("carryline-job", MemfdFlags::CLOEXEC)?);
        input.write_all(&serde_json::to_vec(job).map_err(std::io::Error::from)?)?;
        input.seek(SeekFrom::Start(0))?;
        let (channel_fd, status_fd) = (channel.as_raw_fd(), status.fd().as_raw_fd());
        let mut command = Command::new(&self.program);
        command
            .arg("worker")
            .envs(self.environment.iter().cloned())
            .env(CHANNEL_VARIABLE, CHANNEL_FD.to_string())
            .env(STATUS_VARIABLE, STATUS_FD.to_string())
            .env(TOKEN_VARIABLE, token)
            .env(PADDING_VARIABLE, "x".repeat(padding))
            .stdin(Stdio::from(input))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        match thresholds {
            Thresholds::AsInstalled => _ = command.env_remove(THRESHOLDS_VARIABLE),
            Thresholds::Raised => {
                let own = std::env::var(TUNABLES_VARIABLE).ok();
                command
                    .env(TUNABLES_VARIABLE, c_library::raising(own.as_deref()))
                    .env(THRESHOLDS_VARIABLE, RAISED);
            }
        }
        // SAFETY: between fork and exec the closure calls only dup2 and prctl, which are async-signal-safe,
        // on values that it captured by copy.
        unsafe {
            command.pre_exec(move || {
                for (from, to) in [(channel_fd, CHANNEL_FD), (status_fd, STATUS_FD)] {
                    if libc::dup2(from, to) < 0 {
                        return Err(std::io::Error::last_os_error());
                    }
                }
                #[cfg(target_os = "linux")]
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        Ok(command.spawn()?)
    }
}

/// Kills the worker's process group and reaps the worker when it is dropped.
struct Guard {
    child: Child,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).unwrap_or(0);
        if group > 1 {
            // SAFETY: kill has no effect on memory. The group was made for this child. The child has not been
            // reaped, except by the try_wait that saw it end, after which only its descendants can be in the
            // group.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        let _already_collected = self.child.wait();
    }
}
