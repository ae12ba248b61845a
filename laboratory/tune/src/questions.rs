//! The questions that the search answers: for each entry point of the library, which method is best from
//! which size.
//!
//! Each arm forces one method wherever a profile can: loops everywhere, the alternative (string instructions
//! or prefetching loops) from the smallest size that a profile allows, or non-temporal stores from the
//! smallest size. A threshold is the size at which two of these cross.

use crate::arms::Cell;
use carryline::internals::cpu::{Features, features};
use carryline_conditions::sizes::Sizes;
use carryline_conditions::{Beside, Cache, CacheMethod, Condition, Offsets, Then};
use carryline_machine::process::allowed_cpus;
use carryline_variants::Family;
use serde::{Deserialize, Serialize};

/// How a call is carried out, in the order of a ladder: as the size grows, a method gives way to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Vector loops.
    Loop,
    /// The question's alternative to loops: `rep stosb` or `rep movsb`, loops that prefetch, or `clzero`.
    Alternative,
    /// Non-temporal stores.
    NonTemporal,
}

impl Method {
    /// All methods, in the order of the arms.
    pub const ALL: [Method; 3] = [Method::Loop, Method::Alternative, Method::NonTemporal];
}

/// An entry point of the library and the thresholds of its ladder.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The family.
    pub family: Family,
    /// The variant that calls the entry point.
    pub subject: &'static str,
    /// The name of the decision from which size the alternative is used.
    pub alternative: &'static str,
    /// The name of the decision from which size stores are non-temporal, if there is one.
    pub non_temporal: Option<&'static str>,
    /// The number of buffers of a call's length that [`SHARE`] counts.
    pub buffers: u64,
    /// The smallest and the largest size measured, in bytes: powers of two.
    pub sizes: (u64, u64),
    /// What the program does after a call.
    pub then: Then,
    /// The conditions under which it is measured.
    pub settings: &'static [Setting],
}

/// A condition under which a question is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// Buffers in the caches, at random offsets.
    Hot,
    /// The same, with the buffers of a copy 1 to 63 bytes apart modulo 4096.
    Alias,
    /// The same, with all buffers at the start of a page.
    Aligned,
    /// Buffers in memory.
    Cold,
    /// The same, each only once: lines of an area too large to cache.
    Arena,
    /// Each buffer in the caches or in memory, at random.
    Mixed,
    /// Buffers in the caches while another core reads and writes memory.
    Company,
}

/// The decision shared by zeroing and copying: the size from which stores are non-temporal if the caller
/// states no intent.
pub const SHARE: &str = "cache_share_bytes";

/// The decision about `rep movsb` at the distances at which it may be slow.
pub const NEAR: &str = "rep_movsb_near_from_bytes";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The questions about stores where they are of 32 bytes or more; see [`stores`].
const STORES: [Question; 5] = [
    Question {
        family: Family::Zero,
        subject: "carryline",
        alternative: "rep_stosb_from_bytes",
        non_temporal: Some(SHARE),
        buffers: 1,
        sizes: (16 * KIB, 32 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Aligned, Setting::Cold, Setting::Company],
    },
    Question {
        family: Family::Zero,
        subject: "carryline_read_here",
        alternative: "rep_stosb_read_here_from_bytes",
        non_temporal: None,
        buffers: 1,
        sizes: (16 * KIB, 4 * MIB),
        then: Then::Read,
        settings: &[Setting::Hot, Setting::Aligned, Setting::Cold],
    },
    Question {
        family: Family::Zero,
        subject: "carryline_not_soon",
        alternative: "rep_stosb_not_soon_from_bytes",
        non_temporal: Some("zero_non_temporal_from_bytes"),
        buffers: 1,
        sizes: (512, 4 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Aligned, Setting::Cold],
    },
    Question {
        family: Family::Copy,
        subject: "carryline",
        alternative: "rep_movsb_from_bytes",
        non_temporal: Some(SHARE),
        buffers: 2,
        sizes: (16 * KIB, 16 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Aligned, Setting::Alias, Setting::Cold, Setting::Company],
    },
    Question {
        family: Family::Copy,
        subject: "carryline_not_soon",
        alternative: "rep_movsb_not_soon_from_bytes",
        non_temporal: Some("copy_non_temporal_from_bytes"),
        buffers: 2,
        sizes: (512, 4 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Aligned, Setting::Alias, Setting::Cold],
    },
];

/// The questions about prefetching.
pub const PREFETCHES: [Question; 4] = [
    Question {
        family: Family::Checksum,
        subject: "carryline",
        alternative: "sum_prefetch_from_bytes",
        non_temporal: None,
        buffers: 1,
        sizes: (128 * KIB, 32 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Aligned, Setting::Cold, Setting::Company],
    },
    Question {
        family: Family::Zero,
        subject: "carryline",
        alternative: "zero_prefetch_from_bytes",
        non_temporal: None,
        buffers: 1,
        sizes: (16 * KIB, 2 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Aligned, Setting::Cold, Setting::Company],
    },
    Question {
        family: Family::Copy,
        subject: "carryline",
        alternative: "copy_prefetch_from_bytes",
        non_temporal: None,
        buffers: 2,
        sizes: (16 * KIB, MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Aligned, Setting::Alias, Setting::Cold, Setting::Company],
    },
    Question {
        family: Family::Copy,
        subject: "carryline_source_done",
        alternative: "read_once_from_bytes",
        non_temporal: None,
        buffers: 2,
        sizes: (512, 512 * KIB),
        // A working set that fits into any second-level cache, and that the prefetched source should not
        // evict.
        then: Then::Victim(192 * KIB),
        settings: &[Setting::Hot, Setting::Aligned, Setting::Alias, Setting::Cold],
    },
];

/// The questions that are asked when the others are answered, because they are about what those choose: at which distances
/// `rep movsb` is used, prefetching a few lines far ahead instead of their prefetches, and `clzero` for their non-temporal stores.
/// Copies that are not read soon are non-temporal at all of the sizes of the last question, as others are beyond the caches. Few
/// cells, because such a call takes milliseconds.
pub const LAST: [Question; 4] = [
    // For those copies that a string instruction makes at other distances.
    Question {
        family: Family::Copy,
        subject: "carryline",
        alternative: NEAR,
        non_temporal: None,
        buffers: 2,
        sizes: (2 * KIB, 16 * KIB),
        then: Then::Nothing,
        settings: &[Setting::Alias],
    },
    Question {
        family: Family::Zero,
        subject: "carryline_not_soon",
        alternative: "clzero_from_bytes",
        non_temporal: None,
        buffers: 1,
        sizes: (KIB, 4 * MIB),
        then: Then::Nothing,
        // Flushed lines are in pages whose translations are cached. On Zen 4, `clzero` then takes up to 1.09 times as long as
        // non-temporal stores; where they are looked up, 0.81 to 0.94 times.
        settings: &[Setting::Arena],
    },
    Question {
        family: Family::Checksum,
        subject: "carryline",
        alternative: "sum_prefetch_far_from_bytes",
        non_temporal: None,
        buffers: 1,
        sizes: (4 * MIB, 32 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Cold],
    },
    Question {
        family: Family::Copy,
        subject: "carryline_not_soon",
        alternative: "copy_prefetch_far_from_bytes",
        non_temporal: None,
        buffers: 2,
        sizes: (8 * MIB, 32 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot],
    },
];

/// The questions about stores on a CPU with these features. Where a loop stores 16 bytes at a time, there are other
/// thresholds, which may be lower: one for `rep stosb` instead of two, and one for `rep movsb`.
pub fn stores(features: Features) -> impl Iterator<Item = Question> + Clone {
    let is_narrow = features.contains(Features::SSE2) && !features.contains(Features::AVX2);
    STORES.into_iter().filter_map(move |question| match question.alternative {
        "rep_stosb_from_bytes" if is_narrow => Some(Question {
            alternative: "rep_stosb_narrow_from_bytes",
            sizes: (2 * KIB, question.sizes.1),
            ..question
        }),
        "rep_stosb_read_here_from_bytes" if is_narrow => None,
        "rep_movsb_from_bytes" if is_narrow => Some(Question {
            alternative: "rep_movsb_narrow_from_bytes",
            sizes: (2 * KIB, question.sizes.1),
            ..question
        }),
        _ => Some(question),
    })
}

/// All questions about the library on this CPU.
pub fn all() -> impl Iterator<Item = Question> + Clone {
    stores(features()).chain(PREFETCHES).chain(LAST)
}

impl Question {
    /// True if the entry point is for bytes that are not read soon.
    #[must_use]
    pub fn is_not_soon(&self) -> bool {
        self.subject.ends_with("_not_soon")
    }

    /// The sizes measured first.
    #[must_use]
    pub fn grid(&self) -> Vec<u64> {
        let (first, last) = self.sizes;
        std::iter::successors(Some(first), |size| Some(size * 2)).take_while(|size| *size <= last).collect()
    }

    /// The size from which a call is non-temporal if the decision's value is `bytes`.
    #[must_use]
    pub fn non_temporal_from(&self, bytes: u64) -> u64 {
        match self.non_temporal {
            Some(SHARE) => bytes.div_ceil(self.buffers),
            _ => bytes,
        }
    }

    /// The cells of one size, each with its condition.
    pub fn cells(&self, size: u64) -> impl Iterator<Item = (Setting, Cell)> {
        let possible = move |setting: &&Setting| match setting {
            Setting::Company => allowed_cpus().len() > 1,
            // Flushing takes as long as all other cells together, and such a buffer fits in no cache anyway.
            Setting::Cold | Setting::Arena | Setting::Mixed => size <= 4 * MIB,
            Setting::Hot | Setting::Alias | Setting::Aligned => true,
        };
        self.settings.iter().filter(possible).map(move |setting| {
            let condition = self.condition(size, *setting);
            (*setting, Cell { family: self.family, subject: self.subject, condition })
        })
    }

    fn condition(&self, size: u64, setting: Setting) -> Condition {
        let cold = if cfg!(target_arch = "x86_64") { CacheMethod::Clflush } else { CacheMethod::Evict };
        Condition {
            sizes: Sizes::fixed(size),
            offsets: match setting {
                Setting::Aligned => Offsets::ALIGNED,
                Setting::Alias => Offsets::Alias,
                Setting::Hot | Setting::Cold | Setting::Arena | Setting::Mixed | Setting::Company => {
                    Offsets::Random
                }
            },
            cache: match setting {
                Setting::Cold => Cache::cold(cold),
                Setting::Arena => Cache::cold(CacheMethod::Arena),
                Setting::Mixed => Cache::cold(CacheMethod::Mixed { hot_percent: 50 }),
                Setting::Hot | Setting::Alias | Setting::Aligned | Setting::Company => Cache::HOT,
            },
            then: self.then,
            beside: if setting == Setting::Company { Beside::Stream } else { Beside::Nothing },
            ..Condition::plain(0)
        }
    }
}
