//! Intents: how the bytes are used next, which decides whether they belong in the cache, and the plan that
//! follows from this for one call.

use crate::cpu::caches::SHARE_BYTES;
use crate::profile::{Decision, PREFETCH_FAR_LEAST_BYTES};
use crate::tuning::decided;
#[cfg(target_arch = "x86_64")]
use crate::tuning::known;

/// Who uses the bytes next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Next {
    /// Unknown. The size decides: buffers that fit into this core's share of the caches stay there, larger
    /// ones are stored non-temporally.
    #[default]
    Unknown,
    /// This core reads or writes them soon. They stay in the caches, whatever their size.
    ReadHere,
    /// Another core reads them soon. They stay in the caches if the shared last level can hold them; larger
    /// buffers are stored non-temporally.
    ReadElsewhere,
    /// They are not read before the caches have been filled with other data. Stores are non-temporal, except
    /// for short buffers, for which ordinary stores are cheaper; the limit depends on the CPU.
    NotSoon,
    /// A device reads them: a network card, a disk, a GPU. Stores are as with [`NotSoon`](Next::NotSoon), and
    /// are ordered before any later store, such as the one that tells the device to start.
    Device,
}

/// What the caller knows about a call: who uses the bytes [`Next`], whether the source is needed again, and
/// how large the whole job is.
///
/// A [`Next`] alone is an intent too: functions take `impl Into<Intent>`.
/// Zeroed or copied bytes that are read immediately should be in this core's cache. Bytes that are not read
/// soon only evict other data, and non-temporal stores are two to four times faster if the old lines are not
/// cached. A routine cannot know which applies, but its caller does. So the caller states the use, never the
/// instruction:
///
/// ```
/// use carryline::{Intent, Next};
/// let mut ring = vec![1; 1 << 16];
/// carryline::zero::fill_with(&mut ring, Next::NotSoon);
///
/// // 4 KiB of a job of 64 MiB, from a source that is dropped afterwards.
/// let block = [7; 4096];
/// let intent = Intent::new(Next::Unknown).part_of(64 << 20).source_done();
/// carryline::copy::bytes_with(&mut ring[..4096], &block, intent);
/// assert_eq!((ring[4095], ring[4096]), (7, 0));
/// ```
///
/// An intent is advice: the bytes are always the same, and become visible to other threads and devices in the
/// same order. A wrong intent costs time: up to five times as much if [`NotSoon`](Next::NotSoon) bytes are
/// read immediately.
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
    /// Who uses the bytes next. By default, the source may be needed again, and the call is the whole job.
    #[must_use]
    pub const fn new(next: Next) -> Intent {
        Intent { next, source_done: false, job_bytes: 0 }
    }

    /// The source of a copy is not needed again: reading it should not evict other data. Zeroing, which has
    /// no source, ignores it.
    #[must_use]
    pub const fn source_done(self) -> Intent {
        Intent { source_done: true, ..self }
    }

    /// The call is part of a job of `job_bytes` bytes in total, which replaces the call's own length where
    /// the size decides. A value below the call's length counts as that length.
    #[must_use]
    pub const fn part_of(self, job_bytes: usize) -> Intent {
        Intent { job_bytes, ..self }
    }

    /// Who uses the bytes next.
    #[must_use]
    pub const fn next(self) -> Next {
        self.next
    }

    /// Whether the source is not needed again.
    #[must_use]
    pub const fn is_source_done(self) -> bool {
        self.source_done
    }

    /// The size of the whole job as given to [`part_of`](Intent::part_of), or 0 if the call is the whole job.
    #[must_use]
    pub const fn job_bytes(self) -> usize {
        self.job_bytes
    }

    /// Whether the caller reads the bytes immediately.
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

/// The least length for which the intent matters, even for parts of a large job: below, the partial lines at
/// both ends, which need ordinary stores, and the fence cost too much.
pub(crate) const NON_TEMPORAL_LEAST_BYTES: usize = 512;

/// Calls without an intent that are shorter than this use loops on every CPU model, so that kernels read no
/// decision for them.
pub const LOOPS_BELOW_BYTES: usize = 16 << 10;

/// The same for stores of at most 16 bytes, than which `rep stosb` and `rep movsb` may be faster from smaller sizes on.
pub const NARROW_LOOPS_BELOW_BYTES: usize = 2 << 10;

/// The same for stores of at most 8 bytes, in programs without vectors.
pub const SCALAR_LOOPS_BELOW_BYTES: usize = 512;

/// Shorter calls never use `rep stosb` and `rep movsb` in this program.
#[cfg(target_arch = "x86_64")]
pub(crate) const STRINGS_FROM_BYTES: usize =
    if cfg!(target_feature = "sse2") { NARROW_LOOPS_BELOW_BYTES } else { SCALAR_LOOPS_BELOW_BYTES };

/// Copies of fewer bytes may use `rep movsb` also where the destination is just above the source modulo 4096: both buffers fit into a
/// first-level cache of 48 KiB. On Granite Rapids, 20 KiB took 0.65 times as long as by a loop with moves of 16 bytes, 28 KiB 1.08.
pub const NEAR_STRINGS_BELOW_BYTES: usize = 24 << 10;

/// The method of storing the bytes of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Way {
    /// A loop of ordinary stores.
    #[default]
    Loop,
    /// `rep stosb` or `rep movsb`. Kernels without them use loops.
    String,
    /// Non-temporal stores, if the kernel has them and the call has enough whole lines.
    NonTemporal,
    /// Zeroing only: the same by `clzero`, if the CPU has it.
    Clzero,
}

impl Way {
    /// Whether nothing is left in the caches, if the kernel can do that.
    #[must_use]
    pub const fn is_non_temporal(self) -> bool {
        matches!(self, Way::NonTemporal | Way::Clzero)
    }
}

/// How a kernel executes one call: the [`Intent`] resolved for its length and this machine.
///
/// This is the only place where the method is chosen: from the intent, the length, and the active decisions
/// for the CPU's model ([`tuning`](crate::tuning)). A kernel is correct for every plan at every length.
///
/// ```
/// use carryline::internals::plan::{Plan, Way};
/// use carryline::Next;
/// let far = Plan::of_zero(Next::NotSoon.into(), 1 << 20);
/// assert!(far.way.is_non_temporal() && !far.source_done);
/// let (dst, src) = (0x20_0000 as *const u8, 0x10_0000 as *const u8);
/// let near = Plan::of_copy(Next::ReadHere.into(), dst, src, 1500);
/// assert!(near.way == Way::Loop && !near.source_done);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(C)]
pub struct Plan {
    /// The method of storing the bytes.
    pub way: Way,
    /// Reading the source should not evict other data.
    pub source_done: bool,
    /// Lines are fetched ahead: by a loop those that it stores, by a non-temporal copy some of both buffers.
    pub fetched: bool,
}

/// The job that a plan is for.
#[derive(Clone, Copy, Debug)]
enum Job {
    Zero,
    Copy {
        /// The destination is near above the source modulo 4096, where `rep movsb` may be slow.
        is_near: bool,
    },
}

impl Plan {
    /// The plan for zeroing `len` bytes.
    #[must_use]
    #[inline(always)]
    pub fn of_zero(intent: Intent, len: usize) -> Plan {
        Plan::of(intent, len, Job::Zero, decided)
    }

    /// Whether the plan for zeroing `len` bytes without an intent is known to be [`Way::String`]: sooner than by the
    /// plan, which may have to find out.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[inline(always)]
    pub(crate) fn is_zero_by_string(len: usize) -> bool {
        len < *SHARE_BYTES.start() && known(Decision::RepStosb).is_some_and(|from| len >= from)
    }

    /// Whether copying `len` bytes without an intent is known to be faster by `rep movsb` than by moves that are as wide
    /// as `B`. Calls below [`LOOPS_BELOW_BYTES`] ask first, because only those with moves of at most 16 bytes have a plan; without
    /// vectors, all calls ask.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn is_short_copy_by_string<B>(dst: *const u8, src: *const u8, len: usize) -> bool {
        size_of::<B>() <= 16
            && len >= STRINGS_FROM_BYTES
            && known(Decision::RepMovsb).is_some_and(|from| len >= from)
            && (!is_near_above(dst.addr(), src.addr())
                || known(Decision::RepMovsbNear).is_some_and(|from| len >= from))
    }

    /// The plan for copying `len` bytes from `src` to `dst`.
    #[must_use]
    #[inline(always)]
    pub fn of_copy(intent: Intent, dst: *const u8, src: *const u8, len: usize) -> Plan {
        let job = Job::Copy { is_near: is_near_above(dst.addr(), src.addr()) };
        Plan::of(intent, len, job, decided)
    }

    /// The plan for the same call without a fence. Without the wait for memory, `NotSoon` bytes get
    /// non-temporal stores at every length.
    #[must_use]
    #[inline(always)]
    pub(crate) fn unfenced(self, intent: Intent) -> Plan {
        match intent.next {
            Next::NotSoon | Next::Device => {
                let (way, fetched) = match self.way {
                    Way::NonTemporal | Way::Clzero => (self.way, self.fetched),
                    Way::Loop | Way::String => (Way::NonTemporal, false),
                };
                Plan { way, source_done: intent.source_done, fetched }
            }
            _ => self,
        }
    }

    /// Chooses the method. If the caches decide, all buffers of the job must fit into them. Their share is at
    /// least the smallest of [`SHARE_BYTES`], so it is read only from there on: a load waits for stores of an earlier
    /// call that have the same low address bits, and a large call leaves many. Reading two values through pointers
    /// adds 4 to 6 ticks to copies of 12 to 20 KiB on Zen 5. No features are read: on a CPU without fast string
    /// instructions, their thresholds are [`NEVER`](crate::profile::NEVER).
    #[inline(always)]
    fn of(intent: Intent, len: usize, job: Job, decided: impl Fn(Decision) -> usize) -> Plan {
        let is_not_soon = matches!(intent.next, Next::NotSoon | Next::Device);
        let (buffers, non_temporal, string, is_near, prefetch) = match job {
            Job::Zero => {
                let string = match intent.next {
                    Next::ReadHere => Decision::RepStosbReadHere,
                    Next::NotSoon | Next::Device => Decision::RepStosbNotSoon,
                    Next::Unknown | Next::ReadElsewhere => Decision::RepStosb,
                };
                (1, Decision::ZeroNonTemporal, string, false, Decision::ZeroPrefetch)
            }
            Job::Copy { is_near } => {
                let string = if is_not_soon { Decision::RepMovsbNotSoon } else { Decision::RepMovsb };
                (2, Decision::CopyNonTemporal, string, is_near, Decision::CopyPrefetch)
            }
        };
        let job_bytes = len.max(intent.job_bytes);
        let in_caches_bytes = job_bytes.saturating_mul(buffers);
        let may_exceed_caches = in_caches_bytes >= *SHARE_BYTES.start();
        let is_non_temporal = match intent.next {
            Next::ReadHere => false,
            Next::Unknown => may_exceed_caches && in_caches_bytes >= decided(Decision::CacheShare),
            Next::ReadElsewhere => may_exceed_caches && in_caches_bytes >= decided(Decision::LastLevel),
            Next::NotSoon | Next::Device => job_bytes >= decided(non_temporal),
        };
        let is_near_allowed = || len < NEAR_STRINGS_BELOW_BYTES && len >= decided(Decision::RepMovsbNear);
        let is_string = || len >= decided(string) && (!is_near || is_near_allowed());
        let is_read_once = match job {
            Job::Zero => false,
            Job::Copy { .. } => intent.source_done && (is_non_temporal || len >= decided(Decision::ReadOnce)),
        };
        let way = match job {
            Job::Zero if is_non_temporal && len >= decided(Decision::Clzero) => Way::Clzero,
            _ if is_non_temporal => Way::NonTemporal,
            _ if !is_read_once && is_string() => Way::String,
            _ => Way::Loop,
        };
        let is_fetched = |prefetch| !is_read_once && len >= decided(prefetch);
        let fetched = match (way, job) {
            (Way::Loop, _) => is_fetched(prefetch),
            (Way::NonTemporal, Job::Copy { .. }) => {
                len >= PREFETCH_FAR_LEAST_BYTES && is_fetched(Decision::CopyPrefetchFar)
            }
            (Way::NonTemporal | Way::Clzero | Way::String, _) => false,
        };
        Plan { way, source_done: is_read_once, fetched }
    }
}

/// Whether the destination is 1 to 63 bytes above the source modulo 4096. At 1 to 31, `rep movsb` is 16
/// times slower on Zen 3, and CPUs that compare only the low bits of addresses take such a distance for an
/// overlap. [`Decision::RepMovsbNear`] says from which length on it is faster than a loop all the same, in the first-level cache.
#[inline(always)]
fn is_near_above(dst: usize, src: usize) -> bool {
    dst.wrapping_sub(src).wrapping_sub(1) & 4095 < 63
}

/// Orders the stores of unfenced calls, such as [`zero::fill_unfenced`](crate::zero::fill_unfenced), before
/// all later stores of this thread. One call suffices for any number of them.
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
    #[cfg(target_arch = "x86_64")]
    crate::blocks::fence();
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}

#[cfg(test)]
mod tests;
