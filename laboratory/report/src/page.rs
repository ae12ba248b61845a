//! `--report FILE.html`: a run as one page that can be kept, sent and printed.
//! The page is self-contained: style sheet and charts are in it, there is no script, and its own policy forbids the
//! browser to load anything. Whatever comes from a run is escaped by maud.

use crate::charts::{self, Bar};
use crate::curve::curves;
use crate::limits::{self, limits};
use crate::listing::flatten;
use crate::ranking::{Ranking, RankingError, rankings, status_word};
use crate::recommend::{Choice, Recommendation, recommend};
use crate::roles::Roles;
use crate::text::safe;
use crate::units::{Unit, percent_fine};
use carryline_results::{RunResult, Warning};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// What a page says of itself that the run does not know.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct About {
    /// When the run began, as RFC 3339 writes it.
    pub started: String,
    /// The command that repeats the run exactly.
    pub repeat: String,
    /// The version of the command that wrote the page.
    pub version: String,
}

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The whole page.
///
/// # Errors
/// When a situation of the run mixes conditions, see [`rankings`].
pub fn page(run: &RunResult, unit: Unit, roles: &Roles, about: &About) -> Result<String, RankingError> {
    let rankings = rankings(run, unit, roles)?;
    let recommendation = recommend(run, roles);
    let curves = curves(run, unit, roles);
    let limits = limits(run, unit);
    let environment: Vec<[String; 2]> = flatten(&run.environment).into_iter().map(Into::into).collect();
    let name = run.run_id.map_or_else(|| "a run".to_owned(), |id| format!("run {id}"));
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { "carryline, " (name) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                header {
                    h1 { "Zeroing, copying and checksumming on this machine" }
                    p.dim {
                        "carryline " (about.version) ", " (name)
                        @if !about.started.is_empty() { ", " (about.started) }
                    }
                    @if !run.complete {
                        p.banner { "This run was interrupted; the results are partial." }
                    }
                }
                main {
                    section id="use" { h2 { "What to use here" } (advice(&recommendation)) }
                    @if !run.warnings.is_empty() {
                        section id="warnings" { h2 { "Warnings of this run" } (warning_list(&run.warnings)) }
                    }
                    section id="rankings" {
                        h2 { "Rankings" }
                        (contents(&rankings))
                        @for (index, one) in rankings.iter().enumerate() { (ranking(index, one)) }
                        @if rankings.is_empty() { p { "Nothing was measured." } }
                    }
                    @if !curves.is_empty() {
                        section id="curves" {
                            h2 { "By size" }
                            @for curve in &curves {
                                figure {
                                    figcaption {
                                        (curve.title) ": " (curve.unit)
                                        @if curve.log_y { ", both axes logarithmic" } @else { ", sizes logarithmic" }
                                    }
                                    (charts::curve(curve))
                                }
                            }
                        }
                    }
                    @if !limits.rows.is_empty() {
                        section id="limits" {
                            h2 { "What the hardware allows" }
                            p { "Bandwidth of one core, " (limits.unit) ", measured in the same run." }
                            (grid(&limits::HEADERS, &[1, 2, 3, 4], &limits.rows))
                            @for note in &limits.notes { p.dim { (note) } }
                        }
                    }
                    section id="environment" {
                        h2 { "Environment" }
                        (grid(&["", ""], &[], &environment))
                    }
                    (method(run))
                    section id="repeat" {
                        h2 { "To repeat it" }
                        p { "The random seed of this run is " b { (run.seed) } "." }
                        @if !about.repeat.is_empty() { pre { code { (safe(&about.repeat)) } } }
                    }
                }
            }
        }
    };
    Ok(markup.into_string())
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
fn padded(cell: &str) -> String {
    let text = cell.trim_end_matches(' ');
    let (point, digits) = match cell.len() - text.len() {
        missing if missing > 0 && !text.contains('.') => ("\u{2008}", missing - 1),
        missing => ("", missing),
    };
    format!("{text}{point}{}", "\u{2007}".repeat(digits))
}

fn advice(recommendation: &Recommendation) -> Markup {
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

fn warning_list(warnings: &[Warning]) -> Markup {
    html! {
        dl.warnings {
            @for warning in warnings {
                dt { (safe(&warning.code)) " " (safe(&warning.cause)) }
                dd { (safe(&warning.remedy)) }
            }
        }
    }
}

fn contents(rankings: &[Ranking]) -> Markup {
    html! {
        nav aria-label="Rankings" { ol {
            @for (index, ranking) in rankings.iter().enumerate() {
                li { a href=(format!("#ranking-{index}")) { (ranking.title) } }
            }
        } }
    }
}

fn ranking(index: usize, ranking: &Ranking) -> Markup {
    let bars: Vec<Bar> = ranking
        .rows
        .iter()
        .filter_map(|row| {
            let (name, strong) = (row.variant.clone(), row.rank == Some(1));
            Some(Bar { name, figure: row.headline?, strong })
        })
        .collect();
    let unit = ranking.scale.unit_name();
    let filled = ranking.filled();
    // Groups, variant and intervals are words, the others numbers.
    let is_number = |at: usize| !matches!(at, 0 | 1 | 3 | 5);
    html! {
        article.ranking id=(format!("ranking-{index}")) {
            h3 { (ranking.title) }
            p.summary { (ranking.summary()) }
            @if let Some(note) = ranking.scale.missing_factor() { p.dim { (note) } }
            @if !bars.is_empty() {
                figure {
                    (charts::bars(&ranking.title, unit, &bars))
                    figcaption {
                        (ranking.scale.headline_basis()) " " (unit) " with 95 % intervals; "
                        @if ranking.scale.unit.is_rate() { "longer is better" } @else { "shorter is better" }
                    }
                }
            }
            @if !ranking.rows.is_empty() {
                div.scroll { table {
                    thead { tr {
                        @for (at, header) in ranking.headers().iter().enumerate().filter(|(at, _)| filled[*at]) {
                            th.number[is_number(at)] { (header.replace('\n', " ")) }
                        }
                    } }
                    tbody {
                        @for (row, cells) in ranking.rows.iter().zip(ranking.cells()) {
                            tr.strong[row.rank == Some(1)].faint[row.rank.is_none()] {
                                @for (at, cell) in cells.iter().enumerate().filter(|(at, _)| filled[*at]) {
                                    td.number[is_number(at)] { (padded(cell)) }
                                }
                            }
                        }
                    }
                } }
            }
            @if !ranking.failures.is_empty() {
                ul {
                    @for failure in &ranking.failures {
                        li {
                            b { (failure.variant) } ": " span.bad { (status_word(failure.status)) } ": "
                            (failure.detail)
                        }
                    }
                }
            }
        }
    }
}

fn method(run: &RunResult) -> Markup {
    html! {
        section id="method" {
            h2 { "What the numbers mean" }
            ul {
                li {
                    b { "Proved first." } " Only variants whose results were verified in the same \
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn about() -> About {
        About {
            started: "2026-01-02T03:04:05Z".into(),
            repeat: "carryline rerun 7".into(),
            version: "0.1.0".into(),
        }
    }

    fn html(run: &RunResult) -> String {
        page(run, Unit::Ticks, &fixture::roles(), &about()).expect("nothing mixed")
    }

    /// The names of elements left open or closed wrongly; every `<` must begin a tag.
    fn unbalanced(html: &str) -> Vec<String> {
        const VOID: [&str; 1] = ["meta"];
        let mut open: Vec<String> = vec![];
        let mut faults = vec![];
        for tag in html.split('<').skip(1) {
            let Some((tag, _)) = tag.split_once('>') else {
                faults.push(format!("no end: {tag}"));
                continue;
            };
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or("");
            match tag.chars().next() {
                Some('!') => {}
                Some('/') if open.last().is_some_and(|last| last == name) => drop(open.pop()),
                Some('/') => faults.push(format!("closes {name} in {open:?}")),
                Some(c) if c.is_ascii_lowercase() && VOID.contains(&name) => {}
                Some(c) if c.is_ascii_lowercase() => open.push(name.to_owned()),
                _ => faults.push(format!("no tag: {tag}")),
            }
        }
        faults.extend(open);
        faults
    }

    #[test]
    fn the_check_itself_finds_faults() {
        for bad in ["<p><b></p></b>", "<p>", "</p>", "<p>a < b</p>", "<p"] {
            assert!(!unbalanced(bad).is_empty(), "{bad}");
        }
    }

    #[test]
    fn the_page_is_whole_and_loads_nothing() {
        let html = html(&fixture::run());
        assert_eq!(unbalanced(&html), Vec::<String>::new());
        for forbidden in
            ["<script", "<link", "<img", "<iframe", "src=", "url(", "http://", "https://", "@import", "NaN"]
        {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        for wanted in [
            "What to use here",
            "W02",
            "Imaginary 9000",
            "carryline rerun 7",
            "interrupted",
            "<svg",
            "no answer for 10 s",
        ] {
            assert_eq!(html.contains(wanted), wanted != "interrupted", "{wanted}");
        }
        let ids: Vec<&str> =
            html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(ids.len(), 6);
        assert!(ids.iter().all(|id| html.contains(&format!("id=\"{id}\""))));
    }

    #[test]
    fn whatever_comes_from_a_run_is_escaped() {
        const HOSTILE: &str = "</title><script>alert(1)</script>\"'&\u{1b}";
        let mut run = fixture::run();
        for cell in &mut run.cells {
            cell.variant = format!("{HOSTILE}{}", cell.variant);
            cell.situation.push_str(HOSTILE);
            cell.condition.sizes.label.push_str(HOSTILE);
            cell.detail = cell.detail.take().map(|detail| detail + HOSTILE);
            cell.ties_with.iter_mut().for_each(|name| name.push_str(HOSTILE));
        }
        run.warnings[0].cause.push_str(HOSTILE);
        run.environment = serde_json::json!({HOSTILE: HOSTILE});
        let about = About { started: HOSTILE.into(), repeat: HOSTILE.into(), version: HOSTILE.into() };
        let html = page(&run, Unit::Ticks, &fixture::roles(), &about).expect("nothing mixed");
        assert_eq!(unbalanced(&html), Vec::<String>::new());
        assert!(!html.contains("<script"));
        assert!(html.contains("&lt;script&gt;alert(1)"));
        assert!(!html.contains("\"'"), "a quote gets out of an attribute");
    }

    #[test]
    fn an_interrupted_or_empty_run_has_a_page_too() {
        let run = RunResult { complete: false, warnings: vec![], limits: vec![], ..fixture::empty() };
        let html = html(&run);
        assert_eq!(unbalanced(&html), Vec::<String>::new());
        assert!(html.contains("This run was interrupted") && html.contains("Nothing was measured."));
    }

    #[test]
    fn a_run_that_mixes_dependence_has_no_page() {
        let mut run = fixture::run();
        run.cells.iter_mut().for_each(|cell| cell.situation = "same".into());
        assert!(page(&run, Unit::Ticks, &fixture::roles(), &about()).is_err());
    }
}
