//! `compare`, `gate`, `export`, `schema`: what uses stored runs.

use crate::support::{Place, SHORT, assert_described};
use serde_json::Value;
use std::process::Command;
use std::sync::OnceLock;

/// A folder with two runs of one plan and one of another. They are measured once; every test gets a copy of the store.
fn with_runs() -> Place {
    static STORE: OnceLock<Vec<u8>> = OnceLock::new();
    let store = "runs.sqlite";
    let bytes = STORE.get_or_init(|| {
        let place = Place::new();
        for (family, label) in [("checksum", "before"), ("checksum", "after"), ("zero", "other")] {
            let options = ["measure", "--family", family, "--sizes", "40", "--label", label];
            let named = ["--variants", "carryline,reference", "--db", store];
            place.json(&[&options[..], &named, &SHORT].concat());
        }
        std::fs::read(place.file(store)).expect("the store")
    });
    let place = Place::new();
    let folder = place.file("data/carryline");
    std::fs::create_dir_all(&folder).expect("a folder for the store");
    std::fs::write(folder.join("carryline.sqlite"), bytes).expect("a copy of the store");
    place
}

#[test]
fn runs_are_compared_by_number_hash_or_file() {
    let place = with_runs();
    let history = place.json(&["history"]);
    let first = history["runs"].as_array().and_then(|runs| runs.last()).expect("a run");
    assert_eq!((&first["id"], &first["label"]), (&1.into(), &"before".into()));
    let hash = first["content_hash"].as_str().expect("a hash").to_owned();

    let itself = place.json(&["compare", "1", &hash[..10]]);
    assert_eq!((&itself["verdict"], &itself["others"][0]["pairing"]), (&"same".into(), &"identical".into()));
    for cell in itself["cells"].as_array().expect("cells") {
        assert_eq!((&cell["verdict"], &cell["ratio"]["median"]), (&"same".into(), &1.0.into()));
    }
    let two = place.json(&["compare", "1", "2"]);
    // The two that were named, and the family's baseline.
    assert_eq!(two["cells"].as_array().map(Vec::len), Some(3));
    assert_eq!(two["others"][0]["pairing"], "none");
    let (text, _) = place.expect(&["compare", "1", "2", "--full"], 0);
    assert!(text.contains("run 1 (") && text.contains("before") && text.contains("overall: "), "{text}");

    place.expect(&["export", "2", "--to", "json", "--raw", "--output", "two.json"], 0);
    let file = place.json(&["compare", "two.json", "2"]);
    assert_eq!(file["verdict"], "same", "a run's file is the run");
    let whole: Value =
        serde_json::from_slice(&std::fs::read(place.file("two.json")).expect("written")).expect("JSON");
    crate::support::assert_described(&whole);
    let mut changed = whole;
    changed["rounds"][0]["null_ticks"] = 1.5.into();
    place.write("changed.json", changed.to_string().as_bytes());
    let (_, err) = place.expect(&["compare", "changed.json", "2"], 2);
    assert!(err.contains("changed.json was modified"), "{err}");
}

#[test]
fn unlike_runs_are_refused_with_what_differs() {
    let place = with_runs();
    let (_, err) = place.expect(&["compare", "1", "3"], 6);
    assert!(err.contains("situations: none is in both runs") && err.contains("--force"), "{err}");
    let (out, err) = place.expect(&["compare", "1", "3", "--force"], 6);
    assert!(out.is_empty() && err.contains("nothing can be compared"), "{out}{err}");

    place.expect(&["export", "1", "--to", "json", "--raw", "--output", "one.json"], 0);
    let text = std::fs::read_to_string(place.file("one.json")).expect("written");
    let mut other: Value = serde_json::from_str(&text).expect("JSON");
    other["environment"]["cpu"]["vendor"] = "Zilog".into();
    other["environment"]["build"]["compiler"] = "rustc 9".into();
    place.write("z80.json", other.to_string().as_bytes());
    for command in [&["compare", "z80.json", "1"][..], &["gate", "z80.json", "--budget", "1s"]] {
        let (_, err) = place.expect(command, 6);
        assert!(
            err.contains("CPU vendor: Zilog against ") && err.contains("compiler: rustc 9 against "),
            "{err}"
        );
    }
    let forced = place.json(&["compare", "z80.json", "1", "--force"]);
    assert_eq!(forced["others"][0]["unlike"].as_array().map(Vec::len), Some(2));

    place.expect(&["export", "1", "--to", "json", "--raw", "--redact", "--output", "redacted.json"], 0);
    let redacted: Value =
        serde_json::from_slice(&std::fs::read(place.file("redacted.json")).expect("written")).expect("JSON");
    crate::support::assert_described(&redacted);
    assert!(redacted["environment"]["cpu"].get("brand").is_none() && redacted["redacted"] == true);
    place.expect(&["compare", "redacted.json", "1"], 6);
}

/// Stored words whose meaning changed: what `random` and `arena` were called is stored for what they meant then.
#[test]
fn files_of_former_conditions_are_not_compared_with_todays() {
    let place = Place::new();
    let conditions = ["--offsets", "random", "--cache", "hot,cold:arena"];
    let named =
        ["measure", "--family", "zero", "--sizes", "1500", "--variants", "carryline", "--db", "one.sqlite"];
    place.json(&[&named[..], &conditions, &SHORT].concat());
    let export = ["export", "1", "--to", "json", "--raw", "--output", "new.json", "--db", "one.sqlite"];
    place.expect(&export, 0);
    let text = std::fs::read_to_string(place.file("new.json")).expect("written");
    let write = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut run: Value = serde_json::from_str(&text).expect("JSON");
        run.as_object_mut().expect("a run").remove("content_hash");
        for situation in run["plan"]["situations"].as_array_mut().expect("situations") {
            change(&mut situation["condition"]);
        }
        place.write(name, run.to_string().as_bytes());
    };
    write("same.json", &|_| {});
    write("arena.json", &|condition| {
        if condition["cache"]["method"] == "arena_in_turn" {
            condition["cache"]["method"] = "arena".into();
        }
    });
    write("random.json", &|condition| condition["offsets"] = "random".into());
    let names = |run: &Value| run["cells"].to_string();
    let same = place.json(&["compare", "same.json", "new.json"]);
    assert!(names(&same).contains("cold:arena independent"), "{same}");
    // Of the arena's figures there are none to compare.
    let some = place.json(&["compare", "arena.json", "new.json"]);
    assert!(names(&some).contains(" hot ") && !names(&some).contains("cold:arena"), "{some}");
    let itself = place.json(&["compare", "arena.json", "arena.json"]);
    assert!(names(&itself).contains("cold:arena-reused"), "{itself}");
    let (_, err) = place.expect(&["compare", "random.json", "new.json"], 6);
    assert!(err.contains("none is in both runs"), "{err}");
    let (_, err) = place.expect(&["gate", "arena.json", "--budget", "2s"], 6);
    assert!(err.contains("measure a new base") && err.contains("cold:arena-reused"), "{err}");
    let gated = place.command(&["gate", "random.json", "--budget", "2s", "--format", "json"]).output();
    let (out, err) = crate::support::texts(&gated.expect("a gate"));
    assert!(out.contains("offset random-line hot") && !out.contains("offset random hot"), "{out}{err}");
}

#[test]
fn a_word_that_names_no_run_is_an_error_with_the_remedy() {
    let place = with_runs();
    for (arguments, words) in [
        (&["compare", "1", "77"][..], &["77"][..]),
        (&["compare", "1", "abcdef"], &["abcdef", "history"]),
        (&["compare", "1", "nothing.json"], &["nothing.json", "cannot be read"]),
        (&["compare", "1"], &["2 values"]),
        (&["export", "1", "--to", "xml"], &["xml", "jsonl"]),
        (&["export", "1", "--to", "go", "--raw"], &["--raw", "csv"]),
        (&["export", "abc", "--to", "go"], &["abc", "history"]),
        (&["gate", "1", "--fail-if", "3%"], &["slower:3%"]),
        (&["gate", "1", "--against", "nowhere"], &["nowhere"]),
        (&["gate", "1", "--variants", "nope"], &["nope"]),
        (&["schema", "runs"], &["'run'"]),
        (&["measure", "--variants", "zero/nope*"], &["nope*"]),
    ] {
        let (_, err) = place.expect(arguments, 2);
        assert!(words.iter().all(|word| err.contains(word)), "{arguments:?}: {err}");
    }
}

/// The answer to a gate that nothing can fail. On a busy machine the few replicates of a short run may differ so
/// much that even its limit is undecided.
fn gate(place: &Place, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--format", "json"]).collect();
    let output = place.run(&arguments);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer in JSON");
    assert_described(&answer);
    let status = match answer["answer"].as_str() {
        Some("held") => 0,
        Some("undecided") => 5,
        other => panic!("{other:?}"),
    };
    assert_eq!(output.status.code(), Some(status), "{answer}");
    answer
}

#[test]
fn a_gate_answers() {
    let place = with_runs();
    let own = env!("CARGO_BIN_EXE_carryline");
    let limit = ["--fail-if", "slower:1000%", "--budget", "8s"];
    let held = gate(&place, &[&["gate", "1"][..], &limit].concat());
    assert_eq!(held["cells"][0]["variant"], "carryline");
    let turns = gate(&place, &[&["gate", "1", "--against", own, "--annotate"][..], &limit].concat());
    assert_eq!(turns["pairing"], "replicates");
    assert_eq!(turns["cells"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_rerun_ends_with_the_comparison() {
    let place = with_runs();
    let again = place.json(&["rerun", "1"]);
    assert_eq!(again["comparison"]["base"]["run_id"], 1);
    assert_eq!(again["comparison"]["cells"].as_array().map(Vec::len), Some(3));
}

#[test]
fn every_cheap_output_has_its_schema() {
    let place = with_runs();
    for arguments in [
        &["list"][..],
        &["machine"],
        &["machine", "--redact"],
        &["explain"],
        &["explain", "W01"],
        &["schema"],
        &["reproduce", "--list"],
        &["history", "--show", "1"],
        &["measure", "--plan", "--sizes", "40"],
        &["critical", "adc_1_stream", "--size", "40", "--no-measure", "--no-opinion"],
    ] {
        let object = place.json(arguments);
        let (schema, _) = place.expect(&["schema", object["schema"].as_str().expect("a name")], 0);
        assert!(schema.contains("https://json-schema.org/"), "{arguments:?}");
    }
}

#[test]
fn benchstat_reads_the_go_text() {
    if Command::new("benchstat").arg("-h").output().is_err() {
        eprintln!("skipped: there is no benchstat");
        return;
    }
    let place = with_runs();
    place.expect(&["export", "1", "--to", "go", "--output", "one.txt"], 0);
    place.expect(&["export", "2", "--to", "go", "--output", "two.txt"], 0);
    for arguments in [&["-col", "/variant", "one.txt"][..], &["one.txt", "two.txt"]] {
        let output =
            Command::new("benchstat").args(arguments).current_dir(place.path()).output().expect("it starts");
        let (out, err) = crate::support::texts(&output);
        assert!(output.status.success(), "{err}");
        assert!(out.contains("ticks/op") && out.contains("Checksum/"), "{out}");
        assert!(!err.contains("parse"), "{err}");
    }
}
