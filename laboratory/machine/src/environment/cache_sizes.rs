//! The sizes of the cache levels, as far as a measurement has to know them.

use serde::{Deserialize, Serialize};

/// The cache sizes that conditions are laid out for, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSizes {
    /// First-level data cache of a core.
    pub l1: u64,
    /// Second level.
    pub l2: u64,
    /// Last level, as far as the machine tells.
    pub l3: u64,
}

impl CacheSizes {
    /// A buffer that no level holds: four times the last level, at least 64 MiB.
    #[must_use]
    pub fn too_large(&self) -> u64 {
        (4 * self.l3.max(self.l2)).max(64 << 20)
    }

    /// What is walked to evict everything: twice the last level.
    #[must_use]
    pub fn eviction(&self) -> u64 {
        (2 * self.l3.max(self.l2)).max(8 << 20)
    }

    /// The nearest level that holds `bytes`, leaving room for the stack and the lists: 32 KiB do not fit into 32 KiB.
    #[must_use]
    pub fn level(&self, bytes: u64) -> &'static str {
        match bytes {
            b if b <= self.l1 - self.l1 / 8 => "L1",
            b if b <= self.l2 - self.l2 / 8 => "L2",
            b if b <= self.l3 - self.l3 / 8 => "L3",
            _ => "memory",
        }
    }

    /// True if `bytes` do not fit into a level, but are less than twice its size: a part of them stays there.
    #[must_use]
    pub fn is_between(&self, bytes: u64) -> bool {
        let nearer = match self.level(bytes) {
            "L1" => return false,
            "L2" => self.l1,
            "L3" => self.l2,
            _ => self.l3,
        };
        bytes < 2 * nearer
    }
}
