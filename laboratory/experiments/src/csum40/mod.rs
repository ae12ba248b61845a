//! csum40: the article's optimisation of csum_partial over 40 bytes, step by step.
//!
//! The article's program inlines the sum into a loop that feeds each result into the next call, and prints
//! cycles per call. Here the same loop runs again ([`probe`]), next to one with independent calls and one
//! with fences. Then every step is called through a pointer, as users of a dispatched library call it, in
//! cells of the engine. The two incorrect forms of the article are shown to be wrong.

mod claims;
mod probe;

use super::{Basis, Context, Experiment, In, Outcome};
use carryline_conditions::{Condition, Dependence, Offsets};
use carryline_engine::failure::Failure;
use carryline_engine::prove::{Proof, ProofVerdict};
use carryline_results::claims::{Datum, Figure, Figures, TableResult, Unit};
use carryline_results::sources::VANDEVEN_2021;
use carryline_variants::Family;
use claims::CLAIMS;
use probe::{ADDRESSES, Facts, KERNELS, MODES, TRIALS, VARIANTS};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "csum40",
    source: &VANDEVEN_2021,
    title: "Eight steps of csum_partial over 40 bytes",
    weight: 1.0,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// A step of the article, with the published cycles at even and odd addresses, and the same between fences.
struct Step {
    kernel: &'static str,
    what: &'static str,
    published: [Option<f64>; 2],
    published_fenced: [Option<f64>; 2],
}

const fn step(
    kernel: &'static str,
    what: &'static str,
    published: [f64; 2],
    fenced: Option<[f64; 2]>,
) -> Step {
    let published_fenced = match fenced {
        Some([even, odd]) => [Some(even), Some(odd)],
        None => [None, None],
    };
    Step { kernel, what, published: [Some(published[0]), Some(published[1])], published_fenced }
}

const STEPS: [Step; 8] = [
    step("baseline", "any length, odd addresses handled separately", [11.1, 19.2], Some([19.1, 26.9])),
    step("specialised", "the length fixed at 40", [11.1, 19.2], Some([18.2, 26.9])),
    step("odd removed", "odd addresses like any other", [11.1, 11.1], Some([18.4, 18.8])),
    step("dead code", "one block of 40, one end-around carry", [9.1, 9.1], Some([14.0, 15.2])),
    step("adx", "two chains, by adcx and adox", [6.1, 6.1], Some([15.8, 17.8])),
    step("two streams", "two chains, by adc alone", [6.1, 6.1], Some([16.3, 16.5])),
    step("train 32", "ten 32-bit words in four trains", [5.7, 5.8], None),
    step("zero sum", "the seed taken to be 0", [4.0, 4.0], Some([14.4, 14.1])),
];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let inlined = context.probe("inlined40", &(), 0.35)?;
    for mode in MODES {
        for address in ADDRESSES {
            for kernel in KERNELS {
                let name = format!("{kernel}, {mode}, {address}");
                outcome.figures.add_or_reason(name.clone(), inlined.cycles(&name));
            }
        }
    }
    let facts: Option<Facts> = inlined.first_facts()?;
    for (name, share) in [
        ("baseline's share of wrong sums", facts.as_ref().map(|facts| facts.wrong_at_odd_addresses)),
        ("listing's share of wrong sums", facts.as_ref().map(|facts| facts.wrong_two_streams)),
    ] {
        let reason = || inlined.reason.clone().unwrap_or_else(|| "no worker counted them".to_owned());
        outcome.figures.add_or_reason(
            name,
            share.and_then(|share| Figure::exact(Unit::Percent, share * 100.0)).ok_or_else(reason),
        );
    }
    outcome.tables.push(story(&outcome.figures));
    outcome.tables.push(modes(&outcome.figures));
    called(context, &mut outcome)?;
    known_bad(context, &mut outcome)?;
    if let Some(reason) = &inlined.reason {
        outcome.notes.push(format!("The article's own loop cannot be timed here: {reason}."));
    }
    outcome.notes.push(headline(&outcome.figures));
    Ok(outcome)
}

/// The article's table, one row per step.
fn story(figures: &Figures) -> TableResult {
    let mut table = TableResult::new(
        "The steps, a row each: each sum is the seed of the next call, inlined",
        &[
            ("step", ""),
            ("what was done", ""),
            ("even published", "cycles"),
            ("even here", "cycles"),
            ("odd published", "cycles"),
            ("odd here", "cycles"),
        ],
    );
    let here = |kernel: &str, address: &str| -> Datum {
        figures.get(&format!("{kernel}, chained, {address}")).into()
    };
    table.push(vec![
        "null".into(),
        "an empty loop".into(),
        Datum::None,
        here("null", "even"),
        Datum::None,
        here("null", "odd"),
    ]);
    for step in &STEPS {
        table.push(vec![
            step.kernel.into(),
            step.what.into(),
            step.published[0].into(),
            here(step.kernel, "even"),
            step.published[1].into(),
            here(step.kernel, "odd"),
        ]);
    }
    table
}

/// Each mode in a column of its own; the article's single column mixes them.
fn modes(figures: &Figures) -> TableResult {
    let mut table = TableResult::new(
        "Each mode, inlined; fenced: minus the empty loop, as published",
        &[
            ("step", ""),
            ("chained even", "cycles"),
            ("chained odd", "cycles"),
            ("independent even", "cycles"),
            ("independent odd", "cycles"),
            ("fenced even published", "cycles"),
            ("fenced even here", "cycles"),
            ("fenced odd published", "cycles"),
            ("fenced odd here", "cycles"),
        ],
    );
    for step in &STEPS {
        let here = |mode: &str, address: &str| -> Datum {
            figures.get(&format!("{}, {mode}, {address}", step.kernel)).into()
        };
        table.push(vec![
            step.kernel.into(),
            here("chained", "even"),
            here("chained", "odd"),
            here("independent", "even"),
            here("independent", "odd"),
            step.published_fenced[0].into(),
            here("fenced", "even"),
            step.published_fenced[1].into(),
            here("fenced", "odd"),
        ]);
    }
    table
}

/// Measures every step called through a pointer, with the engine.
fn called(context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut situations = Vec::new();
    for dependence in Dependence::ALL {
        for offset in [0, 1] {
            let offsets = Offsets::Fixed { dst: offset, src: offset };
            let condition = Condition { dependence, offsets, ..Condition::plain(40) };
            situations.push(context.situation(Family::Checksum, condition, &VARIANTS));
        }
    }
    let measured = context.measure(situations, 0.55)?;
    let mut table = TableResult::new(
        "Called through a pointer, gross; fenced: minus the null call",
        &[
            ("variant", ""),
            ("chained even", "cycles"),
            ("chained odd", "cycles"),
            ("independent even", "cycles"),
            ("independent odd", "cycles"),
            ("fenced even", "cycles"),
            ("fenced odd", "cycles"),
        ],
    );
    let mut row: Vec<Datum> = vec!["null call".into()];
    row.extend((0..6).map(|place| Datum::from(measured.null(place, In::Cycles).as_ref().ok())));
    table.push(row);
    for variant in VARIANTS {
        let mut row: Vec<Datum> = vec![variant.into()];
        for place in 0..6 {
            // Between fences the call adds to the sum's time; elsewhere it overlaps.
            let basis = if MODES[place / 2] == "fenced" { Basis::Net } else { Basis::Gross };
            let time = measured.time(place, variant, basis, In::Cycles);
            row.push(time.as_ref().ok().into());
            let (mode, address) = (MODES[place / 2], ADDRESSES[place % 2]);
            outcome.figures.add_or_reason(format!("{variant} called, {mode}, {address}"), time);
        }
        table.push(row);
    }
    outcome.tables.push(table);
    Ok(())
}

/// The two incorrect forms of the article, each with a failing input.
fn known_bad(context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut table = TableResult::new(
        format!(
            "Correctness of the sums, which the article did not check: over {TRIALS} random messages and seeds"
        ),
        &[("variant", ""), ("wrong", "%"), ("verification", ""), ("smallest input found", "")],
    );
    for (proof, share) in context
        .prove(Family::Checksum, &["odd_address_baseline", "two_streams_article"])?
        .iter()
        .zip(["baseline's share of wrong sums", "listing's share of wrong sums"])
    {
        let (verdict, input) = caught(proof);
        let share = outcome.figures.get(share);
        table.push(vec![proof.subject.name.clone().into(), share.into(), verdict.into(), input.into()]);
    }
    outcome.tables.push(table);
    Ok(())
}

fn caught(proof: &Proof) -> (&'static str, String) {
    match &proof.verdict {
        ProofVerdict::Wrong(found) => ("wrong, as known", found.sentence.clone()),
        ProofVerdict::Crashed(found) | ProofVerdict::TimedOut(found) => ("died", found.sentence.clone()),
        ProofVerdict::Proved(_) => {
            ("NOT caught", "marked known-bad, but no failing input was found".to_owned())
        }
        ProofVerdict::Unsupported(reason)
        | ProofVerdict::NotProved(reason)
        | ProofVerdict::WrongLater(reason) => ("not verified", reason.clone()),
    }
}

/// The finding that the article's column hides, with this machine's figures.
fn headline(figures: &Figures) -> String {
    let value = |kernel: &str, mode: &str| {
        figures.get(&format!("{kernel}, {mode}, even")).map(|figure| format!("{:.1}", figure.value()))
    };
    let pair = |mode| value("dead code", mode).zip(value("two streams", mode));
    match pair("chained").zip(pair("independent")) {
        Some(((chained, chained_two), (independent, independent_two))) => format!(
            "One chain against two streams: {chained} against {chained_two} cycles where each sum is the \
             seed of the next call, {independent} against {independent_two} where calls are independent: the published column is \
             latency through the seed, not throughput."
        ),
        None => "One chain against two streams could not be measured both ways.".to_owned(),
    }
}
