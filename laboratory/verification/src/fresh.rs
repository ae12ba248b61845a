//! Processes in which the routine was never called.
//!
//! A fault that depends on earlier calls cannot be reproduced after a million of them. So the process forks
//! before the first call. The child waits, and forks a process for each input to be tried, which makes the
//! calls and exits. Its result is that of a program that makes only these calls.
//!
//! The waiting process belongs to a separate thread, so that it is not mistaken for one that the routine left
//! behind.

use super::checker::{Checker, Mismatch};
use super::desk::Desk;
use super::replay::Input;
use super::signals::SignalStack;
use super::standard::Standard;
use crate::forked;
use carryline_variants::landing::Landing;
use rustix::process::{Pid, Resource, Rlimit, WaitOptions, setrlimit, waitpid};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// The CPU time limit of a process for one input.
const MOST_SECONDS: u64 = 1;
/// The limit on elapsed time, for routines that sleep.
const MOST_SECONDS_ON_THE_CLOCK: u32 = 4;

/// The result for an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    Right,
    Wrong(Mismatch),
    /// Crashed in a way that handlers cannot catch, or out of memory or time.
    Nothing,
}

/// Owns the waiting process until dropped.
#[derive(Debug)]
pub(super) struct Fresh {
    requests: Option<Sender<Input>>,
    answers: Receiver<Answer>,
    keeper: Option<JoinHandle<()>>,
}

impl Fresh {
    /// Forks; must be called before the routine is. `standard` is the function whose requirements it must meet.
    pub fn split(code: Landing, standard: Option<Standard>) -> Fresh {
        let (requests, inbox) = channel::<Input>();
        let (outbox, answers) = channel();
        let keeper = std::thread::spawn(move || {
            // If the fork fails, every answer is `Nothing`.
            let _ = keep(code, standard, &inbox, &outbox);
        });
        let fresh = Fresh { requests: Some(requests), answers, keeper: Some(keeper) };
        // The routine must not be called before the process has forked.
        let _ = fresh.answers.recv();
        fresh
    }

    /// The result for this input in a process without earlier calls. `count` numbers the call, as in
    /// [`Input::count`].
    pub fn try_on(&self, input: &Input, count: u64) -> Answer {
        let input = Input { count, ..input.clone() };
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(input).is_ok());
        if sent { self.answers.recv().unwrap_or(Answer::Nothing) } else { Answer::Nothing }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        self.requests = None;
        // The thread has nothing to report.
        let _ = self.keeper.take().map(JoinHandle::join);
    }
}

/// The thread that owns the waiting process.
fn keep(
    code: Landing,
    standard: Option<Standard>,
    inbox: &Receiver<Input>,
    outbox: &Sender<Answer>,
) -> io::Result<()> {
    let (near, theirs) = UnixStream::pair()?;
    // A high number, if the limit allows it, away from routines that close descriptors by number.
    let ours = match rustix::io::fcntl_dupfd_cloexec(&near, 600) {
        Ok(far) => {
            drop(near);
            UnixStream::from(far)
        }
        Err(_) => near,
    };
    // SAFETY: the child allocates, which C libraries support in a child of a multithreaded process, and takes
    // no lock that another thread could have held; it never returns from here.
    let child = unsafe { libc::fork() };
    match child {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            drop(ours);
            // It also ends after an error, which cannot be reported.
            let _ = serve(code, standard, &theirs);
            // SAFETY: ends this process immediately, without handlers that belong to its parent.
            unsafe { libc::_exit(0) };
        }
        _ => {}
    }
    drop(theirs);
    // Reports that the process has forked.
    let _ = outbox.send(Answer::Nothing);
    let mut reader = BufReader::new(&ours);
    for input in inbox {
        let answer = ask(&ours, &mut reader, &input).unwrap_or(Answer::Nothing);
        if outbox.send(answer).is_err() {
            break;
        }
    }
    drop(reader);
    let descriptor = ours.into_raw_fd();
    // SAFETY: this thread's own descriptor. If a routine has closed it, the error is harmless.
    unsafe { libc::close(descriptor) };
    reap(child);
    Ok(())
}

fn ask(mut to: &UnixStream, from: &mut impl BufRead, input: &Input) -> io::Result<Answer> {
    let header = serde_json::to_string(&(input, input.data.len(), input.prefill.len()))?;
    writeln!(to, "{header}")?;
    to.write_all(&input.data)?;
    to.write_all(&input.prefill)?;
    let mut line = String::new();
    from.read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// The loop of the waiting process: forks a process for each input until the other end is closed.
fn serve(code: Landing, standard: Option<Standard>, socket: &UnixStream) -> io::Result<()> {
    let own = socket.as_raw_fd().cast_unsigned();
    let nowhere = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    // SAFETY: closes descriptors that this process does not need: an inherited pipe would keep its reader
    // waiting. The output of routines is discarded.
    unsafe {
        for standard in (0..3).filter(|standard| *standard != own.cast_signed()) {
            libc::dup2(nowhere.as_raw_fd(), standard);
        }
        if own > 3 {
            libc::syscall(libc::SYS_close_range, 3, own - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, own.max(2) + 1, u32::MAX, 0);
    }
    // Already closed.
    std::mem::forget(nowhere);
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    let mut reader = BufReader::new(socket);
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 {
            return Ok(());
        }
        let (mut input, data, prefill): (Input, usize, usize) = serde_json::from_str(&header)?;
        input.data = vec![0; data];
        reader.read_exact(&mut input.data)?;
        input.prefill = vec![0; prefill];
        reader.read_exact(&mut input.prefill)?;
        let answer = in_a_child(code, standard, &input).unwrap_or(Answer::Nothing);
        let mut to = socket;
        writeln!(to, "{}", serde_json::to_string(&answer)?)?;
    }
}

fn in_a_child(code: Landing, standard: Option<Standard>, input: &Input) -> io::Result<Answer> {
    let (mut from, mut to) = UnixStream::pair()?;
    // SAFETY: this process has one thread; the child never returns from here.
    let child = unsafe { libc::fork() };
    match child {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            drop(from);
            let answer = answer(code, standard, input);
            let _ = serde_json::to_string(&answer).map(|json| to.write_all(json.as_bytes()));
            // SAFETY: ends the child, which holds nothing that must be dropped.
            unsafe { libc::_exit(0) };
        }
        _ => drop(to),
    }
    let mut json = String::new();
    let read = from.read_to_string(&mut json);
    reap(child);
    read?;
    Ok(serde_json::from_str(&json)?)
}

/// Waits for the end of a child. If SIGCHLD is ignored, the kernel reaps it, and the error reports that.
fn reap(child: i32) {
    let _ = waitpid(Pid::from_raw(child), WaitOptions::empty());
}

fn answer(code: Landing, standard: Option<Standard>, input: &Input) -> Answer {
    let seconds = |seconds| Rlimit { current: Some(seconds), maximum: Some(seconds) };
    if setrlimit(Resource::Cpu, seconds(MOST_SECONDS)).is_err() {
        return Answer::Nothing;
    }
    // SAFETY: the signal's default action ends this process, as intended.
    unsafe { libc::alarm(MOST_SECONDS_ON_THE_CLOCK) };
    forked::arm();
    let _stack = SignalStack::install(64 << 10);
    let Ok(mut desk) = Desk::new(input.room()) else { return Answer::Nothing };
    let mut checker = Checker::new(code, None, 0);
    checker.caller.returns_destination = standard.is_some();
    checker.caller.calls = input.count.wrapping_sub(1 + input.before());
    match input.make(&mut checker, &mut desk, 1) {
        Ok(None) => Answer::Right,
        Ok(Some(mismatch)) => Answer::Wrong(mismatch),
        Err(_) => Answer::Nothing,
    }
}
