//! Chains of buffers, each buffer at a random alignment: sums by several routines, and their times.
//!
//! The method of 1996: a chain's lengths are given, each buffer begins at a random 4-bit alignment, every
//! routine sums the chain and must agree with the others, and is then timed on it; this is repeated with
//! other alignments (draws). Draws depend only on the run's seed, so every worker process times the same
//! ones. After a buffer of odd length the sum is rotated by eight bits, for all routines alike.
//!
//! Parameters: `chains` (lists of lengths), `names` (the chains' names in series), `draws`, `variants` and
//! `labels` (checksum variants and their names in series; the second is timed twice, for the noise floor),
//! `seed`. Series: `LABEL NAME`, the mean over the draws, and `LABEL NAME draw N`. The facts give each draw's
//! alignments and sums.

use carryline_engine::probe::{Impossible, Probe, Rounds, Series, Setup, Unusable};
use carryline_machine::arena::{Arena, Pages};
use carryline_machine::clock;
use carryline_sampler::PLACEMENTS;
use carryline_sampler::loops::{self, Batch, Call, Follow};
use carryline_statistics::{below, shuffle};
use carryline_variants::Family;
use carryline_variants::checksum::reference::folded_sum;
use carryline_verification::Verified;
use carryline_verification::status::StatusPage;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// See the module.
pub static PROBE: Probe =
    Probe { name: "chains", what: "checksums of chains of buffers at random alignments", start };

/// Alignments are drawn below this.
const ALIGNMENTS: u64 = 16;
/// A timed batch takes about this long, and has at least one chain.
const BATCH_NS: f64 = 8_000.0;
/// The most calls of a batch: their arguments must stay in the cache together with the data.
const MOST_CALLS: usize = 512;
/// Longer chains are not warmed up by a batch before the timed one.
const WARM_BYTES: u64 = 1 << 20;

/// A chain laid out with one draw of alignments.
struct Layout {
    name: String,
    draw: usize,
    lengths: Vec<u64>,
    alignments: Vec<u64>,
    /// The calls of a batch: the chain, repeated `count` times.
    calls: Vec<Call>,
    count: usize,
}

/// The parameters of the probe.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The lengths of each chain's buffers.
    pub chains: Vec<Vec<u64>>,
    /// The chains' names.
    pub names: Vec<String>,
    /// The number of layouts of each chain.
    pub draws: u32,
    /// The implementations' names.
    pub labels: Vec<String>,
    /// The implementations.
    pub variants: Vec<String>,
    /// The seed of the alignments.
    pub seed: u64,
}

/// One layout of a chain, and its checksums. The facts of the probe are a list of these, by chain and draw.
#[derive(Deserialize, Serialize)]
pub struct Draw {
    /// The chain's name.
    pub chain: String,
    /// The number of the draw, from 1.
    pub number: usize,
    /// The addresses of its buffers, modulo 16.
    pub alignments: Vec<u64>,
    /// The sums by implementation.
    pub sums: BTreeMap<String, u16>,
    /// Whether all sums are correct.
    pub agree: bool,
}

struct Chains {
    arena: Arena,
    layouts: Vec<Layout>,
    names: Vec<String>,
    draws: usize,
    /// The routines; the twin last.
    routines: Vec<(String, Verified<'static>)>,
    unusable: Vec<Unusable>,
    /// The sums by layout, computed before any timing.
    sums: Vec<Draw>,
    overhead_ticks: f64,
    rng: Xoshiro256PlusPlus,
}

fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    let Parameters { chains, names, draws, labels, variants, seed } = setup.parameters()?;
    let draws = draws.max(1) as usize;
    if chains.iter().any(Vec::is_empty) || names.len() != chains.len() || labels.len() != variants.len() {
        return Err(Impossible("a chain has no buffer, or a name is missing".to_owned()));
    }
    let room = |chain: &Vec<u64>| chain.iter().map(|len| slot_bytes(*len)).sum::<u64>();
    let bytes = chains.iter().map(room).max().unwrap_or(1);
    let mut arena = Arena::new(bytes as usize, Pages::Base)?;
    arena.prefault();
    setup.status.beat();

    let mut routines = Vec::new();
    let mut unusable = Vec::new();
    for (label, name) in labels.iter().zip(&variants) {
        match setup.verified(Family::Checksum, name) {
            Ok(verified) => routines.push((label.clone(), verified)),
            Err(reason) => unusable.push(Unusable::new(label, reason)),
        }
    }
    if let Some((label, twin)) = routines.get(1).cloned() {
        routines.push((format!("{label} again"), twin));
    }
    let mut drawn = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut layouts = Vec::new();
    for (name, lengths) in names.iter().zip(&chains) {
        for draw in 0..draws {
            let alignments = lengths.iter().map(|_| drawn.next_u64() % ALIGNMENTS).collect();
            layouts.push(Layout::new(name.clone(), draw, lengths.clone(), alignments));
        }
    }
    Ok(Box::new(Chains {
        arena,
        layouts,
        names,
        draws,
        routines,
        unusable,
        sums: Vec::new(),
        overhead_ticks: clock::overhead_ticks(),
        rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
    })
    .summed(setup)
    .calibrated(setup))
}

/// Room for a buffer at any alignment, in whole lines, so that no two buffers share a line.
fn slot_bytes(len: u64) -> u64 {
    (len + ALIGNMENTS).next_multiple_of(64)
}

impl Layout {
    fn new(name: String, draw: usize, lengths: Vec<u64>, alignments: Vec<u64>) -> Layout {
        let mut at = 0;
        let calls = lengths
            .iter()
            .zip(&alignments)
            .map(|(len, alignment)| {
                let call = Call { len: *len, dst: 0, src: (at + alignment) as u32 };
                at += slot_bytes(*len);
                call
            })
            .collect();
        Layout { name, draw, lengths, alignments, calls, count: 1 }
    }

    fn batch<'c>(&self, calls: &'c [Call], count: usize, source: *const u8, placement: usize) -> Batch<'c> {
        Batch {
            dst: std::ptr::null_mut(),
            src: source,
            fixed: None,
            calls,
            count,
            segments: self.lengths.len(),
            seed: 0,
            dependence: loops::INDEPENDENT,
            follow: Follow::Nothing,
            placement,
        }
    }
}

impl Chains {
    /// Sums every layout with every routine.
    fn summed(mut self: Box<Self>, setup: &Setup<'_>) -> Box<Self> {
        for layout in &self.layouts {
            let (right, sums) = self.sums(layout);
            setup.status.beat();
            let labels = self.routines.iter().map(|(label, _)| label.clone());
            self.sums.push(Draw {
                chain: layout.name.clone(),
                number: layout.draw + 1,
                alignments: layout.alignments.clone(),
                agree: sums.iter().all(|sum| *sum == right),
                sums: labels.zip(sums).collect(),
            });
        }
        self
    }

    /// Sets the number of chains in each batch by the time of one chain.
    fn calibrated(mut self: Box<Self>, setup: &Setup<'_>) -> Box<Self> {
        let Some((_, verified)) = self.routines.first().cloned() else { return self };
        for index in 0..self.layouts.len() {
            let once = self.ticks(index, &verified, 0).min(self.ticks(index, &verified, 0));
            setup.status.beat();
            let layout = &mut self.layouts[index];
            let wanted = (BATCH_NS * setup.ticks_per_ns / once.max(1.0)).ceil() as usize;
            layout.count = wanted.clamp(1, (MOST_CALLS / layout.lengths.len()).max(1));
            layout.calls = layout.calls.repeat(layout.count);
        }
        self
    }

    /// The ticks that a routine takes for one chain of a layout.
    fn ticks(&self, layout: usize, verified: &Verified<'_>, placement: usize) -> f64 {
        let layout = &self.layouts[layout];
        let batch = layout.batch(&layout.calls, layout.count, self.arena.start(), placement);
        // SAFETY: every call reads its own slot of the arena, at an offset below 2^32 (chains have at most 1
        // GiB, and a slot one line more); there are count * segments calls; the routine is verified.
        let ticks = unsafe { loops::time(verified, &batch) };
        (ticks as f64 - self.overhead_ticks) / layout.count as f64
    }

    /// The sum of a layout's chain by every routine, and by the reference over the joined bytes.
    fn sums(&self, layout: &Layout) -> (u16, Vec<u16>) {
        let segments = layout.lengths.len();
        let mut joined = Vec::with_capacity(layout.lengths.iter().sum::<u64>() as usize);
        for call in &layout.calls[..segments] {
            let start = self.arena.start().wrapping_add(call.src as usize);
            // SAFETY: a slot of the arena, which nothing writes.
            joined.extend_from_slice(unsafe { std::slice::from_raw_parts(start, call.len as usize) });
        }
        let batch = layout.batch(&layout.calls[..segments], 1, self.arena.start(), 0);
        // The last is the twin of the second.
        let count = self.routines.len() - usize::from(self.routines.len() > 2);
        let sums = self.routines[..count]
            .iter()
            // SAFETY: as in `ticks`; the routine sums.
            .map(|(_, verified)| unsafe { loops::message_sum(verified, &batch) })
            .collect();
        (folded_sum(&joined, 0), sums)
    }
}

impl Rounds for Chains {
    fn series(&self) -> Vec<Series> {
        let mut series = Vec::new();
        for name in &self.names {
            for (label, _) in &self.routines {
                series.push(Series::ticks(format!("{label} {name}")));
                for draw in 1..=self.draws {
                    series.push(Series::ticks(format!("{label} {name} draw {draw}")));
                }
            }
        }
        series
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        let (each, all) = (1 + self.draws, self.routines.len());
        let pair = |chain: usize| ((chain * all + 1) * each, (chain * all + all - 1) * each);
        if all > 2 { (0..self.names.len()).map(pair).collect() } else { Vec::new() }
    }

    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        let (draws, all) = (self.draws, self.routines.len());
        let mut samples = vec![f64::NAN; self.names.len() * all * (1 + draws)];
        let placement = below(&mut self.rng, PLACEMENTS);
        let mut order: Vec<usize> = (0..all).collect();
        for layout in 0..self.layouts.len() {
            shuffle(&mut self.rng, &mut order);
            let (chain, draw) = (layout / draws, layout % draws);
            let bytes: u64 = self.layouts[layout].lengths.iter().sum();
            for routine in &order {
                let verified = self.routines[*routine].1;
                if bytes <= WARM_BYTES {
                    self.ticks(layout, &verified, placement);
                }
                samples[(chain * all + routine) * (1 + draws) + 1 + draw] =
                    self.ticks(layout, &verified, placement);
                status.beat();
            }
        }
        for mean in samples.chunks_mut(1 + draws) {
            mean[0] = mean[1..].iter().sum::<f64>() / draws as f64;
        }
        Ok(samples)
    }

    fn facts(&mut self) -> serde_json::Value {
        crate::json(&self.sums)
    }

    fn unusable(&self) -> Vec<Unusable> {
        self.unusable.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;

    #[test]
    fn all_routines_agree_and_alignments_depend_only_on_the_seed() {
        let status = StatusPage::create().expect("a page");
        let parameters = crate::json(&Parameters {
            chains: vec![vec![1, 3, 1, 3], vec![40], vec![7, 64, 1, 1]],
            names: ["short", "40", "odd"].map(str::to_owned).into(),
            draws: 5,
            variants: ["words16_c", "reference"].map(str::to_owned).into(),
            labels: ["orig", "ref"].map(str::to_owned).into(),
            seed: 7,
        });
        let mut facts = Vec::new();
        for seed in [1, 2] {
            let setup = Setup { seed, ..setup(&parameters, &status) };
            let mut rounds = start(&setup).expect("nothing that a machine could lack");
            let samples = rounds.round(&status).expect("a round");
            assert_eq!(samples.len(), rounds.series().len());
            assert!(samples.iter().all(|sample| sample.is_finite()));
            let series = rounds.series();
            for (one, other) in rounds.twins() {
                assert_eq!(
                    format!("{} again", series[one].name.split(' ').next().unwrap_or_default()),
                    series[other].name.rsplit_once(' ').map(|(label, _)| label).unwrap_or_default()
                );
            }
            facts.push(rounds.facts());
        }
        assert_eq!(facts[0], facts[1]);
        let draws: Vec<Draw> = serde_json::from_value(facts.swap_remove(0)).expect("its own");
        assert_eq!(draws.len(), 3 * 5);
        for draw in &draws {
            assert!(draw.agree, "{} draw {}: {:?}", draw.chain, draw.number, draw.sums);
            assert!(draw.alignments.iter().all(|alignment| *alignment < 16));
        }
        assert!(draws.iter().any(|draw| draw.alignments != draws[0].alignments));
    }
}
