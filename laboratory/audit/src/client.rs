//! A client of the line protocol. The process that answers may crash, hang, or answer late or with garbage;
//! it is restarted.

use crate::wire::{Hello, Reply, Request};
use carryline_engine::interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use std::ffi::OsString;
use std::fmt;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest answer that is accepted.
const MAX_ANSWER_BYTES: usize = 64 << 10;
/// The amount of a process's standard error that is kept.
const STDERR_BYTES: usize = 4 << 10;
const POLL: Duration = Duration::from_millis(50);
/// The time that a process may take to exit after it has closed its output.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The command that starts a process.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Launch {
    /// A command line for the shell.
    #[must_use]
    pub fn shell(command: &str) -> Launch {
        Launch { program: "/bin/sh".into(), arguments: vec!["-c".into(), command.into()] }
    }
}

/// The reason there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientError {
    /// The process cannot be started, or its first line is not an answer of the protocol.
    Unusable(String),
    /// The process ended.
    Died {
        /// The signal or exit status.
        how: String,
        /// Its last line on standard error.
        stderr: String,
    },
    /// The process did not answer in time, and was killed.
    TimedOut,
    /// The line is not an answer.
    Garbage(String),
    /// The user interrupted the audit.
    Interrupted,
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Unusable(why) => f.write_str(why),
            ClientError::Died { how, stderr } if stderr.is_empty() => write!(f, "it ended {how}"),
            ClientError::Died { how, stderr } => write!(f, "it ended {how}, stderr: {stderr}"),
            ClientError::TimedOut => f.write_str("no answer in time"),
            ClientError::Garbage(line) => write!(f, "it answered {line:?}"),
            ClientError::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// A connection to a process, which is started for the first request and restarted after it has ended.
#[derive(Debug)]
pub struct Client {
    launch: Launch,
    timeout: Duration,
    running: Option<Running>,
    /// How often the process was started.
    pub starts: u32,
}

#[derive(Debug)]
struct Running {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    pending: Vec<u8>,
    stderr: Vec<u8>,
    hello: Hello,
}

impl Client {
    /// A client whose process must answer each request within `timeout`.
    #[must_use]
    pub fn new(launch: Launch, timeout: Duration) -> Client {
        Client { launch, timeout, running: None, starts: 0 }
    }

    /// The name and features of the implementation.
    ///
    /// # Errors
    /// [`ClientError`], if the process cannot be started or does not answer with its name.
    pub fn hello(&mut self) -> Result<Hello, ClientError> {
        if let Some(running) = &self.running {
            return Ok(running.hello.clone());
        }
        let mut running = Running::start(&self.launch)
            .map_err(|error| ClientError::Unusable(format!("cannot be started: {error}")))?;
        self.starts += 1;
        let answer = running.exchange(&Request::Hello, false, self.timeout);
        let hello = match answer {
            Ok(Reply::Hello(hello)) => hello,
            Ok(Reply::Error(text)) => return Err(ClientError::Unusable(text)),
            Ok(_) => {
                return Err(ClientError::Unusable("it did not answer with its name and version".to_owned()));
            }
            Err(ClientError::Interrupted) => return Err(ClientError::Interrupted),
            Err(ClientError::Garbage(line)) => {
                return Err(ClientError::Unusable(format!(
                    "it does not speak the protocol: it answered {line:?} to 'hello 1' instead of NAME VERSION"
                )));
            }
            Err(error) => return Err(ClientError::Unusable(error.to_string())),
        };
        running.hello = hello.clone();
        self.running = Some(running);
        Ok(hello)
    }

    /// Sends a request, starting the process if necessary. After an error the next request goes to a new
    /// process.
    ///
    /// # Errors
    /// [`ClientError`], if there is no answer.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, ClientError> {
        let hello = self.hello()?;
        let Some(running) = self.running.as_mut() else { return Err(ClientError::TimedOut) };
        let answer = running.exchange(request, hello.repeat, self.timeout);
        if answer.is_err() {
            self.running = None;
        }
        answer
    }
}

impl Running {
    fn start(launch: &Launch) -> std::io::Result<Running> {
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        #[cfg(target_os = "linux")]
        // SAFETY: between fork and exec only prctl is called, which is async-signal-safe, with constants.
        unsafe {
            command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        let errors = child.stderr.take();
        let running = Running {
            child,
            input,
            output,
            errors,
            pending: Vec::new(),
            stderr: Vec::new(),
            hello: Hello::default(),
        };
        // Otherwise a process that does not read could block this one.
        rustix::io::ioctl_fionbio(&running.input, true)?;
        Ok(running)
    }

    /// Sends a request and waits for one line.
    fn exchange(&mut self, request: &Request, repeat: bool, timeout: Duration) -> Result<Reply, ClientError> {
        if !self.pending.is_empty() {
            return Err(ClientError::Garbage(excerpt(&self.pending)));
        }
        let request_line = format!("{}\n", request.line(repeat));
        let mut left = request_line.as_bytes();
        let mut since = Instant::now();
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                let text = String::from_utf8_lossy(&line);
                return Reply::read(&text, request).ok_or_else(|| ClientError::Garbage(excerpt(&line)));
            }
            if self.pending.len() > MAX_ANSWER_BYTES {
                return Err(ClientError::Garbage(excerpt(&self.pending)));
            }
            if interrupt::requested() {
                return Err(ClientError::Interrupted);
            }
            if since.elapsed() > timeout {
                return Err(ClientError::TimedOut);
            }
            let (writable, readable) = self.wait(!left.is_empty())?;
            if writable {
                match self.input.write(left) {
                    Ok(written) => {
                        left = &left[written..];
                        since = Instant::now();
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    // It no longer reads: the end of its output will show that it has ended.
                    Err(_) => left = &[],
                }
            }
            if readable && !self.read()? {
                return Err(self.end());
            }
        }
    }

    /// Waits briefly until reading or writing is possible; collects standard error.
    fn wait(&mut self, writes: bool) -> Result<(bool, bool), ClientError> {
        let time = rustix::time::Timespec { tv_sec: 0, tv_nsec: POLL.subsec_nanos().into() };
        let nothing = PollFlags::empty();
        let (mut writable, mut readable, mut has_stderr) = (false, false, false);
        {
            let mut fds = vec![
                PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.input.as_fd(), if writes { PollFlags::OUT } else { nothing }),
            ];
            if let Some(errors) = &self.errors {
                fds.push(PollFd::from_borrowed_fd(errors.as_fd(), PollFlags::IN));
            }
            match poll(&mut fds, Some(&time)) {
                Ok(_) => {
                    readable = fds[0].revents() != nothing;
                    writable = writes && fds[1].revents() != nothing;
                    has_stderr = fds.get(2).is_some_and(|fd| fd.revents() != nothing);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(ClientError::Unusable(errno.to_string())),
            }
        }
        if has_stderr {
            self.read_stderr();
        }
        Ok((writable, readable))
    }

    /// Collects what is in the pipe of standard error.
    fn read_stderr(&mut self) {
        let Some(errors) = &mut self.errors else { return };
        let mut chunk = [0; 4096];
        match errors.read(&mut chunk) {
            Ok(0) | Err(_) => self.errors = None,
            Ok(read) => {
                self.stderr.extend_from_slice(&chunk[..read]);
                let surplus = self.stderr.len().saturating_sub(STDERR_BYTES);
                self.stderr.drain(..surplus);
            }
        }
    }

    /// Reads the available output; false at its end.
    fn read(&mut self) -> Result<bool, ClientError> {
        let mut chunk = [0; 16 << 10];
        match self.output.read(&mut chunk) {
            Ok(read) => {
                self.pending.extend_from_slice(&chunk[..read]);
                Ok(read > 0)
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(ClientError::Unusable(error.to_string())),
        }
    }

    /// Determines how a process ended after it closed its output.
    fn end(&mut self) -> ClientError {
        let begin = Instant::now();
        let status = loop {
            while self.errors.is_some() && self.wait(false).is_ok() && begin.elapsed() < EXIT_TIMEOUT {}
            match self.child.try_wait() {
                Ok(None) if begin.elapsed() < EXIT_TIMEOUT => std::thread::sleep(Duration::from_millis(2)),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        let how = match status.map(|status| (status.signal(), status.code())) {
            Some((Some(signal), _)) => format!("by {}", carryline_verification::signal_name(signal)),
            Some((_, Some(127))) => "with status 127: command not found".to_owned(),
            Some((_, code)) => format!("with status {}", code.unwrap_or(-1)),
            None => "its output".to_owned(),
        };
        let stderr = String::from_utf8_lossy(&self.stderr);
        let stderr = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
        ClientError::Died { how, stderr: excerpt(stderr.as_bytes()) }
    }
}

/// Kills the process and its descendants.
impl Drop for Running {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).unwrap_or(0);
        if group > 1 {
            // SAFETY: kill has no memory effects. The group was created for this child, which is reaped only
            // below or by the try_wait that observed its end; afterwards only its descendants can be in the
            // group.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        let _already_reaped = self.child.wait();
    }
}

/// The beginning of the bytes as text, without control characters.
fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    let shown: String = text.chars().take(120).filter(|c| !c.is_control()).collect();
    if shown.len() < text.len() { format!("{shown}...") } else { shown }
}

/// While this value lives, a write to a process that has ended is an error instead of ending this one.
#[derive(Debug)]
pub struct BrokenPipesIgnored {
    before: libc::sighandler_t,
}

impl BrokenPipesIgnored {
    /// Ignores SIGPIPE from now on.
    #[must_use]
    pub fn begin() -> BrokenPipesIgnored {
        // SAFETY: this program has no handler for the signal that is ignored.
        BrokenPipesIgnored { before: unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) } }
    }
}

impl Drop for BrokenPipesIgnored {
    fn drop(&mut self) {
        // SAFETY: the disposition is the one that `signal` returned.
        unsafe { libc::signal(libc::SIGPIPE, self.before) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Data;

    fn client(command: &str) -> Client {
        Client::new(Launch::shell(command), Duration::from_millis(400))
    }

    fn sum() -> Request {
        Request::Sum(Data::literal(&[0, 1]))
    }

    #[test]
    fn requests_are_answered_line_by_line() {
        let mut client = client("read a; echo test 1; while read a b; do echo 00$(printf %02x ${#b}); done");
        assert_eq!(client.hello().map(|hello| hello.name), Ok("test".to_owned()));
        for _ in 0..3 {
            assert_eq!(client.ask(&sum()), Ok(Reply::Field([0, 4])));
        }
        assert_eq!(client.starts, 1);
    }

    #[test]
    fn a_process_that_dies_is_restarted() {
        let mut client = client("read a; echo test 1; read a; echo why >&2; exit 7");
        for round in 1..=2 {
            let error = client.ask(&sum()).expect_err("it dies");
            assert_eq!(error.to_string(), "it ended with status 7, stderr: why");
            assert_eq!(client.starts, round);
        }
    }

    #[test]
    fn a_signal_is_named() {
        let error = client("read a; echo test 1; read a; kill -SEGV $$").ask(&sum()).expect_err("it dies");
        assert_eq!(error.to_string(), "it ended by SIGSEGV");
    }

    #[test]
    fn a_process_that_hangs_or_does_not_read_is_killed() {
        assert_eq!(client("read a; echo test 1; sleep 1000").ask(&sum()), Err(ClientError::TimedOut));
        let long = Request::Sum(Data::repeated(&[1], 200_000));
        assert_eq!(client("read a; echo test 1; sleep 1000").ask(&long), Err(ClientError::TimedOut));
    }

    #[test]
    fn garbage_is_quoted() {
        let mut garbage = client("read a; echo test 1; while read a; do echo 0x1234; done");
        assert_eq!(garbage.ask(&sum()), Err(ClientError::Garbage("0x1234".to_owned())));
        let mut two = client("read a; echo test 1; while read a; do printf '1234\\n5678\\n'; done");
        assert_eq!(two.ask(&sum()), Ok(Reply::Field([0x12, 0x34])));
        assert_eq!(two.ask(&sum()), Err(ClientError::Garbage("5678".to_owned())));
        let mut endless = client("read a; echo test 1; exec cat /dev/zero");
        assert!(matches!(endless.ask(&sum()), Err(ClientError::Garbage(_))));
    }

    #[test]
    fn a_program_that_does_not_speak_the_protocol_is_unusable() {
        for command in ["echo hello", "exit 3", "sleep 1000", "carryline-no-such-command"] {
            let error = client(command).hello().expect_err(command);
            assert!(matches!(error, ClientError::Unusable(_)), "{command}: {error}");
        }
        assert!(
            client("carryline-no-such-command").hello().expect_err("none").to_string().contains("not found")
        );
    }
}
