//! The experiments after the source documents, from the command line: shape, verdicts, bad input, and probes that crash or hang.
//! No test depends on a time.

use crate::support::{Place, assert_described};
use carryline_engine::protocol::{ProbeAnswer, ProbeJob};
use carryline_engine::supervise::{End, Supervisor};
use carryline_machine::environment::CacheSizes;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const VERDICTS: [&str; 6] =
    ["holds", "does not hold here", "reversed", "fails", "undecided", "cannot be measured here"];

fn ids(place: &Place) -> Vec<String> {
    let list = place.json(&["reproduce", "--list"]);
    let experiments = list["experiments"].as_array().expect("a list");
    experiments.iter().map(|e| e["id"].as_str().expect("an id").to_owned()).collect()
}

fn claim<'v>(experiment: &'v Value, id: &str) -> &'v Value {
    let claims = experiment["claims"].as_array().expect("claims");
    claims.iter().find(|claim| claim["id"] == id).unwrap_or_else(|| panic!("no claim {id}"))
}

/// The documented command that takes the longest.
pub const ALL: &str = "carryline reproduce all --quick --format json";

#[test]
fn every_experiment_has_its_tables_and_every_claim_a_computed_verdict() {
    let place = Place::new();
    let words: Vec<&str> = ALL.split_whitespace().skip(1).chain(["--budget", "300ms"]).collect();
    let (out, _) = place.expect(&words, 0);
    let run: Value = serde_json::from_str(&out).expect("JSON");
    let experiments = run["experiments"].as_array().expect("experiments");
    let found: Vec<&str> = experiments.iter().filter_map(|e| e["id"].as_str()).collect();
    assert_eq!(found, ids(&place));
    for experiment in experiments {
        let id = &experiment["id"];
        assert!(experiment["source"].as_str().is_some_and(|source| source.contains('-')), "{id}");
        for table in experiment["tables"].as_array().expect("tables") {
            let columns = table["columns"].as_array().expect("columns").len();
            for row in table["rows"].as_array().expect("rows") {
                assert_eq!(row.as_array().map(Vec::len), Some(columns), "{id}: {table}");
            }
        }
        for claim in experiment["claims"].as_array().expect("claims") {
            let text =
                |field: &str| claim[field].as_str().unwrap_or_else(|| panic!("{id}: {field} in {claim}"));
            assert!(VERDICTS.contains(&text("verdict")), "{claim}");
            for field in ["id", "text", "published", "measured", "rule", "why"] {
                assert!(!text(field).is_empty(), "{id}: {field} of {claim}");
            }
            // A rule that names a figure which its experiment never makes.
            assert!(!text("why").contains("no figure '"), "{id}: {claim}");
            if text("verdict") != "cannot be measured here" {
                assert!(text("why").contains(" is ") && text("why").contains("noise floor"), "{claim}");
            }
        }
    }
    let kept = run["run_id"].as_i64().expect("kept").to_string();
    let again = place.json(&["reproduce", "--from", &kept]);
    assert_eq!(again["experiments"], run["experiments"]);
    let (shown, _) = place.expect(&["history", "--show", &kept], 0);
    assert!(shown.contains("Claims") && shown.contains("csum40"), "{shown}");
    let (page, _) = place.expect(&["reproduce", "--from", &kept, "--markdown"], 0);
    assert!(page.starts_with("# ") && page.contains("Machine: ") && page.contains("| verdict |"), "{page}");
    // A file of its JSON gives the same page; beside the run itself it gives its experiments once.
    let file = place.write("run.json", out.as_bytes());
    let file = file.to_str().expect("UTF-8");
    assert_eq!(place.expect(&["reproduce", "--from", file, "--markdown"], 0).0, page);
    let both = place.json(&["reproduce", "--from", &format!("{kept},{file}")]);
    assert_eq!(both["experiments"], run["experiments"]);
}

#[test]
fn the_document_of_claims_is_what_its_command_prints() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folder = docs.join("claims");
    let stored = folder.to_str().expect("UTF-8");
    let place = Place::new();
    let (page, _) = place.expect(&["reproduce", "--from", stored, "--markdown"], 0);
    let written = std::fs::read_to_string(docs.join("claims.md")).expect("the document");
    let differs = written.lines().zip(page.lines()).find(|(written, printed)| written != printed);
    assert!(
        written == page,
        "carryline reproduce --from docs/claims --markdown > docs/claims.md writes it anew: {differs:?}"
    );
    // Machines stand side by side only in the page.
    let (out, err) = place.expect(&["reproduce", "--from", stored], 6);
    assert!(out.is_empty() && err.contains("--markdown") && err.contains("CPU model: "), "{err}");
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    let (_, err) = place.expect(&["reproduce", "--from", empty.to_str().expect("UTF-8"), "--markdown"], 2);
    assert!(err.contains("empty") && err.contains(".json"), "{err}");
    for file in std::fs::read_dir(&folder).expect("a folder") {
        let file = file.expect("a file").path();
        let text = std::fs::read_to_string(&file).expect("a machine's runs");
        let stored: Value = serde_json::from_str(&text).expect("JSON");
        assert_described(&stored);
        // Every claim of today is in it, under the document that it names today.
        let experiments = stored["experiments"].as_array().expect("experiments");
        for experiment in carryline_experiments::EXPERIMENTS {
            let kept = experiments.iter().find(|kept| kept["id"] == experiment.id);
            let kept = kept.unwrap_or_else(|| panic!("{} is not in {}", experiment.id, file.display()));
            for known in experiment.claims {
                let source = known.source.unwrap_or(experiment.source);
                assert_eq!(claim(kept, known.id)["source"], source.id, "{}: {}", experiment.id, known.id);
            }
        }
    }
}

#[test]
fn the_faults_of_the_article_are_caught_and_shown() {
    let place = Place::new();
    let run = place.json(&["reproduce", "csum40", "--quick", "--budget", "2s", "--no-save"]);
    let csum40 = &run["experiments"][0];
    assert!(run["run_id"].is_null());
    if cfg!(target_arch = "x86_64") {
        assert_eq!(claim(csum40, "baseline-is-right")["verdict"], "fails");
        assert_eq!(claim(csum40, "listing-is-right")["verdict"], "fails");
        let tables = csum40["tables"].to_string();
        assert!(tables.contains("odd_address_baseline") && tables.contains("wrong, as known"), "{tables}");
    }
}

#[test]
fn a_users_chain_is_printed_with_alignments_and_equal_sums() {
    let place = Place::new();
    for arguments in [
        &["reproduce", "chains", "--quick", "--budget", "1s", "--chain", "1,3,1,3"][..],
        &["reproduce", "chains", "--quick", "--budget", "1s", "--", "8", "1", "3", "1", "3"],
    ] {
        let (out, _) = place.expect(arguments, 0);
        let alignments: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("align=")).collect();
        assert_eq!(alignments.len(), 8, "{out}");
        assert!(alignments.iter().all(|line| line.split(',').count() == 4), "{out}");
        let sums: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("sum:")).collect();
        assert_eq!(sums.len(), 8);
        for line in sums {
            let values: Vec<&str> =
                line.split_whitespace().filter_map(|pair| pair.split('=').nth(1)).collect();
            assert!(values.len() >= 3 && values.iter().all(|value| *value == values[0]), "{line}");
        }
        // The claims are about the nine chains.
        assert!(!out.contains("verdict"), "{out}");
    }
    let (out, _) = place.expect(&["rerun", "2", "--quiet"], 0);
    assert_eq!(out.lines().filter(|line| line.starts_with("align=")).count(), 8, "{out}");
}

#[test]
fn bad_input_is_an_error_that_names_the_word() {
    let place = Place::new();
    for (arguments, wanted) in [
        (&["reproduce", "csum4"][..], &["'csum4'", "'csum40'", "zeroing", "chains"][..]),
        (&["reproduce", "all", "nothing"], &["'nothing'", "csum40"]),
        (&["reproduce", "chains", "--chain", "1,0,3"], &["'0'"]),
        (&["reproduce", "chains", "--chain", "1,-3"], &["'-3'"]),
        (&["reproduce", "chains", "--chain", "1G,1"], &["1 GiB"]),
        (&["reproduce", "chains", "--chain", "many"], &["'many'"]),
        (&["reproduce", "chains", "--", "8", "1", "0"], &["'0'"]),
        (&["reproduce", "chains", "--", "8", "-1"], &["'-1'"]),
        (&["reproduce", "chains", "--", "8", "600M", "600M"], &["1 GiB"]),
        (&["reproduce", "chains", "--", "0", "1"], &["'0'", "repeats"]),
        (&["reproduce", "chains", "--", "8"], &["8", "length"]),
        (&["reproduce", "csum40", "--chain", "1,3"], &["chains"]),
        (&["reproduce", "csum40", "--budget", "soon"], &["soon"]),
        (&["reproduce", "csum40", "--cpu", "9999"], &["9999"]),
        (&["reproduce", "--from", "77"], &["77"]),
    ] {
        let (out, err) = place.expect(arguments, 2);
        assert_eq!(out, "", "{arguments:?} prints a result");
        for word in wanted {
            assert!(err.contains(word), "{arguments:?}: no {word} in: {err}");
        }
    }
    place.expect(&crate::support::short(&["measure", "--variants", "zero/sse2"]), 0);
    let (_, err) = place.expect(&["reproduce", "--from", "1"], 2);
    assert!(err.contains("run 1"), "{err}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_feature_that_the_cpu_lacks_is_a_row_with_the_reason() {
    let place = Place::new();
    let output = place
        .command(&["reproduce", "csum40", "--quick", "--budget", "1s", "--format", "json"])
        .env("CARRYLINE_MASK", "adx")
        .output()
        .expect("the command starts");
    let (out, err) = crate::support::texts(&output);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let run: Value = serde_json::from_str(&out).expect("JSON");
    let without = claim(&run["experiments"][0], "adx-pays");
    assert_eq!(without["verdict"], "cannot be measured here");
    assert!(without["why"].as_str().is_some_and(|why| why.contains("adx")), "{without}");
    assert_ne!(claim(&run["experiments"][0], "odd-addresses-are-slow")["verdict"], "cannot be measured here");
}

/// The answers of a planted probe, and how its worker ends.
fn planted(fate: &str) -> (Vec<ProbeAnswer>, End) {
    let supervisor = Supervisor {
        program: env!("CARGO_BIN_EXE_carryline").into(),
        patience: Duration::from_secs(3),
        environment: Vec::new(),
    };
    let job = ProbeJob {
        name: if fate == "unknown" { "no such special" } else { "planted" }.to_owned(),
        parameters: serde_json::json!({ "fate": fate }),
        replicate: 0,
        seed: 1,
        total_ms: 50,
        cpu: None,
        caches: CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 8 << 20, l3_held: None },
    };
    let mut answers = Vec::new();
    let end = supervisor.run(job, 0, &|| false, &mut |answer| answers.push(answer)).expect("a worker");
    (answers, end)
}

#[test]
fn a_probe_that_dies_costs_only_its_own_rounds() {
    let rounds = |answers: &[ProbeAnswer]| {
        answers.iter().filter(|answer| matches!(answer, ProbeAnswer::Round(_))).count()
    };
    let (answers, end) = planted("good");
    assert_eq!(end, End::Done);
    assert!(rounds(&answers) >= 3);
    assert!(answers.iter().any(|m| matches!(m, ProbeAnswer::End { facts, .. } if facts["rounds"].is_u64())));
    let (answers, end) = planted("crash");
    assert!(matches!(end, End::Crashed { .. }), "{end:?}");
    assert_eq!(rounds(&answers), 2);
    let (answers, end) = planted("hang");
    assert!(matches!(end, End::TimedOut { .. }), "{end:?}");
    assert_eq!(rounds(&answers), 2);
    for (fate, reason) in [("impossible", "planted"), ("unknown", "no such special")] {
        let (answers, end) = planted(fate);
        assert_eq!(end, End::Done, "{fate}");
        let said = |m: &ProbeAnswer| matches!(m, ProbeAnswer::Impossible { reason: r } if r.contains(reason));
        assert!(answers.iter().any(said), "{fate}: {answers:?}");
    }
}
