//! four-numbers: four timings of writes to a page, and the order in which they were taken.
//!
//! The program of 2000 printed four numbers and took them in reverse order, each on the page that the
//! previous one had left in the cache. Here they are taken in that order, then in every order, then each with
//! its state prepared explicitly. All are gross, including the clock, as published.

mod claims;
mod probe;

use super::{Basis, Context, Experiment, In, Outcome, Probed};
use carryline_conditions::{Condition, Dependence};
use carryline_engine::failure::Failure;
use carryline_results::claims::{Datum, Figures, TableResult};
use carryline_results::sources::TORVALDS_2000;
use carryline_variants::Family;
use claims::CLAIMS;
use probe::{CLOCK, Facts, STATES, ZEROED_BYTES, name, name_at, orders};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "four-numbers",
    source: &TORVALDS_2000,
    title: "The four numbers, and the effect of their order",
    weight: 0.7,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// A number: its claimed meaning, the values published for Linux and FreeBSD, and the actual state of the
/// page.
struct Number {
    number: u8,
    what: &'static str,
    linux: f64,
    freebsd: f64,
    finds: &'static str,
}

const NUMBERS: [Number; 4] = [
    Number {
        number: 1,
        what: "4 KB by rep stosl",
        linux: 847.0,
        freebsd: 1030.0,
        finds: "the page in the cache: 2 just cleared it",
    },
    Number {
        number: 2,
        what: "4 KB by bzero",
        linux: 915.0,
        freebsd: 11000.0,
        finds: "the page as the kernel cleared it: hot if cleared for 4, cold if long before",
    },
    Number {
        number: 3,
        what: "second 32-bit write",
        linux: 33.0,
        freebsd: 33.0,
        finds: "a page mapped, and the store buffer empty",
    },
    Number {
        number: 4,
        what: "first write to an unused page",
        linux: 12000.0,
        freebsd: 5000.0,
        finds: "an unmapped page: a fault, and a cold frame to clear",
    },
];

const ORIGINAL: [u8; 4] = [4, 3, 2, 1];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let probed = context.probe("four_numbers", &(), 0.7)?;
    if let Some(reason) = probed.failed() {
        return Err(context.impossible(reason));
    }
    let names = orders().into_iter().flat_map(|order| (1..=4).map(move |number| name(order, number)));
    let places = (1..=4).flat_map(|number| (1..=4).map(move |place| name_at(number, place)));
    for series in names.chain(places).chain(STATES.map(|state| state.name.to_owned())) {
        outcome.figures.add_or_reason(series.clone(), probed.cycles(&series));
    }
    outcome.tables.push(original(&outcome.figures));
    outcome.tables.push(by_order(&outcome.figures));
    outcome.tables.push(by_place(&outcome.figures));
    outcome.tables.push(by_state(&outcome.figures, &probed));
    widths(context, &mut outcome)?;
    notes(&mut outcome, &probed)?;
    Ok(outcome)
}

fn cycles(figures: &Figures, name: &str) -> Datum {
    figures.get(name).into()
}

fn original(figures: &Figures) -> TableResult {
    let mut table = TableResult::new(
        "In the original order 4, 3, 2, 1 on successive pages, including the clock",
        &[
            ("number", ""),
            ("claimed meaning", ""),
            ("Linux, 2000", "cycles"),
            ("FreeBSD, 2000", "cycles"),
            ("here", "cycles"),
            ("what it finds", ""),
        ],
    );
    for Number { number, what, linux, freebsd, finds } in NUMBERS {
        table.push(vec![
            format!("({number})").into(),
            what.into(),
            linux.into(),
            freebsd.into(),
            cycles(figures, &name(ORIGINAL, number)),
            finds.into(),
        ]);
    }
    table
}

fn by_order(figures: &Figures) -> TableResult {
    let mut table = TableResult::new(
        "In every order, each on its own untouched pages",
        &[("order", ""), ("(1)", "cycles"), ("(2)", "cycles"), ("(3)", "cycles"), ("(4)", "cycles")],
    );
    let mut all = orders();
    all.sort_by_key(|order| *order != ORIGINAL);
    for order in all {
        let said = order.map(|number| number.to_string()).join(", ");
        let mut row: Vec<Datum> =
            vec![if order == ORIGINAL { format!("{said} (original)") } else { said }.into()];
        row.extend((1..=4).map(|number| cycles(figures, &name(order, number))));
        table.push(row);
    }
    table
}

fn by_place(figures: &Figures) -> TableResult {
    let mut table = TableResult::new(
        "By place: the mean over the six orders with the number at that place",
        &[("number", ""), ("first", "cycles"), ("second", "cycles"), ("third", "cycles"), ("last", "cycles")],
    );
    for number in 1..=4 {
        let mut row: Vec<Datum> = vec![format!("({number})").into()];
        row.extend((1..=4).map(|place| cycles(figures, &name_at(number, place))));
        table.push(row);
    }
    table
}

fn by_state(figures: &Figures, probed: &Probed) -> TableResult {
    let mut table = TableResult::new(
        "With each state prepared explicitly (cold: flushed line by line)",
        &[("what, and its state", ""), ("published", "cycles"), ("here", "cycles"), ("here", "ns")],
    );
    for state in STATES.map(|state| state.name) {
        let published = match state {
            CLOCK => Some(32.0),
            "rep stosl, hot" => Some(847.0),
            "bzero, hot" => Some(915.0),
            "bzero, cold, drained" => Some(11000.0),
            "write, hot line" => Some(33.0),
            "first write, frame cold" => Some(12000.0),
            "write, ready page not mapped" => Some(1000.0),
            _ => None,
        };
        let ns = probed.ns(state);
        table.push(vec![state.into(), published.into(), cycles(figures, state), ns.as_ref().ok().into()]);
    }
    table
}

/// Compares bytes, double words and quad words, called like any other routine.
fn widths(context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Failure> {
    let condition = Condition { dependence: Dependence::Fenced, ..Condition::plain(ZEROED_BYTES as u64) };
    let variants = ["rep_stosl", "rep_stosb", "rep_stosq"];
    let listed = variants.iter().all(|name| carryline_variants::find(Family::Zero, name).is_some());
    let measured = match listed {
        true => Some(context.measure(vec![context.situation(Family::Zero, condition, &variants)], 0.25)?),
        false => None,
    };
    let mut table = TableResult::new(
        "4 KB hot, by width, between fences",
        &[("instruction", ""), ("published", "cycles"), ("here", "cycles")],
    );
    for (variant, published) in variants.into_iter().zip([Some(847.0), Some(863.0), None]) {
        let time = match &measured {
            Some(measured) => measured.time(0, variant, Basis::Gross, In::Cycles),
            None => Err("string instructions are x86-64 instructions".to_owned()),
        };
        let said = variant.replace('_', " ");
        table.push(vec![said.clone().into(), published.into(), time.as_ref().ok().into()]);
        outcome.figures.add_or_reason(format!("{said}, fenced"), time);
    }
    outcome.tables.push(table);
    Ok(())
}

fn notes(outcome: &mut Outcome, probed: &Probed) -> Result<(), Failure> {
    if let Some(reason) = &probed.reason {
        outcome.notes.push(format!("Partly measured: {reason}."));
    }
    if let Some(facts) = probed.first_facts::<Facts>()? {
        outcome.notes.push(format!(
            "In the first worker process {} pages were written first in some order: {} of them were \
             already mapped, and they took {} faults.",
            facts.first_writes,
            facts.mapped_before.map_or("an unknown number".to_owned(), |pages| pages.to_string()),
            facts.faults,
        ));
        match facts.frames {
            Some((given, again)) => outcome
                .notes
                .push(format!("Of {given} frames released flushed, the next fault got {again} again.")),
            None => outcome.notes.push(
                "Whether a fault gets the frame just released, flushed, is not visible here: the \
                 kernel shows frames only to root. It reuses the most recently freed frame first."
                    .to_owned(),
            ),
        }
    }
    outcome.notes.push(
        "A time ends when the stores have left the pipeline; if marked 'drained', when they are in the \
         cache. A modern store buffer holds a page's worth of wide stores. For states, each page is \
         given back just before its fault; for orders, all of them together, which leaves the kernel's \
         own lines warmer."
            .to_owned(),
    );
    Ok(())
}
