//! The machine code of a run's variants for its page: the listings and predictions of `carryline critical`,
//! for many calls.

use super::predict::{Prediction, SIZE};
use super::{listing, show, summary};
use crate::cli::{Common, Critical};
use carryline_chain::Latencies;
use carryline_chain::table;
use carryline_conditions::Dependence;
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_report::page::{Call, Code, Line, Listing, Predicted};
use carryline_report::table::Emphasis;
use carryline_variants::Variant;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The time limit for tracing all calls of a page.
const MOST: Duration = Duration::from_secs(6);

/// Traces calls in their order, as many as the time allows.
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
        let found = match carryline_variants::find(call.family, &call.variant) {
            None => Err("not shown, because the routine is not one of this command's own".to_owned()),
            Some(variant) if begin.elapsed() < MOST => follow(&call, variant, &latencies, &source),
            Some(_) => Err(format!(
                "no time was left to trace it; carryline critical {}/{} --size {} shows it",
                call.family, call.variant, call.bytes
            )),
        };
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress.say(format!("tracing calls for the page ({done} of {all})"));
        Code { call, found }
    };
    // `par_bridge` starts the calls in order.
    let codes = calls.into_iter().par_bridge().map(code).collect();
    progress.finish();
    codes
}

/// The listing of a call, or the reason why there is none.
fn follow(
    call: &Call,
    variant: &'static Variant,
    latencies: &Latencies,
    source: &str,
) -> Result<Listing, String> {
    let size = usize::try_from(call.bytes).unwrap_or(SIZE);
    let args = Critical { size: Some(size), ..Critical::default() };
    let prediction = Prediction::of_variant(variant, &args, latencies).map_err(|error| error.to_string())?;
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
        binds: summary::sentence(&prediction, None),
        cycles: Dependence::ALL
            .into_iter()
            .filter_map(|dependence| predicted(&prediction, dependence))
            .collect(),
        notes,
    })
}

fn line((text, emphasis): (String, Emphasis)) -> Line {
    Line { text, is_critical: emphasis == Emphasis::Strong }
}

/// The predictions for calls with this dependence; `None` if there are none.
fn predicted(prediction: &Prediction, dependence: Dependence) -> Option<Predicted> {
    let (bound, cycles) = (prediction.bound(dependence), prediction.predicted(dependence));
    let binds = prediction.overlapping.as_ref().and_then(|calls| calls.of(dependence)?.binds);
    let by = binds.map(|(part, _)| part.word().to_owned());
    (bound.is_some() || cycles.is_some()).then_some(Predicted { dependence, bound, cycles, by })
}
