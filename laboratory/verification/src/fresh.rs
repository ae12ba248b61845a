//! A process in which the routine was never called.
//!
//! A fault that depends on earlier calls cannot be made again where there have been a million of them. So before the first
//! call the process forks: the child waits, and forks a process of its own for each input that is to be tried, which
//! makes the calls and ends. What it finds is what a program that does just that would see.
//!
//! The waiting process belongs to a thread of its own, so that it is not mistaken for one that the routine has left behind.

use super::checker::{Checker, Mismatch};
use super::desk::Desk;
use super::replay::Input;
use super::signals::SignalStack;
use crate::forked;
use carryline_variants::landing::Landing;
use rustix::process::{Pid, Resource, Rlimit, WaitOptions, setrlimit, waitpid};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// CPU time that a process gets for one input.
const MOST_SECONDS: u64 = 1;
/// Elapsed time, for routines that sleep.
const MOST_SECONDS_ON_THE_CLOCK: u32 = 4;

/// The answer for an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    Right,
    Wrong(Mismatch),
    /// Crashed beyond what handlers catch, out of memory or out of time.
    Nothing,
}

/// The waiting process, until dropped.
#[derive(Debug)]
pub(super) struct Fresh {
    requests: Option<Sender<Input>>,
    answers: Receiver<Answer>,
    keeper: Option<JoinHandle<()>>,
}

impl Fresh {
    /// Forks; to be called before the routine is.
    pub fn split(code: Landing) -> Fresh {
        let (requests, inbox) = channel::<Input>();
        let (outbox, answers) = channel();
        let keeper = std::thread::spawn(move || {
            // Without a second process every answer is `Nothing`.
            let _ = keep(code, &inbox, &outbox);
        });
        let fresh = Fresh { requests: Some(requests), answers, keeper: Some(keeper) };
        // The routine must not be called before the process has forked.
        let _ = fresh.answers.recv();
        fresh
    }

    /// The outcome of that input in a process in which nothing was called before.
    /// `count` numbers the call, as for [`Input::count`].
    pub fn try_on(&self, input: &Input, count: u64) -> Answer {
        let input = Input { count, ..input.clone() };
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(input).is_ok());
        if sent { self.answers.recv().unwrap_or(Answer::Nothing) } else { Answer::Nothing }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        self.requests = None;
        // It has nothing to report.
        let _ = self.keeper.take().map(JoinHandle::join);
    }
}

/// The thread to which the waiting process belongs.
fn keep(code: Landing, inbox: &Receiver<Input>, outbox: &Sender<Answer>) -> io::Result<()> {
    let (near, theirs) = UnixStream::pair()?;
    // Out of the way of routines that close descriptors by their numbers, where so many are allowed.
    let ours = match rustix::io::fcntl_dupfd_cloexec(&near, 600) {
        Ok(far) => {
            drop(near);
            UnixStream::from(far)
        }
        Err(_) => near,
    };
    // SAFETY: the child allocates, which C libraries allow a child of a process with threads, and takes no lock that
    // another thread could have held; it never returns from here.
    let child = unsafe { libc::fork() };
    match child {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            drop(ours);
            // An error is an end too: there is no one to report it to.
            let _ = serve(code, &theirs);
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
    // SAFETY: a descriptor of this thread's own. A routine may have closed it all the same, which is its own affair.
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

/// The waiting process: a process for each input, until the other end is closed.
fn serve(code: Landing, socket: &UnixStream) -> io::Result<()> {
    let own = socket.as_raw_fd().cast_unsigned();
    let nowhere = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    // SAFETY: descriptors that this process has no use for: a pipe that it kept open would keep its reader waiting. What a
    // routine prints goes nowhere.
    unsafe {
        for standard in (0..3).filter(|standard| *standard != own.cast_signed()) {
            libc::dup2(nowhere.as_raw_fd(), standard);
        }
        if own > 3 {
            libc::syscall(libc::SYS_close_range, 3, own - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, own.max(2) + 1, u32::MAX, 0);
    }
    // Closed by now.
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
        let answer = in_a_child(code, &input).unwrap_or(Answer::Nothing);
        let mut to = socket;
        writeln!(to, "{}", serde_json::to_string(&answer)?)?;
    }
}

fn in_a_child(code: Landing, input: &Input) -> io::Result<Answer> {
    let (mut from, mut to) = UnixStream::pair()?;
    // SAFETY: this process has one thread; the child never returns from here.
    let child = unsafe { libc::fork() };
    match child {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            drop(from);
            let answer = answer(code, input);
            let _ = serde_json::to_string(&answer).map(|json| to.write_all(json.as_bytes()));
            // SAFETY: it ends the child, which holds nothing that wants to be dropped.
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

/// Waits for the end of a child. Where its signal is ignored, the kernel reaps it, and there is an error that means that.
fn reap(child: i32) {
    let _ = waitpid(Pid::from_raw(child), WaitOptions::empty());
}

fn answer(code: Landing, input: &Input) -> Answer {
    let seconds = |seconds| Rlimit { current: Some(seconds), maximum: Some(seconds) };
    if setrlimit(Resource::Cpu, seconds(MOST_SECONDS)).is_err() {
        return Answer::Nothing;
    }
    // SAFETY: the signal's default action ends this process, which is what is wanted.
    unsafe { libc::alarm(MOST_SECONDS_ON_THE_CLOCK) };
    forked::arm();
    let _stack = SignalStack::install(64 << 10);
    let Ok(mut desk) = Desk::new(input.room()) else { return Answer::Nothing };
    let mut checker = Checker::new(code, None, 0);
    checker.caller.calls = input.count.wrapping_sub(1 + input.before());
    match input.make(&mut checker, &mut desk, 1) {
        Ok(None) => Answer::Right,
        Ok(Some(mismatch)) => Answer::Wrong(mismatch),
        Err(_) => Answer::Nothing,
    }
}
