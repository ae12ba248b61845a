//! The command line: what it refuses, and the plan of a run.

use std::process::{Command, Output};

fn benchmarks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_benchmarks")).args(arguments).output().expect("cargo has built it")
}

#[test]
fn unusable_arguments_end_with_2_and_name_what_is_wrong() {
    for (arguments, words) in [
        (&["run", "--only", "chekcsum"][..], "'chekcsum'; did you mean 'checksum'"),
        (&["show", "--only", "checksum-1501"], "'checksum-1501'"),
        (&["run", "--budget", "soon"], "60s or 5m"),
        (&["run", "--budget", "0"], "between a second and a day"),
        (&["measure"], "measure"),
    ] {
        let output = benchmarks(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(words), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn what_is_not_there_ends_with_1_and_is_named() {
    for arguments in [
        &["show", "--db", "/nonexistent/x.sqlite"][..],
        &["write", "--db", "/nonexistent/x.sqlite"],
        &["run", "--carryline", "/nonexistent/carryline", "--db", "/nonexistent/x.sqlite"],
    ] {
        let output = benchmarks(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains("/nonexistent/"), "{arguments:?}: {message}");
    }
}

#[test]
fn a_plan_is_commands_that_share_the_budget() {
    let output = benchmarks(&["run", "--only", "checksum-1500", "--budget", "20s", "--plan", "--db", "x"]);
    let plan = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && plan.lines().count() == 2, "{plan}");
    for line in plan.lines() {
        assert!(line.starts_with("carryline measure --family checksum --sizes 1500 "), "{line}");
        assert!(line.contains(" --budget 10000ms "), "{line}");
    }
}
