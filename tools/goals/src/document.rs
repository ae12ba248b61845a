//! The benchmark document: a paragraph and a part for each machine and tier, from their results alone.
//!
//! The same results give the same document, byte for byte: dates and machines are those that the results were kept with,
//! and nothing is measured here.

use crate::goal::Part;
use crate::markdown;
use crate::results::{GoalResult, Kind, Order, Outcome, Results};
use crate::standing;
use crate::table::{factor, ticks};
use std::fmt::Write;

const HEAD: &str = "\
# Benchmarks
";

const WRITTEN: &str = "\
Written by `cargo xtask benchmarks write` from the results in [benchmarks](benchmarks), one file for each machine and tier;
not to be edited by hand. `cargo xtask benchmarks run` measures anew. What the words mean is in
[METHODOLOGY.md](../METHODOLOGY.md). A tier is what the library may use of a machine: AVX-512, AVX2 or SSE2; **masked** says
that the machine has more, which `CARRYLINE_MASK` hid from the library, and `GLIBC_TUNABLES` from glibc. Each tier has goals
of its own.
";

const METHOD: &str = "\
## How it was measured

All figures are of `carryline measure` in a release build: the variants of a family, peers among them, are timed in the
same rounds, in random order, in several processes with layouts of their own.

- **Ratios are of gross ticks** per call through a function pointer, the call included, as a user pays it: the
  opponent's time over ours, so more is better. The pointer leads to where a program's own call lands: to the kernel
  that the library's dispatch chose, to the function that the dynamic linker chose. A ratio within one table is formed
  round by round; one to a routine of another family (memcpy beside copy-and-sum) is formed from the medians of the
  processes, which measured both.
- Intervals are 95 %, from replicates. A goal is **reached** or **missed** only if the interval and the noise floor of the
  situation leave no doubt of it; else it is **at the bar**. Where the goal is \"no slower\", that is enough. Missed by
  20 % means that our time is 20 % longer than the goal allows; where a routine at the very limit that was measured would
  miss it too, that is said with what the limit allows.
- **The best peer** is the fastest of what users have without us in that very cell: the C library, the kernel's forms,
  other projects' libraries. Techniques of our own collection are shown in the tables and are no peers.
- Shares of a limit are of the most that anything in the same run loaded or stored at that cache level.
- The geometric mean's interval takes the sets as independent.
- **Held fixed**: the dependence of calls (never mixed in a table), the cache state, the offsets, base pages. Sizes in
  ranges and distributions are drawn anew for every round and shuffled for every batch, except those with a `period`.
- **Offsets**: `random` draws each buffer's from the whole page; `alias` places the destination 1 to 63 bytes above or
  below the source modulo 4096; `random-line` is what `random` was until 2026-11: 0 to 63 in buffers that begin with a
  page, so that almost every pair is an alias.

Not seen here, because `carryline measure` has no cell for it: inlined calls of constant size. Tests of the machine code
look after those.
";

/// The document.
#[must_use]
pub fn document(all: &[Results]) -> String {
    let mut out = HEAD.to_owned();
    for results in all {
        let _ = write!(out, "\n{}\n", standing::paragraph(results));
    }
    let _ = write!(out, "\n{WRITTEN}\n{METHOD}\n");
    for results in all {
        part(&mut out, results);
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn part(out: &mut String, results: &Results) {
    let _ = writeln!(out, "## {}\n", standing::heading(results));
    machine(out, results);
    let _ = writeln!(out, "{}.\n", summary(results));
    for (part, title) in [(Part::Checksum, "Checksum"), (Part::Memory, "Zero and copy")] {
        let of_part: Vec<&GoalResult> = results.goals.iter().filter(|goal| goal.part == part).collect();
        if !of_part.is_empty() {
            goal_table(out, title, &of_part);
        }
    }
    losses(out, results);
    worst_cells(out, results);
    sources(out, results);
    tables(out, results);
}

fn machine(out: &mut String, results: &Results) {
    let mut rows: Vec<Vec<String>> = results.environment.iter().map(|row| row.to_vec()).collect();
    if !results.masked.is_empty() {
        rows.push(vec!["masked".to_owned(), results.masked.join(", ")]);
    }
    rows.push(vec!["measured".to_owned(), format!("{}, {} runs", results.measured, results.runs)]);
    out.push_str(&markdown::table(&["", ""], &[], &rows));
    out.push('\n');
    if !results.differences.is_empty() {
        let lines: Vec<String> = results.differences.iter().map(|line| format!("- {line}")).collect();
        let _ = writeln!(out, "Not all runs were made alike:\n\n{}\n", lines.join("\n"));
    }
    if !results.limits.is_empty() {
        let _ = writeln!(out, "The most that one core moved, in bytes per core cycle:\n");
        let rows: Vec<Vec<String>> = results
            .limits
            .iter()
            .map(|limit| {
                let rates = [limit.load, limit.store, limit.nt_store].map(|rate| format!("{rate:.1}"));
                std::iter::once(limit.level.to_string()).chain(rates).collect()
            })
            .collect();
        let header = ["level", "load", "store", "non-temporal store"];
        out.push_str(&markdown::table(&header, &[false, true, true, true], &rows));
        out.push('\n');
    }
    if let Some(floor) = &results.floor {
        let _ = writeln!(
            out,
            "Noise floor (one variant under two names, by situation): median {:.1} %, maximum {:.1} % of {}.",
            floor.median * 100.0,
            floor.maximum * 100.0,
            floor.situations
        );
    }
    if !results.warnings.is_empty() {
        let codes: Vec<String> =
            results.warnings.iter().map(|(code, count)| format!("{code} ({count})")).collect();
        let _ = writeln!(
            out,
            "Warnings of the runs, with their number (`carryline explain CODE` says more): {}.",
            codes.join(", ")
        );
    }
    for note in &results.notes {
        let _ = writeln!(out, "{note}");
    }
    out.push('\n');
}

/// How many goals came out how.
fn summary(results: &Results) -> String {
    let count = |wanted: fn(&Outcome) -> bool| results.goals.iter().filter(|g| wanted(&g.outcome)).count();
    format!(
        "{} goals: {} reached, {} at the bar, {} missed, {} without figures",
        results.goals.len(),
        count(|outcome| *outcome == Outcome::Reached),
        count(|outcome| *outcome == Outcome::Tie),
        count(|outcome| matches!(outcome, Outcome::Missed { .. })),
        count(|outcome| matches!(outcome, Outcome::NotMeasured(_)))
    )
}

fn interval(ratio: &crate::results::Interval) -> String {
    format!("{:.2} [{:.2}, {:.2}]", ratio.median, ratio.low, ratio.high)
}

/// What became of a goal, in words.
fn outcome(goal: &GoalResult) -> String {
    let mut words = match &goal.outcome {
        Outcome::Reached => "reached".to_owned(),
        Outcome::Tie => "tie: at the bar".to_owned(),
        Outcome::Missed { by, at_most } => {
            let most = at_most.map(|most| format!("; the limit allows {most:.2}")).unwrap_or_default();
            format!("missed by {:.0} %{most}", (by * 100.0).max(1.0))
        }
        Outcome::NotMeasured(why) => why.clone(),
    };
    if let Some(day) = &goal.measured {
        let _ = write!(words, " ({day})");
    }
    words
}

fn place(goal: &GoalResult) -> String {
    format!("{} {}, {}", goal.family, goal.sizes, goal.condition)
}

fn goal_table(out: &mut String, title: &str, goals: &[&GoalResult]) {
    let _ = writeln!(out, "### {title}\n");
    let rows: Vec<Vec<String>> = goals
        .iter()
        .map(|goal| {
            vec![
                goal.id.clone(),
                place(goal),
                goal.ours.map(ticks).unwrap_or_default(),
                goal.opponent.clone().unwrap_or_default(),
                goal.opponent_ticks.map(ticks).unwrap_or_default(),
                goal.ratio.as_ref().map(interval).unwrap_or_default(),
                factor(goal.want),
                outcome(goal),
            ]
        })
        .collect();
    let header =
        ["goal", "condition", "ours, ticks", "against", "its ticks", "ratio [95 %]", "wanted", "verdict"];
    let right = [false, false, true, false, true, false, true, false];
    out.push_str(&markdown::table(&header, &right, &rows));
    out.push('\n');
}

fn losses(out: &mut String, results: &Results) {
    let _ = writeln!(out, "### Where we lose, and what is short of its goal\n");
    let mut lines: Vec<String> = Vec::new();
    for goal in &results.goals {
        let is_slower = goal.kind != Kind::Machine && goal.count.slower > 0;
        if !is_slower && !matches!(goal.outcome, Outcome::Missed { .. }) {
            continue;
        }
        let slower: Vec<_> =
            goal.cells.iter().filter(|cell| is_slower && cell.order == Order::Slower).collect();
        let told: String = slower
            .iter()
            .map(|cell| {
                let by = (1.0 / cell.ratio - 1.0) * 100.0;
                format!("; at {} it takes {by:.0} % longer than {}", cell.size, cell.opponent)
            })
            .collect();
        let more = match goal.count.slower.saturating_sub(slower.len()) {
            more if more > 0 && is_slower => format!("; longer at {more} more"),
            _ => String::new(),
        };
        lines.push(format!("- `{}` ({}): {}{told}{more}.", goal.id, place(goal), outcome(goal)));
    }
    if lines.is_empty() {
        lines.push("Nowhere in what was measured.".to_owned());
    }
    let _ = writeln!(out, "{}\n", lines.join("\n"));
}

fn worst_cells(out: &mut String, results: &Results) {
    let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
    for goal in results.goals.iter().filter(|goal| goal.count.cells > 1) {
        let listed: Vec<String> = goal
            .cells
            .iter()
            .map(|cell| match goal.kind {
                Kind::Sizes => format!("{} {} ({})", cell.size, factor(cell.ratio), cell.opponent),
                _ => format!("{} {}", cell.size, factor(cell.ratio)),
            })
            .collect();
        let more = if goal.count.cells > goal.cells.len() { ", the others better" } else { "" };
        let line = format!("{}{more}", listed.join(", "));
        match lines.iter_mut().find(|(_, known)| *known == line) {
            Some((ids, _)) => ids.push(&goal.id),
            None => lines.push((vec![&goal.id], line)),
        }
    }
    if !lines.is_empty() {
        let lines: Vec<String> =
            lines.iter().map(|(ids, line)| format!("- `{}`: {line}.", ids.join("`, `"))).collect();
        let _ = writeln!(
            out,
            "### Goals over several cells\n\nThe lowest ratios of each:\n\n{}\n",
            lines.join("\n")
        );
    }
    let also: Vec<Vec<String>> = results
        .goals
        .iter()
        .filter_map(|goal| {
            let (name, ratio) = goal.also.as_ref()?;
            let size = goal.cells.first().map_or(&goal.sizes, |cell| &cell.size);
            Some(vec![goal.id.clone(), size.clone(), name.clone(), interval(ratio)])
        })
        .collect();
    if !also.is_empty() {
        let _ = writeln!(out, "### Beside the goals\n\nRatios to forms that do not decide:\n");
        out.push_str(&markdown::table(&["goal", "size", "against", "ratio [95 %]"], &[], &also));
        out.push('\n');
    }
}

fn sources(out: &mut String, results: &Results) {
    let mut by_source: Vec<(&str, Vec<String>)> = Vec::new();
    for goal in &results.goals {
        let id = format!("`{}`", goal.id);
        match by_source.iter_mut().find(|(source, _)| *source == goal.source) {
            Some((_, ids)) => ids.push(id),
            None => by_source.push((&goal.source, vec![id])),
        }
    }
    let _ = writeln!(out, "### What the goals ask for\n");
    for (source, ids) in by_source {
        let _ = writeln!(out, "- {source}: {}.", ids.join(", "));
    }
    out.push('\n');
}

fn tables(out: &mut String, results: &Results) {
    if results.tables.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "### All variants\n\nGross ticks per call, medians. `*` marks the fastest of a size and its ties; **bold** is ours, \
         _italic_ a peer.\n"
    );
    for table in &results.tables {
        let _ = writeln!(out, "#### {}\n", table.title);
        let right: Vec<bool> = (0..table.header.len()).map(|at| at > 0).collect();
        out.push_str(&markdown::table(&table.header, &right, &table.rows));
        out.push('\n');
    }
}
