//! What the caller does with the bytes next, which decides whether they belong in the cache, and the plan for one
//! call that follows from it.

use crate::cpu::caches::{Caches, SHARE_BYTES, caches};
use crate::cpu::profile::{Machine, is_rep_movsb_safe};

/// Who needs the bytes next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Next {
    /// Unknown. The size decides: buffers that fit this core's caches stay there, larger ones are stored
    /// non-temporally.
    #[default]
    Unknown,
    /// This core reads or writes them soon. They stay in the caches, whatever their size.
    ReadHere,
    /// Another core reads them soon. They stay in the caches if the last level, which both share, can hold them;
    /// larger buffers are stored non-temporally.
    ReadElsewhere,
    /// They are not read before the caches have been filled with other data. Stores are non-temporal, except for
    /// short buffers, for which ordinary stores are cheaper: how short depends on the CPU.
    NotSoon,
    /// A device reads them: a network card, a disk, a GPU. Stores are as with [`NotSoon`](Next::NotSoon), and are
    /// ordered before any later store, such as the one that tells the device to start.
    Device,
}

/// What the caller knows about a call: who needs the bytes [`Next`], whether the source is needed again, and how
/// large the whole job is.
///
/// A [`Next`] alone is an intent too: functions take `impl Into<Intent>`.
/// Zeroed or copied bytes that are read immediately should be in this core's cache; bytes that are not read soon only
/// evict other data, and non-temporal stores are two to four times faster where the old lines are not cached. A
/// routine cannot guess which applies, but the caller knows. So the caller says what comes next, never which
/// instruction to use:
///
/// ```
/// use carryline::{Intent, Next};
/// let mut ring = vec![1; 1 << 16];
/// carryline::zero::fill_with(&mut ring, Next::NotSoon);
///
/// // A part of 4 KiB of a job of 64 MiB, from a source that is dropped afterwards.
/// let block = [7; 4096];
/// let intent = Intent::new(Next::Unknown).part_of(64 << 20).source_done();
/// carryline::copy::bytes_with(&mut ring[..4096], &block, intent);
/// assert_eq!((ring[4095], ring[4096]), (7, 0));
/// ```
///
/// An intent is advice: whatever it says, the bytes are the same, in the same order for other threads and devices.
/// A wrong one costs time: up to five times as much where [`NotSoon`](Next::NotSoon) bytes are read immediately.
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

    /// The source of a copy is not needed again: reading it should not evict other data. Zeroing, which has no
    /// source, ignores it.
    #[must_use]
    pub const fn source_done(self) -> Intent {
        Intent { source_done: true, ..self }
    }

    /// The call is part of a job of `job_bytes` bytes in total, which replaces the call's own length where the size
    /// decides. A value below the call's length counts as that length.
    #[must_use]
    pub const fn part_of(self, job_bytes: usize) -> Intent {
        Intent { job_bytes, ..self }
    }

    /// Who needs the bytes next.
    #[must_use]
    pub const fn next(self) -> Next {
        self.next
    }

    /// True if the source is not needed again.
    #[must_use]
    pub const fn is_source_done(self) -> bool {
        self.source_done
    }

    /// The size of the whole job as given to [`part_of`](Intent::part_of); 0 where the call is the job.
    #[must_use]
    pub const fn job_bytes(self) -> usize {
        self.job_bytes
    }

    /// True if the caller reads the bytes immediately.
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

/// Calls of fewer bytes are the same whatever the intent, even as parts of a large job: half a line on average at each
/// end is written as usual anyway, and there is a fence to pay for.
pub(crate) const AROUND_LEAST_BYTES: usize = 512;

/// From this length on, a source that is not needed again is prefetched in a way that does not evict other lines.
/// Below, it is a small part of the first level.
pub(crate) const READ_ONCE_FROM_BYTES: usize = 8 << 10;

/// How the bytes of a call are stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Way {
    /// By a loop of ordinary stores.
    #[default]
    Loop,
    /// By `rep stosb` or `rep movsb`. A kernel without them loops.
    String,
    /// By non-temporal stores, if the kernel has them and the call has whole lines enough.
    NonTemporal,
}

/// How a kernel carries out one call: the [`Intent`] resolved for its length and this machine.
/// This is the only place where the method is chosen: by the intent, the length, the caches (whose reported sizes are
/// bounded) and the CPU's [`Profile`](crate::cpu::Profile). A kernel is correct for every plan at every length.
///
/// ```
/// use carryline::internals::plan::{Plan, Way};
/// use carryline::{Intent, Next};
/// let far = Plan::of_zero(Next::NotSoon.into(), 1 << 20);
/// assert!(far.way == Way::NonTemporal && !far.source_done);
/// let (dst, src) = (0x20_0000 as *const u8, 0x10_0000 as *const u8);
/// let near = Plan::of_copy(Intent::new(Next::ReadHere).source_done(), dst, src, 1 << 20);
/// assert!(near.way == Way::Loop && near.source_done);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(C)]
pub struct Plan {
    /// How the bytes are stored.
    pub way: Way,
    /// Reading the source should not evict other data.
    pub source_done: bool,
}

/// What a plan is for.
#[derive(Clone, Copy, Debug)]
enum Job {
    Zero,
    Copy {
        /// `rep movsb` is not slow at this distance of the buffers.
        is_string_safe: bool,
    },
}

impl Plan {
    /// The plan of zeroing `len` bytes.
    #[must_use]
    #[inline(always)]
    pub fn of_zero(intent: Intent, len: usize) -> Plan {
        Plan::of(intent, len, Job::Zero, Machine::here(), caches)
    }

    /// The plan of copying `len` bytes from `src` to `dst`.
    #[must_use]
    #[inline(always)]
    pub fn of_copy(intent: Intent, dst: *const u8, src: *const u8, len: usize) -> Plan {
        let job = Job::Copy { is_string_safe: is_rep_movsb_safe(dst.addr(), src.addr()) };
        Plan::of(intent, len, job, Machine::here(), caches)
    }

    /// The same call without a fence: without a wait for memory, `NotSoon` bytes get non-temporal stores at every
    /// length.
    #[must_use]
    #[inline(always)]
    pub(crate) fn unfenced(self, intent: Intent) -> Plan {
        match intent.next {
            Next::NotSoon | Next::Device => Plan { way: Way::NonTemporal, ..self },
            _ => self,
        }
    }

    /// The ladder. Where the caches decide, all buffers of the job have to fit. They hold at least the smallest of
    /// [`SHARE_BYTES`], and are queried only from there on.
    #[inline(always)]
    fn of(intent: Intent, len: usize, job: Job, machine: Machine, caches: impl FnOnce() -> Caches) -> Plan {
        let Machine { profile, has_erms } = machine;
        let job_bytes = len.max(intent.job_bytes);
        let (buffers, around_from_bytes, string_from_bytes, is_string_safe) = match job {
            Job::Zero => {
                let string_from_bytes = match intent.next {
                    Next::ReadHere => profile.rep_stosb_read_here_from_bytes,
                    Next::NotSoon | Next::Device => profile.rep_stosb_not_soon_from_bytes,
                    Next::Unknown | Next::ReadElsewhere => profile.rep_stosb_from_bytes,
                };
                (1, profile.zero_non_temporal_from_bytes, string_from_bytes, has_erms)
            }
            Job::Copy { is_string_safe } => {
                let is_read_once = intent.source_done && len >= READ_ONCE_FROM_BYTES;
                let string_from_bytes = match intent.next {
                    Next::NotSoon | Next::Device => profile.rep_movsb_not_soon_from_bytes,
                    Next::ReadHere | Next::Unknown | Next::ReadElsewhere => profile.rep_movsb_from_bytes,
                };
                let is_string_safe = has_erms && is_string_safe && !is_read_once;
                (2, profile.copy_non_temporal_from_bytes, string_from_bytes, is_string_safe)
            }
        };
        let in_caches_bytes = job_bytes.saturating_mul(buffers);
        let may_exceed_caches = in_caches_bytes >= *SHARE_BYTES.start();
        let is_around = match intent.next {
            Next::ReadHere => false,
            Next::Unknown => may_exceed_caches && in_caches_bytes >= caches().core_share_bytes,
            Next::ReadElsewhere => may_exceed_caches && in_caches_bytes >= caches().last_level_bytes,
            Next::NotSoon | Next::Device => job_bytes >= around_from_bytes,
        };
        let way = match () {
            () if is_around => Way::NonTemporal,
            () if is_string_safe && len >= string_from_bytes => Way::String,
            () => Way::Loop,
        };
        Plan { way, source_done: intent.source_done }
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
    use crate::cpu::Profile;
    use crate::cpu::profile::{self, LOOPS_BELOW_BYTES};

    const SMALL: Caches = Caches { core_share_bytes: 2 << 20, last_level_bytes: 8 << 20 };
    const COPY: Job = Job::Copy { is_string_safe: true };
    const EVERY_NEXT: [Next; 5] =
        [Next::Unknown, Next::ReadHere, Next::ReadElsewhere, Next::NotSoon, Next::Device];

    fn way(profile: &'static Profile, intent: impl Into<Intent>, len: usize, job: Job) -> Way {
        Plan::of(intent.into(), len, job, Machine { profile, has_erms: true }, || SMALL).way
    }

    #[test]
    fn each_intent_has_its_threshold_on_every_cpu() {
        for profile in profile::all() {
            for (next, job, from) in [
                (Next::Unknown, Job::Zero, 2 << 20),
                (Next::Unknown, COPY, 1 << 20),
                (Next::ReadElsewhere, Job::Zero, 8 << 20),
                (Next::ReadElsewhere, COPY, 4 << 20),
                (Next::NotSoon, Job::Zero, profile.zero_non_temporal_from_bytes),
                (Next::NotSoon, COPY, profile.copy_non_temporal_from_bytes),
                (Next::Device, COPY, profile.copy_non_temporal_from_bytes),
            ] {
                let is_around = |len| way(profile, next, len, job) == Way::NonTemporal;
                assert!(!is_around(0) && !is_around(from - 1), "{} {next:?} {job:?}", profile.name);
                assert!(is_around(from) && is_around(usize::MAX), "{} {next:?} {job:?}", profile.name);
            }
            assert_ne!(way(profile, Next::ReadHere, usize::MAX, COPY), Way::NonTemporal);
        }
    }

    #[test]
    fn string_instructions_are_for_the_cpus_on_which_they_win() {
        for profile in profile::all() {
            for (next, job, from) in [
                (Next::Unknown, Job::Zero, profile.rep_stosb_from_bytes),
                (Next::ReadHere, Job::Zero, profile.rep_stosb_read_here_from_bytes),
                (Next::Unknown, COPY, profile.rep_movsb_from_bytes),
                (Next::NotSoon, COPY, profile.rep_movsb_not_soon_from_bytes),
            ] {
                if from == usize::MAX {
                    continue;
                }
                assert_eq!(way(profile, next, from - 1, job), Way::Loop, "{} {next:?} {job:?}", profile.name);
                assert_eq!(way(profile, next, from, job), Way::String, "{} {next:?} {job:?}", profile.name);
            }
        }
        for len in (0..40).map(|bits| 1 << bits) {
            for next in EVERY_NEXT {
                for job in [Job::Zero, COPY] {
                    for profile in profile::all().filter(|p| !p.is_measured() || p.name.contains("Zen 3")) {
                        assert_ne!(
                            way(profile, next, len, job),
                            Way::String,
                            "{} {next:?} {len}",
                            profile.name
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_takes_string_instructions_away() {
        for profile in profile::all() {
            for (len, next) in (9..30).flat_map(|bits| EVERY_NEXT.map(|next| (1 << bits, next))) {
                let masked = Machine { profile, has_erms: false };
                let plan = |job, machine| Plan::of(next.into(), len, job, machine, || SMALL).way;
                let here = Machine { has_erms: true, ..masked };
                assert!(plan(Job::Zero, masked) != Way::String && plan(COPY, masked) != Way::String);
                assert_ne!(plan(Job::Copy { is_string_safe: false }, here), Way::String);
                let once = Plan::of(Intent::new(next).source_done(), len, COPY, here, || SMALL);
                assert!(once.way != Way::String || len < READ_ONCE_FROM_BYTES);
            }
        }
    }

    #[test]
    fn kernels_need_not_ask_below_the_loops_own_sizes() {
        for profile in profile::all() {
            for next in [Next::Unknown, Next::ReadHere] {
                for len in [0, 511, LOOPS_BELOW_BYTES - 1] {
                    assert_eq!(way(profile, next, len, Job::Zero), Way::Loop);
                    assert_eq!(way(profile, next, len, COPY), Way::Loop);
                }
            }
        }
    }

    #[test]
    fn a_part_counts_as_its_job() {
        let from = profile::UNMEASURED.zero_non_temporal_from_bytes;
        for (len, job, expected) in
            [(1, 1 << 20, true), (600, from - 1, false), (1 << 16, 1, true), (0, 0, false)]
        {
            let way = way(&profile::UNMEASURED, Intent::new(Next::NotSoon).part_of(job), len, Job::Zero);
            assert_eq!(way == Way::NonTemporal, expected, "{len} of {job}");
        }
        let large = Intent::default().part_of(2 << 20);
        assert_eq!(way(&profile::UNMEASURED, large, 64, Job::Zero), Way::NonTemporal);
    }

    #[test]
    fn without_a_fence_everything_for_nobody_goes_around() {
        for next in EVERY_NEXT {
            let plan = Plan::default().unfenced(next.into());
            assert_eq!(plan.way == Way::NonTemporal, matches!(next, Next::NotSoon | Next::Device));
        }
    }

    #[test]
    fn the_caches_are_not_asked_for_where_they_cannot_matter() {
        let nobody = || -> Caches { unreachable!("asked") };
        for next in EVERY_NEXT {
            Plan::of(next.into(), SHARE_BYTES.start() - 1, Job::Zero, Machine::here(), nobody);
        }
        Plan::of(Next::ReadHere.into(), usize::MAX, COPY, Machine::here(), nobody);
    }

    #[test]
    fn an_absurd_threshold_is_still_a_threshold() {
        for threshold in [0, 1, usize::MAX] {
            let absurd = Caches { core_share_bytes: threshold, last_level_bytes: threshold };
            for next in [Next::Unknown, Next::ReadElsewhere] {
                let is_around = |len| {
                    Plan::of(next.into(), len, Job::Zero, Machine::here(), || absurd).way == Way::NonTemporal
                };
                assert!(!is_around(0));
                assert_eq!(is_around(1 << 40), threshold <= 1 << 40);
                assert!(is_around(usize::MAX));
            }
        }
    }
}
