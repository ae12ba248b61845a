//! The cache level that holds a cell's operands.

use super::Layout;
use carryline_conditions::{CacheMethod, Condition};
use carryline_machine::environment::{CacheSizes, Level};
use carryline_variants::Family;

/// The share of the bytes that must belong to sizes of one level if a cell's figures are to speak of that level.
const LEAST_SHARE: f64 = 0.95;

/// The cache level that a cell's operands come from: the nearest that holds them when hot, [`Level::Memory`]
/// when cold, [`Level::Mixed`] if they vary.
#[must_use]
pub fn level_of(family: Family, condition: &Condition, caches: &CacheSizes) -> Level {
    match condition.cache.method {
        CacheMethod::Mixed { .. } => Level::Mixed,
        _ => hot_bytes(family, condition, caches).map_or(Level::Memory, |bytes| caches.level(bytes)),
    }
}

/// The bytes that the calls of a hot cell touch; `None` if its operands are not hot.
#[must_use]
pub fn hot_bytes(family: Family, condition: &Condition, caches: &CacheSizes) -> Option<u64> {
    let layout = condition.cache.is_hot().then(|| Layout::new(family, condition, caches))?;
    Some(layout.hot_bytes(layout.largest))
}

/// Whether a nearer level holds a part of a hot cell's operands: the largest call exceeds it by less than its size,
/// or over 5 % of the bytes belong to calls that do.
pub(crate) fn is_between(layout: &Layout, condition: &Condition, caches: &CacheSizes) -> bool {
    if !condition.cache.is_hot() {
        return false;
    }
    let level = caches.level(layout.hot_bytes(layout.largest));
    let belongs = |size: u64| {
        let bytes = layout.hot_bytes(size);
        caches.level(bytes) == level && !caches.is_between(bytes)
    };
    if !belongs(layout.largest) {
        return true;
    }
    // The smallest size that belongs to the level: if one does, so do all larger ones.
    let (mut least, mut known) = (0, layout.largest);
    while least < known {
        let middle = least + (known - least) / 2;
        if belongs(middle) {
            known = middle;
        } else {
            least = middle + 1;
        }
    }
    share_of_bytes_from(condition, least) < LEAST_SHARE
}

/// The share of the bytes in buffers of at least `least` bytes.
fn share_of_bytes_from(condition: &Condition, least: u64) -> f64 {
    let segments = &condition.segments;
    if segments.is_empty() {
        return condition.sizes.share_of_bytes_from(least);
    }
    let bytes =
        |least: u64| -> u64 { segments.iter().map(|len| u64::from(*len)).filter(|len| *len >= least).sum() };
    if bytes(0) > 0 { bytes(least) as f64 / bytes(0) as f64 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_conditions::sizes::{Draw, Sizes};

    const CACHES: CacheSizes = CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20, l3_held: None };

    /// The level of sums of these sizes with these numbers of calls, and whether it is between two.
    fn of_sums(sizes: &[(u64, f64)]) -> (Level, bool) {
        let condition =
            Condition { sizes: Sizes::new("w", Draw::Weighted(sizes.to_vec())), ..Condition::plain(0) };
        let layout = Layout::new(Family::Checksum, &condition, &CACHES);
        (level_of(Family::Checksum, &condition, &CACHES), is_between(&layout, &condition, &CACHES))
    }

    #[test]
    fn levels_follow_the_caches() {
        let caches = CacheSizes { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, l3_held: None };
        let levels: Vec<_> = [4096, 256 << 10, 8 << 20, 128 << 20].iter().map(|b| caches.level(*b)).collect();
        assert_eq!(levels, [Level::L1, Level::L2, Level::L3, Level::Memory]);
    }

    #[test]
    fn buffers_that_fill_a_level_belong_to_the_next() {
        let level = |family, size| level_of(family, &Condition::plain(size), &CACHES);
        assert_eq!(level(Family::Checksum, 28 << 10), Level::L1);
        assert_eq!(level(Family::Checksum, 32 << 10), Level::L2);
        assert_eq!(level(Family::Copy, 16 << 10), Level::L2, "source and destination count together");
        assert_eq!(level(Family::Zero, 16 << 10), Level::L1);
        let cold =
            Condition { cache: "cold:clflush".parse().expect("a cache state"), ..Condition::plain(64) };
        assert_eq!(level_of(Family::Zero, &cold, &CACHES), Level::Memory);
        let between = [28, 32, 63, 64, 448, 512, 1023, 1024].map(|kib: u64| CACHES.is_between(kib << 10));
        assert_eq!(between, [false, true, true, false, false, true, true, false]);
        assert!(CACHES.is_between(48 << 20) && !CACHES.is_between(64 << 20));
    }

    #[test]
    fn sizes_of_several_levels_are_between_them() {
        let kib = |kib: u64| kib << 10;
        // Two thirds of the bytes belong to calls that fit into the first level.
        assert_eq!(of_sums(&[(kib(8), 0.97), (kib(128), 0.03)]), (Level::L2, true));
        assert_eq!(of_sums(&[(kib(8), 0.4), (kib(128), 0.6)]), (Level::L2, false), "4 % of the bytes");
        assert_eq!(of_sums(&[(kib(8), 0.5), (kib(128), 0.5)]), (Level::L2, true), "6 % of the bytes");
        // 48 KiB lie between the first and the second level by themselves.
        assert_eq!(of_sums(&[(kib(48), 0.2), (kib(128), 0.8)]), (Level::L2, true));
        assert_eq!(of_sums(&[(1, 0.9), (kib(28), 0.1)]), (Level::L1, false), "nothing is nearer");
        assert_eq!(of_sums(&[(kib(128), 1.0)]), (Level::L2, false));
        assert_eq!(of_sums(&[(kib(48), 1.0)]), (Level::L2, true));
    }

    #[test]
    fn segments_of_several_levels_are_between_them() {
        let between = |segments: &[u32]| {
            let sum = segments.iter().map(|len| u64::from(*len)).sum();
            let condition = Condition { segments: segments.to_vec(), ..Condition::plain(sum) };
            is_between(&Layout::new(Family::Checksum, &condition, &CACHES), &condition, &CACHES)
        };
        assert!(between(&[128 << 10, 20 << 10]) && !between(&[128 << 10, 2 << 10]));
        assert!(!between(&[1 << 10, 20 << 10]));
    }
}
