//! The folded sections at the end of a page: choices by situation, warnings, limits, the machine, the meaning
//! of the numbers, and how to repeat the run.

use super::About;
use crate::limits::{self, limits};
use crate::listing::flatten;
use crate::recommend::{Choice, recommend};
use crate::roles::Roles;
use crate::text::safe;
use crate::units::{Unit, percent_fine};
use carryline_results::RunResult;
use carryline_warnings::trust::condensed;
use maud::{Markup, html};

/// A folded section with a title.
fn folded(id: &str, title: &str, body: Markup) -> Markup {
    html! { details.section id=(id) { summary { h2 { (title) } } (body) } }
}

/// All folded sections except the machine code.
pub(super) fn sections(run: &RunResult, unit: Unit, roles: &Roles, about: &About) -> Markup {
    let limits = limits(run, unit);
    let environment: Vec<[String; 2]> = flatten(&run.environment).into_iter().map(Into::into).collect();
    html! {
        @if !run.cells.is_empty() { (folded("use", "What to use in each situation", choices(run, roles))) }
        @if !run.warnings.is_empty() { (folded("warnings", "Warnings", warnings(run))) }
        @if !limits.rows.is_empty() {
            (folded("limits", "Limits of the hardware", html! {
                p { "Bandwidth of one core, " (limits.unit) ", measured in the same run." }
                (grid(&limits::HEADERS, &[1, 2, 3, 4], &limits.rows))
                @for note in &limits.notes { p.dim { (note) } }
            }))
        }
        (folded("machine", "Machine", grid(&["", ""], &[], &environment)))
        (folded("method", "Meaning of the numbers", meanings(run)))
        (folded("repeat", "How to repeat this run", html! {
            p { "The random seed of this run is " b { (run.seed) } "." }
            @if !about.repeat.is_empty() { pre { code { (safe(&about.repeat)) } } }
        }))
    }
}

/// A table of plain cells; `numbers` lists the numeric columns.
fn grid<R: AsRef<[String]>>(headers: &[&str], numbers: &[usize], rows: &[R]) -> Markup {
    html! {
        div.scroll { table {
            @if headers.iter().any(|header| !header.is_empty()) {
                thead { tr {
                    @for (at, header) in headers.iter().enumerate() { th.number[numbers.contains(&at)] { (header) } }
                } }
            }
            tbody {
                @for row in rows {
                    tr {
                        @for (at, cell) in row.as_ref().iter().take(headers.len()).enumerate() {
                            td.number[numbers.contains(&at)] { (padded(&safe(cell))) }
                        }
                    }
                }
            }
        } }
    }
}

/// Replaces the trailing spaces that align decimal points by spaces as wide as a point and as digits.
pub(super) fn padded(cell: &str) -> String {
    let text = cell.trim_end_matches(' ');
    let (point, digits) = match cell.len() - text.len() {
        missing if missing > 0 && !text.contains('.') => ("\u{2008}", missing - 1),
        missing => ("", missing),
    };
    format!("{text}{point}{}", "\u{2007}".repeat(digits))
}

fn choices(run: &RunResult, roles: &Roles) -> Markup {
    let recommendation = recommend(run, roles);
    html! {
        @if recommendation.families.is_empty() && recommendation.isolated == 0 { p { "Nothing could be ranked, so there is nothing to recommend." } }
        @for family in &recommendation.families {
            @for (dependence, choices) in &family.tables {
                h3 { (family.title(*dependence)) }
                @let headers = family.headers(" ");
                @let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
                (grid(&headers, &[2], &choices.iter().map(Choice::cells).collect::<Vec<_>>()))
            }
            ul { @for sentence in &family.sentences { li { (sentence) } } }
        }
    }
}

fn warnings(run: &RunResult) -> Markup {
    html! {
        dl.warnings {
            @for warning in condensed(&run.warnings) {
                dt { (safe(&warning.code)) " " (safe(&warning.cause)) }
                dd { (safe(&warning.remedy)) }
            }
        }
    }
}

fn meanings(run: &RunResult) -> Markup {
    html! {
        ul {
            li {
                b { "Verified first." } " Only variants whose results were verified in the same \
                process were timed."
            }
            li {
                b { "Gross" } " is the time of a call including call overhead; " b { "net" } " is this time \
                minus the null call, which does nothing and was measured in the same loop. A net \
                time near zero means that the work overlaps with the call; " b { "<null" } " means no \
                slower than the null call."
            }
            li {
                b { "Chained" } " calls need the result of the previous one, " b { "independent" } " \
                ones may overlap, " b { "fenced" } " ones have a fence on both sides. These figures \
                answer different questions and never share a table."
            }
            li {
                b { "Ticks" } " are those of the time-stamp counter, whose rate differs from that \
                of the core. Cycles are estimated (est.) from a chain of dependent additions, or \
                counted by the hardware (pmu)."
            }
            li {
                b { "Intervals" } " are 95 % confidence intervals, from a bootstrap over replicates: \
                separate processes, each with its own memory layout."
            }
            li {
                b { "Ranks and ratios" } " come from gross times, paired within rounds in which all \
                variants ran in random order. Variants that tie share a letter."
            }
            li {
                b { "The noise floor" } " is the difference between two measurements of one variant under two names"
                @if let Some(floor) = &run.noise_floor {
                    ": within ±" (percent_fine(floor.relative)) " in " (floor.pairs) " pairs of this run"
                }
                ". Smaller differences are ties."
            }
            li {
                b { "The limit" } " is the time of the bytes at the best rate measured at that cache level in \
                this run, but at least a null call. A rate counts the length of a call once: a copy of n \
                bytes reads n and writes n."
            }
            li {
                b { "Hot" } " buffers are used repeatedly; cold ones were flushed line by line \
                (clflush), evicted by a larger buffer (evict), or are fresh lines of a buffer too \
                large to cache (arena)."
            }
        }
    }
}
