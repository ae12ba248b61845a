use super::*;
use crate::fixture;
use carryline_results::gather::{Gathered, Replicate, Situation};
use carryline_results::round::Round;
use carryline_statistics::Estimate;

/// The first two cells of the fixture, with two replicates of two rounds.
fn exported(format: &str, raw: bool, change: impl FnOnce(&mut RunResult)) -> Result<String, ExportError> {
    let mut run = fixture::run();
    run.cells.truncate(2);
    run.ticks_per_ns = Some(2.5);
    run.cells[0].variant = "carry|line".to_owned();
    change(&mut run);
    let subjects = run.cells.iter().map(|cell| cell.variant.clone()).collect();
    let first = &run.cells[0];
    let situation = Situation {
        name: first.situation.clone(),
        family: first.family,
        condition: first.condition.clone(),
        subjects,
        baseline: None,
        twins: vec![0],
        weight: 1.0,
    };
    let rounds = |ticks: f64| -> Vec<Round> {
        let round = |number: u32| Round {
            number,
            multiplier: 1,
            samples: vec![ticks, ticks * 2.0, f64::NAN],
            null_ticks: 4.0,
            ticks_per_cycle: 0.6,
            counted: false,
        };
        vec![round(0), round(1)]
    };
    let replicate = |ticks| Replicate { rounds: rounds(ticks), observed: None, steady: true };
    let gathered =
        Gathered { situation, replicates: vec![replicate(10.0), replicate(11.0)], lost: Vec::new() };
    let records: Vec<RoundRecord> = gathered
        .replicates
        .iter()
        .zip(0..)
        .flat_map(|(measured, replicate)| {
            let name = &gathered.situation.name;
            measured.rounds.iter().map(move |round| RoundRecord {
                situation: name.clone(),
                replicate,
                round: round.clone(),
            })
        })
        .collect();
    let head = Head {
        schema: "run",
        command: vec!["carryline".to_owned()],
        date: "2026-01-02T03:04:05Z".to_owned(),
    };
    let about = About {
        content_hash: Some("0123".to_owned()),
        label: Some("before".to_owned()),
        started: Some("2026-01-02T03:04:05Z".to_owned()),
        made_by: vec!["carryline".to_owned(), "run".to_owned()],
    };
    let exported = Exported {
        head: &head,
        about: &about,
        run: &run,
        plan: &serde_json::json!({"seed": 1}),
        rounds: &records,
        gathered: std::slice::from_ref(&gathered),
        raw,
        redact: false,
    };
    Format::find(format).expect("a format").render(&exported)
}

fn text(format: &str) -> String {
    exported(format, false, |_| {}).expect("written")
}

#[test]
fn go_has_a_line_for_each_replicate_and_the_condition_in_its_name() {
    insta::assert_snapshot!(text("go"));
    let without = exported("go", false, |run| run.ticks_per_ns = None).expect("ticks are enough");
    assert!(without.contains(" 10.0000 ticks/op") && !without.contains(" ns/op\n"), "{without}");
}

#[test]
fn tables_in_markdown_and_asciidoc() {
    insta::assert_snapshot!(text("markdown") + "\n" + &text("asciidoc"));
}

#[test]
fn formats_of_other_tools_have_their_fields() {
    let bmf: serde_json::Value = serde_json::from_str(&text("bmf")).expect("JSON");
    let (name, measures) = bmf.as_object().and_then(|all| all.iter().next()).expect("a benchmark");
    assert!(name.ends_with(" / avx512") || name.ends_with(" / carry|line"), "{name}");
    for measure in ["latency", "ticks"] {
        for key in ["value", "lower_value", "upper_value"] {
            assert!(measures[measure][key].is_f64(), "{measures}");
        }
    }
    let action: serde_json::Value = serde_json::from_str(&text("github-action-benchmark")).expect("JSON");
    assert_eq!(action.as_array().map(Vec::len), Some(2));
    assert!(
        action[0]["name"].is_string() && action[0]["unit"] == "ticks/call" && action[0]["value"].is_f64()
    );
    let hyperfine: serde_json::Value = serde_json::from_str(&text("hyperfine")).expect("JSON");
    let first = &hyperfine["results"][0];
    assert_eq!(first["times"], serde_json::json!([10.0 / 2.5 * 1e-9, 11.0 / 2.5 * 1e-9]));
    assert!((first["mean"].as_f64().expect("a number") - 4.2e-9).abs() < 1e-15);
    assert_eq!(first["parameters"]["size"], "40");
    assert!(exported("hyperfine", false, |run| run.ticks_per_ns = None).is_err());
}

#[test]
fn csv_and_json_lines_have_the_same_names() {
    for raw in [false, true] {
        let csv = exported("csv", raw, |_| {}).expect("written");
        let lines = exported("jsonl", raw, |_| {}).expect("written");
        let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
        let mut sorted = header.clone();
        sorted.sort_unstable();
        let first: serde_json::Value =
            serde_json::from_str(lines.lines().next().expect("a row")).expect("JSON");
        assert_eq!(first.as_object().expect("an object").keys().collect::<Vec<_>>(), sorted);
        // Two cells; two samples in each of four rounds, and a twin without any.
        assert_eq!((csv.lines().count() - 1, lines.lines().count()), if raw { (8, 8) } else { (2, 2) });
    }
}

#[test]
fn a_net_time_below_zero_is_no_figure() {
    let within = |run: &mut RunResult| {
        let cell = &mut run.cells[0];
        cell.ticks_per_call = cell.ticks_per_call.map(|net| Estimate { median: -0.25, low: -0.5, ..net });
        cell.cycles_per_call = Some(-0.375);
    };
    for format in ["csv", "jsonl", "markdown", "asciidoc"] {
        let text = exported(format, false, within).expect("written");
        assert!(!["-0.25", "-0.5", "-0.375"].iter().any(|number| text.contains(number)), "{format}: {text}");
        let marked =
            text.contains("<null") || text.contains(",true,") || text.contains("within_null_call\":true");
        assert!(marked, "{format}: {text}");
    }
}

#[test]
fn json_with_samples_contains_the_whole_run() {
    let whole: serde_json::Value =
        serde_json::from_str(&exported("json", true, |_| {}).expect("written")).expect("JSON");
    assert_eq!(whole["rounds"].as_array().map(Vec::len), Some(4));
    assert_eq!(whole["rounds"][0]["samples"], serde_json::json!([10.0, 20.0, null]));
    assert_eq!((&whole["plan"]["seed"], &whole["schema"]), (&1.into(), &"run".into()));
    let brief: serde_json::Value = serde_json::from_str(&text("json")).expect("JSON");
    assert!(brief.get("rounds").is_none() && brief.get("plan").is_none());
}
