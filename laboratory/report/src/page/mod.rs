//! `--report FILE.html` and `carryline report RUN`: a run as a page that can be kept, sent and printed.
//!
//! The page is one file and loads nothing: it contains its style sheet, script and charts, and its content
//! security policy allows only these, by their hashes. Without the script, everything can still be read:
//! folded parts are `details` elements, and listings that the script inserts into rows are at the end, with
//! links to them. The script filters and sorts rows, and unfolds the targets of links. Maud escapes all text
//! from the run.

mod code;
mod heat;
mod method;
mod rankings;
mod samples;

pub use code::{Call, Code, LONGEST_CALL, Line, Listing, Predicted, calls};

use crate::advice::{Advice, advice};
use crate::charts;
use crate::curve::rate_curves;
use crate::experiments::experiments_text;
use crate::ranking::{Ranking, RankingError};
use crate::roles::Roles;
use crate::table::Style;
use crate::text::safe;
use crate::units::Unit;
use carryline_results::gather::Gathered;
use carryline_results::{Cell, RunResult};
use code::Codes;
use data_encoding::BASE64;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Facts about a run for its page that are not in its result.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct About {
    /// The time of the run's start, as in RFC 3339.
    pub started: String,
    /// The command that repeats the run exactly.
    pub repeat: String,
    /// The version of the command that wrote the page.
    pub version: String,
    /// The hash of the run's content, which identifies it in every store; `None` if it is not stored.
    pub content_hash: Option<String>,
    /// The user's label.
    pub label: Option<String>,
}

/// The contents of a page.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The run.
    pub run: &'a RunResult,
    /// The unit of the figures.
    pub unit: Unit,
    /// The baselines and this project's own variants.
    pub roles: &'a Roles,
    /// Further facts about the run.
    pub about: &'a About,
    /// Its samples by situation; empty if they are not stored.
    pub gathered: &'a [Gathered],
    /// The machine code of its rows' calls; see [`calls`].
    pub codes: &'a [Code],
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The width of preformatted text.
const TEXT_COLUMNS: u16 = 100;

/// The content security policy, which allows only the page's own script and style sheet.
fn policy() -> String {
    let hash = |text: &str| BASE64.encode(&Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// A situation on the page.
struct Shown<'a> {
    ranking: Ranking,
    cells: Vec<&'a Cell>,
    anchor: String,
    ticks_per_cycle: Option<f64>,
}

impl Shown<'_> {
    fn row_anchor(&self, variant: &str) -> String {
        format!("{}--{}", self.anchor, slug(variant))
    }

    fn cell(&self, variant: &str) -> Option<&Cell> {
        self.cells.iter().copied().find(|cell| safe(&cell.variant) == variant)
    }
}

/// Makes a text an element's id that is valid in an address: replaces all but letters and digits by hyphens.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// The situations of a run. Their anchors derive from their names, so that a link leads to the same row of
/// another run's page.
fn shown<'a>(contents: &Contents<'a>) -> Result<Vec<Shown<'a>>, RankingError> {
    let rankings = crate::ranking::rankings(contents.run, contents.unit, contents.roles)?;
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let all = rankings.into_iter().map(|ranking| {
        let is_of =
            |cell: &&Cell| safe(&cell.situation) == ranking.situation && cell.family == ranking.family;
        let named = slug(&ranking.situation);
        let numbered = (2..).map(|number| format!("{named}-{number}"));
        let anchor = std::iter::once(named.clone()).chain(numbered).find(|name| !taken.contains(name));
        let anchor = anchor.unwrap_or(named);
        taken.insert(anchor.clone());
        let cells = contents.run.cells.iter().filter(is_of).collect();
        Shown { cells, anchor, ticks_per_cycle: contents.run.ticks_per_cycle, ranking }
    });
    Ok(all.collect())
}

/// Renders the page.
///
/// # Errors
/// If a situation of the run mixes conditions; see [`rankings`](crate::ranking::rankings).
pub fn page(contents: &Contents<'_>) -> Result<String, RankingError> {
    let Contents { run, unit, roles, about, gathered, codes } = *contents;
    let all = shown(contents)?;
    let advice = advice(run, roles);
    let name = run.run_id.map_or_else(|| "a run".to_owned(), |id| format!("run {id}"));
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy());
                title { "carryline, " (name) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (top(run, &advice, about, &name))
                main {
                    (heat::section(&all))
                    (curves(run, roles))
                    (rankings::section(&all, gathered, &Codes::new(codes)))
                    (experiments(run))
                    (method::sections(run, unit, roles, about))
                    (code::section(codes))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    Ok(markup.into_string())
}

/// The machine, date, trust and advice.
fn top(run: &RunResult, advice: &Advice, about: &About, name: &str) -> Markup {
    let hash = about.content_hash.as_ref().and_then(|hash| hash.get(..8));
    let day = about.started.get(..16).map(|time| format!("{} UTC", time.replace('T', " ")));
    let facts = [Some(name.to_owned()), hash.map(str::to_owned), day, about.label.as_deref().map(safe)];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    html! {
        header {
            p.dim { (facts.join(" · ")) " · carryline " (safe(&about.version)) }
            h1 { (advice.machine) }
            p { (advice.trust_line()) }
            @if !run.complete {
                p.banner { "This run was interrupted or is not finished; the results are partial." }
            }
            @if let Some(note) = advice.isolated_note() {
                p { (note) }
            }
            @if let Some(why) = advice.withheld.as_ref().filter(|_| run.experiments.is_empty()) {
                p { (why) }
            }
            div.advice {
                @for choice in &advice.choices {
                    div {
                        h2 { (choice.headline()) }
                        @for (_, sentence) in choice.sentences(usize::from(TEXT_COLUMNS)) { p { (sentence) } }
                    }
                }
            }
            @if let Some(line) = advice.c_library_line() { p { (line) } }
        }
    }
}

fn curves(run: &RunResult, roles: &Roles) -> Markup {
    let curves = rate_curves(run, roles);
    html! {
        @if !curves.is_empty() {
            section id="curves" {
                h2 { "Bytes per cycle by size" }
                div.curves {
                    @for rates in &curves {
                        figure.family data-family=(rates.family) {
                            figcaption { (rates.curve.title) ": " (rates.curve.unit) ", both axes logarithmic" }
                            (charts::curve(rates))
                        }
                    }
                }
            }
        }
    }
}

/// The results of experiments, as in the terminal.
fn experiments(run: &RunResult) -> Markup {
    let style = Style { colour: false, width: Some(TEXT_COLUMNS) };
    html! {
        @if !run.experiments.is_empty() {
            section id="experiments" {
                h2 { "Experiments" }
                div.scroll { pre { (experiments_text(&run.experiments, style)) } }
            }
        }
    }
}

#[cfg(test)]
mod browser;
#[cfg(test)]
mod tests;
