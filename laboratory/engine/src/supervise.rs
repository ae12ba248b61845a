//! Starting worker processes and outliving them.
//!
//! A worker has its own process group, a status page and a pipe; its standard streams lead nowhere. It is killed when
//! its status page has not moved for longer than the patience, when the caller asks to stop, and by the kernel when
//! this process dies. Whatever it leaves behind in its group is killed after it.

use crate::protocol::{
    CHANNEL_VARIABLE, Job, Message, PADDING_VARIABLE, STATUS_VARIABLE, THRESHOLDS_VARIABLE, TOKEN_VARIABLE,
    Task,
};
use carryline_machine::c_library::{self, TUNABLES_VARIABLE};
use carryline_variants::c_library::Thresholds;
use carryline_verification::status::{Now, StatusPage};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Descriptor numbers in the worker: high, for a routine may close the low ones.
const CHANNEL_FD: RawFd = 200;
const STATUS_FD: RawFd = 201;
/// A line longer than this is garbage.
const LONGEST_LINE: usize = 16 << 20;
/// What [`THRESHOLDS_VARIABLE`] says to a worker whose C library has raised thresholds.
const RAISED: &str = "raised";
/// Characters of an unreadable line that its error shows.
const MOST_SHOWN: usize = 200;
const POLL: Duration = Duration::from_millis(50);

/// A worker cannot be started or understood.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    /// It cannot be started, or its pipe cannot be read.
    #[error("cannot start a worker process: {0}")]
    Spawn(#[from] std::io::Error),
    /// It said something that is not a message: a fault of the program, or memory that a routine overwrote.
    #[error("a worker process ({job}) sent a line that cannot be read: {line}")]
    Line {
        /// What it was to do.
        job: String,
        /// The line, and what is wrong with it.
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
}

impl From<rustix::io::Errno> for SuperviseError {
    fn from(errno: rustix::io::Errno) -> SuperviseError {
        SuperviseError::Spawn(errno.into())
    }
}

/// A worker's own line that is not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {excerpt}")]
pub struct UnreadableLine {
    /// What is wrong with it.
    reason: String,
    /// What follows the token, cut to a sensible length.
    excerpt: String,
}

impl UnreadableLine {
    fn new(reason: impl Into<String>, text: &str) -> UnreadableLine {
        let mut shown: String = text.chars().take(MOST_SHOWN).collect();
        if shown.len() < text.len() {
            shown = format!("{shown}... ({} bytes in all)", text.len());
        }
        UnreadableLine { reason: reason.into(), excerpt: shown.escape_debug().to_string() }
    }
}

/// Why no further message comes out of the pipe.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Pipe(#[from] std::io::Error),
    #[error(transparent)]
    Line(#[from] UnreadableLine),
}

impl ReadError {
    fn during(self, job: &Job) -> SuperviseError {
        match self {
            ReadError::Pipe(error) => SuperviseError::Spawn(error),
            ReadError::Line(line) => SuperviseError::Line { job: job.to_string(), line },
        }
    }
}

/// The thresholds with which this process, a worker, was started.
pub(crate) fn own_thresholds() -> Thresholds {
    match std::env::var(THRESHOLDS_VARIABLE) {
        Ok(word) if word == RAISED => Thresholds::Raised,
        _ => Thresholds::AsInstalled,
    }
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It did its job.
    Done,
    /// A signal ended it, at what the status page says.
    Crashed {
        /// The signal's number.
        signal: i32,
        /// What it was doing.
        now: Now,
    },
    /// It ended by itself before its job was done.
    Exited {
        /// The exit status.
        code: i32,
        /// What it was doing.
        now: Now,
        /// What the worker's own code said when it gave up, if it did.
        panic: Option<String>,
    },
    /// It was killed because nothing moved.
    TimedOut {
        /// What it was doing.
        now: Now,
    },
    /// It was killed because the caller asked.
    Stopped,
}

/// How workers are started.
#[derive(Clone, Debug)]
pub struct Supervisor {
    /// The program, called with the one argument `worker`.
    pub program: PathBuf,
    /// How long a worker's status page may stay unchanged.
    pub patience: Duration,
}

impl Supervisor {
    /// Starts a worker on a job, hands over its answers as they come, and returns when it has ended. `stop` is asked
    /// about twenty times a second. `padding` shifts the worker's stack. Its C library is as installed.
    ///
    /// # Errors
    /// When the process cannot be started, or sends a line that cannot be read.
    pub fn run<T: Task>(
        &self,
        task: T,
        padding: usize,
        stop: &dyn Fn() -> bool,
        on_answer: &mut dyn FnMut(T::Answer),
    ) -> Result<End, SuperviseError> {
        self.run_with(Thresholds::AsInstalled, task, padding, stop, on_answer)
    }

    /// The same in a worker whose C library has those thresholds.
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
        let mut lines = Lines { reader: File::from(reader), token, pending: Vec::new(), open: true };
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
                // What it had written before it ended is still in the pipe.
                while let Some(message) = lines.next().map_err(|error| error.during(&job))? {
                    take(message);
                }
                break ended(exit, done, panic, status.now());
            }
            if stop() {
                break End::Stopped;
            }
            let now = status.now();
            if now.beat != beat.0 || !silent {
                beat = (now.beat, Instant::now());
            } else if beat.1.elapsed() > self.patience {
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
        // SAFETY: between fork and exec only async-signal-safe calls on values captured by copy: dup2 and prctl.
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

fn ended(exit: ExitStatus, done: bool, panic: Option<String>, now: Now) -> End {
    match (exit.signal(), exit.code()) {
        (None, Some(0)) if done => End::Done,
        (Some(signal), _) => End::Crashed { signal, now },
        (None, code) => End::Exited { code: code.unwrap_or(-1), now, panic },
    }
}

/// Kills the worker's whole group and collects it, however the supervision ends.
struct Guard {
    child: Child,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).unwrap_or(0);
        if group > 1 {
            // SAFETY: kill has no memory effects; the group was made for this child, and the child has not been
            // collected except by the try_wait that saw its end, after which only its descendants can be in it.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        let _already_collected = self.child.wait();
    }
}

/// The worker's lines, cut out of what comes through the pipe.
struct Lines {
    reader: File,
    token: String,
    pending: Vec<u8>,
    open: bool,
}

impl Lines {
    /// Waits until something can be read or the time is over.
    fn wait(&self, time: Duration) -> Result<(), SuperviseError> {
        if !self.open {
            std::thread::sleep(time);
            return Ok(());
        }
        let timeout = rustix::time::Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        match poll(&mut [PollFd::from_borrowed_fd(self.reader.as_fd(), PollFlags::IN)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Reads what is there, without waiting.
    fn fill(&mut self) -> Result<bool, ReadError> {
        let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        let ready =
            match poll(&mut [PollFd::from_borrowed_fd(self.reader.as_fd(), PollFlags::IN)], Some(&now)) {
                Ok(ready) => ready > 0,
                Err(rustix::io::Errno::INTR) => false,
                Err(errno) => return Err(std::io::Error::from(errno).into()),
            };
        if !self.open || !ready {
            return Ok(false);
        }
        let mut chunk = [0; 64 << 10];
        let read = self.reader.read(&mut chunk)?;
        self.open = read > 0;
        self.pending.extend_from_slice(&chunk[..read]);
        if self.pending.len() > LONGEST_LINE && !self.pending.contains(&b'\n') {
            let text = String::from_utf8_lossy(&self.pending);
            if let Some((_, ours)) = text.split_once(&self.token) {
                let reason = format!("it has more than {} MiB", LONGEST_LINE >> 20);
                return Err(UnreadableLine::new(reason, ours.trim()).into());
            }
            self.pending.clear();
        }
        Ok(read > 0)
    }

    /// The next message that has arrived in full.
    fn next<A: DeserializeOwned>(&mut self) -> Result<Option<Message<A>>, ReadError> {
        loop {
            while let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                if let Some(message) = parse(&line, &self.token)? {
                    return Ok(Some(message));
                }
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }
}

/// A line's message; `None` if the line is not the worker's. Garbage may stand before the token on the same line.
fn parse<A: DeserializeOwned>(line: &[u8], token: &str) -> Result<Option<Message<A>>, UnreadableLine> {
    let text = String::from_utf8_lossy(line);
    let Some((_, ours)) = text.split_once(token) else { return Ok(None) };
    let ours = ours.trim();
    serde_json::from_str(ours).map(Some).map_err(|error| UnreadableLine::new(error.to_string(), ours))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{LoadAnswer, LoadJob, ProbeAnswer};

    fn parsed(line: &[u8]) -> Option<Message<LoadAnswer>> {
        parse(line, "abc").expect("readable, or not the worker's")
    }

    #[test]
    fn only_the_workers_own_lines_count() {
        assert!(matches!(parsed(b"abc \"done\"\n"), Some(Message::Done)));
        assert!(matches!(parsed(b"printed without end abc \"done\"\n"), Some(Message::Done)));
        assert!(parsed(b"\"done\"\n").is_none());
        assert!(parsed(b"\xff\xfe\n").is_none());
    }

    /// Lines of a worker that has ended.
    fn said(bytes: &[u8]) -> Lines {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        File::from(writer).write_all(bytes).expect("it fits into the pipe");
        Lines { reader: File::from(reader), token: "abc".to_owned(), pending: Vec::new(), open: true }
    }

    #[test]
    fn a_line_of_the_worker_that_cannot_be_read_is_an_error_that_names_line_and_job() {
        // What JSON makes of a NaN.
        let nan =
            "{\"answer\":{\"setup\":{\"ticks_per_ns\":null,\"pin_error\":null,\"counter_error\":null}}}";
        let mut lines = said(format!("a routine prints\nabc {nan}\nabc \"done\"\n").as_bytes());
        let error = lines.next::<ProbeAnswer>().expect_err("not dropped");
        let job = LoadJob { plugin: "f.so:sum:checksum".to_owned() };
        let text = error.during(&job.into()).to_string();
        assert!(text.contains("load f.so:sum:checksum"), "{text}");
        assert!(text.contains("null, expected f64"), "{text}");
        assert!(text.contains("pin_error"), "{text}");
    }

    #[test]
    fn an_answer_to_another_job_is_an_error() {
        let line = b"abc {\"answer\":\"loaded\"}\n";
        assert!(matches!(said(line).next(), Ok(Some(Message::Answer(LoadAnswer::Loaded)))));
        let text = said(line).next::<ProbeAnswer>().expect_err("probes load nothing").to_string();
        assert!(text.contains("unknown variant `loaded`"), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_where_it_is_named() {
        let line = format!("abc \"{}\n", "ü".repeat(5000));
        let text = said(line.as_bytes()).next::<LoadAnswer>().expect_err("no end").to_string();
        assert!(text.contains("(10001 bytes in all)"), "{text}");
        assert!(text.len() < 1000, "{}", text.len());
    }

    #[test]
    fn a_line_cut_off_by_the_workers_death_is_no_line() {
        assert!(matches!(said(b"abc \"don").next::<LoadAnswer>(), Ok(None)));
    }
}
