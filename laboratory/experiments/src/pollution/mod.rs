//! pollution: how much of a victim's working set remains cached after a large buffer is cleared or copied.
//!
//! The victim's set is loaded into its cache level; then memory of twice that level is cleared or copied;
//! then the victim reads its set once more. Non-temporal stores should leave the set in the cache.

mod claims;
mod probe;

use super::{Basis, Context, Experiment, In, Outcome};
use carryline_conditions::{Condition, Then};
use carryline_engine::failure::Failure;
use carryline_results::claims::{Datum, TableResult};
use carryline_results::sources::TORVALDS_2000;
use carryline_variants::Family;
use claims::CLAIMS;
use probe::{Facts, METHODS, Parameters, VICTIMS, moved_bytes, name, set_bytes};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "pollution",
    source: &TORVALDS_2000,
    title: "What remains in the caches after clearing or copying a large buffer",
    weight: 0.8,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    // Separately, because each victim has its own noise floor.
    let mut probes = Vec::new();
    for victim in VICTIMS {
        let probed = context.probe("pollution", &Parameters { victims: vec![victim.to_owned()] }, 0.2)?;
        if let Some(reason) = probed.failed() {
            return Err(context.impossible(reason));
        }
        if let Some(reason) = &probed.reason {
            outcome.notes.push(format!("{victim}: partly measured: {reason}."));
        }
        probes.push(probed);
    }
    let caches = &context.here.caches;
    let mut columns = vec![("what came between".to_owned(), "")];
    for (place, victim) in VICTIMS.iter().enumerate() {
        let (set, moved) = (set_bytes(place, caches) >> 10, moved_bytes(place, caches) >> 10);
        columns.push((format!("{set} KB in {victim},\nafter {moved} KB"), "ns per load"));
        columns.push((format!("{victim}: times\nundisturbed"), ""));
    }
    let columns: Vec<(&str, &str)> = columns.iter().map(|(name, unit)| (name.as_str(), *unit)).collect();
    let mut table =
        TableResult::new("The victim's working set, read again as a chain of dependent loads", &columns);
    let facts: Option<Facts> = probes[0].first_facts()?;
    for method in METHODS {
        let said = match facts.as_ref().and_then(|facts| facts.variants.get(method)) {
            Some(variant) if variant != "nothing" => format!("{method} ({variant})"),
            _ => method.to_owned(),
        };
        let mut row: Vec<Datum> = vec![said.into()];
        for (victim, probed) in VICTIMS.into_iter().zip(&probes) {
            let time = probed.ns(&name(victim, method));
            let undisturbed = probed.ns(&name(victim, METHODS[0]));
            let times = time
                .as_ref()
                .ok()
                .zip(undisturbed.as_ref().ok())
                .and_then(|(time, base)| time.ratio_to(base, context.seed));
            row.extend([time.as_ref().ok().into(), times.into()]);
            outcome.figures.add_or_reason(name(victim, method), time);
        }
        table.push(row);
    }
    outcome.tables.push(table);
    together(context, &mut outcome)?;
    outcome.notes.push(
        "The documents give no figures for this. The memory was flushed before it was cleared, except \
         for the last level, which it does not fit; a copy reads one half and writes the other."
            .to_owned(),
    );
    Ok(outcome)
}

/// Measures the call together with the slowdown that it causes, in cells.
fn together(context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Failure> {
    let caches = &context.here.caches;
    let (size, set) = (2 * caches.l2, caches.l2 / 2);
    let variants: Vec<&str> = ["rep_stosb", "sse2", "avx2", "avx512", "movntps", "avx512_nontemporal"]
        .into_iter()
        .filter(|name| carryline_variants::find(Family::Zero, name).is_some())
        .collect();
    if variants.is_empty() {
        return Ok(());
    }
    let situation =
        |then| context.situation(Family::Zero, Condition { then, ..Condition::plain(size) }, &variants);
    let measured = context.measure(vec![situation(Then::Nothing), situation(Then::Victim(set))], 0.3)?;
    let mut table = TableResult::new(
        format!(
            "Clearing {} KB hot, and its cost with {} KB of other data read after each call",
            size >> 10,
            set >> 10
        ),
        &[("variant", ""), ("call alone", "ns"), ("call and slowdown", "ns")],
    );
    for variant in variants {
        let alone = measured.time(0, variant, Basis::Net, In::Ns);
        let both = measured.time(1, variant, Basis::Net, In::Ns);
        if let (Err(reason), Err(_)) = (&alone, &both) {
            outcome.notes.push(format!("{variant} is left out: {reason}."));
            continue;
        }
        table.push(vec![variant.into(), alone.as_ref().ok().into(), both.as_ref().ok().into()]);
        outcome.figures.add_or_reason(format!("{variant}, call alone"), alone);
        outcome.figures.add_or_reason(format!("{variant}, call and slowdown"), both);
    }
    outcome.tables.push(table);
    Ok(())
}
