//! Reads a worker's messages from its pipe.

use crate::protocol::{Job, Message};
use crate::supervise::SuperviseError;
use rustix::event::{PollFd, PollFlags, poll};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::time::Duration;

/// The longest line accepted.
const LONGEST_LINE: usize = 16 << 20;
/// The most characters of an unreadable line shown in its error.
const MOST_SHOWN: usize = 200;

/// A line that carries the worker's token but no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {excerpt}")]
pub struct UnreadableLine {
    /// The error.
    reason: String,
    /// The text after the token, shortened.
    excerpt: String,
}

impl UnreadableLine {
    fn new(reason: impl Into<String>, text: &str) -> UnreadableLine {
        let mut shown: String = text.chars().take(MOST_SHOWN).collect();
        if shown.len() < text.len() {
            shown = format!("{shown}... ({} bytes in total)", text.len());
        }
        UnreadableLine { reason: reason.into(), excerpt: shown.escape_debug().to_string() }
    }
}

/// Why no more messages can be read from the pipe.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error(transparent)]
    Pipe(#[from] std::io::Error),
    #[error(transparent)]
    Line(#[from] UnreadableLine),
}

impl ReadError {
    pub(crate) fn during(self, job: &Job) -> SuperviseError {
        match self {
            ReadError::Pipe(error) => SuperviseError::Spawn(error),
            ReadError::Line(line) => SuperviseError::Line { job: job.to_string(), line },
        }
    }
}

/// The worker's lines, read from its pipe.
pub(crate) struct Lines {
    reader: File,
    token: String,
    pending: Vec<u8>,
    open: bool,
}

impl Lines {
    /// Reads the lines that carry this token.
    pub(crate) fn new(reader: File, token: String) -> Lines {
        Lines { reader, token, pending: Vec::new(), open: true }
    }

    /// Waits until data arrives or `time` has passed.
    pub(crate) fn wait(&self, time: Duration) -> Result<(), SuperviseError> {
        if !self.open {
            std::thread::sleep(time);
            return Ok(());
        }
        // A time that is too long for the system's type is none.
        let timeout = rustix::time::Timespec::try_from(time).ok();
        match poll(&mut [PollFd::from_borrowed_fd(self.reader.as_fd(), PollFlags::IN)], timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Reads the available data without waiting.
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
                let reason = format!("it is longer than {} MiB", LONGEST_LINE >> 20);
                return Err(UnreadableLine::new(reason, ours.trim()).into());
            }
            self.pending.clear();
        }
        Ok(read > 0)
    }

    /// The next complete message.
    pub(crate) fn next<A: DeserializeOwned>(&mut self) -> Result<Option<Message<A>>, ReadError> {
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

/// The message in a line; `None` if it is not the worker's. Other output may precede the token on the same
/// line.
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
    use rustix::pipe::{PipeFlags, pipe_with};
    use std::io::Write;

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

    /// The lines of a worker that wrote `bytes` and ended.
    fn written(bytes: &[u8]) -> Lines {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        File::from(writer).write_all(bytes).expect("it fits into the pipe");
        Lines::new(File::from(reader), "abc".to_owned())
    }

    #[test]
    fn an_unreadable_line_is_an_error_that_names_line_and_job() {
        // A NaN is serialized as null.
        let nan =
            "{\"answer\":{\"setup\":{\"ticks_per_ns\":null,\"pin_error\":null,\"counter_error\":null}}}";
        let mut lines = written(format!("a routine prints\nabc {nan}\nabc \"done\"\n").as_bytes());
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
        assert!(matches!(written(line).next(), Ok(Some(Message::Answer(LoadAnswer::Loaded)))));
        let text = written(line).next::<ProbeAnswer>().expect_err("probes load nothing").to_string();
        assert!(text.contains("unknown variant `loaded`"), "{text}");
    }

    #[test]
    fn a_long_line_is_shortened_in_its_error() {
        let line = format!("abc \"{}\n", "ü".repeat(5000));
        let text = written(line.as_bytes()).next::<LoadAnswer>().expect_err("not JSON").to_string();
        assert!(text.contains("(10001 bytes in total)"), "{text}");
        assert!(text.len() < 1000, "{}", text.len());
    }

    #[test]
    fn an_incomplete_last_line_is_ignored() {
        assert!(matches!(written(b"abc \"don").next::<LoadAnswer>(), Ok(None)));
    }
}
