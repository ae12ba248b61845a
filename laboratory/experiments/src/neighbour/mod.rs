//! neighbour: how much a core that zeroes pages in idle time slows down a core that does real work.
//!
//! An idle processor that keeps a pool of cleared pages uses memory bandwidth that others need. The victim
//! waits for memory load by load, streams it, or works within the last cache level. Its neighbour on another
//! core is idle, spins without memory accesses, or zeroes through the cache, by rep stosb, or with
//! non-temporal stores.

mod claims;
mod probe;
mod thread;

use super::{Context, Experiment, Outcome};
use carryline_engine::failure::Failure;
use carryline_machine::process;
use carryline_results::claims::{TableResult, Unit};
use carryline_results::sources::TORVALDS_2000;
use claims::CLAIMS;
use probe::{Facts, MODES, Parameters, VICTIMS, name, name_of_rate};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "neighbour",
    source: &TORVALDS_2000,
    title: "A core that zeroes pages, and its effect on another",
    weight: 0.8,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    // Read here, before any CPU has been chosen.
    let cpus = process::allowed_cpus();
    let mut said = false;
    for (victim, (title, unit)) in VICTIMS.into_iter().zip([
        ("Waiting for memory: dependent loads", "ns per load"),
        ("Streaming memory: every line read", "ns per line"),
        ("Within a quarter of the last cache level: dependent loads", "ns per load"),
    ]) {
        // Separately, because each victim has its own noise floor.
        let parameters = Parameters { cpus: cpus.clone(), victims: vec![victim.to_owned()] };
        let probed = context.probe("neighbour", &parameters, 0.95 / VICTIMS.len() as f64)?;
        match (&probed.reason, probed.first_facts::<Facts>()?) {
            (Some(reason), None) => return Err(context.impossible(reason)),
            (Some(reason), _) => outcome.notes.push(format!("{title}: partly measured: {reason}.")),
            (None, Some(facts)) if !said => {
                outcome.notes.push(placement_note(&facts));
                said = true;
            }
            (None, _) => {}
        }
        let mut table = TableResult::new(
            title,
            &[("neighbour", ""), ("here", unit), ("times alone", ""), ("zeroed meanwhile", "GB/s")],
        );
        let alone = probed.ns(&name(victim, MODES[0]));
        for mode in MODES {
            let time = probed.ns(&name(victim, mode));
            let slower = time
                .as_ref()
                .ok()
                .zip(alone.as_ref().ok())
                .and_then(|(time, alone)| time.ratio_to(alone, context.seed));
            let rate = probed.figure(&name_of_rate(victim, mode)).ok();
            let rate = rate.zip(probed.ticks_per_ns).map(|(rate, per_ns)| rate.scaled(per_ns, Unit::GbPerS));
            table.push(vec![mode.into(), time.as_ref().ok().into(), slower.into(), rate.as_ref().into()]);
            outcome.figures.add_or_reason(name(victim, mode), time);
        }
        outcome.tables.push(table);
    }
    Ok(outcome)
}

fn placement_note(facts: &Facts) -> String {
    let same = if facts.same_core {
        "the two share a core, and so execution units and the nearest caches"
    } else {
        "another core, according to the kernel"
    };
    format!(
        "The victim ran on CPU {}, its neighbour on CPU {}: {same}. Each has {} MiB. The document gives no figures.",
        facts.cpu,
        facts.neighbour,
        facts.bytes_of_each >> 20,
    )
}
