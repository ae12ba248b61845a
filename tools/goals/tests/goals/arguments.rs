//! The command line: refused arguments, and the plan of a run.

use std::process::{Command, Output};

fn benchmarks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_benchmarks")).args(arguments).output().expect("cargo has built it")
}

#[test]
fn invalid_arguments_exit_with_2_and_name_the_fault() {
    for (arguments, words) in [
        (&["run", "--only", "chekcsum"][..], "'chekcsum'; did you mean 'checksum'"),
        (&["show", "--only", "checksum-1501"], "'checksum-1501'"),
        (&["run", "--budget", "soon"], "60s or 5m"),
        (&["run", "--budget", "0"], "between a second and a day"),
        (&["show", "--tier", "avx3"], "'avx3' is not a tier (known: avx512, avx2, sse2)"),
        (&["write", "--out", "x"], "needs an extension"),
        (&["run", "--tier", "sse2", "--only", "checksum-latency-40"], "no such goal in sse2"),
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
fn missing_files_exit_with_1_and_are_named() {
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
fn a_plan_lists_commands_that_share_the_budget() {
    let asked =
        ["run", "--tier", "sse2", "--only", "checksum-kernel", "--budget", "20s", "--plan", "--db", "x"];
    let output = benchmarks(&asked);
    let plan = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && plan.lines().count() == 2, "{plan}");
    for line in plan.lines() {
        // A machine of that tier masks nothing.
        let settings = "CARRYLINE_MASK=avx2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX_Fast_Unaligned_Load ";
        let line = line.strip_prefix(settings).unwrap_or(line);
        assert!(line.starts_with("carryline measure --family checksum --sizes 20,40,"), "{line}");
        assert!(line.contains(" --budget 10000ms "), "{line}");
    }
}

#[test]
fn goals_are_listed_by_tier() {
    let listed = |arguments: &[&str]| {
        let output = benchmarks(arguments);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let all = listed(&["goals"]);
    for line in [
        "AVX-512\n",
        "AVX2\n",
        "SSE2\n",
        "  checksum-9000-limit: ",
        "  checksum-kernel: ",
        "  copy-trap-alias: ",
    ] {
        assert!(all.contains(line), "{line} in {all}");
    }
    let one = listed(&["goals", "--tier", "avx2", "--only", "checksum-9000-limit"]);
    assert_eq!(one.lines().count(), 2, "{one}");
}
