//! `carryline critical` as a user runs it: what is predicted, drawn, measured and suggested.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use crate::support::Place;
use serde_json::Value;

/// The JSON that a command prints.
fn json(place: &Place, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--format", "json", "--quiet"]).collect();
    let (out, _) = place.expect(&arguments, 0);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

fn input<'a>(found: &'a Value, name: &str) -> &'a Value {
    let inputs = found["inputs"].as_array().expect("a list");
    inputs.iter().find(|input| input["name"] == name).unwrap_or_else(|| panic!("no {name} in {inputs:?}"))
}

#[test]
fn a_variant_is_predicted_from_this_programs_own_code() {
    let place = Place::new();
    let found = json(
        &place,
        &["critical", "two_streams_article", "--no-measure", "--microarchitecture", "skylake_x"],
    );
    assert_eq!(found["variant"], "two_streams_article");
    // add, adc, adc; then shr, add, adc.
    assert_eq!(input(&found, "sum")["path_cycles"], 6.0);
    // A load, add, adc, and in the article's form an add again, adc; adc, adc; then the fold.
    assert_eq!(input(&found, "data")["path_cycles"], 14.0);
    assert!(input(&found, "len")["path_cycles"].is_null());
    assert!(found["recurrence_cycles"].is_null());
    assert_eq!(found["binding"], "latency");
    assert!(found["throughput_cycles"].as_f64().expect("a number") > 1.0);
    assert!(found["latencies"]["adc"].as_str().expect("a source").contains("uops.info"), "{found}");
    assert!(found["measured"].is_null());
}

#[test]
fn the_latencies_of_any_instructions_follow_the_schema() {
    let place = Place::new();
    // `json` of the place compares with the schema.
    for of in
        [&["adc_1_stream"][..], &["checksum/avx2"], &["--bytes", "4889f8c3"], &["zero/sse2", "copy/sse2"]]
    {
        place.json(&[&["critical"], of, &["--no-measure"]].concat());
    }
}

#[test]
fn a_call_of_a_size_is_followed_and_its_loop_found() {
    let place = Place::new();
    let arguments = ["critical", "adc_1_stream", "--no-measure", "--microarchitecture", "zen4", "--suggest"];
    let found = json(&place, &arguments);
    if found["scope"] != "trace" {
        // Some emulators do not stop after single instructions; then the code is analysed as a whole.
        assert!(found["notes"].to_string().contains("followed"), "{found}");
        return;
    }
    // Four words and one, each chain closed, and the fold: 5 + 2 + 3.
    assert_eq!(input(&found, "sum")["path_cycles"], 10.0);
    assert_eq!(found["recurrence_cycles"], 9.0);
    assert_eq!(found["loops"][0]["bytes_per_iteration"], 64);
    let suggested = found["suggestions"].as_array().expect("a list");
    assert!(!suggested.is_empty());
    for suggestion in suggested {
        let bounds = suggestion["bounds"].as_array().expect("a list");
        assert!(
            bounds.iter().any(|bound| bound["after"].as_f64() < bound["before"].as_f64()),
            "{suggestion}"
        );
    }
    // Nothing of where this process was loaded is in the text.
    let undated = |mut object: Value| {
        object["date"].take();
        object
    };
    assert_eq!(undated(found), undated(json(&place, &arguments)));
}

#[test]
fn measured_times_are_shown_beside_the_bounds() {
    let place = Place::new();
    let found = json(&place, &["critical", "adc_1_stream", "--budget", "1s", "--replicates", "1"]);
    for dependence in ["chained", "independent", "fenced"] {
        assert!(found["measured"][dependence].is_number(), "{}", found["measured"]);
        assert!(found["bounds"][dependence].is_number(), "{}", found["bounds"]);
        assert!(found["unexplained"][dependence].is_number(), "{}", found["unexplained"]);
    }
}

#[test]
fn several_routines_make_a_table_and_a_drawing_each() {
    let place = Place::new();
    let arguments =
        ["critical", "adc_1_stream", "adc_2_streams", "--no-measure", "--svg", "f.svg", "--dot", "f.dot"];
    let (out, _) = place.expect(&arguments, 0);
    assert!(out.contains("checksum/adc_2_streams, 40 bytes"), "{out}");
    assert!(out.contains("predicted and measured"), "{out}");
    for file in ["f-adc_1_stream.svg", "f-adc_2_streams.svg", "f-adc_1_stream.dot"] {
        let text =
            std::fs::read_to_string(place.file(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(text.contains("adc rax, [rdi+8]") || text.contains("adc r"), "{file}: {text}");
    }
}

#[test]
fn drawings_of_routines_with_one_name_have_their_families() {
    let place = Place::new();
    place
        .expect(&["critical", "zero/sse2", "copy/sse2", "adc_1_stream", "--no-measure", "--dot", "f.dot"], 0);
    for (file, is_there) in [
        ("f-zero-sse2.dot", true),
        ("f-copy-sse2.dot", true),
        ("f-adc_1_stream.dot", true),
        ("f-sse2.dot", false),
    ] {
        assert_eq!(place.file(file).is_file(), is_there, "{file}");
    }
}

#[test]
fn functions_of_objects_and_bytes_are_analysed_too() {
    let place = Place::new();
    place.shared_object("mine", crate::support::RIGHT_SUM);
    let found =
        json(&place, &["critical", "--object", "mine.so", "--symbol", "my_sum", "--family", "checksum"]);
    assert_eq!(found["variant"], "my_sum");
    assert_eq!(found["scope"], "branching");
    assert!(!found["loops"].as_array().expect("a list").is_empty());
    let bytes =
        json(&place, &["critical", "--bytes", "48 01 f8 48 83 d0 00 c3", "--microarchitecture", "zen4"]);
    assert_eq!(input(&bytes, "rdi")["path_cycles"], 2.0);
}

#[test]
fn an_indirect_jump_ends_the_analysis_with_a_note() {
    let (out, _) = Place::new().expect(&["critical", "--bytes", "48 01 f7 ff e0"], 0);
    assert!(out.contains("0x3") && out.contains("indirect jump"), "{out}");
}

#[test]
fn what_looks_contradictory_is_explained() {
    let place = Place::new();
    let (out, _) = place.expect(&["critical", "adc_1_stream", "--budget", "1s", "--replicates", "1"], 0);
    if out.contains('*') && out.contains("operations a call") {
        assert!(out.contains("* the ports that start the most operations"), "{out}");
    }
    let row = out.lines().find(|line| line.starts_with("fenced ")).expect("a row");
    let figures: Vec<f64> =
        row.split_whitespace().skip(1).map(|word| word.parse().unwrap_or(f64::NAN)).collect();
    let (bound, measured) = (figures[0], figures[2]);
    assert_eq!(out.contains("below its bound"), measured < bound, "{out}");
}
