//! latency: load latencies for buffers from 4 KB to four times the last cache, and the caches detected in
//! them.
//!
//! A chain of loads in random order, on 4 KB pages and on huge ones. The caches are detected where the
//! latency rises, and compared with those that the machine reports. The published figures are lmbench 2's,
//! whose author doubted the last one: it walks in steps of 128 bytes, which a prefetcher predicts; that walk
//! is measured too.

mod claims;
mod edges;
mod probe;

use super::string_startup::plot;
use super::{Context, Experiment, Outcome, Probed};
use carryline_engine::failure::Failure;
use carryline_machine::environment::CacheSizes;
use carryline_results::claims::{Datum, Figure, Figures, TableResult};
use carryline_results::sources::EVANS_2018;
use claims::CLAIMS;
use edges::edges;
use probe::{PAGES, Parameters, ladder, name, orderly};
use std::time::Duration;

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "latency",
    source: &EVANS_2018,
    title: "The latency ladder and the caches in it",
    weight: 0.8,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// Published ns by level.
const PUBLISHED: [(&str, Option<f64>); 4] =
    [("L1", Some(1.0)), ("L2", Some(4.5)), ("L3", None), ("memory", Some(16.3))];

/// The largest buffer (there is one for each kind of page): four times the last level, limited by memory and
/// time.
fn most_bytes(caches: &CacheSizes, free_bytes: u64, budget: Duration) -> u64 {
    let (times, bound) = if budget < Duration::from_secs(3) { (2, 64 << 20) } else { (4, 1 << 30) };
    (times * caches.l3).min(bound).min(free_bytes / 4).max(64 << 10)
}

/// The buffer size that represents a level: the largest within half of it (a quarter of the third level,
/// which is shared) and well beyond the previous one; for memory the last size, if it is at least twice the
/// last cache.
fn rung(level: &str, caches: &CacheSizes, sizes: &[u64]) -> Result<u64, String> {
    let largest = |most: u64, least: u64| {
        let fits = sizes.iter().rev().find(|size| **size <= most && **size >= least);
        fits.copied().ok_or_else(|| format!("no buffer fits only {level}"))
    };
    match level {
        "L1" => largest(caches.l1 / 2, 0),
        "L2" => largest(caches.l2 / 2, 2 * caches.l1),
        "L3" if caches.l3 <= caches.l2 => Err("the machine reports no third cache level".to_owned()),
        "L3" => largest(caches.l3 / 4, 2 * caches.l2),
        _ => largest(u64::MAX, 2 * caches.l3)
            .map_err(|_| "not enough memory or time for a buffer of twice the last level".to_owned()),
    }
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let caches = context.here.caches;
    let free = context.here.environment.memory.available_bytes;
    let most = most_bytes(&caches, free, context.budget);
    let sizes = ladder(most, context.budget >= Duration::from_secs(10));
    let found = context.probe("latency", &Parameters { sizes: sizes.clone() }, 1.0)?;
    for pages in PAGES {
        for bytes in &sizes {
            let name = name(pages, *bytes);
            outcome.figures.add_or_reason(name.clone(), found.ns(&name));
        }
    }
    for (level, _) in PUBLISHED {
        let series = rung(level, &caches, &sizes).map(|bytes| name(PAGES[0], bytes));
        outcome.figures.add_or_reason(level, series.clone().and_then(|name| found.cycles(&name)));
        outcome.figures.add_or_reason(format!("{level}, ns"), series.and_then(|name| found.ns(&name)));
    }
    let last = sizes.last().copied().unwrap_or(most);
    let steps = rung("memory", &caches, &sizes).and_then(|_| found.cycles(&orderly(PAGES[0], last)));
    outcome.figures.add_or_reason("memory, in steps of 128 bytes", steps);
    outcome.tables.push(levels(&found, &caches, &sizes));
    outcome.tables.push(rungs(&outcome.figures, &caches, &sizes));
    outcome.tables.push(caches_found(&outcome.figures, &caches, &sizes));
    outcome.plots.push(curve(&outcome.figures, &sizes));
    notes(&mut outcome, &found, &caches, last);
    Ok(outcome)
}

fn notes(outcome: &mut Outcome, found: &Probed, caches: &CacheSizes, last: u64) {
    outcome.notes.push(
        "State: lines written in address order, and walked once untimed where the second level could \
         hold a part of them; 8192 dependent loads. On 4 KB pages the figures include the cost of \
         translations. Rises are detected in the marginal latency of a buffer's second half, as its \
         first half may still be cached."
            .to_owned(),
    );
    if last < 4 * caches.l3 {
        outcome.notes.push(format!(
            "The ladder ends at {} MiB, short of four times the last level ({} MiB), for lack of memory or time.",
            last >> 20,
            (4 * caches.l3) >> 20
        ));
    }
    if let Err(reason) = outcome.figures.look(&name(PAGES[1], last)) {
        outcome.notes.push(format!("Not measured on huge pages: {reason}."));
    }
    if let Some(reason) = &found.reason {
        outcome.notes.push(format!("Cannot be measured here: {reason}."));
    }
}

/// Published next to measured latencies.
fn levels(found: &Probed, caches: &CacheSizes, sizes: &[u64]) -> TableResult {
    let mut table = TableResult::new(
        "By level (published: lmbench 2, Haswell at 4.08 GHz)",
        &[
            ("level", ""),
            ("buffer", "bytes"),
            ("published", "ns"),
            ("4 KB pages", "ns"),
            ("huge pages", "ns"),
            ("4 KB pages", "cycles est."),
        ],
    );
    let mut push = |label: &str,
                    bytes: Result<u64, String>,
                    published: Option<f64>,
                    series: &dyn Fn(&str, u64) -> String| {
        let bytes = bytes.ok();
        let ns = |pages: &str| bytes.and_then(|bytes| found.ns(&series(pages, bytes)).ok());
        let cycles = bytes.and_then(|bytes| found.cycles(&series(PAGES[0], bytes)).ok());
        table.push(vec![
            label.into(),
            bytes.map(|bytes| bytes as f64).into(),
            published.into(),
            ns(PAGES[0]).as_ref().into(),
            ns(PAGES[1]).as_ref().into(),
            cycles.as_ref().into(),
        ]);
    };
    for (level, published) in PUBLISHED {
        push(level, rung(level, caches, sizes), published, &|pages, bytes| name(pages, bytes));
    }
    push("in steps of 128 bytes", rung("memory", caches, sizes), None, &|pages, bytes| orderly(pages, bytes));
    table
}

fn rungs(figures: &Figures, caches: &CacheSizes, sizes: &[u64]) -> TableResult {
    let mut table = TableResult::new(
        "The ladder: a load in random order",
        &[("buffer", "bytes"), ("fits in", ""), (PAGES[0], "ns"), (PAGES[1], "ns")],
    );
    for bytes in sizes {
        let here = |pages: &str| -> Datum { figures.get(&name(pages, *bytes)).into() };
        table.push(vec![
            (*bytes as f64).into(),
            caches.level(*bytes).name().into(),
            here(PAGES[0]),
            here(PAGES[1]),
        ]);
    }
    table
}

/// The caches detected in each ladder, next to those that the machine reports.
fn caches_found(figures: &Figures, caches: &CacheSizes, sizes: &[u64]) -> TableResult {
    let mut table = TableResult::new(
        "Rises of the ladder and the caches that CPUID or the kernel reports",
        &[
            ("pages", ""),
            ("rises beyond", "bytes"),
            ("loads below", "ns"),
            ("level", ""),
            ("reported", "bytes"),
            ("found of reported", "times"),
        ],
    );
    for pages in PAGES {
        let points: Vec<(u64, f64)> = sizes
            .iter()
            .filter_map(|bytes| Some((*bytes, figures.get(&name(pages, *bytes)).map(Figure::value)?)))
            .collect();
        let mut left: &[(&str, u64)] = &[("L1", caches.l1), ("L2", caches.l2), ("L3", caches.l3)];
        for edge in edges(&points) {
            let Some(place) = nearest(edge.size_bytes, left) else { break };
            let (level, reported) = left[place];
            left = &left[place + 1..];
            table.push(vec![
                pages.into(),
                (edge.size_bytes as f64).into(),
                edge.latency.into(),
                level.into(),
                (reported as f64).into(),
                (edge.size_bytes as f64 / reported as f64).into(),
            ]);
        }
    }
    table
}

/// The index of the level whose size is nearest, by ratio.
fn nearest(bytes: u64, levels: &[(&str, u64)]) -> Option<usize> {
    let distance = |place: &usize| (bytes as f64 / levels[*place].1.max(1) as f64).ln().abs();
    (0..levels.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

fn curve(figures: &Figures, sizes: &[u64]) -> String {
    let points = |pages: &str| {
        let point = |bytes: &u64| Some((*bytes, figures.get(&name(pages, *bytes))?.value()));
        (pages.to_owned(), sizes.iter().filter_map(point).collect())
    };
    plot("A load in random order, by the size of the buffer", "ns", true, PAGES.map(points).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHES: CacheSizes = CacheSizes { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, l3_held: None };

    #[test]
    fn each_level_has_a_representative_size() {
        let sizes = ladder(128 << 20, true);
        let rungs = PUBLISHED.map(|(level, _)| rung(level, &CACHES, &sizes).expect("a rung"));
        assert_eq!(rungs, [24 << 10, 512 << 10, 8 << 20, 128 << 20]);
        let short = ladder(16 << 20, true);
        assert!(rung("memory", &CACHES, &short).expect_err("too short").contains("twice"));
        let two = CacheSizes { l3: 1 << 20, ..CACHES };
        assert!(rung("L3", &two, &sizes).expect_err("no third level").contains("third"));
        let levels = [("L1", CACHES.l1), ("L2", CACHES.l2), ("L3", CACHES.l3)];
        assert_eq!(nearest(900 << 10, &levels), Some(1));
        assert_eq!(nearest(900 << 10, &levels[2..]), Some(0));
        assert_eq!(nearest(900 << 10, &[]), None);
    }

    #[test]
    fn the_ladder_stays_within_memory_and_time() {
        let long = Duration::from_secs(20);
        assert_eq!(most_bytes(&CACHES, 16 << 30, long), 128 << 20);
        assert_eq!(most_bytes(&CACHES, 256 << 20, long), 64 << 20);
        assert_eq!(most_bytes(&CACHES, 16 << 30, Duration::from_millis(100)), 64 << 20);
        let huge = CacheSizes { l3: 768 << 20, ..CACHES };
        assert_eq!(most_bytes(&huge, 512 << 30, long), 1 << 30);
    }
}
