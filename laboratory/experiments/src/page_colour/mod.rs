//! page-colour: the effect of the order of physical pages.
//!
//! In 2003 a kernel that put the memory bank's bit into the colour of pages gained 33 % on a benchmark of
//! writes, and nothing in real work. No program can choose its frames, but root can see them. The same pages
//! are written in the order of their frames and in random order, and read from a cache in which their colours
//! are balanced, random, or all equal.

mod claims;
mod probe;

use super::bandwidth::{reasons, uncached_bytes};
use super::{Context, Experiment, Outcome};
use carryline_engine::failure::Failure;
use carryline_machine::environment::CacheKind;
use carryline_results::claims::{Datum, TableResult, Unit};
use carryline_results::sources::EVANS_2003;
use claims::CLAIMS;
use probe::{Facts, Parameters, READS, WRITES};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "page-colour",
    source: &EVANS_2003,
    title: "Physical pages in order and at random, and huge ones",
    weight: 0.5,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

const PAGE_BYTES: f64 = 4096.0;
/// A figure that cannot be measured, because a program cannot change the kernel.
const REAL_WORK: &str = "real work with another page allocator";

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let reason = "this needs a build of a whole system under a kernel with another page allocator, which a program cannot change";
    outcome.figures.missing(REAL_WORK, reason);
    outcome.figures.missing("real work as it is", reason);
    // There are two pools, one on each kind of page.
    let bytes = uncached_bytes(context)?.min(512 << 20);
    let colours = colours(context).unwrap_or(1);
    let parameters = Parameters { bytes: Some(bytes), colours: Some(colours) };
    let found = context.probe("page_colour", &parameters, 1.0)?;
    for name in WRITES.into_iter().chain(READS) {
        outcome.figures.add_or_reason(name, found.ns(name));
    }
    outcome.tables.push(table(&outcome, bytes));
    if let Some(share) = found.first_facts()?.and_then(|facts: Facts| facts.in_sequence) {
        outcome.notes.push(format!(
            "Of the pool's {} frames {:.0} % lie right after another of the pool; pages were faulted in \
             random order, so that addresses are random both for frames in order and for random frames. \
             In a virtual machine frames are the guest's: the host may place them anywhere, and its own \
             translations benefit from their order.",
            bytes as usize / 4096,
            share * 100.0
        ));
    }
    let names: Vec<&str> = WRITES.into_iter().chain(READS).collect();
    outcome.notes.extend(reasons(&outcome.figures, &names));
    outcome.notes.push(format!(
        "State: all pages written before; each pass writes the whole pool, so its beginning is not cached. Reads go 20 \
         times through half of the second level's bytes, after once untimed; it has {colours} colours of 4 KB pages."
    ));
    Ok(outcome)
}

/// The number of page colours: the classes into which the second-level cache puts 4 KB pages.
fn colours(context: &Context<'_>) -> Option<u64> {
    let second = context
        .here
        .environment
        .caches
        .iter()
        .find(|cache| cache.level == 2 && cache.kind != CacheKind::Instruction)?;
    Some(second.size_bytes / u64::from(second.ways?) / 4096).filter(|colours| *colours > 1)
}

fn table(outcome: &Outcome, bytes: u64) -> TableResult {
    let mut table = TableResult::new(
        format!("A page of 4 KB out of {} MiB (writes), or of half the second level (reads)", bytes >> 20),
        &[
            ("benchmark", ""),
            ("here", "ns"),
            ("here", "GB/s"),
            ("published", "times random"),
            ("here", "times random"),
        ],
    );
    for name in WRITES.into_iter().chain(READS) {
        let here = outcome.figures.get(name);
        let base = if READS.contains(&name) { READS[1] } else { WRITES[1] };
        let speed: Option<f64> =
            outcome.figures.get(base).zip(here).map(|(base, here)| base.value() / here.value());
        let rate = here.map(|time| time.over(PAGE_BYTES, Unit::GbPerS));
        let published = if name == WRITES[0] { Datum::Number(1.33) } else { Datum::None };
        table.push(vec![name.into(), here.into(), rate.as_ref().into(), published, speed.into()]);
    }
    table
}
