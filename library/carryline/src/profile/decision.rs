//! The list of decisions: what a profile says, with names, meanings and bounds.

use crate::cpu::caches::{LAST_LEVEL_BYTES, SHARE_BYTES};
use crate::intent::{LOOPS_BELOW_BYTES, NON_TEMPORAL_LEAST_BYTES};
use core::ops::RangeInclusive;

/// The largest threshold; beyond it, "never" serves.
const MOST_BYTES: usize = 1 << 30;

/// The length from which on no call is as long: the value of "never".
pub const NEVER: usize = usize::MAX;

/// The value of "detected": the CPU is asked.
pub const DETECTED: usize = 0;

/// Makes [`Decision`] out of a list of its variants, each with its name, its bounds and the word that may stand in place
/// of a number. The meaning is the documentation too.
macro_rules! decisions {
    ($($variant:ident = $name:literal, $bounds:expr, $word:ident, $meaning:literal;)*) => {
        /// What depends on the CPU's model and is a number of bytes.
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
            /// All of them, in the order of files and listings.
            pub const ALL: &'static [Decision] = &[$(Decision::$variant),*];

            /// The name in files and listings, which ends with the unit.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Decision::$variant => $name,)*
                }
            }

            /// What it decides, in one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Decision::$variant => $meaning,)*
                }
            }

            /// The least and the most bytes that are allowed.
            #[must_use]
            pub const fn bounds(self) -> RangeInclusive<usize> {
                match self {
                    $(Decision::$variant => $bounds,)*
                }
            }

            /// What may stand in place of a number, if anything, and the value that it means.
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

// Kernels do not ask below the lower bounds.
decisions! {
    RepStosb = "rep_stosb_from_bytes", LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "Zeroing from this length on is done by `rep stosb`, not by a loop.";
    RepStosbReadHere = "rep_stosb_read_here_from_bytes", LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "The same for bytes that this core reads next: the first level, as long as it holds them, should have them.";
    RepStosbNotSoon = "rep_stosb_not_soon_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "The same for bytes that nothing reads soon: their lines are not cached.";
    RepMovsb = "rep_movsb_from_bytes", LOOPS_BELOW_BYTES..=MOST_BYTES, never,
        "Copying from this length on is done by `rep movsb`, not by a loop, at distances at which no CPU was seen to be slow.";
    RepMovsbNotSoon = "rep_movsb_not_soon_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "The same for copies that nothing reads soon.";
    ZeroNonTemporal = "zero_non_temporal_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "Zeroing that nothing reads soon is non-temporal from this length on; below, the fence costs more than it saves.";
    CopyNonTemporal = "copy_non_temporal_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "Copies that nothing reads soon are non-temporal from this length on.";
    ReadOnce = "read_once_from_bytes", NON_TEMPORAL_LEAST_BYTES..=MOST_BYTES, never,
        "A source that is not needed again is prefetched, from this length on, so that it evicts nothing else.";
    SumPrefetch = "sum_prefetch_from_bytes", SUM_PREFETCH_LEAST_BYTES..=MOST_BYTES, never,
        "AVX-512 sums prefetch from this length on; where the caches hold the data, that only costs.";
    SumPrefetchAhead = "sum_prefetch_ahead_bytes", SUM_PREFETCH_AHEAD_BYTES, no_word,
        "How far ahead of its loads a sum that prefetches asks for lines.";
    CacheShare = "cache_share_bytes", SHARE_BYTES, detected,
        "What one core may fill of the caches; zeroing and copying of more is non-temporal, unless it is read here.";
    LastLevel = "last_level_bytes", LAST_LEVEL_BYTES, detected,
        "What all cores that share the last level may fill; the same for bytes that another core reads.";
}

/// Sums of fewer bytes do not look at [`Decision::SumPrefetch`]: every second level holds them.
pub(crate) const SUM_PREFETCH_LEAST_BYTES: usize = 128 << 10;

/// From an iteration of the loop to what a first level may hold.
const SUM_PREFETCH_AHEAD_BYTES: RangeInclusive<usize> = 512..=32 << 10;

impl Decision {
    /// What its numbers count; the same for all.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        "bytes"
    }

    /// Whether a value is within the bounds, or that of the word.
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
    /// Each value is one that its decision allows.
    pub(super) const fn new(values: [usize; Decision::ALL.len()]) -> Decisions {
        Decisions(values)
    }

    /// The value of one: a number of bytes, [`NEVER`] or [`DETECTED`].
    #[must_use]
    pub const fn get(&self, decision: Decision) -> usize {
        self.0[decision as usize]
    }

    /// The same with another value for one; `None` where that is not [allowed](Decision::allows).
    #[must_use]
    pub const fn with(mut self, decision: Decision, bytes: usize) -> Option<Decisions> {
        if !decision.allows(bytes) {
            return None;
        }
        self.0[decision as usize] = bytes;
        Some(self)
    }
}
