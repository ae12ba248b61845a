//! Compares the two harnesses.

use crate::cases::{Case, cases};
use crate::harness::{Kernel, SAMPLES, TIME, World, rate, stay_on};
use carryline_conditions::Condition;
use carryline_conditions::sizes::Sizes;
use carryline_machine::clock;
use carryline_machine::environment::{CacheSizes, Environment};
use carryline_results::round::Round;
use carryline_sampler::{Bench, Buffers};
use carryline_variants::{Family, find};
use carryline_verification::status::StatusPage;
use carryline_verification::subject::Subject;
use carryline_verification::{Depth, prove};
use std::time::{Duration, Instant};

/// The sampler's benches for a condition whose sizes repeat: each has one list, and the figures of two lists of
/// 100 sizes differ by up to two fifths.
const LISTS: u64 = 9;

/// The sampler's gross median, and the number of calls in its batch if the layout states it. The seed
/// determines the list of sizes.
fn sampled(
    case: &Case,
    condition: &Condition,
    buffers: &mut Buffers,
    caches: &CacheSizes,
    seed: u64,
) -> (f64, usize) {
    let status = StatusPage::create().expect("a page");
    let routines = std::iter::once(case.variant).chain(case.others.iter().copied());
    let subjects: Vec<Subject> = routines
        .map(|name| Subject::of_variant(find(case.family, name).expect("in the collection")))
        .collect();
    let verified: Vec<_> = subjects
        .iter()
        .map(|subject| {
            let proof = prove(subject, Depth::Replicate, 1, &status, 0);
            proof.map_err(|failure| failure.to_string()).expect("a correct routine").0
        })
        .collect();
    let members: Vec<_> = verified.iter().zip(0..).collect();
    let mut bench =
        Bench::new(case.family, condition, &members, buffers, caches, seed, &status).expect("a bench");
    let streamed = bench.observed().beside_bytes;
    let whole = Instant::now();
    bench.calibrate(TIME, clock::ticks_per_ns(Duration::from_millis(5)), &status);
    let begin = Instant::now();
    let mut all = Vec::new();
    while all.len() < 5 || (all.len() < SAMPLES && begin.elapsed() < TIME) {
        let mut round = Round::of(members.len());
        bench.round(&mut round, None, &status);
        all.push(round.samples[0]);
    }
    if let (Some(before), Some(after)) = (streamed, bench.observed().beside_bytes) {
        let moved = (after - before) as f64 / whole.elapsed().as_nanos() as f64;
        println!("{:>91} streamed beside, sampler", rate(moved));
    }
    (median(all), bench.observed().batch_calls.unwrap_or(1) as usize)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub fn run(wanted: &[String]) {
    let allowed = carryline_machine::process::allowed_cpus();
    let (Some(first), Some(last)) = (allowed.first().copied(), allowed.last().copied()) else {
        println!("the kernel does not report which CPUs may be used");
        return;
    };
    stay_on(last);
    let here = Environment::here();
    let level = |level, otherwise| here.cache_bytes(level).unwrap_or(otherwise);
    let l3 = here.last_level_bytes().unwrap_or(32 << 20);
    let caches = CacheSizes { l1: level(1, 32 << 10), l2: level(2, 512 << 10), l3, l3_held: None };
    let mut buffers = Buffers::new(3);
    buffers.set_cpus(Some(last), allowed.clone());
    let kernel = Kernel::of(Family::Copy, "libc_memcpy").expect("in the collection");
    let mut world = World::new(kernel, caches.too_large(), caches.eviction(), first);
    println!("{:<74}{:>7}{:>10}{:>10}{:>8}", "gross ticks per call", "calls", "sampler", "second", "diff");
    for case in cases() {
        let condition = Condition {
            sizes: Sizes::parse_list(case.sizes).expect("sizes").remove(0),
            offsets: case.offsets.parse().expect("offsets"),
            cache: case.cache.parse().expect("a cache state"),
            dependence: case.dependence.parse().expect("a dependence"),
            segments: case.segments.to_vec(),
            then: case.then.parse().expect("a follow-up"),
            beside: case.beside.parse().expect("a load"),
            ..Condition::plain(0)
        };
        let mut name =
            format!("{} {} {} offset {} {}", case.family, case.variant, case.sizes, case.offsets, case.cache);
        for (word, value, usual) in [("then", case.then, "nothing"), ("beside", case.beside, "nothing")] {
            if value != usual {
                name = format!("{name} {word} {value}");
            }
        }
        if case.dependence != "independent" {
            name = format!("{name} {}", case.dependence);
        }
        if !case.others.is_empty() {
            name = format!("{name}, {} others", case.others.len());
        }
        if !case.segments.is_empty() {
            name = format!("{name} segments {:?}", case.segments);
        }
        let is_impossible = case.beside != "nothing" && allowed.len() < 2;
        if is_impossible || (!wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str()))) {
            continue;
        }
        let lists = if condition.sizes.period.is_some() { LISTS } else { 1 };
        let benches = (0..lists).map(|seed| sampled(&case, &condition, &mut buffers, &caches, seed));
        let (figures, calls): (Vec<f64>, Vec<usize>) = benches.unzip();
        let (sampler, calls) = (median(figures), calls[0]);
        world.kernel = Kernel::of(case.family, case.variant).expect("in the collection");
        let second = (case.second)(&mut world, calls);
        let stated = if condition.cache.is_hot() { "-".to_owned() } else { calls.to_string() };
        let diff = format!("{:+.1} %", (sampler / second - 1.0) * 100.0);
        println!("{name:<74}{stated:>7}{sampler:>10.1}{second:>10.1}{diff:>8}");
    }
}
