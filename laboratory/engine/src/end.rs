//! How a worker ended, and whether that says anything about the routine that it was calling.
//!
//! A routine can crash or end its process; it is blamed only if that happens twice ([`prove`](crate::prove),
//! [`measure`](crate::measure)). Other ends are not a routine's fault: memory ran out, or another process sent a signal.
//! They are [`End::Lost`], and a worker that is lost is started again.

use carryline_verification::status::{Now, StatusPage};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

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
        /// The message of a panic in the worker's own code, if there was one.
        panic: Option<String>,
    },
    /// It was killed because it made no progress.
    TimedOut {
        /// What it was doing.
        now: Now,
    },
    /// It ended for a reason that has nothing to do with what it was doing.
    Lost {
        /// The reason.
        why: String,
    },
    /// It was killed because the caller asked.
    Stopped,
}

impl End {
    /// How a process ended, given whether it reported `done` and the message of its panic, if any.
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

    /// What it was doing, if that may be why it ended.
    pub(crate) fn now(&self) -> Option<&Now> {
        match self {
            End::Crashed { now, .. } | End::Exited { now, .. } | End::TimedOut { now } => Some(now),
            End::Done | End::Stopped | End::Lost { .. } => None,
        }
    }

    /// In a few words, behind "ended".
    pub fn how(&self) -> String {
        match self {
            End::Done | End::Stopped => "as it should".to_owned(),
            End::Crashed { signal, .. } => format!("by signal {signal}"),
            End::Exited { panic: Some(text), .. } => format!("by failing: {text}"),
            End::Exited { code, .. } => format!("by itself, with status {code}"),
            End::TimedOut { .. } => "by being killed, because it made no progress".to_owned(),
            End::Lost { why } => format!("early, because {why}"),
        }
    }
}

/// The name of a signal that no instruction raises and that says nothing about a routine: another process sends it, or the
/// kernel when a limit of the process is reached.
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

/// How many processes the kernel has killed for their memory since the machine started, in memory groups too; `None`
/// if it does not say.
pub(crate) fn memory_killings() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

/// The least speed at which bytes are processed, by the slowest routine on a busy machine.
const SLOWEST_BYTES_PER_S: u64 = 64 << 20;
/// How long bytes may take in any case.
const MOST_FOR_WORK: Duration = Duration::from_secs(3600);

/// How long a status page that says `now` may stay unchanged: the patience, and the time that its bytes may take.
pub(crate) fn patience_at(now: &Now, patience: Duration) -> Duration {
    let work = Duration::from_millis(now.work().saturating_mul(1000) / SLOWEST_BYTES_PER_S);
    // A routine that overwrites the page must not be waited for forever.
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
    fn only_what_a_routine_can_do_is_a_crash() {
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
    fn a_killing_for_memory_is_told_from_another() {
        let status = StatusPage::create().expect("a page");
        // A count below any that the machine can have.
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
