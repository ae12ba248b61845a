//! Folders and names of users: what is exported with `--redact` has none, and runs below the home folder can be repeated.

use crate::support::{Place, short};
use std::process::Command;

/// A run of a capture and with a database in folders whose names nobody else shall see.
fn with_private_run() -> Place {
    let place = Place::new();
    for folder in ["a b/secret", "Jane Doe"] {
        std::fs::create_dir_all(place.file(folder)).expect("a folder");
    }
    place.write("a b/secret/x.pcap", &crate::support::capture());
    let (sizes, db) =
        (format!("capture:{}", place.file("a b/secret/x.pcap").display()), place.file("Jane Doe/r.sqlite"));
    let db = db.to_string_lossy();
    let measured =
        short(&["measure", "--variants", "checksum/avx2", "--sizes", &sizes, "--db", &db, "--redact"]);
    let arguments = [&measured[..], &["--report", "measured.html"]].concat();
    place.expect(&arguments, 0);
    place
}

#[test]
fn redacted_results_name_no_folders() {
    let place = with_private_run();
    let db = ["--db", "Jane Doe/r.sqlite", "--redact"];
    let private = ["secret", "Jane", "a b/"];
    let without = |what: &str, text: &str| {
        for word in private {
            assert!(!text.contains(word), "{what}: {word} in {text}");
        }
        assert!(text.contains("capture:x.pcap"), "{what}: {text}");
    };
    for format in ["json", "csv", "markdown", "go", "bmf", "jsonl"] {
        let raw = if ["json", "csv", "jsonl"].contains(&format) { &["--raw"][..] } else { &[] };
        let (out, _) = place.expect(&[&["export", "1", "--to", format], raw, &db].concat(), 0);
        without(format, &out);
    }
    let (page, _) = place.expect(&[&["report", "1", "--output", "-"], &db[..]].concat(), 0);
    assert!(page.starts_with("<!DOCTYPE html>") && !place.file("-").exists(), "'-' is standard output");
    without("report", &page);
    let measured = std::fs::read_to_string(place.file("measured.html")).expect("a page");
    without("measure --report", &measured);
    let (history, _) = place.expect(&[&["history", "--format", "json"], &db[..]].concat(), 0);
    without("history", &history);
    place.expect(&["export", "1", "--to", "csv", "--output", "-", "--db", "Jane Doe/r.sqlite"], 0);
    assert!(!place.file("-").exists(), "'-' is standard output");
}

#[test]
fn a_run_below_the_home_folder_is_repeated_and_its_command_can_be_pasted() {
    let place = with_private_run();
    let (out, _) = place.expect(&["history", "--db", "Jane Doe/r.sqlite"], 0);
    let (_, command) = out.split_once("     carryline ").expect("a command");
    let shell = |command: &str| {
        let script = format!("printf '%s\\n' {command}");
        let words = Command::new("sh").args(["-c", &script]).env("HOME", place.path()).output();
        String::from_utf8_lossy(&words.expect("a shell").stdout).into_owned()
    };
    let words = shell(&command.replace("\n      ", " "));
    for word in [
        format!("capture:{}", place.file("a b/secret/x.pcap").display()),
        place.file("Jane Doe/r.sqlite").display().to_string(),
    ] {
        assert!(words.lines().any(|line| line == word), "{word}: {words}");
    }
    // The store that is named now is used, wherever the run's was.
    std::fs::rename(place.file("Jane Doe/r.sqlite"), place.file("moved.sqlite")).expect("moved");
    let again = place.json(&["rerun", "1", "--db", "moved.sqlite"]);
    assert_eq!(again["cells"][0]["status"], "ok", "{again}");
    assert!(!place.file("Jane Doe/r.sqlite").exists());
    let (_, err) = place.expect(&["rerun", "1", "--db", "moved.sqlite", "--seed", "3"], 2);
    assert!(err.contains("--db ~/'Jane Doe/r.sqlite'") && err.ends_with("--seed 3\n"), "{err}");
}
