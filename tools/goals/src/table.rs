//! Evaluated goals as a table for a terminal.

use crate::goal::{Goal, Over};
use crate::judge::{CellFinding, Finding, GoalVerdict};
use crate::outcome::{Outcome, summary};
use crate::results::{OpponentKind, Results};
use carryline_report::table::{ColumnKind as Column, Emphasis, Style, Table};
use carryline_statistics::Ratio;
use std::fmt::Write;

/// The maximum number of a goal's worst cells that are listed.
pub const WORST: usize = 10;

/// A time with at least three digits.
#[must_use]
pub fn ticks(value: f64) -> String {
    match value.abs() {
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A ratio without its interval.
#[must_use]
pub fn factor(value: f64) -> String {
    format!("{value:.2}")
}

/// A ratio with its interval.
#[must_use]
pub fn ratio(ratio: &Ratio) -> String {
    format!("{:.2} [{:.2}, {:.2}]", ratio.median, ratio.low, ratio.high)
}

/// The cell that a finding shows, which a mean lacks, and its size in words.
#[must_use]
pub fn shown(finding: &Finding) -> (String, Option<&CellFinding>) {
    let count = finding.goal.cells.sizes.len();
    match (finding.goal.over, finding.cells.first()) {
        (Over::Mean, _) => (format!("{} and so on, mean of {count}", finding.goal.cells.sizes[0]), None),
        (Over::Worst, Some(cell)) if count > 1 => (format!("{}, worst of {count}", cell.size), Some(cell)),
        (Over::Worst, cell) => (sizes(&finding.goal), cell),
    }
}

/// The sizes of a goal, abbreviated if there are many.
fn sizes(goal: &Goal) -> String {
    match goal.cells.sizes.as_slice() {
        [first, .., last] if goal.cells.sizes.len() > 4 => format!("{first} to {last}"),
        few => few.join(", "),
    }
}

/// The family, sizes and condition of a finding.
#[must_use]
pub fn condition(finding: &Finding) -> String {
    let (size, _) = shown(finding);
    format!("{} {size}, {}", finding.goal.cells.family(), finding.goal.cells.words())
}

/// The findings, the worst cells, and the number of goals by verdict.
#[must_use]
pub fn render(findings: &[Finding], style: Style) -> String {
    let mut table = Table::new([
        ("goal", Column::Name),
        ("condition", Column::Text),
        ("ours, gross ticks", Column::Name),
        ("against", Column::Name),
        ("its", Column::Number),
        ("ratio", Column::Name),
        ("wanted", Column::Number),
        ("verdict", Column::Text),
    ]);
    for finding in findings {
        let (_, cell) = shown(finding);
        let ours = |cell: &CellFinding| {
            format!("{} [{}, {}]", ticks(cell.ours.median), ticks(cell.ours.low), ticks(cell.ours.high))
        };
        let opponent = cell.or(finding.cells.first()).map(|cell| cell.opponent.clone());
        let emphasis = match finding.verdict {
            GoalVerdict::Reached => Emphasis::Strong,
            GoalVerdict::Missed { .. } => Emphasis::Bad,
            GoalVerdict::Tie => Emphasis::None,
            GoalVerdict::NotMeasured(_) => Emphasis::Faint,
        };
        let row = vec![
            finding.goal.id.clone(),
            condition(finding),
            cell.map(ours).unwrap_or_default(),
            opponent.unwrap_or_default(),
            cell.map(|cell| ticks(cell.opponent_ticks)).unwrap_or_default(),
            finding.ratio.as_ref().map(ratio).unwrap_or_default(),
            factor(finding.goal.want),
            Outcome::from(finding).words(),
        ];
        table.push(row, emphasis);
    }
    let mut out = table.render(style);
    for (ids, line) in worst_lines(findings) {
        let _ = writeln!(out, "{}: {line}", ids.join(", "));
    }
    for finding in findings {
        if let Some((name, also)) = finding.cells.first().and_then(|cell| cell.also.as_ref()) {
            let size = &finding.cells[0].size;
            let _ = writeln!(out, "{}: at {size} against {name} {}", finding.goal.id, ratio(also));
        }
    }
    let _ = writeln!(out, "{}", summary(findings.iter().map(Outcome::from)));
    out
}

/// The worst cells of a goal over several, each with its ratio.
fn worst(finding: &Finding) -> Option<String> {
    (finding.cells.len() > 1).then(|| {
        let cells = finding.cells.iter().take(WORST);
        let listed: Vec<String> =
            cells.map(|cell| format!("{} {}", cell.size, factor(cell.ratio.median))).collect();
        let more = if finding.cells.len() > WORST { ", the others better" } else { "" };
        format!("{}{more}", listed.join(", "))
    })
}

/// The worst cells of goals over several cells, with the goals that share them.
#[must_use]
pub fn worst_lines(findings: &[Finding]) -> Vec<(Vec<&str>, String)> {
    let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
    for finding in findings {
        let Some(line) = worst(finding) else { continue };
        match lines.iter_mut().find(|(_, known)| *known == line) {
            Some((ids, _)) => ids.push(&finding.goal.id),
            None => lines.push((vec![&finding.goal.id], line)),
        }
    }
    lines
}

/// The worst sizes of every goal over a range of sizes, one table for each.
#[must_use]
pub fn worst_sizes(results: &Results, style: Style) -> String {
    let mut out = String::new();
    for goal in results.goals.iter().filter(|goal| goal.kind == OpponentKind::Sizes && !goal.cells.is_empty())
    {
        let _ = writeln!(
            out,
            "\n{}, {}: {} of {} sizes over 5 % behind the best peer{}; the worst {}:",
            goal.family,
            goal.condition,
            goal.count.below,
            goal.count.cells,
            goal.count
                .by_two_cycles
                .map(|count| format!(", {count} by two core cycles or more"))
                .unwrap_or_default(),
            goal.cells.len()
        );
        let mut table = Table::new([
            ("size", Column::Number),
            ("ours, gross ticks", Column::Number),
            ("best peer", Column::Name),
            ("its", Column::Number),
            ("ratio", Column::Number),
        ]);
        for cell in &goal.cells {
            let emphasis = if cell.ratio < goal.want { Emphasis::Bad } else { Emphasis::None };
            let ours = cell.ours.map(ticks).unwrap_or_default();
            let theirs = cell.theirs.map(ticks).unwrap_or_default();
            let row = vec![cell.size.clone(), ours, cell.opponent.clone(), theirs, factor(cell.ratio)];
            table.push(row, emphasis);
        }
        out.push_str(&table.render(style));
    }
    out
}
