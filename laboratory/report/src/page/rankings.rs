//! The rankings: a folded line for each situation, a row for each variant in it, and in the row the samples
//! and the machine code.

use super::code::{self, Codes};
use super::method::padded;
use super::{Shown, samples};
use crate::ranking::{RankedRow, status_word};
use crate::units::{number, times};
use carryline_results::gather::Gathered;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The maximum number of names in the line of a folded situation, not counting the baseline.
const MOST_NAMES: usize = 5;
/// The CSS classes of the columns, in the order of [`crate::ranking::Ranking::headers`].
const COLUMNS: [&str; 8] =
    ["groups", "variant", "gross", "gross-interval", "ratio", "ratio-interval", "limit", "net"];

/// All situations, with the data for filtering and sorting.
pub(super) fn section(all: &[Shown<'_>], gathered: &[Gathered], codes: &Codes<'_>) -> Markup {
    html! {
        section id="rankings" {
            h2 { "Rankings" }
            @if all.is_empty() { p { "No situation was measured." } } @else { (controls(all)) }
            div #situations {
                @for (order, shown) in all.iter().enumerate() { (situation(order, shown, gathered, codes)) }
            }
        }
    }
}

/// The form with the filters and the order, hidden without the script.
fn controls(all: &[Shown<'_>]) -> Markup {
    let families: BTreeSet<String> = all.iter().map(|shown| shown.ranking.family.to_string()).collect();
    let caches: BTreeSet<String> = all.iter().map(cache).collect();
    let options = |name: &str, label: &str, words: &[(String, String)]| {
        html! {
            label { (label) " " select name=(name) {
                @for (value, text) in words { option value=(value) { (text) } }
            } }
        }
    };
    let any = |words: BTreeSet<String>| -> Vec<(String, String)> {
        let words = words.into_iter().map(|word| (word.clone(), word));
        std::iter::once((String::new(), "all".to_owned())).chain(words).collect()
    };
    let orders = [
        ("", "as measured"),
        ("size", "size"),
        ("gain", "largest gain over the baseline"),
        ("loss", "lowest ratio of carryline"),
    ];
    let orders = orders.map(|(value, text)| (value.to_owned(), text.to_owned()));
    html! {
        form #controls hidden {
            (options("family", "family", &any(families)))
            (options("cache", "cache", &any(caches)))
            label { "search " input type="search" name="q" placeholder="variant or condition"; }
            (options("sort", "order", &orders))
            output {}
        }
    }
}

fn cache(shown: &Shown<'_>) -> String {
    shown.cells[0].condition.cache.to_string()
}

fn situation(order: usize, shown: &Shown<'_>, gathered: &[Gathered], codes: &Codes<'_>) -> Markup {
    let ranking = &shown.ranking;
    let best = ranking.rows.iter().filter(|row| row.rank.is_some()).filter_map(|row| row.speed);
    let best = best.fold(0.0, f64::max);
    let ours = ranking.rows.iter().find(|row| row.variant == "carryline").and_then(|row| row.speed);
    let unfolded = ranking.unfolded();
    html! {
        details.situation id=(shown.anchor) data-order=(order) data-family=(ranking.family) data-cache=(cache(shown))
            data-size=(shown.cells[0].bytes_per_call.round()) data-gain=(format!("{best:.3}"))
            data-ours=[ours.map(|ours| format!("{ours:.3}"))] {
            summary {
                h3 { (ranking.title) }
                p.groups { (groups(shown)) }
            }
            p.summary {
                (ranking.summary()) " "
                a.link href=(format!("#{}", shown.anchor)) { "link" }
            }
            @if let Some(note) = ranking.scale.missing_factor() { p.dim { (note) } }
            @if !ranking.rows.is_empty() {
                div.rows {
                    div.row.head {
                        @for ((class, header), shown) in COLUMNS.iter().zip(ranking.headers()).zip(ranking.filled()) {
                            @if shown { span class=(class) { (header.replace('\n', " ")) } }
                        }
                        span.bar { "speed" }
                    }
                    @let cells = ranking.cells();
                    @let rows: Vec<Markup> = ranking.rows.iter().zip(&cells)
                        .map(|(row, cells)| self::row(shown, row, cells, gathered, codes)).collect();
                    @for row in &rows[..unfolded] { (row) }
                    @if unfolded < rows.len() {
                        details.slower {
                            summary { (ranking.slower(unfolded)) }
                            @for row in &rows[unfolded..] { (row) }
                        }
                    }
                }
            }
            @if !ranking.failures.is_empty() {
                ul.failures {
                    @for failure in &ranking.failures {
                        li {
                            b { (failure.variant) } ": " span.bad { (status_word(failure.status, Some(&failure.detail))) } ": " (failure.detail)
                        }
                    }
                }
            }
        }
    }
}

/// The first rows with their letters and speeds, and the baseline: `a carryline 1.51x · b libc_memset 1x`.
fn groups(shown: &Shown<'_>) -> Markup {
    let ranking = &shown.ranking;
    let rows = ranking.rows.iter().filter(|row| row.rank.is_some());
    let (first, rest): (Vec<_>, Vec<_>) = rows.enumerate().partition(|(at, _)| *at < MOST_NAMES);
    let named = first.into_iter().chain(rest.into_iter().filter(|(_, row)| ranking.is_baseline(row)));
    html! {
        @for (at, row) in named {
            @if at > 0 { " · " }
            span.name.best[row.rank == Some(1)] {
                i { (row.letters) } " " (row.variant)
                @if ranking.is_baseline(row) { " 1x" } @else if let Some(speed) = row.speed { " " (times(speed)) }
            }
        }
    }
}

fn row(
    shown: &Shown<'_>,
    row: &RankedRow,
    cells: &[String; 8],
    gathered: &[Gathered],
    codes: &Codes<'_>,
) -> Markup {
    let ranking = &shown.ranking;
    let anchor = shown.row_anchor(&row.variant);
    let cell = shown.cell(&row.variant);
    html! {
        details.row.best[row.rank == Some(1)].unranked[row.rank.is_none()] id=(anchor) {
            summary {
                @for ((class, cell), shown) in COLUMNS.iter().zip(cells).zip(ranking.filled()) {
                    @if shown { span class=(class) { (padded(cell)) } }
                }
                svg.bar { rect height="100%" width=(format!("{:.1}%", ranking.share_of_best(row) * 100.0)) {} }
            }
            div {
                @if let Some(cell) = cell {
                    (samples::strip(gathered, &cell.situation, &cell.variant))
                    (code::of_row(shown, cell, codes))
                }
                p.dim {
                    @if let Some(observed) = cell.and_then(|cell| cell.observed.as_ref()) {
                        (number(observed.calls as f64)) " calls were timed. "
                    }
                    @if !row.ties_with.is_empty() { "Ties with " (row.ties_with.join(", ")) ". " }
                    @if row.contradicts {
                        "The ratio, paired within rounds, differs from that of the times: processes differed by more than \
                         the two variants within one. The ratio is the better figure. "
                    }
                    a.link href=(format!("#{anchor}")) { "link to this row" }
                }
            }
        }
    }
}
