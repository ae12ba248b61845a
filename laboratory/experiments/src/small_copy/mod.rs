//! small-copy: 48 bytes, the six arguments of a system call, copied by rep movs, by registers, or by a call.
//!
//! The copies are independent of each other, or copy what the previous one wrote, or have an uncached source,
//! or have unpredictable lengths.

mod claims;
#[cfg(target_arch = "x86_64")]
pub(crate) mod copies;
mod probe;

use super::{Context, Experiment, Outcome, Probed};
use carryline_engine::failure::Failure;
use carryline_results::claims::{Datum, Figure, TableResult, Unit};
use carryline_results::sources::EVANS_2018;
use claims::CLAIMS;
use probe::{METHODS, MODES, MOST_BYTES, name};

/// Bytes of a copy of fixed length: six arguments.
const BYTES: usize = 48;

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "small-copy",
    source: &EVANS_2018,
    title: "48 bytes by string instruction, by registers, by a call",
    weight: 0.4,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// The saving by registers compared with a copy whose length the compiler does not know.
const SAVED: &str = "rep movsb of variable length minus 64-bit registers";

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let found = context.probe("small_copy", &(), 1.0)?;
    for method in METHODS {
        for mode in MODES {
            let name = name(method, mode);
            outcome.figures.add_or_reason(name.clone(), found.cycles(&name));
        }
    }
    outcome.figures.add_or_reason(SAVED, saved(&found, context.seed));
    outcome.tables.push(table(&outcome));
    outcome.notes.push(format!(
        "Gross, including the loop of 'nothing'. Independent and chained: {BYTES} bytes, both buffers in \
         the first level; chained copies what the previous copy wrote. Missing: the source's lines \
         flushed, a fence on both sides of every copy. Random: 1 to {MOST_BYTES} bytes, drawn anew for every batch, the same for every method."
    ));
    if let Some(reason) = &found.reason {
        outcome.notes.push(format!("Cannot be measured here: {reason}."));
    }
    Ok(outcome)
}

/// Cycles that registers save, round by round.
fn saved(found: &Probed, seed: u64) -> Result<Figure, String> {
    let (by_rep, by_registers) =
        (found.cycles("rep movsb, variable, independent")?, found.cycles("64-bit registers, independent")?);
    Figure::by_round(Unit::CyclesEst, &[&by_rep, &by_registers], seed, |cycles| cycles[0] - cycles[1])
        .ok_or_else(|| "nothing was sampled".to_owned())
}

fn table(outcome: &Outcome) -> TableResult {
    let columns: Vec<(&str, &str)> =
        [("copy", "")].into_iter().chain(MODES.map(|mode| (mode, "cycles est."))).collect();
    let mut table = TableResult::new(
        "A copy of 48 bytes (published: 25 cycles for rep movs, 'much faster' for registers)",
        &columns,
    );
    for method in METHODS {
        let here = |mode: &str| -> Datum { outcome.figures.get(&name(method, mode)).into() };
        table.push(std::iter::once(method.into()).chain(MODES.map(here)).collect());
    }
    table
}
