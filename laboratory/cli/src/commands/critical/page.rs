//! The code of a run's variants for its page: listings and predictions as this command prints them, of many calls at once.

use super::predict::{Prediction, SIZE};
use super::{closing, listing, show};
use crate::cli::{Common, Critical};
use carryline_chain::Latencies;
use carryline_chain::table;
use carryline_conditions::Dependence;
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_report::page::{Call, Code, Line, Listing, Predicted};
use carryline_report::table::Emphasis;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What following all calls of a page may take.
const MOST: Duration = Duration::from_secs(6);

/// Follows the calls, those first that come first, as many as there is time for.
pub fn codes(calls: Vec<Call>, here: &Here, common: &Common) -> Vec<Code> {
    let cpu = &here.environment.cpu;
    let vendor = cpu.vendor.as_deref().unwrap_or_default();
    let found = table::of_cpu(vendor, cpu.family.unwrap_or(0), cpu.model.unwrap_or(0));
    let source = match found.is_own {
        true => format!("Latencies of {}.", found.table.title),
        false => format!("No table for this CPU: estimates with the latencies of {}.", found.table.title),
    };
    let latencies = Latencies::of_table(found.table);
    let (begin, all) = (Instant::now(), calls.len());
    let (progress, done) = (Progress::new(MOST, common.quiet), AtomicUsize::new(0));
    let code = |call: Call| {
        let found = match begin.elapsed() < MOST {
            true => follow(&call, &latencies, &source),
            false => Err(format!(
                "there was no time to follow it; carryline critical {}/{} --size {} shows it",
                call.family, call.variant, call.bytes
            )),
        };
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress.say(format!("following calls for the page ({done} of {all})"));
        Code { call, found }
    };
    // A bridge hands the calls out in their order.
    let codes = calls.into_iter().par_bridge().map(code).collect();
    progress.finish();
    codes
}

/// A call as the page shows it, or why it cannot be followed.
fn follow(call: &Call, latencies: &Latencies, source: &str) -> Result<Listing, String> {
    let variant = carryline_variants::find(call.family, &call.variant)
        .ok_or_else(|| "not shown, because the routine is not one of this command's own".to_owned())?;
    let size = usize::try_from(call.bytes).unwrap_or(SIZE);
    let asked = Critical { size: Some(size), ..Critical::default() };
    let prediction = Prediction::of_variant(variant, &asked, latencies).map_err(|error| error.to_string())?;
    let found = listing::of(&prediction.call, prediction.signature.chained, false);
    let mut lines: Vec<Line> = found.lines.into_iter().map(line).collect();
    if found.left > 0 {
        lines.push(Line { text: format!("  ... and {} more", found.left), is_critical: false });
    }
    let missing = prediction.call.not_modelled();
    let mut notes: Vec<String> = prediction.notes.iter().chain(show::notes(&prediction)).cloned().collect();
    if !missing.is_empty() {
        notes.push(format!("no figure: the time of {} is not modelled", missing.join(", ")));
    }
    notes.push(source.to_owned());
    let extent = show::extent(&prediction.call);
    Ok(Listing {
        legend: found.legend.map_or_else(|| extent.to_owned(), |legend| format!("{extent}; {legend}")),
        lines,
        binds: closing::sentence(&prediction, None),
        cycles: Dependence::ALL.into_iter().filter_map(|way| predicted(&prediction, way)).collect(),
        notes,
    })
}

fn line((text, emphasis): (String, Emphasis)) -> Line {
    Line { text, is_critical: emphasis == Emphasis::Strong }
}

/// The figures for calls that follow each other in that way; `None` where there are none.
fn predicted(prediction: &Prediction, dependence: Dependence) -> Option<Predicted> {
    let (bound, cycles) = (prediction.bound(dependence), prediction.predicted(dependence));
    let binds = prediction.overlapping.as_ref().and_then(|calls| calls.of(dependence)?.binds);
    let by = binds.map(|(part, _)| part.word().to_owned());
    (bound.is_some() || cycles.is_some()).then_some(Predicted { dependence, bound, cycles, by })
}
