//! `carryline report`: the page of a stored run.

use crate::support::{Place, RIGHT_SUM, SHORT, short, texts};

#[test]
fn a_stored_run_has_a_page_with_its_samples_and_the_code_of_this_build() {
    let place = Place::new();
    place.shared_object("mine", RIGHT_SUM);
    let measured =
        ["measure", "--variants", "checksum/adc_1_stream,checksum/adc_2_streams", "--sizes", "40,1500"];
    let arguments = [&measured[..], &["--plugin", "./mine.so:my_sum:checksum", "--label", "first"]].concat();
    place.expect(&short(&arguments), 0);
    let page = place.json(&["report"]);
    assert_eq!(
        (&page["run_id"], &page["situations"], &page["rows"]),
        (&1.into(), &2.into(), &6.into()),
        "{page}"
    );
    assert_eq!(page["file"], "run-1.html");
    let html = std::fs::read_to_string(place.file("run-1.html")).expect("a page");
    assert_eq!(page["bytes"], html.len());
    for wanted in [
        "trust: ",
        "first",
        "samples of 2 processes",
        &format!("--label first {} --seed ", SHORT.join(" ")),
        "id=\"checksum-1500-",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
    assert!(html.contains("the routine is not one of this command"), "the plug-in");
    if page["no_code"].is_null() {
        assert!(page["listings"].as_u64() > Some(0), "{page}");
        assert!(html.contains("adc") && html.contains("bound by"), "the machine code");
    }

    // Without what identifies the machine, where it was asked for, and in another unit.
    let (out, _) = place.expect(&["report", "1", "--output", "bare.html", "--redact", "--unit", "ns"], 0);
    assert_eq!(out, "bare.html\n");
    let bare = std::fs::read_to_string(place.file("bare.html")).expect("a page");
    assert!(bare.contains("gross ns") && bare.contains("description was left out"), "redacted");
    assert!(!bare.contains("./mine.so"), "redacted");
    let machine = place.json(&["machine"]);
    if let Some(brand) = machine["environment"]["cpu"]["brand"].as_str() {
        assert!(html.contains(brand) && !bare.contains(brand), "{brand}");
    }
}

#[test]
fn what_has_no_page_is_refused_with_the_remedy() {
    let place = Place::new();
    let (_, err) = place.expect(&["report"], 2);
    assert!(err.contains("no run is stored") && err.contains("--report page.html"), "{err}");
    place.expect(&short(&["measure", "--variants", "zero/sse2"]), 0);
    for (arguments, words) in [
        (&["report", "77"][..], &["77"][..]),
        (&["report", "abc"], &["abc", "history"]),
        (&["report", "1", "--output", "no/such/folder/a.html"], &["no/such/folder/a.html"]),
        (&["report", "1", "--unit", "tick"], &["tick", "ticks"]),
    ] {
        let output = place.run(arguments);
        let (_, err) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(words.iter().all(|word| err.contains(word)), "{arguments:?}: {err}");
    }
    assert!(!place.file("run-1.html").exists());
}
