//! The document about the predictions, from the scores of every machine.

use super::summary::{ABOVE, Summary, error, exceeded, goal};
use super::{CallBound, Score, Scores};
use crate::markdown;
use carryline_report::units::{number, percent};
use std::fmt::Write;

/// What somebody predicts for a cell.
type Column = fn(&Score) -> Option<f64>;

/// Cells that are listed with the reason.
const WORST: usize = 10;

/// The document.
#[must_use]
pub fn document(all: &[Scores]) -> String {
    let mut out = String::from(INTRODUCTION);
    for scores in all {
        machine(&mut out, scores);
    }
    out
}

const INTRODUCTION: &str = "\
# How well `carryline critical` predicts

Written by `cargo xtask benchmarks critical` from the files in [critical](critical): every routine of the collection that runs on \
the machine, predicted and measured, chained and independent, data hot. `--write` makes this page again from the \
files. An error is predicted / measured - 1.

What is predicted: the executed instructions of a call, in the loop that calls, simulated as \
they pass through front end, window and ports (`laboratory/chain/src/window`). What is not modelled has no figure: repeated \
string instructions, `clzero`, stores that bypass the caches, x87 instructions, division. Caches that miss and mispredicted \
branches are not in it either; branches are taken to be predicted, which tells in loops whose end \
comes after more turns than a predictor remembers.

The front end and the scheduler of a table cannot be read in a manual to the cycle. They were fitted to the independent calls of \
half of the routines (those whose names have an even sum of bytes); the other half judges the fit, in lines of its own. How ports are given out, the size of the integer scheduler, the cost of a jump back and of a load that is not forwarded were then chosen with every cell in view: of these the halves are no test. Rates of single instructions (indexed `lea`, vector shifts, shuffles, moves between register files) were measured in loops of their own, and so was it that an indirect call with one target costs no more than a direct one. What is followed is the code that a timed call lands in, without the jump that a library's entry makes. LLVM 22 gives Zen 5 the figures of its Zen 4 model, so that it is no second source for them.

";

fn machine(out: &mut String, scores: &Scores) {
    let _ = writeln!(out, "## {}: {}\n", scores.machine, scores.table);
    let predicted: Column = |cell| cell.predicted;
    let mut columns: Vec<(String, Column)> =
        vec![("tables".to_owned(), predicted), ("with `--calibrate`".to_owned(), |cell| cell.calibrated)];
    if let Some(model) = &scores.llvm_mca {
        columns.push((model.clone(), |cell| cell.llvm_mca));
    }
    let mut rows = Vec::new();
    for (name, column) in &columns {
        for kind in CallBound::ALL {
            let of_kind = scores.cells.iter().filter(|cell| cell.kind == kind);
            rows.extend(row(kind.words(), name, Summary::of(of_kind, column)));
        }
        rows.extend(row("all", name, Summary::of(scores.cells.iter(), column)));
    }
    for (words, of_the_fit) in [("independent, fitted to", true), ("independent, judging the fit", false)] {
        let half = scores.cells.iter().filter(|cell| cell.kind == CallBound::Independent);
        rows.extend(row(
            words,
            "tables",
            Summary::of(half.filter(|c| c.is_of_the_fit() == of_the_fit), predicted),
        ));
    }
    let header = ["cells", "by", "count", "median error", "within 10 %", "within 20 %"];
    out.push_str(&markdown::table(&header, &[false, false, true, true, true, true], &rows));
    goals(out, scores);
    worst(out, scores);
    every(out, scores);
}

fn row(cells: &str, by: &str, summary: Option<Summary>) -> Option<Vec<String>> {
    let found = summary?;
    Some(vec![
        cells.to_owned(),
        by.to_owned(),
        found.cells.to_string(),
        fine(found.median),
        percent(found.within_10),
        percent(found.within_20),
    ])
}

/// A share with a decimal, for errors that are small.
fn fine(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn goals(out: &mut String, scores: &Scores) {
    out.push_str("\nGoals, by the tables:\n\n");
    for kind in CallBound::ALL {
        let of_kind = scores.cells.iter().filter(|cell| cell.kind == kind);
        let Some(found) = Summary::of(of_kind, |cell| cell.predicted) else { continue };
        let (median, share) = goal(kind);
        let mut is_reached = found.median <= median;
        let mut text = format!("median error {} (at most {})", fine(found.median), percent(median));
        if let Some(share) = share {
            is_reached &= found.within_20 >= share;
            let _ = write!(text, ", {} within 20 % (at least {})", percent(found.within_20), percent(share));
        }
        let _ = writeln!(out, "- {}: {}: {text}", kind.words(), reached(is_reached));
    }
    let above = exceeded(&scores.cells);
    let names: Vec<String> = above.iter().map(|cell| name(cell)).collect();
    let which = if names.is_empty() { String::new() } else { format!(": {}", names.join("; ")) };
    let (is_reached, limit) = (reached(names.is_empty()), percent(ABOVE));
    let _ = writeln!(
        out,
        "- bounds: {is_reached}: {} lie more than {limit} above the measurement{which}",
        names.len()
    );
    let null = |cell: &Score| cell.null_call;
    let (low, high) = scores
        .cells
        .iter()
        .map(null)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), cycles| (low.min(cycles), high.max(cycles)));
    let _ = writeln!(
        out,
        "- null call: {} to {} cycles over all cells; why it is not one figure is told in [METHODOLOGY.md](../METHODOLOGY.md)",
        number(low),
        number(high)
    );
}

const fn reached(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "missed" }
}

fn name(cell: &Score) -> String {
    let dependence = if cell.kind == CallBound::Independent { "independent" } else { "chained" };
    format!("{}/{}, {} bytes, {dependence}", cell.family, cell.variant, cell.size)
}

fn worst(out: &mut String, scores: &Scores) {
    let mut cells: Vec<(f64, &Score)> =
        scores.cells.iter().filter_map(|cell| Some((error(cell.predicted?, cell)?, cell))).collect();
    cells.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let rows: Vec<Vec<String>> = cells
        .iter()
        .take(WORST)
        .map(|(error, cell)| {
            vec![
                name(cell),
                number(cell.predicted.unwrap_or(0.0)),
                number(cell.measured),
                format!("{:+.0} %", error * 100.0),
                reason(cell, *error).to_owned(),
            ]
        })
        .collect();
    let _ = writeln!(out, "\n### The {} worst\n", rows.len());
    let header = ["cell", "predicted", "measured", "error", "reason"];
    out.push_str(&markdown::table(&header, &[false, true, true, true, false], &rows));
}

/// Why a prediction is that far off, as far as it is known.
fn reason(cell: &Score, error: f64) -> &'static str {
    let is_chained = cell.kind != CallBound::Independent;
    match (cell.family.as_str(), cell.variant.as_str()) {
        (_, "smoltcp") if error < 0.0 => {
            "not known; chains of two vector additions a turn do not overlap from call to call"
        }
        ("copy", _) if is_chained && error < 0.0 => {
            "not known; the buffers have the same offset in their pages, which can make loads wait for stores"
        }
        ("zero", _) if is_chained && error < 0.0 => {
            "a byte read back from a wide store takes longer than what is read back whole"
        }
        ("copy" | "zero", _) if error < 0.0 => {
            "which stores are written to the cache together is not modelled"
        }
        (_, "reference" | "pnet" | "words16_c") => {
            "not known; all loops that extend 16-bit registers take longer than their instructions"
        }
        _ if cell.binds.as_deref() == Some("front_end") => "the front end, whose figures are fitted",
        _ if error < 0.0 => "not known; calls overlap less than in the simulation",
        _ => "not known; calls overlap more than in the simulation",
    }
}

fn every(out: &mut String, scores: &Scores) {
    out.push_str(
        "\n### Every cell\n\nCore cycles of a call. A dash: not modelled, so nothing is predicted.\n\n",
    );
    let figure = |cycles: Option<f64>| cycles.map_or("-".to_owned(), number);
    let rows: Vec<Vec<String>> = scores
        .cells
        .iter()
        .map(|cell| {
            let off = cell.predicted.and_then(|cycles| error(cycles, cell));
            vec![
                name(cell),
                figure(cell.bound),
                figure(cell.predicted),
                figure(cell.calibrated),
                number(cell.measured),
                off.map_or("-".to_owned(), |error| format!("{:+.0} %", error * 100.0)),
                figure(cell.llvm_mca),
                match cell.not_modelled.is_empty() {
                    true => cell.binds.clone().unwrap_or_else(|| "-".to_owned()).replace('_', " "),
                    false => format!("not modelled: {}", cell.not_modelled.join(", ")),
                },
            ]
        })
        .collect();
    let header = ["cell", "bound", "predicted", "calibrated", "measured", "error", "llvm-mca", "bound by"];
    let right = [false, true, true, true, true, true, true, false];
    out.push_str(&markdown::table(&header, &right, &rows));
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critical::read_all;
    use std::path::Path;

    #[test]
    fn the_document_is_what_is_written_from_its_files() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let scores = read_all(&docs.join("critical")).expect("files that can be read");
        let kept = std::fs::read_to_string(docs.join("critical.md")).expect("a document");
        assert!(kept == document(&scores), "run `cargo xtask benchmarks critical --write`");
    }
}
