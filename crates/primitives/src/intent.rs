//! What the caller does with the bytes next, which decides whether they belong in the cache.
//!
//! Zeroed or copied bytes that are read at once should be in this core's cache; bytes that nobody reads soon only
//! push others out of it, and stores that go around the caches are two to four times faster where the old lines
//! are not cached. No routine can guess which it is, and every caller knows. So a caller says what comes next,
//! never which instruction to use:
//!
//! ```
//! use carryline::{Intent, Next};
//! let mut ring = vec![1; 1 << 16];
//! carryline::zero::fill_with(&mut ring, Next::NotSoon);
//!
//! // A part of 4 KiB of a job of 64 MiB, from a source that is dropped afterwards.
//! let block = [7; 4096];
//! let intent = Intent::new(Next::Unknown).part_of(64 << 20).source_done();
//! carryline::copy::copy_with(&mut ring[..4096], &block, intent);
//! assert_eq!((ring[4095], ring[4096]), (7, 0));
//! ```
//!
//! An intent is advice: whatever it says, the bytes are the same, in the same order for other threads and devices.
//! A wrong one costs time, up to five times as much where bytes said to be [`NotSoon`](Next::NotSoon) are read at
//! once.

use crate::cpu::caches::{Caches, SHARE_BYTES, caches};

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

    /// True if the caller reads the bytes at once.
    pub(crate) const fn reads_here(self) -> bool {
        matches!(self.next, Next::ReadHere)
    }
}

impl From<Next> for Intent {
    #[inline]
    fn from(next: Next) -> Intent {
        Intent::new(next)
    }
}

/// From so many bytes on zeroing for nobody goes around the caches. Below, the wait for stores on their way to memory
/// costs more than they save: `rep stosb` zeroes lines that are not cached without reading them either. Where the two
/// meet was measured on Zen 5, with destinations that are not cached (16 KiB: 1.07 times slower around them, 64 KiB:
/// 1.08 times faster).
pub(crate) const NOT_SOON_ZERO_FROM_BYTES: usize = 48 << 10;

/// From so many bytes on a copy for nobody goes around the caches; measured as [`NOT_SOON_ZERO_FROM_BYTES`] (4 KiB: 1.05
/// times slower, 16 KiB: 1.03 times faster).
pub(crate) const NOT_SOON_COPY_FROM_BYTES: usize = 16 << 10;

/// Calls of fewer bytes are the same whatever the intent, even as parts of a large job: half a line on average at each
/// end is written as usual anyway, and there is a fence to pay for.
pub(crate) const AROUND_LEAST_BYTES: usize = 512;

/// What an [`Intent`] comes to for one call on this machine; what kernels are given.
///
/// ```
/// use carryline::intent::{Intent, Next, Plan};
/// let far = Plan::of_zero(Next::NotSoon.into(), 1 << 20);
/// assert!(far.around && !far.source_done);
/// let near = Plan::of_copy(Intent::new(Next::ReadHere).source_done(), usize::MAX);
/// assert!(!near.around && near.source_done);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(C)]
pub struct Plan {
    /// The stores go around the caches, if the kernel can and the call has whole lines enough.
    pub around: bool,
    /// Reading the source should not push other things out of the caches.
    pub source_done: bool,
    /// Nobody reads the bytes soon, whether or not there are enough of them to go around the caches and wait for it;
    /// without the wait fewer are enough.
    pub not_soon: bool,
}

/// Zeroing fewer bytes than this never goes around the caches because of its size.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const ZERO_IN_CACHES_BYTES: usize = *SHARE_BYTES.start();
/// Copying fewer bytes than this never goes around the caches because of its size.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const COPY_IN_CACHES_BYTES: usize = *SHARE_BYTES.start() / 2;

impl Plan {
    /// The plan of a caller without an intent, for sizes that the caches hold.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    pub(crate) const THROUGH: Plan = Plan { around: false, source_done: false, not_soon: false };

    /// The plan of zeroing `len` bytes.
    #[must_use]
    #[inline(always)]
    pub fn of_zero(intent: Intent, len: usize) -> Plan {
        Plan::of(intent, len, 1, caches)
    }

    /// The plan of copying `len` bytes.
    #[must_use]
    #[inline(always)]
    pub fn of_copy(intent: Intent, len: usize) -> Plan {
        Plan::of(intent, len, 2, caches)
    }

    /// The ladder: from which size of job on the stores go around. Where the caches decide, all `buffers` of the job
    /// have to fit. The caches hold at least the smallest of [`SHARE_BYTES`] and are asked for from there on only.
    #[inline(always)]
    pub(crate) fn of(intent: Intent, len: usize, buffers: usize, caches: impl FnOnce() -> Caches) -> Plan {
        let job_bytes = len.max(intent.job_bytes);
        let in_caches_bytes = job_bytes.saturating_mul(buffers);
        let may_exceed_caches = in_caches_bytes >= *SHARE_BYTES.start();
        let around = match intent.next {
            Next::ReadHere => false,
            Next::Unknown => may_exceed_caches && in_caches_bytes >= caches().core_share_bytes,
            Next::ReadElsewhere => may_exceed_caches && in_caches_bytes >= caches().last_level_bytes,
            Next::NotSoon | Next::Device if buffers == 1 => job_bytes >= NOT_SOON_ZERO_FROM_BYTES,
            Next::NotSoon | Next::Device => job_bytes >= NOT_SOON_COPY_FROM_BYTES,
        };
        let not_soon = matches!(intent.next, Next::NotSoon | Next::Device);
        Plan { around, source_done: intent.source_done, not_soon }
    }
}

/// Waits until the stores of unfenced calls, such as [`zero::fill_unfenced`](crate::zero::fill_unfenced), are
/// ordered before all later ones of this thread. One call serves any number of them.
///
/// ```
/// use carryline::{Next, drain, zero};
/// let mut pages = vec![[1; 4096]; 8];
/// for page in &mut pages {
///     // SAFETY: no other thread sees the pages before the drain.
///     unsafe { zero::fill_unfenced(page, Next::NotSoon) };
/// }
/// drain();
/// assert!(pages.iter().all(|page| *page == [0; 4096]));
/// ```
#[inline]
pub fn drain() {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    crate::blocks::fence();
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Caches = Caches { core_share_bytes: 2 << 20, last_level_bytes: 8 << 20 };

    fn around(next: Next, len: usize, buffers: usize) -> bool {
        Plan::of(next.into(), len, buffers, || SMALL).around
    }

    #[test]
    fn each_intent_has_its_threshold() {
        for (next, buffers, from) in [
            (Next::Unknown, 1, 2 << 20),
            (Next::Unknown, 2, 1 << 20),
            (Next::ReadElsewhere, 1, 8 << 20),
            (Next::ReadElsewhere, 2, 4 << 20),
            (Next::NotSoon, 1, NOT_SOON_ZERO_FROM_BYTES),
            (Next::NotSoon, 2, NOT_SOON_COPY_FROM_BYTES),
            (Next::Device, 2, NOT_SOON_COPY_FROM_BYTES),
        ] {
            assert!(!around(next, 0, buffers) && !around(next, from - 1, buffers), "{next:?} {buffers}");
            assert!(around(next, from, buffers) && around(next, usize::MAX, buffers), "{next:?} {buffers}");
        }
        assert!(!around(Next::ReadHere, usize::MAX, 2));
    }

    #[test]
    fn a_part_counts_as_its_job() {
        for (len, job, expected) in
            [(1, 1 << 20, true), (600, 4095, false), (1 << 16, 1, true), (0, 0, false)]
        {
            let intent = Intent::new(Next::NotSoon).part_of(job);
            assert_eq!(Plan::of(intent, len, 1, || SMALL).around, expected, "{len} of {job}");
        }
        assert!(Plan::of(Intent::default().part_of(2 << 20), 64, 1, || SMALL).around);
    }

    #[test]
    fn the_caches_are_not_asked_for_where_they_cannot_matter() {
        let nobody = || -> Caches { unreachable!("asked") };
        for next in [Next::Unknown, Next::ReadHere, Next::ReadElsewhere, Next::NotSoon, Next::Device] {
            Plan::of(next.into(), SHARE_BYTES.start() - 1, 1, nobody);
        }
        Plan::of(Next::ReadHere.into(), usize::MAX, 2, nobody);
    }

    #[test]
    fn an_absurd_threshold_is_still_a_threshold() {
        for threshold in [0, 1, usize::MAX] {
            let absurd = Caches { core_share_bytes: threshold, last_level_bytes: threshold };
            for next in [Next::Unknown, Next::ReadElsewhere] {
                let around = |len| Plan::of(next.into(), len, 1, || absurd).around;
                assert!(!around(0));
                assert_eq!(around(1 << 40), threshold <= 1 << 40);
                assert!(around(usize::MAX));
            }
        }
    }
}
