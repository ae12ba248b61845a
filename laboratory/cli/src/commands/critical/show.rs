//! Predictions as text: the listing with the critical instructions marked, paths, loops, bounds next to
//! measurements, and the sources of the latencies.

use super::llvm_mca::Opinion;
use super::measured::Measured;
use super::predict::Prediction;
use super::{listing, summary};
use carryline_chain::calibrate::Calibration;
use carryline_chain::suggest::Suggestion;
use carryline_chain::table::Table as Microarchitecture;
use carryline_chain::text::cycles;
use carryline_chain::{Analysis, Latencies, Scope};
use carryline_conditions::Dependence;
use carryline_report::figure::WITHIN_NULL;
use carryline_report::table::{ColumnKind, Emphasis, Style, Table, bold};
use carryline_report::text::wrap;
use carryline_report::units::{number, percent_signed};
use std::collections::BTreeMap;

/// The results for a routine.
pub struct Shown<'a> {
    /// The prediction.
    pub prediction: &'a Prediction,
    /// The measurement.
    pub measured: Option<Measured>,
    /// The prediction of llvm-mca.
    pub opinion: Option<Opinion>,
    /// Changes that would make it faster.
    pub suggestions: Vec<Suggestion>,
    /// For each suggestion, a variant that makes the change, and its time.
    pub beside: Vec<Option<String>>,
    /// Whether suggestions were requested.
    pub suggest: bool,
    /// Whether to list every instruction.
    pub is_full: bool,
    /// Whether the table is not this CPU's, so that its figures are no bounds.
    pub is_guess: bool,
}

/// How predictions and measurements are compared.
const COMPARED: &str = "Chained and independent calls are compared gross: a chain bypasses call and return, \
                        and overlapping calls share the front end with them. Fenced calls are compared net \
                        of the null call";

/// Why a fenced call may take less than its bound.
const OVERLAPS: &str = "The fenced figure is below its bound because a null call is itself a chain, from the call through \
                        the stored return address to the return. Between the fences, the routine's chain runs beside \
                        it, so that subtracting the null call subtracts this time too: the net is at least the bound \
                        less the null call's own chain";

/// What the table of ports shows.
const PORTS: &str = "* the ports that start the most operations when independent calls are simulated, where each \
                     operation takes the port that is free first. The throughput above is the least possible: it \
                     divides the operations among the ports as evenly as they allow";

/// The text for all routines, with an overview if there are several.
pub fn render(
    shown: &[Shown<'_>],
    latencies: &Latencies,
    calibration: Option<&Calibration>,
    style: Style,
) -> String {
    let mut out = String::new();
    let assumed = latencies.table();
    let guess = match shown.iter().any(|one| one.is_guess) {
        true => "; no table for this CPU, so all figures are estimates",
        false => "",
    };
    out.push_str(&bold(&format!("{}; latencies in core cycles{guess}", assumed.title), style));
    out.push('\n');
    if let Some(calibration) = calibration {
        let checks = calibration.checks.iter().map(|(name, cycles)| format!("{name} {cycles:.2}"));
        let text = format!(
            "{} latencies measured on this machine{}, {} left out; chains that must take 1.00: {}",
            calibration.measured.len(),
            if calibration.problems().is_empty() { "" } else { " (and not used)" },
            calibration.left_out.len(),
            checks.collect::<Vec<_>>().join(", ")
        );
        line(&mut out, &text, style);
    }
    out.push('\n');
    for one in shown {
        routine(&mut out, one, latencies.table(), style);
    }
    if shown.len() > 1 {
        out.push_str(&bold("predicted and measured cycles per call", style));
        out.push('\n');
        out.push_str(&overview(shown).render_in_parts(style));
    }
    out
}

fn routine(out: &mut String, shown: &Shown<'_>, microarchitecture: &Microarchitecture, style: Style) {
    let prediction = shown.prediction;
    let call = &prediction.call;
    out.push_str(&bold(&format!("{}: {}", prediction.title(), extent(call)), style));
    out.push('\n');
    listing::print(out, call, prediction.signature.chained, shown.is_full, style);
    out.push('\n');
    let missing = call.not_modelled();
    if missing.is_empty() {
        figures(out, prediction, style);
    } else {
        let text = format!("no figure: the time of {} is not modelled", missing.join(", "));
        line(out, &text, style);
    }
    if let Some(table) = summary::ports(prediction, microarchitecture) {
        out.push('\n');
        out.push_str(&table.render_in_parts(style));
        line(out, PORTS, style);
    }
    if prediction.variant.is_some() && call.scope != Scope::Branching {
        out.push('\n');
        out.push_str(
            &summary::calls(prediction, shown.measured.as_ref(), shown.is_guess).render_in_parts(style),
        );
        if let Some(measured) = &shown.measured {
            if let Some(missing) = &measured.missing {
                line(out, &format!("not measured: {missing}"), style);
            }
            if let Some(basis) = &measured.basis {
                line(out, &format!("measured: median core cycles ({basis}), hot. {COMPARED}"), style);
            }
            if summary::is_below_bound(prediction, measured) {
                line(out, OVERLAPS, style);
            }
        }
    }
    if let Some(sentence) = summary::sentence(prediction, shown.measured.as_ref()) {
        out.push_str(&bold(&wrap(&sentence, style.width, 2), style));
        out.push('\n');
    }
    if let Some(opinion) = &shown.opinion {
        line(out, &opinion_line(opinion), style);
    }
    for (suggestion, sibling) in shown.suggestions.iter().zip(&shown.beside) {
        let changes: Vec<String> = suggestion.bounds.iter().filter_map(change).collect();
        let beside = sibling.as_ref().map_or(String::new(), |sibling| format!("; {sibling}"));
        line(out, &format!("suggestion: {}: {}{beside}", suggestion.what, changes.join(", ")), style);
    }
    if shown.suggest && shown.suggestions.is_empty() {
        line(out, "suggestion: none that would gain more than 5 %", style);
    }
    for note in prediction.notes.iter().chain(notes(prediction)) {
        line(out, &format!("note: {note}"), style);
    }
    sources(out, prediction, style);
    out.push('\n');
}

/// The instructions that were analysed.
pub fn extent(call: &Analysis) -> &'static str {
    match call.scope {
        Scope::Straight => "straight-line code",
        Scope::Trace => "the instructions that one call executes",
        Scope::Branching => "every path, each loop once",
    }
}

/// Paths, throughput and loops.
fn figures(out: &mut String, prediction: &Prediction, style: Style) {
    let call = &prediction.call;
    out.push_str(&paths(call).render(style));
    let issue = &call.throughput;
    let least = if call.scope == Scope::Branching { "at least " } else { "" };
    let text = format!(
        "throughput: {least}{} cycles ({}; {} issue slots, {} cycles; busiest ports {}, {} cycles)",
        number(issue.cycles),
        issue.binding(),
        number(issue.issued),
        number(issue.issue_cycles),
        if issue.ports.is_empty() { "none".to_owned() } else { issue.ports.join(" ") },
        number(issue.port_cycles),
    );
    line(out, &text, style);
    loops(out, prediction, style);
}

fn line(out: &mut String, text: &str, style: Style) {
    out.push_str(&wrap(text, style.width, 2));
    out.push('\n');
}

/// The notes of the analyses of the call and the code.
pub fn notes(prediction: &Prediction) -> impl Iterator<Item = &String> {
    // The trace includes the targets of calls and indirect jumps.
    let is_resolved = |note: &String| prediction.code.is_some() && note.contains("analysed");
    let code = prediction.code.iter().flat_map(|code| &code.notes).filter(move |note| !is_resolved(note));
    let known = &prediction.call.notes;
    known.iter().chain(code.filter(move |note| !known.contains(note)))
}

fn paths(call: &Analysis) -> Table {
    let head = if call.scope == Scope::Branching { "at most\ncycles" } else { "\ncycles" };
    let mut table = Table::new([
        ("\nfrom", ColumnKind::Name),
        (head, ColumnKind::Number),
        ("instructions\non the path", ColumnKind::Number),
        ("\nto", ColumnKind::Name),
    ]);
    for input in &call.inputs {
        let row = match (&input.output, input.path_cycles) {
            (Some(output), Some(path)) => {
                vec![input.name.clone(), cycles(path), input.steps.len().to_string(), output.clone()]
            }
            _ => vec![input.name.clone(), "-".into(), "-".into(), "no result depends on it".into()],
        };
        table.push(row, Emphasis::None);
    }
    table
}

fn loops(out: &mut String, prediction: &Prediction, style: Style) {
    if prediction.loops().is_empty() {
        return;
    }
    let mut table = Table::new([
        ("loop\nat", ColumnKind::Name),
        ("\ninstructions", ColumnKind::Number),
        ("bytes per\niteration", ColumnKind::Number),
        ("recurrence\ncycles", ColumnKind::Number),
        ("throughput\ncycles", ColumnKind::Number),
        ("cycles\nper byte", ColumnKind::Number),
        ("\nbound by", ColumnKind::Name),
    ]);
    for found in prediction.loops() {
        let per_byte = found.cycles_per_byte().map_or("-".to_owned(), number);
        let bytes = found.bytes_per_iteration.map_or("-".to_owned(), |bytes| bytes.to_string());
        let binding = match found.binding() {
            "throughput" => found.throughput.binding(),
            other => other.to_owned(),
        };
        let outer = if found.is_innermost { "" } else { " (outer)" };
        table.push(
            vec![
                format!("{:#x}{outer}", found.offset),
                found.instructions.len().to_string(),
                bytes,
                cycles(found.recurrence_cycles),
                number(found.throughput.cycles),
                per_byte,
                binding,
            ],
            Emphasis::None,
        );
    }
    out.push('\n');
    out.push_str(&table.render_in_parts(style));
    if let Some((code, main)) = prediction.main_loop().filter(|(_, main)| !main.chain.is_empty()) {
        let chain: Vec<String> = main.chain.iter().map(|link| code.function.text(link.instruction)).collect();
        line(out, &format!("carried from iteration to iteration: {}", chain.join("; ")), style);
    }
}

fn overview(shown: &[Shown<'_>]) -> Table {
    let mut columns = vec![("\nroutine".to_owned(), ColumnKind::Name)];
    for dependence in Dependence::ALL {
        columns.push((format!("{}\npredicted", dependence.word()), ColumnKind::Number));
        columns.push(("\nmeasured".to_owned(), ColumnKind::Number));
        columns.push(("\noff".to_owned(), ColumnKind::Number));
    }
    let mut table = Table::new(columns);
    for one in shown {
        let mut row = vec![one.prediction.title()];
        for dependence in Dependence::ALL {
            let found = one.measured.as_ref().and_then(|measured| measured.of(dependence));
            let predicted = one.prediction.predicted(dependence);
            row.push(predicted.map_or("-".into(), number));
            row.push(found.map_or("-".into(), |found| match found.compared() {
                net if net < 0.0 => WITHIN_NULL.to_owned(),
                cycles => number(cycles),
            }));
            let off =
                predicted.zip(found).and_then(|(p, found)| summary::off(dependence, p, found.compared()));
            row.push(off.map_or("-".into(), percent_signed));
        }
        table.push(row, Emphasis::None);
    }
    table
}

fn opinion_line(opinion: &Opinion) -> String {
    let call = opinion.call_cycles.map(|cycles| format!("the call {} cycles", number(cycles)));
    let main =
        opinion.loop_cycles.map(|cycles| format!("an iteration of the main loop {} cycles", number(cycles)));
    let figures: Vec<String> = call.into_iter().chain(main).collect();
    let unknown = opinion.unknown.map_or(String::new(), |own| format!(", because it does not know {own}"));
    let misreads = match opinion.misreads.is_empty() {
        true => String::new(),
        false => format!("; known to misread: {}", opinion.misreads.join("; ")),
    };
    format!(
        "second opinion, not used here: {} for {}{unknown}: {}{misreads}",
        opinion.tool,
        opinion.model,
        figures.join(", ")
    )
}

fn change(change: &carryline_chain::suggest::Change) -> Option<String> {
    let cycles = |value: Option<f64>| match value {
        Some(value) if (value - value.round()).abs() < 1e-9 => cycles(value),
        Some(value) => number(value),
        None => "-".to_owned(),
    };
    change
        .before
        .map(|_| format!("{} {} -> {} cycles", change.name, cycles(change.before), cycles(change.after)))
}

/// The sources of the latencies, with the mnemonics from each.
fn sources(out: &mut String, prediction: &Prediction, style: Style) {
    let mut by_source: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let both =
        prediction.call.latencies.iter().chain(prediction.code.iter().flat_map(|code| &code.latencies));
    // Updates of the stack pointer by pushes and returns are free and omitted.
    for (key, latency) in both.filter(|(key, _)| !key.is_of_stack_pointer()) {
        for source in latency.source.parts() {
            let known = by_source.entry(source.to_string()).or_default();
            let mnemonic = key.form.mnemonic_name();
            if !known.contains(&mnemonic) {
                known.push(mnemonic);
            }
        }
    }
    for (source, mnemonics) in by_source {
        line(out, &format!("latencies of {}: {source}", mnemonics.join(", ")), style);
    }
}
