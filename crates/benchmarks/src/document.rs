//! The benchmark document: goals and full tables, from stored results alone.
//!
//! The same database gives the same document, byte for byte: dates and machine are those that the results were kept
//! with, and nothing is measured here.

use crate::goal::{Against, Goal, Part, is_ours, is_peer};
use crate::judge::{Finding, Verdict, judge};
use crate::markdown;
use crate::stored::{Stored, StoredRun, StoredSituation};
use crate::table::{condition, factor, ratio, shown, summary, ticks, verdict, worst_lines};
use carryline_measure::environment::{CacheKind, Environment};
use carryline_measure::results::Status;
use carryline_variants::Family;
use std::collections::BTreeMap;
use std::fmt::Write;

const HEAD: &str = "\
# Benchmarks

Written by `cargo xtask benchmarks write` from stored results; not to be edited by hand. `cargo xtask benchmarks run`
measures anew. What the words mean is in [METHODOLOGY.md](../METHODOLOGY.md).
";

const METHOD: &str = "\
## How it was measured

All figures are of `carryline measure` in a release build: every variant of a family, peers among them, is timed in the
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
- Shares of a limit are of the load or store limit that the same run measured at that cache level.
- The geometric mean's interval takes the sets as independent.
- **Held fixed**: the dependence of calls (never mixed in a table), the cache state, the offsets, base pages. Sizes in
  ranges and distributions are drawn anew for every round and shuffled for every batch, except those with a `period`.
";

const UNSEEN: &str = "\
Not seen here, because `carryline measure` has no cell for it: inlined calls of constant size. Tests of the machine code
look after those.
";

/// The document.
#[must_use]
pub fn document(goals: &[Goal], stored: &Stored) -> String {
    let findings = judge(goals, stored);
    let mut out = HEAD.to_owned();
    out.push('\n');
    machine(&mut out, stored);
    out.push_str(METHOD);
    out.push('\n');
    floors(&mut out, stored);
    let _ = writeln!(out, "## Goals\n\n{}.\n\n{UNSEEN}", summary(&findings));
    for part in Part::ALL {
        let of_part: Vec<&Finding> = findings.iter().filter(|f| f.goal.part == part).collect();
        if !of_part.is_empty() {
            goal_table(&mut out, part, &of_part);
        }
    }
    losses(&mut out, &findings);
    worst_cells(&mut out, &findings);
    sources(&mut out, goals);
    full_tables(&mut out, stored);
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn machine(out: &mut String, stored: &Stored) {
    let _ = writeln!(out, "## Machine\n");
    let days = || stored.runs.iter().filter_map(|run| run.started.get(..10));
    let (first, last) = (days().min().unwrap_or("?"), days().max().unwrap_or("?"));
    let when = if first == last { first.to_owned() } else { format!("{first} to {last}") };
    let Some(newest) = stored.runs.first() else { return };
    let environment = serde_json::from_value::<Environment>(newest.environment.clone());
    let Ok(here) = environment else {
        let _ = writeln!(out, "{when}; the environment is of another version.\n");
        return;
    };
    let cpu = &here.cpu;
    let caches: Vec<String> = here
        .caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction)
        .map(|cache| format!("L{} {} KiB", cache.level, cache.size_bytes >> 10))
        .collect();
    let number = |number: Option<u32>| number.map_or("?".to_owned(), |number| number.to_string());
    let brand = cpu.brand.as_deref().unwrap_or("unknown");
    let guest = cpu.hypervisor.as_ref().map(|name| format!(", virtual machine ({name})")).unwrap_or_default();
    let cycle = newest.ticks_per_cycle.map(|ticks| format!(", {ticks:.2} ticks to a core cycle"));
    let rows = [
        ("CPU", format!("{brand}, family {} model {}{guest}", number(cpu.family), number(cpu.model))),
        ("caches", caches.join(", ")),
        (
            "clock",
            format!("TSC {:.3} GHz{}", here.clock.hz.unwrap_or(0) as f64 / 1e9, cycle.unwrap_or_default()),
        ),
        ("kernel", here.system.kernel.clone()),
        ("C library", here.system.libc.clone()),
        ("build", format!("carryline {}, {}", here.build.version, here.build.compiler)),
        ("measured", format!("{when}, {} runs", stored.runs.len())),
    ];
    let rows = rows.map(|(what, is)| vec![what.to_owned(), is]);
    out.push_str(&markdown::table(&["", ""], &[], &rows));
    out.push('\n');
    let mut differing: Vec<String> = Vec::new();
    for run in &stored.runs {
        let Ok(other) = serde_json::from_value::<Environment>(run.environment.clone()) else { continue };
        for difference in here.differences(&other) {
            let line = format!("- run {}: {difference}", run.id);
            if !differing.contains(&line) {
                differing.push(line);
            }
        }
    }
    if !differing.is_empty() {
        let _ = writeln!(out, "Not all runs were made alike:\n\n{}\n", differing.join("\n"));
    }
    limits(out, newest, stored);
}

/// The limits of all runs together: what one run reached, the machine allows.
fn limits(out: &mut String, newest: &StoredRun, stored: &Stored) {
    let mut best: BTreeMap<String, [f64; 3]> = BTreeMap::new();
    for limit in stored.runs.iter().flat_map(|run| &run.limits) {
        let here = best.entry(limit.level.clone()).or_default();
        for (most, seen) in here.iter_mut().zip([limit.load, limit.store, limit.nt_store]) {
            *most = most.max(seen);
        }
    }
    let Some(ticks_per_cycle) = newest.ticks_per_cycle.filter(|_| !best.is_empty()) else { return };
    let rows: Vec<Vec<String>> = best
        .into_iter()
        .map(|(level, rates)| {
            let cycles = rates.map(|bytes_per_tick| format!("{:.1}", bytes_per_tick * ticks_per_cycle));
            std::iter::once(level).chain(cycles).collect()
        })
        .collect();
    let _ = writeln!(out, "The most that one core moved, in bytes per core cycle:\n");
    let header = ["level", "load", "store", "non-temporal store"];
    out.push_str(&markdown::table(&header, &[false, true, true, true], &rows));
    out.push('\n');
}

fn floors(out: &mut String, stored: &Stored) {
    let mut floors: Vec<f64> = stored.situations.iter().filter_map(|situation| situation.floor).collect();
    floors.sort_by(f64::total_cmp);
    let percent = |floor: f64| format!("{:.1} %", floor * 100.0);
    if let (Some(middle), Some(most)) = (floors.get(floors.len() / 2), floors.last()) {
        let _ = writeln!(
            out,
            "Noise floor (one variant under two names, by situation): {} in the middle, {} in the worst of {}.",
            percent(*middle),
            percent(*most),
            floors.len()
        );
    }
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in stored.runs.iter().flat_map(|run| &run.warnings) {
        *codes.entry(warning.code.as_str()).or_default() += 1;
    }
    if !codes.is_empty() {
        let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{code} ({count})")).collect();
        let _ = writeln!(
            out,
            "Warnings of the runs, with their number (`carryline explain CODE` says more): {}.",
            codes.join(", ")
        );
    }
    out.push('\n');
}

fn goal_table(out: &mut String, part: Part, findings: &[&Finding]) {
    let title = match part {
        Part::Checksum => "Checksum",
        Part::Memory => "Zero and copy",
    };
    let _ = writeln!(out, "### {title}\n");
    let rows: Vec<Vec<String>> = findings
        .iter()
        .map(|finding| {
            let (_, cell) = shown(finding);
            let opponent = cell.or(finding.cells.first());
            vec![
                finding.goal.id.clone(),
                condition(finding),
                cell.map(|c| ticks(c.ours.median)).unwrap_or_default(),
                opponent.map(|c| c.opponent.clone()).unwrap_or_default(),
                cell.map(|c| ticks(c.opponent_ticks)).unwrap_or_default(),
                finding.ratio.as_ref().map(ratio).unwrap_or_default(),
                factor(finding.goal.want),
                verdict(&finding.verdict),
            ]
        })
        .collect();
    let header =
        ["goal", "condition", "ours, ticks", "against", "its ticks", "ratio [95 %]", "wanted", "verdict"];
    let right = [false, false, true, false, true, false, true, false];
    out.push_str(&markdown::table(&header, &right, &rows));
    out.push('\n');
}

fn losses(out: &mut String, findings: &[Finding]) {
    let _ = writeln!(out, "### Where we lose, and what is short of its goal\n");
    let mut lines: Vec<String> = Vec::new();
    for finding in findings {
        let against_others =
            !matches!(finding.goal.against, Against::Limit | Against::Null(_) | Against::OursAt(_));
        let slower: Vec<String> = finding
            .cells
            .iter()
            .filter(|cell| against_others && cell.ratio.high < 1.0 && 1.0 - cell.ratio.median > cell.floor)
            .map(|cell| {
                let by = (1.0 / cell.ratio.median - 1.0) * 100.0;
                format!("at {} it takes {by:.0} % longer than {}", cell.size, cell.opponent)
            })
            .collect();
        let missed = matches!(finding.verdict, Verdict::Missed { .. });
        if missed || !slower.is_empty() {
            let (id, verdict) = (&finding.goal.id, verdict(&finding.verdict));
            let slower = slower.iter().map(|words| format!("; {words}")).collect::<String>();
            lines.push(format!("- `{id}` ({}): {verdict}{slower}.", condition(finding)));
        }
    }
    if lines.is_empty() {
        lines.push("Nowhere in what was measured.".to_owned());
    }
    let _ = writeln!(out, "{}\n", lines.join("\n"));
}

fn worst_cells(out: &mut String, findings: &[Finding]) {
    let lines: Vec<String> = worst_lines(findings)
        .iter()
        .map(|(ids, line)| format!("- `{}`: {line}.", ids.join("`, `")))
        .collect();
    if !lines.is_empty() {
        let _ = writeln!(
            out,
            "### Goals over several cells\n\nThe lowest ratios of each:\n\n{}\n",
            lines.join("\n")
        );
    }
    let also: Vec<Vec<String>> = findings
        .iter()
        .filter_map(|finding| {
            let cell = finding.cells.first()?;
            let (name, also) = cell.also.as_ref()?;
            Some(vec![finding.goal.id.clone(), cell.size.clone(), name.clone(), ratio(also)])
        })
        .collect();
    if !also.is_empty() {
        let _ = writeln!(out, "### Beside the goals\n\nRatios to forms that do not decide:\n");
        out.push_str(&markdown::table(&["goal", "size", "against", "ratio [95 %]"], &[], &also));
        out.push('\n');
    }
}

fn sources(out: &mut String, goals: &[Goal]) {
    let mut by_source: Vec<(&str, Vec<&str>)> = Vec::new();
    for goal in goals {
        match by_source.iter_mut().find(|(source, _)| *source == goal.source) {
            Some((_, ids)) => ids.push(&goal.id),
            None => by_source.push((goal.source, vec![&goal.id])),
        }
    }
    let _ = writeln!(out, "### What the goals ask for\n");
    for (source, ids) in by_source {
        let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
        let _ = writeln!(out, "- {source}: {}.", ids.join(", "));
    }
    out.push('\n');
}

/// Every situation, all variants: one table for each family and condition, sizes across.
fn full_tables(out: &mut String, stored: &Stored) {
    let _ = writeln!(
        out,
        "## All variants\n\nGross ticks per call, medians. `*` marks the fastest of a size and its ties; **bold** is ours, \
         _italic_ a peer.\nThe run is the number of `carryline history --show` in the database.\n"
    );
    let mut groups: Vec<(String, Vec<&StoredSituation>)> = Vec::new();
    for situation in &stored.situations {
        let title = title(situation);
        match groups.iter_mut().find(|(known, _)| *known == title) {
            Some((_, members)) => members.push(situation),
            None => groups.push((title, vec![situation])),
        }
    }
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    for (title, mut members) in groups {
        members.sort_by(|a, b| {
            let sizes = |s: &StoredSituation| s.gathered.situation.condition.sizes.clone();
            let (a, b) = (sizes(a), sizes(b));
            a.mean().total_cmp(&b.mean()).then(a.label.cmp(&b.label))
        });
        let _ = writeln!(out, "### {title}\n");
        // Wide tables are turned, lest nobody can read them.
        out.push_str(&full_table(&members, stored, members.len() > 10));
        out.push('\n');
    }
}

fn title(situation: &StoredSituation) -> String {
    let of = &situation.gathered.situation;
    let mut condition = of.condition.clone();
    condition.sizes = carryline_measure::sizes::Sizes::fixed(0);
    let words = [
        condition.cache.to_string(),
        condition.dependence.to_string(),
        format!("offset {}", condition.offsets),
        format!("then {}", condition.then),
    ];
    let some = if situation.matrix.restricted { ", some variants" } else { "" };
    let others: Vec<&str> =
        situation.matrix.families.iter().map(String::as_str).filter(|family| *family != of.family).collect();
    let beside = match others.as_slice() {
        [] => String::new(),
        others => format!(", beside {}", others.join(" and ")),
    };
    let words: Vec<String> = words.into_iter().filter(|w| w != "then nothing").collect();
    format!("{}: {}{some}{beside}", of.family, words.join(", "))
}

fn full_table(members: &[&StoredSituation], stored: &Stored, turned: bool) -> String {
    let mut variants: Vec<&str> = Vec::new();
    for name in members.iter().flat_map(|member| &member.gathered.situation.subjects) {
        if !variants.contains(&name.as_str()) {
            variants.push(name);
        }
    }
    let family = Family::from_name(&members[0].gathered.situation.family);
    let styled = |name: &str| match family {
        _ if is_ours(name) => format!("**{name}**"),
        Some(family) if is_peer(family, name) => format!("_{name}_"),
        _ => name.to_owned(),
    };
    // First column, then a column for each situation: turned at the end, if need be.
    let mut grid: Vec<Vec<String>> = vec![
        std::iter::once("variant".to_owned())
            .chain(members.iter().map(|m| m.gathered.situation.condition.sizes.label.clone()))
            .collect(),
    ];
    for name in &variants {
        let figure = |member: &&StoredSituation| match member.cells.iter().find(|c| c.variant == *name) {
            Some(cell) => match (cell.status, cell.gross) {
                (Status::Ok, Some(gross)) => {
                    format!("{}{}", ticks(gross.median), if cell.rank == Some(1) { " *" } else { "" })
                }
                _ => "-".to_owned(),
            },
            None => String::new(),
        };
        grid.push(std::iter::once(styled(name)).chain(members.iter().map(figure)).collect());
    }
    let share = |member: &&StoredSituation| {
        let ours = member.cells.iter().find(|cell| cell.variant == "carryline");
        ours.and_then(|cell| cell.limit_share)
            .map_or(String::new(), |share| format!("{:.0} %", share * 100.0))
    };
    grid.push(
        std::iter::once("limit share of carryline".to_owned()).chain(members.iter().map(share)).collect(),
    );
    let run = |member: &&StoredSituation| stored.runs[member.run].id.to_string();
    grid.push(std::iter::once("run".to_owned()).chain(members.iter().map(run)).collect());
    if turned {
        grid[0][0] = "size".to_owned();
        grid = (0..grid[0].len()).map(|at| grid.iter().map(|row| row[at].clone()).collect()).collect();
    }
    let right: Vec<bool> = (0..grid[0].len()).map(|at| at > 0).collect();
    markdown::table(&grid[0], &right, &grid[1..])
}
