//! A running process that answers requests, and its end.

use super::{ClientError, Launch};
use crate::wire::{Hello, Reply, Request};
use carryline_engine::interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{Read, Write};
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

/// A process with its pipes.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    pending: Vec<u8>,
    stderr: Vec<u8>,
    pub(super) hello: Hello,
}

impl Running {
    /// Starts the process with pipes for its standard streams, in a process group of its own.
    pub(super) fn start(launch: &Launch) -> std::io::Result<Running> {
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
    pub(super) fn exchange(
        &mut self,
        request: &Request,
        repeat: bool,
        timeout: Duration,
    ) -> Result<Reply, ClientError> {
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
            let (writable, readable) = self.wait(true, !left.is_empty())?;
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

    /// Waits briefly until reading (if `reads`) or writing (if `writes`) is possible; collects standard error.
    fn wait(&mut self, reads: bool, writes: bool) -> Result<(bool, bool), ClientError> {
        let time = rustix::time::Timespec { tv_sec: 0, tv_nsec: POLL.subsec_nanos().into() };
        let mut fds = self.watched(reads, writes);
        match poll(&mut fds, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(ClientError::Unusable(errno.to_string())),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut is_ready = |watched: bool| watched && ready.next().unwrap_or(false);
        let (readable, writable) = (is_ready(reads), is_ready(writes));
        if is_ready(self.errors.is_some()) {
            self.read_stderr();
        }
        Ok((writable, readable))
    }

    /// What to wait for: the output, the input, standard error. A pipe that the process has closed is always
    /// ready, so each is included only while it is needed.
    fn watched(&self, reads: bool, writes: bool) -> Vec<PollFd<'_>> {
        let output = reads.then(|| PollFd::new(&self.output, PollFlags::IN));
        let input = writes.then(|| PollFd::new(&self.input, PollFlags::OUT));
        let errors = self.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN));
        [output, input, errors].into_iter().flatten().collect()
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
            while self.errors.is_some() && self.wait(false, false).is_ok() && begin.elapsed() < EXIT_TIMEOUT {
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Polling a closed pipe returns at once, so a loop around it would use a CPU.
    #[test]
    fn closed_pipes_are_not_waited_for() {
        let launch = Launch::shell("exec <&-; echo closed; exec sleep 1000");
        let mut running = Running::start(&launch).expect("a shell");
        while running.pending.is_empty() {
            running.wait(true, false).expect("no error");
            assert!(running.read().expect("it says that it has closed its input"));
        }
        let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        assert_eq!(poll(&mut running.watched(true, false), Some(&now)), Ok(0));
        assert_eq!(poll(&mut running.watched(true, true), Some(&now)), Ok(1), "it has closed its input");

        let mut running = Running::start(&Launch::shell("exec >&-; exec sleep 1000")).expect("a shell");
        let (_, readable) = running.wait(true, false).expect("no error");
        assert!(!readable || !running.read().expect("the end"), "it wrote nothing");
        assert_eq!(poll(&mut running.watched(false, false), Some(&now)), Ok(0));
    }
}
