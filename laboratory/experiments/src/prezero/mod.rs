//! prezero: pages cleared on demand compared with pages cleared ahead of their use.
//!
//! Clearing pages ahead makes allocation fast but the first use slow, because they have left the cache by
//! then. The sum of both is measured: the clearing of a cold block and its first use, with varying amounts of
//! other work in between, by stores through the cache, by rep stosb, and by non-temporal stores.

mod claims;
mod probe;

use super::{Context, Experiment, Outcome};
use carryline_engine::failure::Failure;
use carryline_results::claims::{Datum, Figure, TableResult, Unit, crossing, differences};
use carryline_results::sources::TORVALDS_2000;
use claims::CLAIMS;
use probe::{BLOCK_BYTES, DISTANCES, Facts, METHODS, name};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "prezero",
    source: &TORVALDS_2000,
    title: "Clearing pages ahead of their use, or on demand",
    weight: 0.8,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// The methods that tables show, without the twin.
fn shown() -> &'static [&'static str] {
    &METHODS[..METHODS.len() - 1]
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let probed = context.probe("prezero", &(), 0.95)?;
    if let Some(reason) = probed.failed() {
        return Err(context.impossible(reason));
    }
    for method in METHODS {
        for (distance, _) in DISTANCES {
            for part in ["clear", "use", "sum"] {
                let series = name(part, method, distance);
                outcome.figures.add_or_reason(series.clone(), probed.cycles(&series));
            }
        }
    }
    outcome.tables.push(table(&outcome, probed.first_facts()?.as_ref()));
    crossings(&mut outcome, context.seed);
    if let Some(reason) = &probed.reason {
        outcome.notes.push(format!("Partly measured: {reason}."));
    }
    outcome.notes.push(format!(
        "Every block of {} KB starts flushed. Clearing is in user mode and excludes the kernel entry. \
         Other work reads and writes a word of every line of the stated number of bytes. A page that is \
         never used costs only the clearing.",
        BLOCK_BYTES >> 10
    ));
    Ok(outcome)
}

fn table(outcome: &Outcome, facts: Option<&Facts>) -> TableResult {
    let mut columns = vec![("used".to_owned(), "")];
    for method in shown() {
        let variant = facts.and_then(|facts| facts.variants.get(*method));
        let method = variant.map_or((*method).to_owned(), |variant| format!("{method} ({variant})"));
        columns.extend(["clear", "use", "sum"].map(|part| (format!("{method}\n{part}"), "cycles")));
    }
    let columns: Vec<(&str, &str)> = columns.iter().map(|(name, unit)| (name.as_str(), *unit)).collect();
    let mut table = TableResult::new(
        "Per 4 KB. Published, all in cycles: on demand 12000 (fault and clearing) + 915 + 847; ahead 5000 (fault) + 11000 + 1030",
        &columns,
    );
    for (distance, _) in DISTANCES {
        let mut row: Vec<Datum> = vec![distance.into()];
        for method in shown() {
            row.extend(
                ["clear", "use", "sum"].map(|part| outcome.figures.get(&name(part, method, distance)).into()),
            );
        }
        table.push(row);
    }
    let mut never: Vec<Datum> = vec!["never".into()];
    for method in shown() {
        let clear = || Datum::from(outcome.figures.get(&name("clear", method, DISTANCES[0].0)));
        never.extend([clear(), Datum::None, clear()]);
    }
    table.push(never);
    table
}

/// The distances from which one method is cheaper than another, interpolated between those measured.
fn crossings(outcome: &mut Outcome, seed: u64) {
    // Immediate use is plotted below the shortest distance.
    let points: Vec<f64> =
        DISTANCES.iter().map(|(_, bytes)| if *bytes == 0 { 4096.0 } else { *bytes as f64 }).collect();
    let mut table = TableResult::new(
        "Amount of other work from which on: the crossing of two sums, interpolated; 4 KB mean immediately",
        &[("what", ""), ("from", "KB"), ("why not", "")],
    );
    for (what, (first_part, first), (second_part, second)) in [
        ("NT beats cached in sum", ("sum", "NT"), ("sum", "cached")),
        ("NT beats rep in sum", ("sum", "NT"), ("sum", "rep")),
        ("rep beats cached in sum", ("sum", "rep"), ("sum", "cached")),
    ] {
        let curve = |part: &str, method: &str| -> Result<Vec<Figure>, String> {
            DISTANCES.iter().map(|(at, _)| outcome.figures.look(&name(part, method, at)).cloned()).collect()
        };
        let found =
            curve(first_part, first).and_then(|a| Ok((a, curve(second_part, second)?))).and_then(|(a, b)| {
                let differences = differences(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>());
                let cheaper_last = differences.iter().filter_map(|curve| curve.last()).sum::<f64>() < 0.0;
                if !cheaper_last {
                    return Err(format!("{first} is not cheaper after 64 MB"));
                }
                crossing(&points, &differences, Unit::Bytes, seed)
            });
        let kb = found.as_ref().ok().map(|figure| figure.scaled(1.0 / 1024.0, Unit::Kb));
        let why = found.as_ref().err().cloned().unwrap_or_default();
        table.push(vec![what.into(), kb.as_ref().into(), why.into()]);
        outcome.figures.add_or_reason(what, found);
    }
    outcome.tables.push(table);
}
