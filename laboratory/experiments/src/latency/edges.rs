//! Detects the caches in a series of load latencies by buffer size.

use carryline_statistics as statistics;

/// A size beyond which the latency rises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The largest size below the rise: the size of the cache.
    pub size_bytes: u64,
    /// The latency of a load that misses the previous level and hits this one.
    pub latency: f64,
}

/// A marginal latency belongs to a level if it is at most this many times the level's.
const WITHIN_A_LEVEL: f64 = 1.8;
/// A new level begins where a latency is at most this many times the previous one.
const LEVELLING_OFF: f64 = 1.3;
/// The number of most recent latencies that define a level's latency.
const RECENT: usize = 4;

/// The latency per load of the second half of a buffer of each size: twice the latency of the size, minus
/// that of half the size. In a buffer larger than a cache, some loads still hit it, so the mean rises slowly;
/// the marginal latency rises in a step. Sizes whose half is not in the ladder are left unchanged.
fn marginal(ladder: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let half = |size: u64| ladder.iter().find(|(other, _)| *other == size / 2).map(|(_, latency)| *latency);
    ladder
        .iter()
        .map(|(size, latency)| {
            (*size, half(*size).map_or(*latency, |half| (2.0 * latency - half).max(*latency / 2.0)))
        })
        .collect()
}

/// The levels of a ladder (sizes ascending, each with its half) and the size at which each ends. The last,
/// memory, has no end and is not included.
#[must_use]
pub fn edges(ladder: &[(u64, f64)]) -> Vec<Edge> {
    let ladder = marginal(ladder);
    let recent = |within: &[f64]| statistics::median(&within[within.len().saturating_sub(RECENT)..]);
    let mut found = Vec::new();
    let mut place = 0;
    while place < ladder.len() {
        let mut within = vec![ladder[place].1];
        while let Some((_, next)) = ladder.get(place + 1) {
            if recent(&within).is_some_and(|level| *next > WITHIN_A_LEVEL * level) {
                break;
            }
            within.push(*next);
            place += 1;
        }
        if place + 1 >= ladder.len() {
            break;
        }
        let latency = statistics::median(&within).unwrap_or(ladder[place].1);
        found.push(Edge { size_bytes: ladder[place].0, latency });
        // Skips the rise up to where it levels off.
        place += 1;
        while ladder.get(place + 1).is_some_and(|(_, next)| *next > LEVELLING_OFF * ladder[place].1) {
            place += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::probe::ladder;
    use super::*;

    #[test]
    fn known_caches_are_detected() {
        let caches = [(48_u64 << 10, 1.0), (1 << 20, 4.0), (32 << 20, 14.0)];
        let memory = 100.0;
        // A cache holds all or nothing of a buffer (least recently used), or as much of it as fits.
        let all_or_nothing = |size: u64| {
            caches.iter().find(|(bytes, _)| size <= *bytes).map_or(memory, |(_, latency)| *latency)
        };
        let in_part = |size: u64| {
            let (mut sum, mut below) = (0.0, 0);
            for (bytes, latency) in caches.into_iter().chain([(u64::MAX, memory)]) {
                sum += latency * (size.min(bytes) - size.min(below)) as f64;
                below = bytes;
            }
            sum / size as f64
        };
        for latency in [&all_or_nothing as &dyn Fn(u64) -> f64, &in_part] {
            for fine in [false, true] {
                let points: Vec<(u64, f64)> =
                    ladder(128 << 20, fine).into_iter().map(|size| (size, latency(size))).collect();
                let found = edges(&points);
                let sizes: Vec<u64> = found.iter().map(|edge| edge.size_bytes).collect();
                assert_eq!(sizes, [if fine { 48 << 10 } else { 32 << 10 }, 1 << 20, 32 << 20], "{found:?}");
                assert!((found[1].latency / 4.0 - 1.0).abs() < 0.3, "{found:?}");
            }
        }
        let flat: Vec<(u64, f64)> = ladder(64 << 10, true).into_iter().map(|size| (size, 1.0)).collect();
        assert!(edges(&flat).is_empty(), "a flat ladder has no edge");
        assert!(edges(&[]).is_empty() && edges(&[(4096, 1.0)]).is_empty());
    }
}
