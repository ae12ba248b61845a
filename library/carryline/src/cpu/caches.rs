//! The cache sizes of a core, within plausible bounds for what a hypervisor reports.
//!
//! CPUID describes each cache: leaf 4 on Intel, leaf 8000_001D on AMD. A hypervisor may pass the host's
//! last-level cache to a machine of two cores, report it as shared by one or by thousands, or omit it; sizes
//! of 0 and of 1 TiB have been seen, and thresholds derived from them have crashed programs. So no value is
//! used unchecked: a last level outside [`PLAUSIBLE_BYTES`] counts as unknown, and a core's share of it is
//! kept within [`SHARE_BYTES`]. Users of these figures may rely on the bounds.

use core::ops::RangeInclusive;

/// Plausible sizes of a last-level cache. The smallest x86-64 CPUs have 512 KiB in total, the largest 1152
/// MiB per package, of which one core uses at most 96 MiB.
pub(crate) const PLAUSIBLE_BYTES: RangeInclusive<u64> = 256 << 10..=2 << 30;

/// The bounds of a core's share of the caches.
pub(crate) const SHARE_BYTES: RangeInclusive<usize> = 2 << 20..=32 << 20;

/// The bounds of the last level: from the smallest share of one core to four times the largest.
pub(crate) const LAST_LEVEL_BYTES: RangeInclusive<usize> = 2 << 20..=128 << 20;

/// The size of the last level if CPUID reports no plausible one.
const LAST_LEVEL_UNKNOWN_BYTES: usize = 16 << 20;

/// The cache sizes beyond the first level, within bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caches {
    /// The bytes that one core may fill without evicting what others use: its second level and its part of
    /// the last, within [`SHARE_BYTES`].
    pub(crate) core_share_bytes: usize,
    /// The bytes that all cores that share the last level may fill together: at least the share of one core,
    /// and within [`LAST_LEVEL_BYTES`].
    pub(crate) last_level_bytes: usize,
}

/// One level as CPUID describes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Level {
    pub(crate) number: u32,
    pub(crate) bytes: u64,
    pub(crate) sharers: u32,
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other CPU has CPUID"))]
impl Level {
    /// Decodes the registers of leaf 4 or 8000_001D. `None` ends the list; instruction caches count as level
    /// 0.
    pub(crate) fn decode(eax: u32, ebx: u32, ecx: u32) -> Option<Level> {
        const END: u32 = 0;
        const INSTRUCTIONS: u32 = 2;
        let number = match eax & 0x1f {
            END => return None,
            INSTRUCTIONS => 0,
            _ => eax >> 5 & 7,
        };
        let line = u64::from(ebx & 0xfff) + 1;
        let partitions = u64::from(ebx >> 12 & 0x3ff) + 1;
        let ways = u64::from(ebx >> 22) + 1;
        let lines = (line * partitions * ways).checked_mul(u64::from(ecx) + 1);
        Some(Level { number, bytes: lines.unwrap_or(u64::MAX), sharers: (eax >> 14 & 0xfff) + 1 })
    }
}

impl Caches {
    /// Brings the reported levels within bounds.
    pub(crate) fn from_levels(levels: impl Iterator<Item = Level>) -> Caches {
        let (mut second, mut last) = (0, None);
        for level in levels.filter(|level| PLAUSIBLE_BYTES.contains(&level.bytes)) {
            // At most 2 GiB, or a part of it.
            let share = (level.bytes / u64::from(level.sharers)) as usize;
            match level.number {
                2 => second = share,
                3.. => last = Some((level.bytes as usize, share)),
                _ => {}
            }
        }
        let (last, share) = last.unwrap_or((LAST_LEVEL_UNKNOWN_BYTES, LAST_LEVEL_UNKNOWN_BYTES));
        let core_share_bytes = (second + share).clamp(*SHARE_BYTES.start(), *SHARE_BYTES.end());
        let last_level_bytes = last.clamp(core_share_bytes, *LAST_LEVEL_BYTES.end());
        Caches { core_share_bytes, last_level_bytes }
    }

    /// Queries the CPU; in a virtual machine, this traps to the host several times.
    pub(crate) fn detect() -> Caches {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            Caches::from_levels(super::x86_64::cache_levels())
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        {
            Caches::from_levels(core::iter::empty())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(number: u32, bytes: u64, sharers: u32) -> Level {
        Level { number, bytes, sharers }
    }

    fn caches_of(levels: &[Level]) -> (usize, usize) {
        let caches = Caches::from_levels(levels.iter().copied());
        (caches.core_share_bytes, caches.last_level_bytes)
    }

    const MIB: usize = 1 << 20;

    #[test]
    fn a_share_is_the_second_level_and_a_part_of_the_last() {
        let levels = [level(1, 48 << 10, 1), level(2, 1 << 20, 1), level(3, 32 << 20, 4)];
        assert_eq!(caches_of(&levels), (9 * MIB, 32 * MIB));
        assert_eq!(caches_of(&[level(2, 4 << 20, 2)]), (18 * MIB, 18 * MIB));
    }

    #[test]
    fn implausible_sizes_are_ignored() {
        let unknown = caches_of(&[]);
        assert_eq!(unknown, (16 * MIB, 16 * MIB));
        for bytes in [0, 1, 64, 1 << 40, u64::MAX] {
            assert_eq!(caches_of(&[level(3, bytes, 1)]), unknown, "{bytes}");
            assert_eq!(caches_of(&[level(2, bytes, 1)]), unknown, "{bytes}");
        }
        // One core of a guest that sees the host's whole cache, and a cache shared by thousands.
        assert_eq!(caches_of(&[level(3, 1 << 30, 1)]), (32 * MIB, 128 * MIB));
        assert_eq!(caches_of(&[level(3, 32 << 20, 4096)]), (2 * MIB, 32 * MIB));
    }

    #[test]
    fn registers_decode_as_in_the_manuals() {
        // A first level of 48 KiB: 12 ways of 64 sets of 64 bytes. A last level of 32 MiB shared by two.
        assert_eq!(Level::decode(0x121, 0x02c0_003f, 63), Some(level(1, 48 << 10, 1)));
        assert_eq!(Level::decode(0x4163, 0x03c0_003f, 32767), Some(level(3, 32 << 20, 2)));
        assert_eq!(Level::decode(0x122, 0x01c0_003f, 63).map(|level| level.number), Some(0));
        assert_eq!(Level::decode(0, 0x02c0_003f, 63), None);
        assert_eq!(Level::decode(0x3ffc163, u32::MAX, u32::MAX).map(|level| level.bytes), Some(u64::MAX));
    }

    #[test]
    fn detected_sizes_are_within_bounds() {
        let here = Caches::detect();
        assert_eq!(here, Caches::detect());
        assert!(
            SHARE_BYTES.contains(&here.core_share_bytes) && LAST_LEVEL_BYTES.contains(&here.last_level_bytes)
        );
        assert!(here.last_level_bytes >= here.core_share_bytes);
    }
}
