//! syscall: the cost of the shortest system call, and whether a faster copy of its arguments is visible in
//! it.
//!
//! A change of the kernel's copy of 48 bytes was said to raise getppid from 7.31 to 10.65 million calls per
//! second. The author who doubted this measured 12.09 before and 12.05 after. Here a copy by rep movsb or by
//! registers precedes each call, because the kernel's own copy cannot be changed.

mod claims;
mod probe;

use super::{Context, Experiment, Outcome, Probed};
use carryline_engine::failure::Failure;
use carryline_results::claims::{Datum, Figure, TableResult, Unit};
use carryline_results::sources::EVANS_2018;
use claims::CLAIMS;
use probe::{CALLS, Facts};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "syscall",
    source: &EVANS_2018,
    title: "getppid per second, and the cost of a copy of 48 bytes before it",
    weight: 0.3,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// The difference between rep movsb and registers, each before a system call.
const ADDED: &str = "rep movsb minus registers, before getppid";

/// Published ns, cycles, and million calls per second.
const PUBLISHED: [f64; 3] = [82.71, 337.0, 12.09];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let found = context.probe("syscall", &(), 1.0)?;
    for call in CALLS {
        outcome.figures.add_or_reason(call, found.cycles(call));
        let ns = found.ns(call);
        outcome.figures.add_or_reason(
            format!("{call}, million a second"),
            ns.clone().map(|ns| ns.over(1e3, Unit::MillionPerS)),
        );
        outcome.figures.add_or_reason(format!("{call}, ns"), ns);
    }
    outcome.figures.add_or_reason(ADDED, added(&found, context.seed));
    outcome.tables.push(table(&outcome));
    outcome.notes.push(
        "State: everything hot, 500 calls in a batch, by the instruction itself, so that no library \
         answers from a cache. The published figure is of getpid, by a library too old to cache it."
            .to_owned(),
    );
    match found.first_facts::<Facts>()?.map(|facts| facts.vdso) {
        Some(true) => {
            outcome.notes.push("clock_gettime is answered in the vDSO: the kernel is not entered.".to_owned())
        }
        Some(false) => {
            outcome.notes.push("This process has no vDSO: clock_gettime enters the kernel.".to_owned())
        }
        None => {}
    }
    Ok(outcome)
}

/// The cycles that rep movsb adds beyond registers, round by round.
fn added(found: &Probed, seed: u64) -> Result<Figure, String> {
    let (by_rep, by_registers) =
        (found.cycles("rep movsb, then getppid")?, found.cycles("registers, then getppid")?);
    Figure::by_round(Unit::CyclesEst, &[&by_rep, &by_registers], seed, |cycles| cycles[0] - cycles[1])
        .ok_or_else(|| "nothing was sampled".to_owned())
}

fn table(outcome: &Outcome) -> TableResult {
    let mut table = TableResult::new(
        "A system call with and without a copy before it (published: getpid, Haswell at 4.08 GHz)",
        &[
            ("call", ""),
            ("published", "ns"),
            ("here", "ns"),
            ("published", "cycles"),
            ("here", "cycles est."),
            ("published", "M/s"),
            ("here", "M/s"),
        ],
    );
    for call in CALLS {
        let here = |suffix: &str| -> Datum { outcome.figures.get(&format!("{call}{suffix}")).into() };
        let published =
            |place: usize| if call == "getpid" { Datum::Number(PUBLISHED[place]) } else { Datum::None };
        table.push(vec![
            call.into(),
            published(0),
            here(", ns"),
            published(1),
            here(""),
            published(2),
            here(", million a second"),
        ]);
    }
    table
}
