//! What is asked of the machine: for each entry of the library, which method is best from which size on.
//!
//! Arms force a method wherever the library lets a profile decide: plain loops everywhere, the alternative from the
//! smallest size allowed (string instructions, or prefetches), non-temporal stores from the smallest size allowed. A threshold
//! is where two of these cross.

use crate::arms::Cell;
use carryline_conditions::sizes::Sizes;
use carryline_conditions::{Beside, Cache, CacheMethod, Condition, Offsets, Then};
use carryline_machine::process::allowed_cpus;
use carryline_variants::Family;
use serde::{Deserialize, Serialize};

/// How a call is carried out. The order is that of a ladder: with the size, a method gives way to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Vector loops.
    Loop,
    /// What a question holds against loops: `rep stosb` and `rep movsb`, or loops that prefetch.
    Alternative,
    /// Non-temporal stores.
    NonTemporal,
}

impl Method {
    /// In the order of the arms.
    pub const ALL: [Method; 3] = [Method::Loop, Method::Alternative, Method::NonTemporal];
}

/// One entry of the library, and the thresholds that its ladder has.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The family.
    pub family: Family,
    /// The variant that calls the entry.
    pub subject: &'static str,
    /// The decision from which size on it is the alternative to loops.
    pub alternative: &'static str,
    /// The decision from which size on it is non-temporal stores, if it ever is.
    pub non_temporal: Option<&'static str>,
    /// How many buffers of a call's length the second threshold counts; the first counts one.
    pub buffers: u64,
    /// The smallest and the largest size asked about, in bytes: powers of two.
    pub sizes: (u64, u64),
    /// What follows a call.
    pub then: Then,
    /// Under which conditions it is asked.
    pub settings: &'static [Setting],
}

/// What a size is asked about under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// Buffers in the caches, at any offset.
    Hot,
    /// The same with the buffers of a copy 1 to 63 bytes apart modulo 4096.
    Alias,
    /// The same with both at the beginning of a page.
    Aligned,
    /// Buffers in memory.
    Cold,
    /// Each buffer in the caches or in memory, by chance.
    Mixed,
    /// Buffers in the caches while another core reads and writes memory.
    Company,
}

/// The decision that is shared by zeroing and copying: from which size on all caches are passed by, for callers who
/// say nothing.
pub const SHARE: &str = "cache_share_bytes";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// How bytes are stored.
pub const STORES: [Question; 5] = [
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
        settings: &[Setting::Hot, Setting::Cold],
    },
    Question {
        family: Family::Zero,
        subject: "carryline_not_soon",
        alternative: "rep_stosb_not_soon_from_bytes",
        non_temporal: Some("zero_non_temporal_from_bytes"),
        buffers: 1,
        sizes: (512, 4 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Cold],
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
        settings: &[Setting::Hot, Setting::Cold],
    },
];

/// Whether a loop prefetches what it reads.
pub const PREFETCHES: [Question; 2] = [
    Question {
        family: Family::Checksum,
        subject: "carryline",
        alternative: "sum_prefetch_from_bytes",
        non_temporal: None,
        buffers: 1,
        sizes: (128 * KIB, 32 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Cold, Setting::Company],
    },
    Question {
        family: Family::Copy,
        subject: "carryline_source_done",
        alternative: "read_once_from_bytes",
        non_temporal: None,
        buffers: 2,
        sizes: (512, 512 * KIB),
        // A working set that every second level holds, and that a prefetched source is to leave there.
        then: Then::Victim(192 * KIB),
        settings: &[Setting::Hot, Setting::Cold],
    },
];

/// All questions about the library.
pub fn all() -> impl Iterator<Item = Question> + Clone {
    STORES.into_iter().chain(PREFETCHES)
}

impl Question {
    /// True for bytes that nothing reads soon.
    #[must_use]
    pub fn is_for_nobody(&self) -> bool {
        self.subject.ends_with("_not_soon")
    }

    /// The sizes asked about first.
    #[must_use]
    pub fn grid(&self) -> Vec<u64> {
        let (first, last) = self.sizes;
        std::iter::successors(Some(first), |size| Some(size * 2)).take_while(|size| *size <= last).collect()
    }

    /// The size from which on a call is non-temporal, where the decision says `bytes`.
    #[must_use]
    pub fn non_temporal_from(&self, bytes: u64) -> u64 {
        match self.non_temporal {
            Some(SHARE) => bytes.div_ceil(self.buffers),
            _ => bytes,
        }
    }

    /// The cells of one size, each with its setting.
    pub fn cells(&self, size: u64) -> impl Iterator<Item = (Setting, Cell)> {
        let possible = move |setting: &&Setting| match setting {
            Setting::Company => allowed_cpus().len() > 1,
            // Flushing takes as long as the rest of the cells together, and such a buffer is in no cache anyway.
            Setting::Cold | Setting::Mixed => size <= 4 * MIB,
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
                Setting::Hot | Setting::Cold | Setting::Mixed | Setting::Company => Offsets::Random,
            },
            cache: match setting {
                Setting::Cold => Cache::cold(cold),
                Setting::Mixed => Cache::cold(CacheMethod::Mixed { hot_percent: 50 }),
                Setting::Hot | Setting::Alias | Setting::Aligned | Setting::Company => Cache::HOT,
            },
            then: self.then,
            beside: if setting == Setting::Company { Beside::Stream } else { Beside::Nothing },
            ..Condition::plain(0)
        }
    }
}
