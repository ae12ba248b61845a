//! The decisions of a profile, with their names, meanings and bounds.

use crate::cpu::caches::{LAST_LEVEL_BYTES, SHARE_BYTES};
use crate::intent::{
    LOOPS_BELOW_BYTES, NARROW_LOOPS_BELOW_BYTES, NEAR_STRINGS_BELOW_BYTES, NON_TEMPORAL_LEAST_BYTES,
    SCALAR_LOOPS_BELOW_BYTES,
};
use core::ops::RangeInclusive;

/// The largest threshold; above it, use "never".
const MOST_BYTES: usize = 1 << 30;

/// The value of "never": no call has this length.
pub const NEVER: usize = usize::MAX;

/// The value of "detected": the CPU is queried.
pub const DETECTED: usize = 0;

/// Defines [`Decision`] from a list of variants, each with its name, its bounds, and the word that may
/// replace a number. The meaning is also the documentation.
macro_rules! decisions {
    ($($variant:ident = $name:literal, $bounds:expr, $word:ident, $meaning:literal;)*) => {
        /// A number of bytes that depends on the CPU's model.
        ///
        /// ```
        /// use carryline::internals::tuning::Decision;
        /// for decision in Decision::ALL {
        ///     assert!(decision.name().ends_with("_bytes") && decision.unit() == "bytes");
        ///     assert!(decision.allows(*decision.bounds().start()));
        /// }
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum Decision {
            $(#[doc = $meaning] $variant,)*
        }

        impl Decision {
            /// All decisions, in the order of files and listings.
            pub const ALL: &'static [Decision] = &[$(Decision::$variant),*];

            /// The name in files and listings, which ends with the unit.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Decision::$variant => $name,)*
                }
            }

            /// The meaning in one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Decision::$variant => $meaning,)*
                }
            }

            /// The smallest and largest allowed number of bytes.
            #[must_use]
            pub const fn bounds(self) -> RangeInclusive<usize> {
                match self {
                    $(Decision::$variant => $bounds,)*
                }
            }

            /// The word that may replace a number, if any, and its value.
            #[must_use]
            pub const fn word(self) -> Option<(&'static str, usize)> {
                match self {
                    $(Decision::$variant => decisions!(@ $word),)*
                }
            }
        }
    };
    (@ never) => { Some(("never", NEVER)) };
    (@ detected) => { Some(("detected", DETECTED)) };
    (@ no_word) => { None };
}

// Kernels do not read decisions below these lower bounds.
decisions! {
    RepStosb = "rep_stosb_from_bytes", LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "Zeroing of at least this length uses `rep stosb` instead of a loop.";
    RepStosbReadHere = "rep_stosb_read_here_from_bytes", LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "The same for bytes that this core reads next, which should be in its first-level cache if they fit.";
    RepStosbNotSoon = "rep_stosb_not_soon_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "The same for bytes that are not read soon; their lines are not cached.";
    RepStosbNarrow = "rep_stosb_narrow_from_bytes", NARROW_LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "Replaces `rep_stosb_from_bytes`, and from 16 KiB on that for bytes read next, where stores are of at most 16 bytes: without AVX2.";
    RepStosbScalar = "rep_stosb_scalar_from_bytes", SCALAR_LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "Replaces `rep_stosb_from_bytes`, and from 16 KiB on that for bytes read next, in a program without vectors, such as an operating system.";
    RepMovsb = "rep_movsb_from_bytes", LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "Copying of at least this length uses `rep movsb` instead of a loop, at distances at which no CPU was found to be slow.";
    RepMovsbNotSoon = "rep_movsb_not_soon_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "The same for copies that are not read soon.";
    RepMovsbNarrow = "rep_movsb_narrow_from_bytes", NARROW_LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "Replaces `rep_movsb_from_bytes` where moves are of at most 16 bytes: without AVX2.";
    RepMovsbScalar = "rep_movsb_scalar_from_bytes", SCALAR_LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "Replaces `rep_movsb_from_bytes` in a program without vectors, and `rep_movsb_near_from_bytes` too unless that is never, there for copies of any length.";
    RepMovsbNear = "rep_movsb_near_from_bytes", NARROW_LOOPS_BELOW_BYTES..=NEAR_STRINGS_BELOW_BYTES - 1, never,
        "Where the destination lies 1 to 63 bytes above the source modulo 4096, copies of at least this length, but less than 24 KiB, use `rep movsb` too, if they do at other distances.";
    ZeroNonTemporal = "zero_non_temporal_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "Zeroing of at least this length is non-temporal if not read soon; below, the fence costs more than it saves.";
    Clzero = "clzero_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "Non-temporal zeroing of at least this length uses `clzero`, AMD's instruction for a whole line.";
    CopyNonTemporal = "copy_non_temporal_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "Copies of at least this length are non-temporal if not read soon.";
    ZeroPrefetch = "zero_prefetch_from_bytes", LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "A loop that zeroes at least this length fetches lines before it stores them.";
    CopyPrefetch = "copy_prefetch_from_bytes", LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "A loop that copies at least this length fetches lines of the destination before it stores them.";
    CopyPrefetchFar = "copy_prefetch_far_from_bytes", PREFETCH_FAR_LEAST_BYTES..=MOST_BYTES, never,
        "Non-temporal copies of at least this length prefetch every fourth line of the source and a line of each page of the destination, 32 KiB ahead.";
    ReadOnce = "read_once_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "A source of at least this length that is not needed again is prefetched such that it evicts nothing else.";
    SumPrefetch = "sum_prefetch_from_bytes", SUM_PREFETCH_LEAST_BYTES..=MOST_BYTES, never,
        "AVX-512 sums of at least this length prefetch; if the caches hold the data, that only costs time.";
    SumPrefetchAhead = "sum_prefetch_ahead_bytes", SUM_PREFETCH_AHEAD_BYTES, no_word,
        "How far ahead of its loads a sum prefetches.";
    SumPrefetchFar = "sum_prefetch_far_from_bytes", PREFETCH_FAR_LEAST_BYTES..=MOST_BYTES, never,
        "Sums of at least this length, by AVX-512 or AVX2, prefetch every fourth line instead, 32 KiB ahead: for data in memory.";
    CacheShare = "cache_share_bytes", SHARE_BYTES, detected,
        "One core's share of the caches; zeroing and copying of more is non-temporal unless this core reads it next.";
    LastLevel = "last_level_bytes", LAST_LEVEL_BYTES, detected,
        "The size of the last-level cache that cores share; the same limit for bytes that another core reads.";
}

/// Sums of fewer bytes do not read [`Decision::SumPrefetch`]: every second-level cache holds them.
pub(crate) const SUM_PREFETCH_LEAST_BYTES: usize = 128 << 10;

/// Shorter calls do not read [`Decision::SumPrefetchFar`] and [`Decision::CopyPrefetchFar`].
pub(crate) const PREFETCH_FAR_LEAST_BYTES: usize = 1 << 20;

/// From one iteration of the loop to the size of a first-level cache.
const SUM_PREFETCH_AHEAD_BYTES: RangeInclusive<usize> = 512..=32 << 10;

impl Decision {
    /// The unit of all values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        "bytes"
    }

    /// Whether it is a threshold for string instructions.
    pub(crate) const fn is_of_string(self) -> bool {
        match self {
            Decision::RepStosb
            | Decision::RepStosbReadHere
            | Decision::RepStosbNotSoon
            | Decision::RepStosbNarrow
            | Decision::RepStosbScalar
            | Decision::RepMovsb
            | Decision::RepMovsbNotSoon
            | Decision::RepMovsbNarrow
            | Decision::RepMovsbScalar
            | Decision::RepMovsbNear => true,
            Decision::ZeroNonTemporal
            | Decision::Clzero
            | Decision::CopyNonTemporal
            | Decision::ZeroPrefetch
            | Decision::CopyPrefetch
            | Decision::CopyPrefetchFar
            | Decision::ReadOnce
            | Decision::SumPrefetch
            | Decision::SumPrefetchAhead
            | Decision::SumPrefetchFar
            | Decision::CacheShare
            | Decision::LastLevel => false,
        }
    }

    /// Whether a value is within the bounds or that of the word.
    ///
    /// ```
    /// use carryline::internals::tuning::{DETECTED, Decision, NEVER};
    /// assert!(Decision::RepMovsb.allows(16 << 10) && Decision::RepMovsb.allows(NEVER));
    /// assert!(!Decision::RepMovsb.allows(1) && !Decision::RepMovsb.allows(DETECTED));
    /// ```
    #[must_use]
    pub const fn allows(self, bytes: usize) -> bool {
        let bounds = self.bounds();
        let is_word = match self.word() {
            Some((_, of_word)) => bytes == of_word,
            None => false,
        };
        is_word || (*bounds.start() <= bytes && bytes <= *bounds.end())
    }
}

/// A value for every decision.
///
/// ```
/// use carryline::internals::tuning::{Decision, NEVER, built_in};
/// let safe = built_in("unmeasured").unwrap().decisions;
/// assert_eq!(safe.get(Decision::RepMovsb), NEVER);
/// let other = safe.with(Decision::RepMovsb, 1 << 20).unwrap();
/// assert_eq!(other.get(Decision::RepMovsb), 1 << 20);
/// assert_eq!(safe.with(Decision::RepMovsb, 5), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decisions([usize; Decision::ALL.len()]);

impl Decisions {
    /// Each value must be allowed for its decision.
    pub(super) const fn new(values: [usize; Decision::ALL.len()]) -> Decisions {
        Decisions(values)
    }

    /// The value of a decision: a number of bytes, [`NEVER`] or [`DETECTED`].
    #[must_use]
    pub const fn get(&self, decision: Decision) -> usize {
        self.0[decision as usize]
    }

    /// Replaces the value of one decision; `None` if it is not [allowed](Decision::allows).
    #[must_use]
    pub const fn with(mut self, decision: Decision, bytes: usize) -> Option<Decisions> {
        if !decision.allows(bytes) {
            return None;
        }
        self.0[decision as usize] = bytes;
        Some(self)
    }
}
