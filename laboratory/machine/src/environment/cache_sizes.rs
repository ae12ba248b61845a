//! The cache sizes that measurements are based on.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The cache level, or memory, that holds the operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// Not recorded.
    #[default]
    #[serde(rename = "")]
    Unknown,
    /// The first-level data cache.
    L1,
    /// The second level.
    L2,
    /// The last level.
    L3,
    /// No cache holds them.
    #[serde(rename = "memory")]
    Memory,
    /// Partly a cache, partly memory.
    #[serde(rename = "mixed")]
    Mixed,
}

impl Level {
    /// The name in tables and stored results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Level::Unknown => "",
            Level::L1 => "L1",
            Level::L2 => "L2",
            Level::L3 => "L3",
            Level::Memory => "memory",
            Level::Mixed => "mixed",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The cache sizes that conditions are based on, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSizes {
    /// The first-level data cache of a core.
    pub l1: u64,
    /// Second level.
    pub l2: u64,
    /// The last level; assumed if the machine does not report it.
    pub l3: u64,
    /// How much of the last level holds this machine's data, if that was measured to be less: a virtual machine is told the
    /// size of a cache that it shares with others. Conditions that must miss every cache go by [`CacheSizes::l3`] all the
    /// same, since the share may grow.
    pub l3_held: Option<u64>,
}

impl CacheSizes {
    /// The size of a buffer that no level holds: four times the last level, at least 64 MiB.
    #[must_use]
    pub fn too_large(&self) -> u64 {
        (4 * self.l3.max(self.l2)).max(64 << 20)
    }

    /// The size of a buffer that evicts all caches when it is read: twice the last level, at least 8 MiB.
    #[must_use]
    pub fn eviction(&self) -> u64 {
        (2 * self.l3.max(self.l2)).max(8 << 20)
    }

    /// A line may still be cached if less than this many bytes of lines were used since: three halves of the last level.
    #[must_use]
    pub fn recent(&self) -> u64 {
        self.l3.max(self.l2) / 2 * 3
    }

    /// The nearest level that holds `bytes`, with one eighth left for the stack and the lists: 32 KiB does
    /// not fit into 32 KiB.
    #[must_use]
    pub fn level(&self, bytes: u64) -> Level {
        let l3 = self.held();
        match bytes {
            b if b <= self.l1 - self.l1 / 8 => Level::L1,
            b if b <= self.l2 - self.l2 / 8 => Level::L2,
            b if b <= l3 - l3 / 8 => Level::L3,
            _ => Level::Memory,
        }
    }

    /// True if `bytes` exceed a level but are less than twice its size, so that a part stays in it.
    #[must_use]
    pub fn is_between(&self, bytes: u64) -> bool {
        let nearer = match self.level(bytes) {
            Level::L1 => return false,
            Level::L2 => self.l1,
            Level::L3 => self.l2,
            _ => self.held(),
        };
        bytes < 2 * nearer
    }

    /// How much of the last level holds this machine's data.
    fn held(&self) -> u64 {
        self.l3_held.unwrap_or(self.l3).min(self.l3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_keeps_its_name_in_json() {
        for level in [Level::Unknown, Level::L1, Level::L2, Level::L3, Level::Memory, Level::Mixed] {
            assert_eq!(serde_json::to_value(level).expect("a word"), level.name());
            assert_eq!(serde_json::from_value::<Level>(level.name().into()).expect("known"), level);
        }
        assert!(serde_json::from_value::<Level>("L9".into()).is_err());
    }

    #[test]
    fn what_the_last_level_does_not_hold_is_in_memory() {
        let told = CacheSizes { l1: 48 << 10, l2: 2 << 20, l3: 480 << 20, l3_held: None };
        let measured = CacheSizes { l3_held: Some(64 << 20), ..told };
        for (mib, as_told, as_measured) in
            [(1, Level::L2, Level::L2), (56, Level::L3, Level::L3), (57, Level::L3, Level::Memory)]
        {
            assert_eq!(
                (told.level(mib << 20), measured.level(mib << 20)),
                (as_told, as_measured),
                "{mib} MiB"
            );
        }
        assert!(measured.is_between(127 << 20) && !measured.is_between(128 << 20));
        assert_eq!((measured.too_large(), measured.eviction()), (told.too_large(), told.eviction()));
    }
}
