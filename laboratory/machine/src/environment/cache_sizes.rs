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
        match bytes {
            b if b <= self.l1 - self.l1 / 8 => Level::L1,
            b if b <= self.l2 - self.l2 / 8 => Level::L2,
            b if b <= self.l3 - self.l3 / 8 => Level::L3,
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
            _ => self.l3,
        };
        bytes < 2 * nearer
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
}
