//! How a worker ended, and whether the routine that it was calling may be the cause.
//!
//! A routine can crash or end its process; it is blamed only if that happens twice ([`prove`](crate::prove),
//! [`measure`](crate::measure)). Other causes are not the routine's fault, such as a lack of memory or a
//! signal from another process: they are [`End::Lost`], and the worker is started again.

use carryline_verification::status::{Now, StatusPage};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It completed its job.
    Done,
    /// A signal ended it.
    Crashed {
        /// The signal's number.
        signal: i32,
        /// What it was doing, from the status page.
        now: Now,
    },
    /// It exited before its job was done.
    Exited {
        /// The exit status.
        code: i32,
        /// What it was doing, from the status page.
        now: Now,
        /// The message of a panic in the worker's own code, if there was one.
        panic: Option<String>,
    },
    /// It was killed because it made no progress.
    TimedOut {
        /// What it was doing, from the status page.
        now: Now,
    },
    /// It ended for a reason unrelated to what it was doing.
    Lost {
        /// The reason.
        why: String,
    },
    /// It was killed at the caller's request.
    Stopped,
}

impl End {
    /// Classifies the end of a process. `done` says whether it reported that its job was done, `panic` is the
    /// message of its panic, if any, and `killings_before` is [`memory_killings`] when it was started.
    pub(crate) fn of(
        exit: ExitStatus,
        done: bool,
        panic: Option<String>,
        status: &StatusPage,
        killings_before: Option<u64>,
    ) -> End {
        let now = status.now();
        match (exit.signal(), exit.code()) {
            (None, Some(0)) if done => End::Done,
            (Some(libc::SIGABRT), _) if status.is_out_of_memory() => {
                End::Lost { why: "memory ran out".to_owned() }
            }
            (Some(libc::SIGKILL), _) if memory_killings() > killings_before => {
                End::Lost { why: "memory ran out and the kernel sent SIGKILL".to_owned() }
            }
            (Some(signal), _) => match outside(signal) {
                Some(name) => End::Lost { why: format!("{name} came from outside") },
                None => End::Crashed { signal, now },
            },
            (None, code) => End::Exited { code: code.unwrap_or(-1), now, panic },
        }
    }

    /// What it was doing, if that may be the cause of its end.
    pub(crate) fn now(&self) -> Option<&Now> {
        match self {
            End::Crashed { now, .. } | End::Exited { now, .. } | End::TimedOut { now } => Some(now),
            End::Done | End::Stopped | End::Lost { .. } => None,
        }
    }

    /// The cause in a few words that follow "ended".
    pub fn how(&self) -> String {
        match self {
            End::Done | End::Stopped => "normally".to_owned(),
            End::Crashed { signal, .. } => format!("by signal {signal}"),
            End::Exited { panic: Some(text), .. } => format!("with a panic: {text}"),
            End::Exited { code, .. } => format!("with exit status {code}"),
            End::TimedOut { .. } => "when it was killed because it made no progress".to_owned(),
            End::Lost { why } => format!("early, because {why}"),
        }
    }
}

/// The name of a signal that no instruction raises: another process sends it, or the kernel when the process
/// reaches one of its limits.
fn outside(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGINT => "SIGINT",
        libc::SIGHUP => "SIGHUP",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        _ => return None,
    })
}

/// The number of processes that the kernel has killed for lack of memory since boot, including memory control
/// groups; `None` if the kernel does not report it.
pub(crate) fn memory_killings() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

/// The lowest speed assumed for processing bytes: the slowest routine on a busy machine.
const SLOWEST_BYTES_PER_S: u64 = 64 << 20;
/// The longest time allowed for processing bytes.
const MOST_FOR_WORK: Duration = Duration::from_secs(3600);

/// How long the status page may stay unchanged at `now`: the patience plus the time that the bytes may take.
pub(crate) fn patience_at(now: &Now, patience: Duration) -> Duration {
    let work = Duration::from_millis(now.work().saturating_mul(1000) / SLOWEST_BYTES_PER_S);
    // Bounded, because a routine may overwrite the page.
    patience + work.min(MOST_FOR_WORK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_verification::status::Phase;

    fn by(signal: i32, status: &StatusPage) -> End {
        End::of(ExitStatus::from_raw(signal), false, None, status, memory_killings())
    }

    #[test]
    fn only_signals_that_a_routine_can_raise_are_crashes() {
        let status = StatusPage::create().expect("a page");
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGABRT]
        {
            assert!(matches!(by(signal, &status), End::Crashed { signal: said, .. } if said == signal));
        }
        for signal in [libc::SIGKILL, libc::SIGTERM, libc::SIGXCPU] {
            assert!(matches!(by(signal, &status), End::Lost { .. }), "{signal}");
        }
        status.note_out_of_memory();
        assert!(matches!(by(libc::SIGABRT, &status), End::Lost { why } if why.contains("memory")));
    }

    #[test]
    fn an_out_of_memory_kill_is_distinguished_from_others() {
        let status = StatusPage::create().expect("a page");
        // `None` is less than any count.
        let killed = End::of(ExitStatus::from_raw(libc::SIGKILL), false, None, &status, None);
        if memory_killings().is_some() {
            assert!(killed.how().contains("memory"), "{killed:?}");
        }
        assert!(by(libc::SIGKILL, &status).how().contains("outside"));
    }

    #[test]
    fn patience_grows_with_the_bytes_that_are_processed() {
        let patience = Duration::from_secs(10);
        let at = |phase: Phase, detail| {
            patience_at(&Now { phase: phase as u64, len: 1 << 40, detail, ..Now::default() }, patience)
        };
        assert_eq!(at(Phase::Prove, 1 << 40), patience, "a verification's detail is not a number of bytes");
        assert_eq!(at(Phase::Time, 0), patience);
        assert_eq!(at(Phase::Time, 8 << 30), Duration::from_secs(10 + 128));
    }
}
