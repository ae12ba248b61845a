//! The page of the fixture.

use super::*;
use crate::fixture;
use carryline_conditions::{Condition, Dependence};
use carryline_variants::Family;

fn about() -> About {
    About {
        started: "2026-01-02T03:04:05Z".into(),
        repeat: "carryline rerun 7".into(),
        version: "0.1.0".into(),
        content_hash: Some("7f3a9c00".repeat(8)),
        label: Some("before".into()),
    }
}

fn written(run: &RunResult, about: &About, codes: &[Code]) -> Result<String, RankingError> {
    let roles = fixture::roles();
    page(&Contents { run, unit: Unit::Ticks, roles: &roles, about, gathered: &[], codes })
}

pub(super) fn html(run: &RunResult) -> String {
    written(run, &about(), &codes(run)).expect("nothing mixed")
}

/// A listing for each call except one that could not be traced.
fn codes(run: &RunResult) -> Vec<Code> {
    let listing = |call: &Call| Listing {
        legend: "one call".into(),
        lines: vec![
            Line { text: format!("  mov ecx, {}", call.bytes), is_critical: false },
            Line { text: "* adc rax, [rdi]".into(), is_critical: true },
        ],
        binds: Some("chained calls are bound by the chain through seed: 15.0 cycles.".into()),
        cycles: vec![Predicted {
            dependence: Dependence::Independent,
            bound: Some(10.0),
            cycles: Some(15.0),
            by: Some("ports".into()),
        }],
        notes: vec![],
    };
    let found = |call: &Call| match call.variant.as_str() {
        "rep_stosb" => Err("no call could be traced".into()),
        _ => Ok(listing(call)),
    };
    calls(run, &fixture::roles()).into_iter().map(|call| Code { found: found(&call), call }).collect()
}

/// The page without its own style sheet and script.
fn body(html: &str) -> String {
    html.replace(STYLE, "").replace(SCRIPT, "")
}

fn ids(html: &str, before: &str) -> Vec<String> {
    let words = html.split(before).skip(1).filter_map(|rest| rest.split('"').next());
    words.map(str::to_owned).collect()
}

/// Elements that are not closed or closed in the wrong place; every `<` must begin a tag.
fn unbalanced(html: &str) -> Vec<String> {
    const VOID: [&str; 2] = ["meta", "input"];
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
fn unbalanced_elements_are_found() {
    for bad in ["<p><b></p></b>", "<p>", "</p>", "<p>a < b</p>", "<p"] {
        assert!(!unbalanced(bad).is_empty(), "{bad}");
    }
}

#[test]
fn the_page_is_complete_and_loads_nothing() {
    let html = html(&fixture::run());
    let body = body(&html);
    assert_eq!(unbalanced(&body), Vec::<String>::new());
    for forbidden in
        ["<link", "<img", "<iframe", " src=", "url(", "http://", "https://", "@import", "NaN", " style="]
    {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    for forbidden in ["fetch(", "XMLHttpRequest", "import(", "innerHTML", "eval("] {
        assert!(!SCRIPT.contains(forbidden), "{forbidden}");
    }
    assert_eq!(html.matches("<script").count(), 1);
    for wanted in [
        "trust: ",
        "use avx512",
        "W02",
        "Imaginary 9000",
        "carryline rerun 7",
        "2026-01-02 03:04 UTC",
        "7f3a9c00 ",
        "before",
        "<svg",
        "no answer for 10 s",
        "Machine code: no call could be traced.",
    ] {
        assert!(body.contains(wanted), "{wanted}");
    }
    assert!(!body.contains("interrupted"));
}

#[test]
fn every_link_has_a_target_and_ids_are_unique() {
    let html = body(&html(&fixture::run()));
    let (links, names) = (ids(&html, "href=\"#"), ids(&html, " id=\""));
    assert!(links.len() > 60, "{}", links.len());
    for link in &links {
        assert!(names.contains(link), "{link}");
    }
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    // A row has the same id in the page of every run with its situation.
    assert!(names.contains(&"zero-1500-independent--rep-stosb".to_owned()), "{names:?}");
    let mut same = fixture::run();
    same.cells.iter_mut().for_each(|cell| cell.situation = cell.situation.replace(' ', "/"));
    assert_eq!(ids(&body(&self::html(&same)), " id=\""), names);
}

#[test]
fn situations_that_differ_only_in_punctuation_have_distinct_anchors() {
    let mut run = fixture::empty();
    for name in ["zero 1:2", "zero 1-2", "zero 1 2"] {
        let mut cell = fixture::cell(Family::Zero, "avx2", Condition::plain(64), 5.0);
        cell.situation = name.into();
        run.cells.push(cell);
    }
    let names = ids(&body(&html(&run)), "class=\"situation\" id=\"");
    assert_eq!(names, ["zero-1-2", "zero-1-2-2", "zero-1-2-3"]);
}

#[test]
fn the_policy_contains_the_hashes_of_the_script_and_style_sheet() {
    // The hash of the empty text, from another implementation.
    assert_eq!(BASE64.encode(&Sha256::digest("")), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    let html = html(&fixture::run());
    let (policy, inside) = (policy(), |text: &str| format!(">{text}<"));
    assert!(html.contains(&format!("content=\"{policy}\"")), "{policy}");
    assert!(html.contains(&inside(SCRIPT)) && html.contains(&inside(STYLE)), "hashed as included");
}

#[test]
fn the_map_distinguishes_faster_slower_ties_and_failures() {
    let html = body(&html(&fixture::run()));
    let map = &html[html.find("id=\"map\"").expect("a map")..html.find("id=\"curves\"").expect("curves")];
    let cell = |class: &str, row: &str, text: &str| {
        format!("<td class=\"{class}\"><a href=\"#zero-{row}\">{text}</a></td>")
    };
    for wanted in [
        cell("f3", "40-independent--avx512", "2.96"),
        cell("s3", "40-independent--rep-stosb", "0.35"),
        cell("base", "1500-independent--libc-memset", "1"),
        cell("tie", "262144-independent--avx512", "1.00"),
        "<td class=\"bad\" title=\"crashed\">✕</td>".to_owned(),
        "<td>–</td>".to_owned(),
    ] {
        assert!(map.contains(&wanted), "{wanted}\n{map}");
    }
    assert!(map.contains("data-family=\"checksum\"") && !map.contains("data-family=\"copy\""), "no baseline");
}

#[test]
fn a_prediction_is_compared_only_with_its_own_call() {
    let html = html(&fixture::run());
    let row = |name: &str| {
        let from = &html[html.find(&format!("id=\"{name}\"")).expect("a row")..];
        from[..from.find("link to this row").expect("its end")].to_owned()
    };
    // Gross 22 ticks at 0.6 ticks per cycle.
    let small = row("zero-1500-independent--carryline");
    assert!(
        small.contains("Predicted: 15.0 cycles per call, bound by ports; measured 36.7 (gross, +144 %)."),
        "{small}"
    );
    assert!(small.contains("href=\"#c-zero-carryline-1500\""), "{small}");
    // A long call is represented by a shorter one, and is not in the first-level cache.
    let long = row("zero-262144-independent--carryline");
    assert!(long.contains("calls of 4 KiB that hit the first-level cache: 15.0 cycles"), "{long}");
    assert!(!long.contains("measured "), "{long}");
    assert!(html.contains("<b>* adc rax, [rdi]</b>"), "the critical chain is marked");
}

#[test]
fn all_text_from_a_run_is_escaped() {
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
    let hostile = || HOSTILE.to_owned();
    let (content_hash, label) = (Some(hostile()), Some(hostile()));
    let about = About { started: hostile(), repeat: hostile(), version: hostile(), content_hash, label };
    let mut codes = codes(&run);
    for code in &mut codes {
        match &mut code.found {
            Ok(listing) => {
                listing.legend.push_str(HOSTILE);
                listing.lines[0].text.push_str(HOSTILE);
                listing.notes.push(hostile());
                listing.cycles[0].by = Some(hostile());
            }
            Err(reason) => reason.push_str(HOSTILE),
        }
    }
    let html = body(&written(&run, &about, &codes).expect("nothing mixed"));
    assert_eq!(unbalanced(&html), Vec::<String>::new());
    assert_eq!(html.matches("<script").count(), 1, "the page's own");
    assert!(html.contains("&lt;script&gt;alert(1)"));
    assert!(!html.contains("\"'"), "a quote escapes from an attribute");
}

#[test]
fn interrupted_and_empty_runs_have_a_page() {
    let run = RunResult { complete: false, warnings: vec![], limits: vec![], ..fixture::empty() };
    let html = body(&html(&run));
    assert_eq!(unbalanced(&html), Vec::<String>::new());
    assert!(html.contains("This run was interrupted") && html.contains("No situation was measured."));
}

#[test]
fn a_run_with_mixed_dependence_has_no_page() {
    let mut run = fixture::run();
    run.cells.iter_mut().for_each(|cell| cell.situation = "same".into());
    assert!(written(&run, &about(), &[]).is_err());
}
