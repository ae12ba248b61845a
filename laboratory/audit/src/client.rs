//! A client of the line protocol. The process that answers may crash, hang, or answer late or with garbage;
//! it is restarted.

mod running;

use crate::wire::{Hello, Reply, Request};
use running::Running;
use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

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
