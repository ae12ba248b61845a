//! The machine code of a row's call: the listing with its critical chain, its bottleneck, and the prediction.
//! The listings are passed in, because this crate does not analyse machine code.

use super::Shown;
use crate::grouping::distinct;
use crate::roles::Roles;
use crate::text::safe;
use crate::units::{byte_phrase, number, percent_signed};
use carryline_conditions::Dependence;
use carryline_machine::environment::Level;
use carryline_results::{Cell, RunResult, Status};
use carryline_variants::Family;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Longer calls are represented by one of this many bytes: tracing a call takes a step per instruction.
pub const LONGEST_CALL: u64 = 4096;

/// A call to trace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// The family.
    pub family: Family,
    /// The variant's name.
    pub variant: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// The machine code of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// The call.
    pub call: Call,
    /// The listing, or the reason why there is none, as a sentence without a full stop.
    pub found: Result<Listing, String>,
}

/// The instructions of a call, with predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The meaning of the lines and their marks.
    pub legend: String,
    /// The instructions, with repeated bodies folded.
    pub lines: Vec<Line>,
    /// The bottleneck in a sentence; `None` if it is unknown.
    pub binds: Option<String>,
    /// Core cycles of a hot call, by dependence.
    pub cycles: Vec<Predicted>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// A line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// True for an instruction of the critical chain.
    pub is_critical: bool,
}

/// A prediction for calls with one dependence.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// The dependence.
    pub dependence: Dependence,
    /// The bound in core cycles.
    pub bound: Option<f64>,
    /// The prediction in core cycles.
    pub cycles: Option<f64>,
    /// The bottleneck.
    pub by: Option<String>,
}

/// The calls whose code the page of a run shows, in order of interest: first the fastest of each situation,
/// the baselines and this project's own functions.
#[must_use]
pub fn calls(run: &RunResult, roles: &Roles) -> Vec<Call> {
    let is_first = |cell: &Cell| {
        let own = Some(cell.variant.as_str());
        cell.rank == Some(1) || own == roles.ours(cell.family) || own == cell.baseline.as_deref()
    };
    let measured = || run.cells.iter().filter(|cell| cell.status == Status::Ok);
    let ordered = measured().filter(|cell| is_first(cell)).chain(measured().filter(|cell| !is_first(cell)));
    distinct(ordered.map(representative))
}

/// The call that represents those of a cell, of the mean size.
fn representative(cell: &Cell) -> Call {
    let pieces = cell.condition.segments.len().max(1) as f64;
    let bytes = (cell.bytes_per_call / pieces).round().clamp(0.0, LONGEST_CALL as f64) as u64;
    Call { family: cell.family, variant: cell.variant.clone(), bytes }
}

/// Machine code by call.
pub(super) struct Codes<'a>(BTreeMap<&'a Call, &'a Code>);

impl<'a> Codes<'a> {
    pub(super) fn new(codes: &'a [Code]) -> Codes<'a> {
        Codes(codes.iter().map(|code| (&code.call, code)).collect())
    }

    fn of(&self, cell: &Cell) -> Option<&'a Code> {
        self.0.get(&representative(cell)).copied()
    }
}

/// The anchor of a call's listing in the page.
fn anchor(call: &Call) -> String {
    format!("c-{}", super::slug(&format!("{} {} {}", call.family, call.variant, call.bytes)))
}

/// A row's prediction next to its measurement, with a link to the listing.
pub(super) fn of_row(shown: &Shown<'_>, cell: &Cell, codes: &Codes<'_>) -> Markup {
    let Some(code) = codes.of(cell) else { return html! {} };
    html! {
        @match &code.found {
            Err(reason) => p.dim { "Machine code: " (safe(reason)) "." },
            Ok(listing) => {
                p {
                    @if let Some(sentence) = prediction(shown, cell, code, listing) { (sentence) " " }
                    a.code href=(format!("#{}", anchor(&code.call))) {
                        "Machine code and critical chain of a call of " (byte_phrase(code.call.bytes))
                    }
                }
            }
        }
    }
}

/// The predicted cycles, and the measured ones if they are of the same call.
fn prediction(shown: &Shown<'_>, cell: &Cell, code: &Code, listing: &Listing) -> Option<String> {
    let dependence = shown.ranking.dependence;
    let found = listing.cycles.iter().find(|known| known.dependence == dependence)?;
    let predicted = found.cycles?;
    let by = found.by.as_ref().map(|part| format!(", bound by {part}")).unwrap_or_default();
    let is_same = crate::labels::fixed_size(&cell.condition) == Some(code.call.bytes)
        && cell.condition.segments.is_empty()
        && cell.condition.cache.is_hot()
        && cell.observed.as_ref().is_some_and(|observed| observed.level == Level::L1);
    if !is_same {
        return Some(format!(
            "Predicted for {} calls of {} that hit the first-level cache: {} cycles{by}.",
            dependence,
            byte_phrase(code.call.bytes),
            number(predicted)
        ));
    }
    // A chain bypasses call and return, and overlapping calls share the front end with them; only fenced
    // calls are compared net.
    let (basis, ticks) = match dependence {
        Dependence::Fenced => ("net", cell.ticks_per_call),
        _ => ("gross", cell.gross),
    };
    let measured = ticks.map(|ticks| ticks.median).zip(shown.ticks_per_cycle).map(|(t, factor)| t / factor);
    let measured = measured.filter(|cycles| *cycles > 0.0).map(|cycles| {
        format!("; measured {} ({basis}, {})", number(cycles), percent_signed(cycles / predicted - 1.0))
    });
    Some(format!("Predicted: {} cycles per call{by}{}.", number(predicted), measured.unwrap_or_default()))
}

/// All listings, folded.
pub(super) fn section(codes: &[Code]) -> Markup {
    let found = codes.iter().filter_map(|code| Some((&code.call, code.found.as_ref().ok()?)));
    let found: Vec<(&Call, &Listing)> = found.collect();
    html! {
        @if !found.is_empty() {
            details.section id="code" {
                summary { h2 { "Machine code" } span.dim { (found.len()) " calls, each with its critical chain" } }
                @for (call, listing) in found {
                    details.listing id=(anchor(call)) {
                        summary { (call.family) "/" (safe(&call.variant)) ", " (byte_phrase(call.bytes)) }
                        (self::listing(listing))
                    }
                }
            }
        }
    }
}

fn listing(listing: &Listing) -> Markup {
    html! {
        div {
            @if let Some(binds) = &listing.binds { p { (safe(binds)) } }
            @if !listing.cycles.is_empty() {
                table {
                    thead { tr { th { "calls" } th.number { "bound" } th.number { "predicted" } th { "bound by" } } }
                    tbody {
                        @for one in &listing.cycles {
                            @let figure = |cycles: Option<f64>| crate::units::number_or_dash(cycles);
                            tr {
                                td { (one.dependence) }
                                td.number { (figure(one.bound)) }
                                td.number { (figure(one.cycles)) }
                                td { (one.by.as_deref().unwrap_or("-")) }
                            }
                        }
                    }
                }
            }
            @for note in &listing.notes { p.dim { (safe(note)) } }
            p.dim { (safe(&listing.legend)) }
            pre { code {
                @for line in &listing.lines {
                    @if line.is_critical { b { (safe(&line.text)) } } @else { (safe(&line.text)) }
                    "\n"
                }
            } }
        }
    }
}
