//! A process that answers requests, and surviving it: it may die, hang, answer late or with garbage, and it is started again.

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

/// An answer longer than this is garbage.
const LONGEST_ANSWER_BYTES: usize = 64 << 10;
/// What is kept of what a process writes on standard error.
const SAID_BYTES: usize = 4 << 10;
const POLL: Duration = Duration::from_millis(50);
/// How long a process whose output has ended may take to end itself.
const FAREWELL: Duration = Duration::from_secs(2);

/// How a process is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Launch {
    /// A line for the shell.
    #[must_use]
    pub fn shell(command: &str) -> Launch {
        Launch { program: "/bin/sh".into(), arguments: vec!["-c".into(), command.into()] }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The process cannot be started, or does not speak the protocol from the first line on.
    Unusable(String),
    /// It ended.
    Died {
        /// By signal or with status.
        how: String,
        /// Its last line on standard error.
        said: String,
    },
    /// It did not answer in time, and was killed.
    TimedOut,
    /// It answered something that is no answer.
    Garbage(String),
    /// The user wants to stop.
    Interrupted,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Unusable(why) => f.write_str(why),
            Trouble::Died { how, said } if said.is_empty() => write!(f, "it ended {how}"),
            Trouble::Died { how, said } => write!(f, "it ended {how}, having said: {said}"),
            Trouble::TimedOut => f.write_str("no answer in time"),
            Trouble::Garbage(line) => write!(f, "it answered {line:?}"),
            Trouble::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// A conversation with a process, which is started when it is first needed and again after it has ended.
#[derive(Debug)]
pub struct Talk {
    launch: Launch,
    patience: Duration,
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
    said: Vec<u8>,
    hello: Hello,
}

impl Talk {
    /// With a process that must answer within `patience`.
    #[must_use]
    pub fn new(launch: Launch, patience: Duration) -> Talk {
        Talk { launch, patience, running: None, starts: 0 }
    }

    /// Who answers.
    ///
    /// # Errors
    /// [`Trouble`], where the process cannot be started or does not say who it is.
    pub fn hello(&mut self) -> Result<Hello, Trouble> {
        if let Some(running) = &self.running {
            return Ok(running.hello.clone());
        }
        let mut running = Running::start(&self.launch)
            .map_err(|error| Trouble::Unusable(format!("cannot be started: {error}")))?;
        self.starts += 1;
        let answer = running.exchange(&Request::Hello, false, self.patience);
        let hello = match answer {
            Ok(Reply::Hello(hello)) => hello,
            Ok(Reply::Error(text)) => return Err(Trouble::Unusable(text)),
            Ok(_) => return Err(Trouble::Unusable("it does not say who it is".to_owned())),
            Err(Trouble::Interrupted) => return Err(Trouble::Interrupted),
            Err(Trouble::Garbage(line)) => {
                return Err(Trouble::Unusable(format!(
                    "it does not speak the protocol: it answered {line:?} to 'hello 1', NAME VERSION is expected"
                )));
            }
            Err(trouble) => return Err(Trouble::Unusable(trouble.to_string())),
        };
        running.hello = hello.clone();
        self.running = Some(running);
        Ok(hello)
    }

    /// Asks, starting the process if none runs. After trouble the next question goes to a new process.
    ///
    /// # Errors
    /// [`Trouble`], where there is no answer.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, Trouble> {
        let hello = self.hello()?;
        let Some(running) = self.running.as_mut() else { return Err(Trouble::TimedOut) };
        let answer = running.exchange(request, hello.repeat, self.patience);
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
        // SAFETY: between fork and exec only prctl, which is async-signal-safe, on constants.
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
            said: Vec::new(),
            hello: Hello::default(),
        };
        // Or a process that does not read could stop this one.
        rustix::io::ioctl_fionbio(&running.input, true)?;
        Ok(running)
    }

    /// Writes the question, and waits for one line.
    fn exchange(&mut self, request: &Request, repeat: bool, patience: Duration) -> Result<Reply, Trouble> {
        if !self.pending.is_empty() {
            return Err(Trouble::Garbage(excerpt(&self.pending)));
        }
        let question = format!("{}\n", request.line(repeat));
        let mut left = question.as_bytes();
        let mut since = Instant::now();
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                let text = String::from_utf8_lossy(&line);
                return Reply::read(&text, request).ok_or_else(|| Trouble::Garbage(excerpt(&line)));
            }
            if self.pending.len() > LONGEST_ANSWER_BYTES {
                return Err(Trouble::Garbage(excerpt(&self.pending)));
            }
            if interrupt::requested() {
                return Err(Trouble::Interrupted);
            }
            if since.elapsed() > patience {
                return Err(Trouble::TimedOut);
            }
            let (writable, readable) = self.wait(!left.is_empty())?;
            if writable {
                match self.input.write(left) {
                    Ok(written) => {
                        left = &left[written..];
                        since = Instant::now();
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    // It reads no more: its end will be seen in its output.
                    Err(_) => left = &[],
                }
            }
            if readable && !self.read()? {
                return Err(self.end());
            }
        }
    }

    /// Waits a moment until something can be written or read; takes what was said on standard error.
    fn wait(&mut self, writes: bool) -> Result<(bool, bool), Trouble> {
        let time = rustix::time::Timespec { tv_sec: 0, tv_nsec: POLL.subsec_nanos().into() };
        let nothing = PollFlags::empty();
        let (mut writable, mut readable, mut spoken) = (false, false, false);
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
                    spoken = fds.get(2).is_some_and(|fd| fd.revents() != nothing);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(Trouble::Unusable(errno.to_string())),
            }
        }
        if spoken {
            self.listen();
        }
        Ok((writable, readable))
    }

    /// Takes what stands in the pipe of standard error.
    fn listen(&mut self) {
        let Some(errors) = &mut self.errors else { return };
        let mut chunk = [0; 4096];
        match errors.read(&mut chunk) {
            Ok(0) | Err(_) => self.errors = None,
            Ok(read) => {
                self.said.extend_from_slice(&chunk[..read]);
                let surplus = self.said.len().saturating_sub(SAID_BYTES);
                self.said.drain(..surplus);
            }
        }
    }

    /// Reads what is there; false at the end of the output.
    fn read(&mut self) -> Result<bool, Trouble> {
        let mut chunk = [0; 16 << 10];
        match self.output.read(&mut chunk) {
            Ok(read) => {
                self.pending.extend_from_slice(&chunk[..read]);
                Ok(read > 0)
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(Trouble::Unusable(error.to_string())),
        }
    }

    /// How a process ended whose output has.
    fn end(&mut self) -> Trouble {
        let begin = Instant::now();
        let status = loop {
            while self.errors.is_some() && self.wait(false).is_ok() && begin.elapsed() < FAREWELL {}
            match self.child.try_wait() {
                Ok(None) if begin.elapsed() < FAREWELL => std::thread::sleep(Duration::from_millis(2)),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        let how = match status.map(|status| (status.signal(), status.code())) {
            Some((Some(signal), _)) => format!("by {}", carryline_verification::signal_name(signal)),
            Some((_, Some(127))) => "with status 127: no such command".to_owned(),
            Some((_, code)) => format!("with status {}", code.unwrap_or(-1)),
            None => "its output".to_owned(),
        };
        let said = String::from_utf8_lossy(&self.said);
        let said = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
        Trouble::Died { how, said: excerpt(said.as_bytes()) }
    }
}

/// Ends the process and whatever it has started.
impl Drop for Running {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).unwrap_or(0);
        if group > 1 {
            // SAFETY: kill has no memory effects; the group was made for this child, which is collected only below or by
            // the try_wait that saw its end, after which only its descendants can be in it.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        let _already_collected = self.child.wait();
    }
}

/// The beginning of what was said, without control characters.
fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    let shown: String = text.chars().take(120).filter(|c| !c.is_control()).collect();
    if shown.len() < text.len() { format!("{shown}...") } else { shown }
}

/// As long as it lives, a write to a process that has ended is an error, and not the end of this one.
#[derive(Debug)]
pub struct BrokenPipesIgnored {
    before: libc::sighandler_t,
}

impl BrokenPipesIgnored {
    /// From now on.
    #[must_use]
    pub fn begin() -> BrokenPipesIgnored {
        // SAFETY: a signal that this program has no handler for is ignored.
        BrokenPipesIgnored { before: unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) } }
    }
}

impl Drop for BrokenPipesIgnored {
    fn drop(&mut self) {
        // SAFETY: what `signal` returned before.
        unsafe { libc::signal(libc::SIGPIPE, self.before) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Data;

    fn talk(command: &str) -> Talk {
        Talk::new(Launch::shell(command), Duration::from_millis(400))
    }

    fn sum() -> Request {
        Request::Sum(Data::literal(&[0, 1]))
    }

    #[test]
    fn a_process_is_asked_line_by_line() {
        let mut talk = talk("read a; echo test 1; while read a b; do echo 00$(printf %02x ${#b}); done");
        assert_eq!(talk.hello().map(|hello| hello.name), Ok("test".to_owned()));
        for _ in 0..3 {
            assert_eq!(talk.ask(&sum()), Ok(Reply::Field([0, 4])));
        }
        assert_eq!(talk.starts, 1);
    }

    #[test]
    fn a_process_that_dies_is_started_again() {
        let mut talk = talk("read a; echo test 1; read a; echo why >&2; exit 7");
        for round in 1..=2 {
            let trouble = talk.ask(&sum()).expect_err("it dies");
            assert_eq!(trouble.to_string(), "it ended with status 7, having said: why");
            assert_eq!(talk.starts, round);
        }
    }

    #[test]
    fn a_signal_is_named() {
        let trouble = talk("read a; echo test 1; read a; kill -SEGV $$").ask(&sum()).expect_err("it dies");
        assert_eq!(trouble.to_string(), "it ended by SIGSEGV");
    }

    #[test]
    fn what_hangs_or_does_not_read_is_killed() {
        assert_eq!(talk("read a; echo test 1; sleep 1000").ask(&sum()), Err(Trouble::TimedOut));
        let long = Request::Sum(Data::repeated(&[1], 200_000));
        assert_eq!(talk("read a; echo test 1; sleep 1000").ask(&long), Err(Trouble::TimedOut));
    }

    #[test]
    fn garbage_is_shown() {
        let mut garbage = talk("read a; echo test 1; while read a; do echo 0x1234; done");
        assert_eq!(garbage.ask(&sum()), Err(Trouble::Garbage("0x1234".to_owned())));
        let mut two = talk("read a; echo test 1; while read a; do printf '1234\\n5678\\n'; done");
        assert_eq!(two.ask(&sum()), Ok(Reply::Field([0x12, 0x34])));
        assert_eq!(two.ask(&sum()), Err(Trouble::Garbage("5678".to_owned())));
        let mut endless = talk("read a; echo test 1; exec cat /dev/zero");
        assert!(matches!(endless.ask(&sum()), Err(Trouble::Garbage(_))));
    }

    #[test]
    fn who_does_not_speak_the_protocol_is_unusable() {
        for command in ["echo hello", "exit 3", "sleep 1000", "carryline-no-such-command"] {
            let trouble = talk(command).hello().expect_err(command);
            assert!(matches!(trouble, Trouble::Unusable(_)), "{command}: {trouble}");
        }
        assert!(
            talk("carryline-no-such-command").hello().expect_err("none").to_string().contains("not found")
        );
    }
}
