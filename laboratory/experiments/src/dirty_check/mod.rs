//! dirty-check: zeroing only what is not already zero, by the share of dirty blocks.
//!
//! Two forms of i686_pagezero check before they write: the old one scans for a nonzero word and zeroes from
//! there; the new one ORs 32 bytes together and writes the block only if a bit is set. They are compared with
//! routines that always write, on pages with 0 to all 128 blocks dirty, hot and cold.

mod claims;
mod probe;

use super::string_startup::plot;
use super::{Context, Experiment, Outcome, Probed};
use carryline_engine::failure::Failure;
use carryline_results::claims::{Datum, Figure, TableResult, Unit};
use carryline_results::sources::EVANS_2003;
use carryline_statistics as statistics;
use claims::CLAIMS;
use probe::{BLOCKS, DIRTY, STATES, VARIANTS, name};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "dirty-check",
    source: &EVANS_2003,
    title: "Zeroing only what is not already zero",
    weight: 0.5,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let found = context.probe("dirty_check", &(), 1.0)?;
    for state in STATES {
        for variant in VARIANTS {
            for dirty in DIRTY {
                let name = name(variant, state, dirty);
                outcome.figures.add_or_reason(name.clone(), found.ns(&name));
            }
        }
        let even = break_even(&found, state, context.seed);
        outcome.tables.push(table(&outcome, state));
        outcome.plots.push(curve(&outcome, state));
        outcome.notes.push(match &even {
            Ok(share) => format!(
                "{state}: the check costs as much as stosl once {:.0} % of the blocks are dirty ({:.0} to {:.0}).",
                share.value(),
                share.estimate().low,
                share.estimate().high
            ),
            Err(reason) => format!("{state}: {reason}."),
        });
        outcome.figures.add_or_reason(format!("break-even share, {state}"), even);
    }
    outcome.notes.push(
        "State before each sample: dirty blocks redrawn and filled with random bytes, the others zero; \
         hot: 4 pages read once more, cold: 64 pages with every line flushed. Calls go through a pointer."
            .to_owned(),
    );
    Ok(outcome)
}

/// The share of dirty blocks, in percent, at which checking takes as long as writing everything.
fn break_even(found: &Probed, state: &str, seed: u64) -> Result<Figure, String> {
    let of = |variant: &str| -> Result<Vec<Figure>, String> {
        DIRTY.iter().map(|dirty| found.figure(&name(variant, state, *dirty))).collect()
    };
    let (look, write) = (of(VARIANTS[0])?, of(VARIANTS[2])?);
    let medians: Vec<f64> =
        look.iter().zip(&write).map(|(look, write)| look.value() - write.value()).collect();
    let together: Vec<&Figure> = look.iter().chain(&write).collect();
    Figure::by_round(Unit::Percent, &together, seed, |times| {
        let (look, write) = times.split_at(DIRTY.len());
        let differences: Vec<f64> = look.iter().zip(write).map(|(look, write)| look - write).collect();
        share(&differences).unwrap_or(f64::NAN)
    })
    .filter(|_| share(&medians).is_some())
    .ok_or_else(|| match medians.first() {
        Some(first) if *first >= 0.0 => {
            "the check costs more than stosl at every share of dirty blocks".to_owned()
        }
        _ => "the check costs less than stosl at every share of dirty blocks".to_owned(),
    })
}

/// The share of dirty blocks, in percent, at which the difference (check minus write) crosses zero.
fn share(differences: &[f64]) -> Option<f64> {
    let percent = |dirty: &u32| f64::from(*dirty) * 100.0 / f64::from(BLOCKS);
    let points: Vec<(f64, f64)> = DIRTY.iter().map(percent).zip(differences.iter().copied()).collect();
    statistics::crossing(&points)
}

fn table(outcome: &Outcome, state: &str) -> TableResult {
    let columns: Vec<(&str, &str)> =
        [("dirty", "of 128")].into_iter().chain(VARIANTS.map(|variant| (variant, "ns"))).collect();
    let mut table =
        TableResult::new(format!("A page of 4 KB, {state}, by dirty blocks of 32 bytes"), &columns);
    for dirty in DIRTY {
        let here = |variant: &str| -> Datum { outcome.figures.get(&name(variant, state, dirty)).into() };
        table.push(std::iter::once(dirty.to_string().into()).chain(VARIANTS.map(here)).collect());
    }
    table
}

fn curve(outcome: &Outcome, state: &str) -> String {
    let points = |variant: &str| {
        let point = |dirty: &u32| {
            Some((u64::from(*dirty) * 32, outcome.figures.get(&name(variant, state, *dirty))?.value()))
        };
        // The axis is logarithmic and cannot show 0.
        (variant.to_owned(), DIRTY.iter().filter(|dirty| **dirty > 0).filter_map(point).collect())
    };
    plot(&format!("A page of 4 KB, {state}, by dirty bytes"), "ns", true, VARIANTS.map(points).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_break_even_is_where_the_costs_are_equal() {
        // A check costs 10 plus 1 for each dirty block, against a constant 42.
        let differences: Vec<f64> = DIRTY.iter().map(|dirty| 10.0 + f64::from(*dirty) - 42.0).collect();
        assert_eq!(share(&differences), Some(25.0));
        assert_eq!(share(&[1.0; DIRTY.len()]), None);
        assert_eq!(share(&[-1.0; DIRTY.len()]), None);
    }
}
