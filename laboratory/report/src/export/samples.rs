//! Samples as rows of plain columns.

use super::Exported;
use serde::Serialize;

/// The columns of a table of samples. Ticks are gross, per call.
#[derive(Debug, Serialize)]
pub(super) struct Sample<'a> {
    run: &'a str,
    situation: &'a str,
    family: &'static str,
    variant: &'a str,
    /// True for the second member with this name in each round, which gives the noise floor.
    twin: bool,
    replicate: usize,
    round: u32,
    multiplier: u32,
    gross_ticks: f64,
    null_ticks: f64,
    ticks_per_cycle: Option<f64>,
    cycles_counted: bool,
}

/// All samples of a run, by situation, replicate, round and place.
pub(super) fn samples<'a>(exported: &'a Exported<'_>) -> Vec<Sample<'a>> {
    let mut rows = Vec::new();
    let run = exported.about.content_hash.as_deref().unwrap_or_default();
    for gathered in exported.gathered {
        let situation = &gathered.situation;
        let (subjects, twins) = (&situation.subjects, &situation.twins);
        for (replicate, measured) in gathered.replicates.iter().enumerate() {
            for round in &measured.rounds {
                for (place, ticks) in round.samples.iter().enumerate() {
                    let twin = place.checked_sub(subjects.len()).and_then(|twin| twins.get(twin).copied());
                    let Some(variant) = subjects.get(twin.unwrap_or(place)) else { continue };
                    if !ticks.is_finite() {
                        continue;
                    }
                    rows.push(Sample {
                        run,
                        situation: &situation.name,
                        family: situation.family.name(),
                        variant,
                        twin: twin.is_some(),
                        replicate,
                        round: round.number,
                        multiplier: round.multiplier,
                        gross_ticks: *ticks,
                        null_ticks: round.null_ticks,
                        ticks_per_cycle: Some(round.ticks_per_cycle).filter(|ratio| *ratio > 0.0),
                        cycles_counted: round.counted,
                    });
                }
            }
        }
    }
    rows
}
