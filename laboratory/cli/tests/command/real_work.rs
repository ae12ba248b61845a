//! `carryline reproduce real-work`: with an interposer beside the program, without one, and without anything to run.
#![cfg(target_os = "linux")]

use crate::support::{Place, texts};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// A copy of the command in its own folder, with the interposer beside it if wanted.
fn installed(place: &Place, interposer: bool) -> PathBuf {
    let folder = place.file("installed");
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("carryline");
    // By another process: a descriptor for writing in this one would be inherited by what a test beside this one starts
    // just then, and the program could not be run ("text file busy").
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_carryline")).arg(&program).status();
    assert!(copied.is_ok_and(|status| status.success()), "a copy");
    if interposer {
        let built = xtask::preload().expect("the interposer can be built");
        std::fs::copy(built, folder.join("libcarryline-preload.so")).expect("a copy");
    }
    program
}

fn experiment(command: &mut Command, place: &Place) -> Value {
    let output = command
        .args(["reproduce", "real-work", "--quick", "--budget", "2s", "--no-save", "--format", "json"])
        .current_dir(place.path())
        .output()
        .expect("the command starts");
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{out}\n{err}");
    let run: Value = serde_json::from_str(&out).expect("JSON");
    run["experiments"][0].clone()
}

fn verdicts(experiment: &Value) -> Vec<String> {
    let claims = experiment["claims"].as_array().expect("claims");
    claims.iter().filter_map(|claim| claim["verdict"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_job_is_found_and_compared() {
    let place = Place::new();
    let found = experiment(&mut Command::new(installed(&place, true)), &place);
    assert_eq!(verdicts(&found).len(), 3);
    assert!(!verdicts(&found).iter().any(|verdict| verdict == "cannot be measured here"), "{found}");
    let tables = found["tables"].as_array().expect("tables");
    assert_eq!(tables.len(), 2);
    assert_eq!(tables[0]["rows"][0][0], "real time");
    assert_eq!(tables[0]["rows"][0][2], 1943.14);
    assert!(tables[0]["rows"][0][5]["value"].as_f64().is_some_and(|seconds| seconds > 0.0), "{}", tables[0]);
    let notes = found["notes"].to_string();
    assert!(notes.contains("The job: ") && notes.contains("calls in one run"), "{notes}");
}

#[test]
fn without_an_interposer_or_a_job_the_reason_is_shown() {
    let place = Place::new();
    let found = experiment(&mut Command::new(installed(&place, false)), &place);
    assert!(verdicts(&found).iter().all(|verdict| verdict == "cannot be measured here"), "{found}");
    let notes = found["notes"].to_string();
    assert!(notes.contains("libcarryline-preload.so"), "{notes}");
    assert!(!notes.contains(&*place.path().to_string_lossy()), "no paths of the machine: {notes}");

    let found = experiment(Command::new(installed(&place, true)).env("PATH", place.path()), &place);
    assert!(verdicts(&found).iter().all(|verdict| verdict == "cannot be measured here"), "{found}");
    assert!(found["notes"].to_string().contains("'sort'"), "{found}");
}
