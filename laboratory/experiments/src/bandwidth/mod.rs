//! bandwidth: the memory bandwidth that one core reaches by reading, by cached writes, and by non-temporal
//! writes.
//!
//! In 2003 reads reached half of the memory's bandwidth, cached writes (which read each line before they
//! write it) a third, and non-temporal writes all of it. The bandwidth itself is unknown here; it is taken to
//! be the largest bus traffic of any of these passes, including reads before writes.

mod claims;
mod probe;

use super::{Context, Experiment, Outcome};
use carryline_engine::failure::Failure;
use carryline_results::claims::{Datum, Figure, Figures, TableResult, Unit};
use carryline_results::sources::EVANS_2003;
use claims::CLAIMS;
use probe::{PASSES, on_the_bus};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "bandwidth",
    source: &EVANS_2003,
    title: "Share of the memory bandwidth that reads and writes reach",
    weight: 0.6,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// The figure of the largest bus traffic of any pass.
const MOST: &str = "the most on the bus";

/// The size of a buffer that fits in no cache, in whole MiB, limited to a quarter of the free memory.
pub(super) fn uncached_bytes(context: &Context<'_>) -> Result<u64, Failure> {
    let wanted = context.here.caches.too_large();
    let free = context.here.environment.memory.available_bytes / 4;
    let bytes = wanted.min(free) >> 20 << 20;
    if bytes < 2 * context.here.caches.l3 {
        let (need, l3) = ((2 * context.here.caches.l3) >> 20, context.here.caches.l3 >> 20);
        return Err(context.impossible(format!(
            "a buffer larger than every cache needs {need} MiB (the last level has {l3}), and a quarter \
             of the free memory is {} MiB",
            free >> 20
        )));
    }
    Ok(bytes)
}

/// The published share of the bandwidth, and GB/s.
fn published(pass: &str) -> (Option<f64>, Option<f64>) {
    match pass {
        "read" => (Some(1.0 / 2.0), None),
        "cached write" => (Some(1.0 / 3.0), Some(0.714)),
        "non-temporal write" => (Some(1.0), Some(2.24)),
        _ => (None, None),
    }
}

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let bytes = uncached_bytes(context)?;
    let found = context.probe("bandwidth", &probe::Parameters { bytes: Some(bytes) }, 1.0)?;
    let rate = |pass: &str, bytes: u64| found.ns(pass).map(|time| time.over(bytes as f64, Unit::GbPerS));
    for pass in PASSES {
        outcome.figures.add_or_reason(pass, rate(pass, bytes));
        outcome.figures.add_or_reason(on_bus(pass), rate(pass, on_the_bus(pass, bytes)));
    }
    let most = most(&outcome.figures);
    let missing = || outcome.figures.look("read").err().unwrap_or_default();
    let best = most.as_ref().map(|(_, figure)| figure.clone()).ok_or_else(missing);
    outcome.figures.add_or_reason(MOST, best);
    outcome.tables.push(table(&outcome.figures, bytes));
    if let Some((pass, figure)) = most {
        outcome.notes.push(format!(
            "The bandwidth is taken to be {:.3} GB/s, which '{pass}' moves over the bus. State: every pass goes through \
             the same {} MiB, written before, on 4 KB pages, by one core; nothing of its beginning is cached.",
            figure.value(),
            bytes >> 20
        ));
    }
    outcome.notes.push(
        "On the bus a cached write counts twice, as a line is read before it is written. 'rep stosb' may leave that out, \
         so it is not counted for the bandwidth."
            .to_owned(),
    );
    outcome.notes.extend(reasons(&outcome.figures, &PASSES));
    Ok(outcome)
}

/// A note for each reason why some of these figures are missing.
pub(super) fn reasons(figures: &Figures, names: &[&str]) -> Vec<String> {
    let mut by_reason: Vec<(String, Vec<&str>)> = Vec::new();
    for name in names {
        if let Err(reason) = figures.look(name) {
            match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(name),
                None => by_reason.push((reason, vec![name])),
            }
        }
    }
    let note =
        |(reason, names): (String, Vec<&str>)| format!("Not measured ({}): {reason}.", names.join("; "));
    by_reason.into_iter().map(note).collect()
}

fn on_bus(pass: &str) -> String {
    format!("{pass}, on the bus")
}

/// The pass with the largest bus traffic, among those whose traffic is known.
fn most(figures: &Figures) -> Option<(&'static str, Figure)> {
    let known = PASSES.iter().filter(|pass| **pass != "rep stosb");
    known
        .filter_map(|pass| Some((*pass, figures.get(&on_bus(pass))?.clone())))
        .max_by(|a, b| a.1.value().total_cmp(&b.1.value()))
}

fn table(figures: &Figures, bytes: u64) -> TableResult {
    let mut table = TableResult::new(
        format!("Never cached: {} MiB (published: 400 MB), one core", bytes >> 20),
        &[
            ("pass", ""),
            ("published", "GB/s"),
            ("here", "GB/s"),
            ("published", "of the bandwidth"),
            ("here", "of the bandwidth"),
            ("on the bus", "GB/s"),
        ],
    );
    let most = figures.get(MOST).map(Figure::value);
    for pass in PASSES {
        let (share, rate) = published(pass);
        let here = figures.get(pass);
        let of_most: Option<f64> = here.zip(most).map(|(here, most)| here.value() / most);
        table.push(vec![
            pass.into(),
            rate.into(),
            here.into(),
            share.into(),
            of_most.into(),
            if pass == "rep stosb" { Datum::None } else { figures.get(&on_bus(pass)).into() },
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bandwidth_is_the_largest_known_bus_traffic() {
        let mut figures = Figures::default();
        for (pass, rate) in
            [("read", 11.0), ("cached write", 12.0), ("rep stosb", 30.0), ("non-temporal write", 9.0)]
        {
            figures.add(on_bus(pass), Figure::exact(Unit::GbPerS, rate));
        }
        assert_eq!(most(&figures).map(|(pass, _)| pass), Some("cached write"));
        assert!(most(&Figures::default()).is_none());
    }

    #[test]
    fn each_reason_is_given_once_with_all_its_figures() {
        let mut figures = Figures::default();
        figures.add("one", Figure::exact(Unit::Ns, 1.0));
        for name in ["two", "three"] {
            figures.missing(name, "no such instruction");
        }
        assert_eq!(
            reasons(&figures, &["one", "two", "three"]),
            ["Not measured (two; three): no such instruction."]
        );
    }
}
