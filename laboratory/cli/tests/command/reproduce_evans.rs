//! The experiments after evans-2003 and evans-2018: output and preparation. No test depends on a time.

use crate::support::Place;
use serde_json::Value;

/// Runs these experiments with hardly any time.
fn run(place: &Place, ids: &[&str]) -> Value {
    let arguments: Vec<&str> = ["reproduce"]
        .into_iter()
        .chain(ids.iter().copied())
        .chain(["--quick", "--budget", "1s", "--no-save"])
        .collect();
    place.json(&arguments)
}

fn experiment<'v>(run: &'v Value, id: &str) -> &'v Value {
    let all = run["experiments"].as_array().expect("experiments");
    all.iter().find(|experiment| experiment["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

/// The rows of the table whose title begins so.
fn rows<'v>(experiment: &'v Value, title: &str) -> &'v Vec<Value> {
    let tables = experiment["tables"].as_array().expect("tables");
    let begins = |table: &&Value| table["title"].as_str().is_some_and(|text| text.starts_with(title));
    tables
        .iter()
        .find(begins)
        .and_then(|table| table["rows"].as_array())
        .unwrap_or_else(|| panic!("no {title}"))
}

/// A figure, or nothing where the experiment has none of that name.
fn figure<'v>(experiment: &'v Value, name: &str) -> Option<&'v Value> {
    experiment["figures"].as_array()?.iter().find(|figure| figure["name"] == name)
}

#[test]
fn memory_is_read_and_written_and_compared_with_the_maximum() {
    let place = Place::new();
    let run = run(&place, &["bandwidth", "page-colour"]);
    let bandwidth = experiment(&run, "bandwidth");
    let notes = bandwidth["notes"].to_string();
    // A machine with too little memory says so.
    if let Some(most) = figure(bandwidth, "the most on the bus") {
        assert!(notes.contains("MiB, written before"), "{notes}");
        assert_eq!(rows(bandwidth, "Never cached").len(), 7);
        let read = figure(bandwidth, "read, on the bus").expect("reads");
        assert!(most["value"].as_f64() >= read["value"].as_f64(), "{most} is less than {read}");
    } else {
        assert!(notes.contains("memory"), "{notes}");
    }
    let colour = experiment(&run, "page-colour");
    let notes = colour["notes"].to_string();
    let seen = figure(colour, "write, frames in order").is_some();
    assert!(
        seen || notes.contains("pagemap") || notes.contains("memory") || notes.contains("4096"),
        "{notes}"
    );
    assert!(!seen || notes.contains("right after another"), "{notes}");
    let real = colour["claims"].as_array().and_then(|claims| claims.last()).expect("a claim");
    assert_eq!(real["verdict"], "cannot be measured here");
}

#[test]
fn shares_of_dirty_blocks_and_their_break_even_are_printed() {
    let place = Place::new();
    let run = run(&place, &["dirty-check"]);
    let dirty = experiment(&run, "dirty-check");
    for state in ["hot", "cold"] {
        let rows = rows(dirty, &format!("A page of 4 KB, {state}"));
        assert_eq!((&rows[0][0], &rows[rows.len() - 1][0]), (&"0".into(), &"128".into()));
        let note = dirty["notes"].as_array().expect("notes").iter().filter_map(Value::as_str);
        assert!(note.into_iter().any(|text| text.starts_with(state) && text.contains("stosl")), "{dirty}");
    }
    assert_eq!(dirty["plots"].as_array().map(Vec::len), Some(2));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn every_string_instruction_has_a_line_with_its_three_figures() {
    let place = Place::new();
    let run = run(&place, &["string-startup", "small-copy"]);
    let strings = experiment(&run, "string-startup");
    for instruction in ["movsb", "movsq", "stosb", "stosq"] {
        for alignment in ["aligned", "misaligned"] {
            let of = |what: &str| {
                let name = format!("{instruction}, {alignment}, {what}");
                let found = figure(strings, &name).unwrap_or_else(|| panic!("no {name}"));
                found["value"].as_f64().expect("a number")
            };
            assert!(
                of("start-up").is_finite() && of("rate").is_finite() && of("half-performance").is_finite()
            );
        }
    }
    assert_eq!(rows(strings, "T(n)").len(), 10);
    assert!(strings["plots"].to_string().contains("the line of movsb"));
    let copies = experiment(&run, "small-copy");
    for mode in ["independent", "chained", "missing"] {
        assert!(figure(copies, &format!("64-bit registers, {mode}")).is_some(), "{mode}");
    }
    assert!(figure(copies, "rep movsb, random").is_none(), "its length is fixed");
}

#[test]
fn system_calls_enter_the_kernel_and_the_ladder_has_its_rungs() {
    let place = Place::new();
    let run = run(&place, &["syscall", "latency"]);
    let calls = experiment(&run, "syscall");
    let value =
        |name: &str| figure(calls, name).and_then(|figure| figure["value"].as_f64()).expect("a figure");
    let (ns, rate) = (value("getppid, ns"), value("getppid, million a second"));
    assert!((ns * rate / 1e3 - 1.0).abs() < 0.01, "{ns} ns are not {rate} million a second");
    let latency = experiment(&run, "latency");
    let ladder: Vec<f64> =
        rows(latency, "The ladder").iter().map(|row| row[0].as_f64().expect("bytes")).collect();
    assert_eq!(ladder[0], 4096.0);
    assert!(ladder.windows(2).all(|pair| pair[0] < pair[1]), "{ladder:?}");
    let levels: Vec<&Value> = rows(latency, "By level").iter().map(|row| &row[0]).collect();
    assert_eq!(levels, ["L1", "L2", "L3", "memory", "in steps of 128 bytes"]);
    assert!(latency["plots"].to_string().contains("4 KB pages"));
    let notes = latency["notes"].to_string();
    let last = ladder.last().copied().unwrap_or_default() as u64;
    assert!(
        figure(latency, &format!("huge pages, {last}")).is_some() || notes.contains("huge pages"),
        "{notes}"
    );
}
