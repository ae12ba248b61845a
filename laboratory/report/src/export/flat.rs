//! Cells as rows of plain columns.

use super::Exported;
use crate::labels;
use carryline_results::Cell;
use carryline_statistics::{Estimate, Ratio};
use serde::Serialize;

/// The columns of a table of cells; empty if there is no value. Times are per call; net ones below zero are no values.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a> {
    run: &'a str,
    label: &'a str,
    started: &'a str,
    situation: &'a str,
    family: &'static str,
    variant: &'a str,
    status: serde_json::Value,
    size: String,
    size_bytes: Option<u64>,
    offsets: String,
    cache: String,
    dependence: &'static str,
    pages: String,
    segments: usize,
    then: String,
    beside: String,
    level: Option<String>,
    bytes_per_call: f64,
    gross_ticks: Option<f64>,
    gross_ticks_low: Option<f64>,
    gross_ticks_high: Option<f64>,
    within_null_call: bool,
    net_ticks: Option<f64>,
    net_ticks_low: Option<f64>,
    net_ticks_high: Option<f64>,
    gross_ns: Option<f64>,
    gross_ns_low: Option<f64>,
    gross_ns_high: Option<f64>,
    net_cycles: Option<f64>,
    bytes_per_cycle: Option<f64>,
    limit_share: Option<f64>,
    baseline: Option<&'a str>,
    ratio_to_baseline: Option<f64>,
    ratio_to_baseline_low: Option<f64>,
    ratio_to_baseline_high: Option<f64>,
    rank: Option<u32>,
}

/// The rows of a run.
pub(super) fn rows<'a>(exported: &'a Exported<'_>) -> impl Iterator<Item = Row<'a>> {
    exported.run.cells.iter().map(|cell| row(exported, cell))
}

fn row<'a>(exported: &'a Exported<'_>, cell: &'a Cell) -> Row<'a> {
    let condition = &cell.condition;
    let known = |value: f64| value.is_finite().then_some(value);
    let of =
        |estimate: Option<Estimate>, pick: fn(&Estimate) -> f64| estimate.as_ref().map(pick).and_then(known);
    let (gross, net) = (cell.gross, cell.ticks_per_call);
    // A net time below zero is no time.
    let time = |ticks: Option<f64>| ticks.filter(|ticks| *ticks >= 0.0);
    let per_ns = exported.run.ticks_per_ns.filter(|ticks| *ticks > 0.0);
    let ns = |ticks: Option<f64>| Some(ticks? / per_ns?);
    let to = |pick: fn(&Ratio) -> f64| cell.ratio_to_baseline.as_ref().map(pick).and_then(known);
    Row {
        run: exported.about.content_hash.as_deref().unwrap_or_default(),
        label: exported.about.label.as_deref().unwrap_or_default(),
        started: exported.about.started.as_deref().unwrap_or_default(),
        situation: &cell.situation,
        family: cell.family.name(),
        variant: &cell.variant,
        status: serde_json::to_value(cell.status).unwrap_or_default(),
        size: condition.sizes.label.clone(),
        size_bytes: labels::fixed_size(condition),
        offsets: condition.offsets.to_string(),
        cache: condition.cache.to_string(),
        dependence: condition.dependence.word(),
        pages: condition.pages.to_string(),
        segments: condition.segments.len(),
        then: condition.then.to_string(),
        beside: condition.beside.to_string(),
        level: cell.observed.as_ref().map(|observed| observed.level.to_string()),
        bytes_per_call: cell.bytes_per_call,
        gross_ticks: of(gross, |gross| gross.median),
        gross_ticks_low: of(gross, |gross| gross.low),
        gross_ticks_high: of(gross, |gross| gross.high),
        within_null_call: net.is_some_and(|net| net.median < 0.0),
        net_ticks: time(of(net, |net| net.median)),
        net_ticks_low: time(of(net, |net| net.low)),
        net_ticks_high: time(of(net, |net| net.high)),
        gross_ns: ns(of(gross, |gross| gross.median)),
        gross_ns_low: ns(of(gross, |gross| gross.low)),
        gross_ns_high: ns(of(gross, |gross| gross.high)),
        net_cycles: time(cell.cycles_per_call.and_then(known)),
        bytes_per_cycle: cell.bytes_per_cycle.and_then(known),
        limit_share: cell.limit_share.and_then(known),
        baseline: cell.baseline.as_deref(),
        ratio_to_baseline: to(|ratio| ratio.median),
        ratio_to_baseline_low: to(|ratio| ratio.low),
        ratio_to_baseline_high: to(|ratio| ratio.high),
        rank: cell.rank,
    }
}
