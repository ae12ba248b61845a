//! The heat map of a family: variants down, situations across, with the speed relative to the baseline in
//! each cell.
//!
//! Colours diverge from neutral to blue for faster and to orange for slower, and only repeat the figure. Ties
//! with the baseline are neutral whatever their figure.

use super::Shown;
use crate::grouping::distinct;
use crate::labels;
use crate::ranking::{Failure, RankedRow, status_word};
use crate::units::number;
use carryline_results::Status;
use carryline_variants::Family;
use maud::{Markup, html};

/// The ratios at which the colours of faster variants begin; for slower ones, their reciprocals.
const STEPS: [f64; 4] = [1.0, 1.25, 2.0, 4.0];

/// The map of each family.
pub(super) fn section(all: &[Shown<'_>]) -> Markup {
    let with_baseline = all.iter().filter(|shown| shown.ranking.baseline.is_some());
    let families = distinct(with_baseline.map(|shown| shown.ranking.family));
    html! {
        @if !families.is_empty() {
            section id="map" {
                h2 { "Speed relative to the baseline" }
                p.dim {
                    "A figure links to its row. " span.key.f3 { "2.0" } " faster, " span.key.s3 { "0.5" } " slower, "
                    span.key.tie { "1.0" } " no difference found, " span.key.base { "1" } " the baseline, "
                    span.key.bad { "✕" } " failed, – not run here. Variants are ordered by their mean."
                }
                @for family in families {
                    (map(family, &all.iter().filter(|s| s.ranking.family == family).collect::<Vec<_>>()))
                }
            }
        }
    }
}

fn map(family: Family, all: &[&Shown<'_>]) -> Markup {
    let columns = columns(all);
    let lines = columns.iter().map(Vec::len).max().unwrap_or(0);
    html! {
        div.family data-family=(family) {
            h3 { (family) }
            div.scroll tabindex="0" role="region" aria-label=(format!("{family}: ratios to the baseline")) {
                table.heat {
                    thead {
                        @for line in 0..lines {
                            tr {
                                @if line == 0 { th rowspan=(lines) scope="col" { "variant" } }
                                @for column in &columns { th scope="col" { (column[line]) } }
                            }
                        }
                    }
                    tbody {
                        @for variant in variants(all) {
                            tr {
                                th scope="row" { (variant) }
                                @for shown in all { (cell(shown, &variant)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The fields of each situation that vary, the same fields in all, and always the size.
fn columns(all: &[&Shown<'_>]) -> Vec<Vec<String>> {
    let words = |shown: &&Shown<'_>| -> Vec<String> {
        let condition = &shown.cells[0].condition;
        let fields = labels::fields(condition).map(|(name, word)| match name {
            "offset" => format!("at {word}"),
            _ => word,
        });
        fields.into_iter().chain([condition.dependence.to_string()]).collect()
    };
    let words: Vec<Vec<String>> = all.iter().map(words).collect();
    let varies = |at: usize| at == 0 || words.iter().any(|column| column[at] != words[0][at]);
    let kept: Vec<usize> = (0..words.first().map_or(0, Vec::len)).filter(|at| varies(*at)).collect();
    words.iter().map(|column| kept.iter().map(|at| crate::text::safe(&column[*at])).collect()).collect()
}

/// The names of the variants, in descending order of their mean ratio.
fn variants(all: &[&Shown<'_>]) -> Vec<String> {
    let mut names: Vec<(String, f64, u32)> = vec![];
    for shown in all {
        let rows = shown.ranking.rows.iter().map(|row| (&row.variant, ratio(shown, row)));
        let failures = shown.ranking.failures.iter().map(|failure| (&failure.variant, None));
        for (name, ratio) in rows.chain(failures) {
            let at = names.iter().position(|(known, ..)| known == name).unwrap_or_else(|| {
                names.push((name.clone(), 0.0, 0));
                names.len() - 1
            });
            if let Some(ratio) = ratio.filter(|ratio| *ratio > 0.0) {
                names[at].1 += ratio.ln();
                names[at].2 += 1;
            }
        }
    }
    let mean = |(_, sum, count): &(String, f64, u32)| match count {
        0 => f64::NEG_INFINITY,
        count => sum / f64::from(*count),
    };
    names.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    names.into_iter().map(|(name, ..)| name).collect()
}

fn ratio(shown: &Shown<'_>, row: &RankedRow) -> Option<f64> {
    if shown.ranking.is_baseline(row) { Some(1.0) } else { row.speed }
}

fn cell(shown: &Shown<'_>, variant: &str) -> Markup {
    let row = shown.ranking.rows.iter().find(|row| row.variant == variant);
    if let Some((row, ratio)) = row.and_then(|row| Some((row, ratio(shown, row)?))) {
        let class = class(shown, row, ratio);
        let text = if class == "base" { "1".to_owned() } else { number(ratio) };
        return html! { td class=(class) { a href=(format!("#{}", shown.row_anchor(variant))) { (text) } } };
    }
    match shown.ranking.failures.iter().find(|failure| failure.variant == variant) {
        Some(Failure { status: Status::Unsupported | Status::NotVerified, .. }) => html! { td { "–" } },
        Some(failed) => html! { td.bad title=(status_word(failed.status, Some(&failed.detail))) { "✕" } },
        None => html! { td {} },
    }
}

/// The class of a cell, which selects its colour.
fn class(shown: &Shown<'_>, row: &RankedRow, ratio: f64) -> String {
    let ties = shown.ranking.baseline.as_ref().is_some_and(|baseline| row.ties_with.contains(baseline));
    match ratio {
        _ if shown.ranking.is_baseline(row) => "base".to_owned(),
        _ if ties => "tie".to_owned(),
        ratio if ratio >= 1.0 => format!("f{}", STEPS.iter().filter(|step| ratio >= **step).count()),
        ratio => format!("s{}", STEPS.iter().filter(|step| 1.0 / ratio >= **step).count()),
    }
}
