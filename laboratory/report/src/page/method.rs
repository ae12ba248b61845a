//! What stands folded at the end of a page: choices by situation, warnings, limits, the machine, what the numbers mean, and
//! how to repeat the run.

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

/// A part of the page that is folded, with its title.
fn folded(id: &str, title: &str, body: Markup) -> Markup {
    html! { details.section id=(id) { summary { h2 { (title) } } (body) } }
}

/// All of them.
pub(super) fn sections(run: &RunResult, unit: Unit, roles: &Roles, about: &About) -> Markup {
    let limits = limits(run, unit);
    let environment: Vec<[String; 2]> = flatten(&run.environment).into_iter().map(Into::into).collect();
    html! {
        @if !run.cells.is_empty() { (folded("use", "What to use in each situation", choices(run, roles))) }
        @if !run.warnings.is_empty() { (folded("warnings", "Warnings", warnings(run))) }
        @if !limits.rows.is_empty() {
            (folded("limits", "What the hardware allows", html! {
                p { "Bandwidth of one core, " (limits.unit) ", measured in the same run." }
                (grid(&limits::HEADERS, &[1, 2, 3, 4], &limits.rows))
                @for note in &limits.notes { p.dim { (note) } }
            }))
        }
        (folded("machine", "Machine", grid(&["", ""], &[], &environment)))
        (folded("method", "What the numbers mean", meanings(run)))
        (folded("repeat", "How to repeat it", html! {
            p { "The random seed of this run is " b { (run.seed) } "." }
            @if !about.repeat.is_empty() { pre { code { (safe(&about.repeat)) } } }
        }))
    }
}

/// A table of plain cells; the columns listed hold numbers.
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

/// The cell with the spaces that align its decimal point made as wide as a point and as digits.
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
        @if recommendation.families.is_empty() { p { "Nothing could be ranked, so there is nothing to recommend." } }
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
                b { "Gross" } " is the time of a call, call overhead included; " b { "net" } " is \
                minus the null call, which does nothing and was measured in the same loop. A net \
                time near zero means that the work overlaps with the call; " b { "<null" } " stands for one within the \
                null call."
            }
            li {
                b { "Chained" } " calls need the result of the one before, " b { "independent" } " \
                ones may overlap, " b { "fenced" } " ones have a fence on both sides. The figures \
                answer different questions and never share a table."
            }
            li {
                b { "Ticks" } " are those of the time-stamp counter, which does not run at the speed \
                of the core. Cycles are estimated (est.) from a chain of dependent additions, or \
                counted by the hardware (pmu)."
            }
            li {
                b { "Intervals" } " hold 95 %, from a bootstrap over replicates: processes of their \
                own, each with another layout of memory."
            }
            li {
                b { "Ranks and ratios" } " come from gross times, paired within rounds in which all \
                variants ran in random order. Variants that cannot be distinguished share a letter."
            }
            li {
                b { "The noise floor" } " is the difference between two measurements of one variant under two names"
                @if let Some(floor) = &run.noise_floor {
                    ": within ±" (percent_fine(floor.relative)) " in " (floor.pairs) " pairs of this run"
                }
                ". Smaller differences are ties."
            }
            li {
                b { "The limit" } " is what the bytes take at the best rate that anything in this run showed at \
                that cache level, but at least a null call. A rate counts the length of a call once: a copy of n \
                bytes reads n and writes n."
            }
            li {
                b { "Hot" } " buffers are used repeatedly; cold ones were flushed line by line \
                (clflush), pushed out by a larger buffer (evict), or are fresh lines of a buffer too \
                large to cache (arena)."
            }
        }
    }
}
