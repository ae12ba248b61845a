//! Pages in the order of their frames and in random order: the cost of a page's place in physical memory.
//!
//! Two benchmarks, both over pages whose virtual order is random, so that address translation costs the same
//! in each order:
//! - `write`: every page of a pool that fits in no cache is overwritten, in ascending order of frames, in
//!   random order, and (for comparison) in virtual order;
//! - `read`: half as many pages as the second-level cache holds are read repeatedly: chosen with balanced
//!   colours, at random, and of one colour only. Two pages have the same colour if their lines compete for
//!   the same sets.
//!
//! Frame numbers come from `/proc/self/pagemap`, which shows them only to root; in a virtual machine they are
//! the guest's. The writes are repeated on huge pages. Samples are ticks per page of 4 KB.

use crate::batches::{Batches, Timed};
use crate::pages;
use carryline_engine::probe::{Impossible, Probe, Rounds, Setup, Unusable};
use carryline_machine::arena::{Arena, Pages, page_bytes};
use carryline_sampler::{touch, zero_words};
use carryline_statistics::shuffle;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;

/// See the module.
pub static PROBE: Probe = Probe {
    name: "page_colour",
    what: "pages written and read in the order of their frames and in random order",
    start,
};

/// The series of the first benchmark.
pub const WRITES: [&str; 5] = [
    "write, frames in order",
    "write, frames at random",
    "write, addresses in order",
    "write, huge pages in order",
    "write, huge pages at random",
];
/// The series of the second benchmark.
pub const READS: [&str; 3] = ["read, colours even", "read, frames at random", "read, one colour"];
/// Bytes of a page.
const PAGE: usize = 4096;

/// The parameters of the probe.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The size of the pool; by default more than the caches hold.
    pub bytes: Option<u64>,
    /// The number of page colours of the second-level cache; 1 by default.
    pub colours: Option<u64>,
}

/// Facts about the frames.
#[derive(Deserialize, Serialize)]
pub(super) struct Facts {
    /// The share of frames that directly follow another one of the pool; `None` if the kernel does not show
    /// frames.
    pub in_sequence: Option<f64>,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    if page_bytes() != PAGE {
        return Err(Impossible(format!("pages here have {} bytes, not 4096", page_bytes())));
    }
    let Parameters { bytes, colours } = setup.parameters()?;
    let bytes = bytes.unwrap_or(setup.caches.too_large()) as usize;
    let colours = colours.unwrap_or(1).max(1);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(setup.seed);
    let count = bytes.div_ceil(PAGE);
    let pool = Arena::new(count * PAGE, Pages::Base)?;
    // Pages are faulted in random order, so that frames, which the kernel hands out nearly in order, are
    // unrelated to addresses.
    let mut random: Vec<usize> = (0..count).collect();
    shuffle(&mut rng, &mut random);
    for page in &random {
        // SAFETY: a page of the pool, which nothing else uses.
        unsafe { pool.start().add(page * PAGE).write_volatile(1) };
    }
    setup.status.beat();
    let (mut all, mut unusable) = (Vec::new(), Vec::new());
    let pool = Rc::new(pool);
    let frames = frames(&pool, count);
    shuffle(&mut rng, &mut random);
    match &frames {
        Ok(frames) => {
            let mut ordered: Vec<usize> = (0..count).collect();
            ordered.sort_by_key(|page| frames[*page]);
            all.push(writes(WRITES[0], &pool, ordered.clone()));
            all.push(writes(&format!("{} again", WRITES[0]), &pool, ordered));
            let most = ((setup.caches.l2 / 2) as usize / PAGE).max(1);
            for (label, chosen) in READS.into_iter().zip(by_colour(frames, colours, most, &random)) {
                match chosen {
                    Ok(pages) => all.push(reads(label, &pool, pages)),
                    Err(reason) => unusable.push(Unusable::new(label, reason)),
                }
            }
        }
        Err(reason) => {
            unusable.push(Unusable::new(WRITES[0], reason));
            unusable.extend(READS.map(|label| Unusable::new(label, reason)));
        }
    }
    all.push(writes(WRITES[1], &pool, random.clone()));
    all.push(writes(WRITES[2], &pool, (0..count).collect()));
    let mut huge = Arena::new(count * PAGE, Pages::Huge)?;
    huge.prefault();
    setup.status.beat();
    let got = huge.huge_bytes();
    if got.is_some_and(|got| got >= huge.len() / 10 * 9) {
        let huge = Rc::new(huge);
        all.push(writes(WRITES[3], &huge, (0..count).collect()));
        all.push(writes(WRITES[4], &huge, random));
    } else {
        let reason = "the kernel gave no huge pages for the whole buffer";
        unusable.extend(WRITES[3..].iter().map(|label| Unusable::new(*label, reason)));
    }
    let in_sequence = frames.as_ref().ok().map(|frames| share_in_sequence(frames));
    let batches = Batches::new(setup, all).twin(WRITES[0]).without(unusable);
    Ok(Box::new(batches.with_facts(&Facts { in_sequence })))
}

fn writes(label: &str, pool: &Rc<Arena>, order: Vec<usize>) -> Timed {
    let (pool, pages) = (pool.clone(), order.len());
    Timed::new(label, 1, move |times| {
        for _ in 0..times {
            for page in &order {
                // SAFETY: a page of the pool, which nothing else uses. One store per word, as in the benchmark
                // of 2003.
                unsafe { zero_words(pool.start().wrapping_add(page * PAGE), PAGE) };
            }
        }
    })
    .without_warm_up()
    .per(pages as f64)
}

/// How many times a sample reads the chosen pages.
const AGAIN: u32 = 20;

fn reads(label: &str, pool: &Rc<Arena>, order: Vec<usize>) -> Timed {
    let (pool, pages) = (pool.clone(), order.len());
    Timed::new(label, AGAIN, move |times| {
        for _ in 0..times {
            for page in &order {
                // SAFETY: a page of the pool, which nothing else uses.
                unsafe { touch(pool.start().wrapping_add(page * PAGE), PAGE, false) };
            }
        }
    })
    .per(pages as f64 * f64::from(AGAIN))
}

/// Chooses `most` pages: with balanced colours, at random, and of one colour.
fn by_colour(frames: &[u64], colours: u64, most: usize, random: &[usize]) -> [Result<Vec<usize>, String>; 3] {
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for page in random {
        groups.entry(frames[*page] % colours).or_default().push(*page);
    }
    let one = |reason: &str| Err(reason.to_owned());
    if colours < 2 {
        let reason =
            "the second-level cache's colours are unknown: the machine does not report its associativity";
        return [one(reason), Ok(random.iter().copied().take(most).collect()), one(reason)];
    }
    let share = most.div_ceil(colours as usize);
    let even: Vec<usize> =
        groups.values().flat_map(|pages| pages.iter().take(share).copied()).take(most).collect();
    let alike = groups.values().max_by_key(|pages| pages.len()).map(|pages| pages.iter().take(most).copied());
    let alike: Vec<usize> = alike.into_iter().flatten().collect();
    let enough = |pages: Vec<usize>, reason: &str| if pages.len() < most { one(reason) } else { Ok(pages) };
    [
        enough(even, "the pool has not enough frames of every colour"),
        enough(random.iter().copied().take(most).collect(), "the pool has not enough pages"),
        enough(alike, "the pool has not enough frames of one colour"),
    ]
}

/// The frame of every page of an arena, or the reason why it is unknown.
fn frames(pool: &Arena, count: usize) -> Result<Vec<u64>, String> {
    let entries = pages::entries(pool.start(), count)
        .map_err(|error| format!("/proc/self/pagemap cannot be read: {error}"))?;
    let frames: Option<Vec<u64>> = entries.into_iter().map(pages::frame_of).collect();
    frames.ok_or_else(|| "the kernel shows the frames of pages only to root (/proc/self/pagemap)".to_owned())
}

/// The share of frames that directly follow another one of the pool.
fn share_in_sequence(frames: &[u64]) -> f64 {
    let mut sorted = frames.to_vec();
    sorted.sort_unstable();
    let pairs = sorted.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    pairs as f64 / (frames.len().max(2) - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;
    use carryline_verification::status::StatusPage;

    #[test]
    fn pages_are_chosen_by_colour() {
        let frames: Vec<u64> = (1000..1064).collect();
        let random: Vec<usize> = (0..64).rev().collect();
        let [even, any, one] =
            by_colour(&frames, 8, 8, &random).map(|pages| pages.expect("there are enough"));
        let colour = |page: &usize| frames[*page] % 8;
        let mut colours: Vec<u64> = even.iter().map(colour).collect();
        colours.sort_unstable();
        assert_eq!(colours, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(any, random[..8]);
        assert!(one.len() == 8 && one.iter().all(|page| colour(page) == colour(&one[0])));
        let [_, _, one] = by_colour(&frames, 8, 9, &random);
        assert!(one.expect_err("8 of each").contains("one colour"));
        let [even, any, one] = by_colour(&frames, 1, 4, &random);
        assert!(even.is_err() && one.is_err() && any.is_ok());
    }

    #[test]
    fn sequential_frames_are_counted() {
        assert_eq!(share_in_sequence(&[5, 9, 6, 7, 1]), 0.5);
    }

    #[test]
    fn every_series_is_sampled_or_has_a_reason() {
        let status = StatusPage::create().expect("a page");
        let parameters = crate::json(&Parameters { bytes: Some(4 << 20), colours: Some(4) });
        let mut rounds = start(&setup(&parameters, &status)).expect("4 MiB");
        let (series, samples) = (rounds.series(), rounds.round(&status).expect("a round"));
        assert!(samples.len() == series.len() && samples.iter().all(|sample| sample.is_finite()));
        let unusable = rounds.unusable();
        for wanted in WRITES.into_iter().chain(READS) {
            assert!(
                series.iter().any(|one| one.name == wanted)
                    || unusable.iter().any(|one| one.series == wanted),
                "{wanted}"
            );
        }
    }
}
