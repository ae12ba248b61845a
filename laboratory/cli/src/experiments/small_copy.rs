//! small-copy: 48 bytes, the six arguments of a system call, by rep movs, by registers, by a call.
//!
//! Copies that do not wait for each other, copies of what the last one wrote, copies whose source is in no cache, and
//! lengths that nothing predicts.

use super::{Context, Experiment, Outcome, Special};
use carryline_engine::failure::Failure;
use carryline_measure::special::small_copy::{BYTES, MODES, MOST_BYTES, WAYS, name};
use carryline_results::claims::{Claim, Datum, Figure, Rule, TableResult};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "small-copy",
    source: "evans-2018",
    title: "48 bytes by string instruction, by registers, by a call",
    weight: 0.4,
    claims: CLAIMS,
    run,
};

const fn claim(id: &'static str, text: &'static str, published: &'static str, rule: Rule) -> Claim {
    Claim { id, text, published, rule }
}

/// What registers save of a copy of a length that the compiler does not know.
const SAVED: &str = "rep movsb of variable length less 64-bit registers";

const CLAIMS: &[Claim] = &[
    claim(
        "registers-beat-rep-movs",
        "48 bytes through 64-bit registers beat rep movsb",
        "'much faster'",
        Rule::at_least("rep movsb, independent", "64-bit registers, independent", 1.0),
    ),
    claim(
        "registers-beat-rep-movsq",
        "they beat rep movsq too, which moves six words",
        "'much faster'",
        Rule::at_least("rep movsq, independent", "64-bit registers, independent", 1.0),
    ),
    claim(
        "even-32-bit-registers-win",
        "even 32-bit registers are at least twice as fast as rep movsb",
        "'much faster'",
        Rule::at_least("rep movsb, independent", "32-bit registers, independent", 2.0),
    ),
    claim(
        "a-start-up-is-saved",
        "a fixed length in registers saves the 25 cycles of a start-up, give or take a third",
        "'more like 25 cycles'",
        Rule::Value { figure: SAVED, at_least: Some(16.7), at_most: Some(33.3) },
    ),
    claim(
        "inlined-rep-beats-a-call",
        "an inlined rep movsb of 48 bytes is no slower than a call of the library",
        "'better than most libraries'",
        Rule::at_most("rep movsb, independent", "a call: libc, independent", 1.0),
    ),
    claim(
        "misses-make-all-alike",
        "where the source is in no cache, rep movsb and registers are within a quarter of each other",
        "'all methods are slow'",
        Rule::between("rep movsb, missing", "64-bit registers, missing", 0.8, 1.25),
    ),
];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let found = context.special("small_copy", &serde_json::Value::Null, 1.0)?;
    for way in WAYS {
        for mode in MODES {
            let name = name(way, mode);
            outcome.figures.add_or_reason(name.clone(), found.cycles(&name));
        }
    }
    outcome.figures.add_or_reason(SAVED, saved(&found, context.seed));
    outcome.tables.push(table(&outcome));
    outcome.notes.push(format!(
        "Gross, the loop of 'nothing' included. Independent and chained: {BYTES} bytes, both buffers in the first level; \
         chained copies what the copy before has written. Missing: the source's lines flushed, a fence on both sides of \
         every copy. Random: 1 to {MOST_BYTES} bytes, in an order that repeats after 1024 calls."
    ));
    if let Some(reason) = &found.reason {
        outcome.notes.push(format!("Cannot be measured here: {reason}."));
    }
    Ok(outcome)
}

/// Cycles that registers save, round by round.
fn saved(found: &Special, seed: u64) -> Result<Figure, String> {
    let (by_rep, by_registers) =
        (found.cycles("rep movsb, variable, independent")?, found.cycles("64-bit registers, independent")?);
    Figure::by_round("cycles est.", &[&by_rep, &by_registers], seed, |cycles| cycles[0] - cycles[1])
        .ok_or_else(|| "nothing was sampled".to_owned())
}

fn table(outcome: &Outcome) -> TableResult {
    let columns: Vec<(&str, &str)> =
        [("copy", "")].into_iter().chain(MODES.map(|mode| (mode, "cycles est."))).collect();
    let mut table = TableResult::new(
        "A copy of 48 bytes (published: 25 cycles for rep movs, 'much faster' for registers)",
        &columns,
    );
    for way in WAYS {
        let here = |mode: &str| -> Datum { outcome.figures.get(&name(way, mode)).into() };
        table.push(std::iter::once(way.into()).chain(MODES.map(here)).collect());
    }
    table
}
