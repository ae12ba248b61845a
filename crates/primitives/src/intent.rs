//! What the caller does with the bytes next, which decides whether they belong in the cache.
//!
//! Zeroed or copied bytes that are read at once should be in this core's cache; bytes that nobody reads soon only
//! push others out of it, and stores that go around the caches are two to four times faster where the old lines
//! are not cached. No routine can guess which it is, and every caller knows. So a caller says what comes next,
//! never which instruction to use.
//!
//! An intent is advice: whatever it says, the bytes are the same, in the same order for other threads and devices.
//! A wrong one costs time, up to five times as much where bytes said to be [`NotSoon`](Next::NotSoon) are read at
//! once.

/// Who needs the bytes next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Next {
    /// Not known. The size decides: what this core's caches hold stays in them, what is larger goes around them.
    #[default]
    Unknown,
    /// This core reads or writes them soon. They stay in the caches, whatever their size.
    ReadHere,
    /// Another core reads them soon. They stay in the caches as long as the last level, which both share, can hold
    /// them; what is larger goes around.
    ReadElsewhere,
    /// Nobody reads them before the caches have been filled with other things. They go around the caches, unless
    /// there are so few that ordinary stores are cheaper.
    NotSoon,
    /// A device reads them: a network card, a disk, a GPU. They go around the caches as with
    /// [`NotSoon`](Next::NotSoon), and are on their way before any later store, such as the one that tells the
    /// device to start.
    Device,
}

/// What the caller knows about a call: who needs the bytes [`Next`], whether the source is needed again, and how
/// large the whole job is.
///
/// A [`Next`] alone is an intent too: functions take `impl Into<Intent>`.
///
/// ```
/// use carryline::{Intent, Next};
/// let plain = Intent::from(Next::ReadHere);
/// assert_eq!(plain, Intent::new(Next::ReadHere));
/// let more = plain.source_done().part_of(1 << 20);
/// assert_eq!((more.next(), more.is_source_done(), more.job_bytes()), (Next::ReadHere, true, 1 << 20));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Intent {
    next: Next,
    source_done: bool,
    job_bytes: usize,
}

impl Intent {
    /// Who needs the bytes next; the source may be needed again, and the call is the whole job.
    #[must_use]
    pub const fn new(next: Next) -> Intent {
        Intent { next, source_done: false, job_bytes: 0 }
    }

    /// Nobody needs the source of a copy again: reading it should not push other things out of the caches.
    /// Zeroing, which has no source, ignores it.
    #[must_use]
    pub const fn source_done(self) -> Intent {
        Intent { source_done: true, ..self }
    }

    /// The call is part of a job of so many bytes in all, which decides in place of the call's own length where
    /// the size decides. Less than the call's length counts as that length.
    #[must_use]
    pub const fn part_of(self, job_bytes: usize) -> Intent {
        Intent { job_bytes, ..self }
    }

    /// Who needs the bytes next.
    #[must_use]
    pub const fn next(self) -> Next {
        self.next
    }

    /// True if nobody needs the source again.
    #[must_use]
    pub const fn is_source_done(self) -> bool {
        self.source_done
    }

    /// The size of the whole job as given to [`part_of`](Intent::part_of); 0 where the call is the job.
    #[must_use]
    pub const fn job_bytes(self) -> usize {
        self.job_bytes
    }
}

impl From<Next> for Intent {
    fn from(next: Next) -> Intent {
        Intent::new(next)
    }
}
