//! Zeroes pages with a given share of dirty blocks, by routines that check first and by routines that do not.
//!
//! A page is 128 blocks of 32 bytes. Before each sample, the given number of blocks, chosen at random, is
//! filled with random bytes, and the others are zeroed; then all pages are read (`hot`) or every line is
//! flushed from all caches (`cold`), and the pages are zeroed one after the other. Series are
//! `VARIANT, STATE, BLOCKS`, in ticks per page. Every routine is a variant of the collection, verified first
//! and called through a pointer.

use crate::batches::{Batches, Timed, flush_range};
use carryline_engine::probe::{Impossible, Probe, Rounds, Setup, Unusable};
use carryline_machine::arena::{Arena, Pages};
use carryline_sampler::touch;
use carryline_statistics::shuffle;
use carryline_variants::Family;
use carryline_verification::Zeroing;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::rc::Rc;

/// See the module.
pub static PROBE: Probe = Probe {
    name: "dirty_check",
    what: "pages zeroed with and without a check first, by share of dirty blocks",
    start,
};

/// The variants, in the order of the table: first those that check.
pub const VARIANTS: [&str; 6] =
    ["i686_pagezero_or", "i686_pagezero_scan", "rep_stosl", "rep_stosb", "mov32_unroll_64", "movntps"];
/// The cache states.
pub const STATES: [&str; 2] = ["hot", "cold"];
/// Blocks of a page.
pub const BLOCKS: u32 = 128;
/// The numbers of dirty blocks per page.
pub const DIRTY: [u32; 8] = [0, 1, 4, 16, 32, 64, 96, 128];
const BLOCK_BYTES: usize = 32;
const PAGE_BYTES: usize = BLOCKS as usize * BLOCK_BYTES;

/// The name of a series.
#[must_use]
pub fn name(variant: &str, state: &str, dirty: u32) -> String {
    format!("{variant}, {state}, {dirty}")
}

/// Pages per sample; the hot ones fit in the first level with room to spare.
const fn pages(state: &str) -> usize {
    if matches!(state.as_bytes(), b"hot") { 4 } else { 64 }
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    let mut arena = Arena::new(64 * PAGE_BYTES, Pages::Base)?;
    arena.prefault();
    let arena = Rc::new(arena);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(setup.seed);
    let (mut all, mut unusable) = (Vec::new(), Vec::new());
    for variant in VARIANTS {
        let routine = match setup.verified(Family::Zero, variant).map(|verified| verified.zeroing()) {
            Ok(Some(routine)) => routine,
            Ok(None) => continue,
            Err(reason) => {
                unusable.push(Unusable::new(variant, reason));
                continue;
            }
        };
        for state in STATES {
            for dirty in DIRTY {
                let title = name(variant, state, dirty);
                if title == name(VARIANTS[2], "hot", 0) {
                    all.push(series(format!("{title} again"), routine, state, dirty, &arena, rng.next_u64()));
                }
                all.push(series(title, routine, state, dirty, &arena, rng.next_u64()));
            }
        }
    }
    if all.is_empty() {
        return Err(Impossible("no routine of the comparison runs here".to_owned()));
    }
    Ok(Box::new(Batches::new(setup, all).twin(&name(VARIANTS[2], "hot", 0)).without(unusable)))
}

fn series(
    title: String,
    routine: Zeroing,
    state: &'static str,
    dirty: u32,
    arena: &Rc<Arena>,
    seed: u64,
) -> Timed {
    let pages = pages(state);
    // Four pages take only about as long as one step of a slow clock.
    let repeats = if state == "hot" { 16 } else { 1 };
    let (prepared, zeroed) = (arena.clone(), arena.clone());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    Timed::new(title, pages as u32, move |times| {
        for page in 0..times as usize % (pages + 1) {
            // SAFETY: a page of the arena, which has at least this many; nothing else accesses it.
            unsafe { routine.call(zeroed.start().wrapping_add(page * PAGE_BYTES), PAGE_BYTES) };
        }
    })
    .before(move || {
        // SAFETY: the arena has at least `pages` pages; only this thread uses it, and no routine is running.
        unsafe {
            std::slice::from_raw_parts_mut(prepared.start(), pages * PAGE_BYTES)
                .chunks_mut(PAGE_BYTES)
                .for_each(|page| soil(page, dirty, &mut rng));
            match state {
                "hot" => touch(prepared.start(), pages * PAGE_BYTES, false),
                _ => flush_range(prepared.start(), pages * PAGE_BYTES),
            }
        }
    })
    .repeated(repeats)
}

/// Makes `dirty` random blocks of a page dirty and the others zero.
fn soil(page: &mut [u8], dirty: u32, rng: &mut Xoshiro256PlusPlus) {
    let mut blocks: Vec<&mut [u8]> = page.chunks_mut(BLOCK_BYTES).collect();
    shuffle(rng, &mut blocks);
    for (place, block) in blocks.into_iter().enumerate() {
        if place < dirty as usize {
            rng.fill_bytes(block);
            // Not zero by chance.
            block[0] |= 1;
        } else {
            block.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;
    use carryline_verification::status::StatusPage;

    #[test]
    fn pages_have_the_given_number_of_dirty_blocks() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut page = vec![0x55_u8; PAGE_BYTES];
        let mut places = std::collections::BTreeSet::new();
        for dirty in DIRTY.into_iter().chain(DIRTY) {
            soil(&mut page, dirty, &mut rng);
            let found: Vec<usize> = page
                .chunks(BLOCK_BYTES)
                .enumerate()
                .filter_map(|(place, block)| block.iter().any(|byte| *byte != 0).then_some(place))
                .collect();
            assert_eq!(found.len(), dirty as usize);
            places.insert(found);
        }
        // None and all are always the same ones; the others are drawn.
        assert_eq!(places.len(), 2 + 2 * (DIRTY.len() - 2));
    }

    #[test]
    fn every_variant_has_its_series_or_a_reason() {
        let status = StatusPage::create().expect("a page");
        let mut rounds = start(&setup(&serde_json::Value::Null, &status)).expect("some variant runs");
        let (series, samples) = (rounds.series(), rounds.round(&status).expect("a round"));
        assert_eq!(series.len(), samples.len());
        let unusable = rounds.unusable();
        for variant in VARIANTS {
            for state in STATES {
                for dirty in DIRTY {
                    let wanted = name(variant, state, dirty);
                    let there = series.iter().any(|one| one.name == wanted);
                    assert!(there || unusable.iter().any(|one| one.series == variant), "{wanted}");
                }
            }
        }
    }
}
