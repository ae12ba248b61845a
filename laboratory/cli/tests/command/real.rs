//! `carryline real`, with an interposer built as it is installed.
#![cfg(target_os = "linux")]

use crate::support::Place;
use serde_json::Value;
use std::process::Command;
use std::sync::OnceLock;

/// The interposer's file.
fn interposer() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| xtask::preload().expect("the interposer can be built").display().to_string())
}

/// The arguments for a short comparison of a command.
fn real<'a>(options: &[&'a str], command: &[&'a str]) -> Vec<&'a str> {
    ["real", "--runs", "2", "--preload", interposer()]
        .iter()
        .chain(options)
        .chain(&["--"])
        .chain(command)
        .copied()
        .collect()
}

/// The same with `--format json`: the object.
fn object(place: &Place, options: &[&str], command: &[&str], status: i32) -> Value {
    let options: Vec<&str> = options.iter().copied().chain(["--format", "json"]).collect();
    let (out, err) = place.expect(&real(&options, command), status);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{command:?}: {error}\n{out}{err}"))
}

/// A program that copies 5000 times 777 bytes and zeroes 3000 times 20 000, and prints what it has been told.
const BUSY: &str = r#"
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
    static char a[20000], b[20000];
    volatile size_t n = 777, all = sizeof a;
    for (int i = 0; i < 5000; i++) memcpy(a, b + i % 50, n), memset(b, i < 3000 ? 0 : 1, all);
    for (int i = 1; i < count; i++) puts(words[i]);
    return count - 1;
}"#;

/// The program, compiled; `None` where it cannot be with these flags.
fn busy(place: &Place, flags: &[&str]) -> Option<String> {
    let source = place.write("busy.c", BUSY.as_bytes());
    let program = place.file("busy");
    let compiled = Command::new("cc")
        .args(["-O1", "-fno-builtin"])
        .args(flags)
        .arg("-o")
        .arg(&program)
        .arg(source)
        .status();
    let compiled = compiled.expect("a C compiler: the README asks for one").success();
    compiled.then(|| program.display().to_string())
}

#[test]
fn both_forms_are_run_measured_and_counted() {
    let place = Place::new();
    let program = busy(&place, &[]).expect("plain C");
    let found =
        object(&place, &["--variant", "copy=reference,zero=libc", "--seed", "5"], &[&program, "x"], 0);
    assert!(found["schema_version"].is_u64() && found["environment"].is_object(), "{found}");
    assert_eq!((found["runs"].as_u64(), found["seed"].as_u64()), (Some(2), Some(5)));
    assert_eq!(found["served_by"], serde_json::json!({ "zero": "libc", "copy": "reference" }));
    assert_eq!(found["exit_status"], serde_json::json!({ "status": 1 }));
    assert!(found["disagreement"].is_null(), "{found}");
    let metrics: Vec<&str> =
        found["figures"].as_array().expect("figures").iter().filter_map(|f| f["metric"].as_str()).collect();
    assert_eq!(metrics.len(), 9, "{metrics:?}");
    let real = &found["figures"][0];
    assert!(real["metric"] == "real_s" && real["without"]["median"].as_f64() > Some(0.0), "{real}");
    assert!(
        real["ratio"]["low"].as_f64() <= real["ratio"]["high"].as_f64() && real["floor"].is_number(),
        "{real}"
    );
    // Without the interposer, glibc's string instructions are also disabled, where it has the tunables.
    let thresholds = carryline_machine::c_library::here();
    assert_eq!(real["tuned"].is_object(), thresholds.not_raised.is_none(), "{real}");
    if thresholds.not_raised.is_none() {
        assert!(found["tunables"].as_str().is_some_and(|value| value.contains("rep_movsb")), "{found}");
        assert!(real["tuned"]["interposer_ratio"]["median"].as_f64() > Some(0.0), "{real}");
    }
    let calls = |function: &str, size: u64| {
        let rows = found["served"]["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["function"] == function);
        let classes = row.and_then(|row| row["classes"].as_array()).into_iter().flatten();
        let mut within =
            classes.filter(|c| (c["from_bytes"].as_u64()..=c["to_bytes"].as_u64()).contains(&Some(size)));
        within.next().and_then(|class| class["calls"].as_u64())
    };
    assert_eq!(calls("memcpy", 777), Some(5000));
    assert_eq!(calls("memset_zero", 20_000), Some(3000));
    assert_eq!(calls("memset_other", 20_000), Some(2000));
    assert_eq!(found["served"]["processes"].as_u64(), Some(1));
}

#[test]
fn the_table_shows_times_calls_and_agreement() {
    let place = Place::new();
    let program = busy(&place, &[]).expect("plain C");
    let (out, err) = place.expect(&real(&[], &[&program]), 0);
    for words in ["real time", "involuntary switches", "All runs agree", "status 0", "memcpy", "memset_other"]
    {
        assert!(out.contains(words), "no '{words}' in\n{out}{err}");
    }
    assert!(err.contains("too few rounds"), "{err}");
    let alone = object(&place, &["--tunables", "none"], &[&program], 0);
    assert!(alone["tunables"].is_null() && alone["figures"][0]["tuned"].is_null(), "{alone}");
}

#[test]
fn recorded_sizes_can_be_measured() {
    let place = Place::new();
    let program = busy(&place, &[]).expect("plain C");
    place.expect(
        &real(
            &["--record", "all.csv", "--record", "zero=zero.csv", "--record", "copy=copy.csv"],
            &[&program],
        ),
        0,
    );
    let lines = |name: &str| std::fs::read_to_string(place.file(name)).expect("written");
    assert!(
        lines("all.csv").contains("\n777,5000\n") && lines("all.csv").contains("\n20000,5000\n"),
        "{}",
        lines("all.csv")
    );
    assert!(
        lines("zero.csv").contains("\n20000,3000\n") && !lines("zero.csv").contains("777,"),
        "{}",
        lines("zero.csv")
    );
    assert!(
        lines("copy.csv").contains("\n777,5000\n") && !lines("copy.csv").contains("20000,"),
        "{}",
        lines("copy.csv")
    );
    place.expect(
        &crate::support::short(&["measure", "--variants", "copy/carryline", "--sizes", "histogram:copy.csv"]),
        0,
    );
}

#[test]
fn outputs_and_exits_that_differ_end_with_3_and_are_shown() {
    let place = Place::new();
    // The interposer changes the output.
    let loud = "if test -n \"$LD_PRELOAD\"; then echo with; else echo without; fi";
    let found = object(&place, &[], &["sh", "-c", loud], 3);
    let what = &found["disagreement"];
    assert_eq!(
        (&what["interposed"], &what["differs_by_itself"]),
        (&Value::Bool(true), &Value::Bool(false)),
        "{found}"
    );
    assert_eq!(
        what["what"]["output"],
        serde_json::json!({ "byte": 4, "line": 1, "expected": "without", "found": "with" })
    );
    let (out, _) = place.expect(&real(&[], &["sh", "-c", loud]), 3);
    assert!(out.contains("DISAGREEMENT") && out.contains("'without'") && out.contains("line 1"), "{out}");

    // The output differs every time.
    let (out, _) = place.expect(&real(&[], &["sh", "-c", "echo $$"]), 3);
    let unwrapped = out.replace('\n', " ");
    assert!(
        unwrapped.contains("Runs without the interposer disagree too")
            && unwrapped.contains("--ignore-output"),
        "{out}"
    );
    place.expect(&real(&["--ignore-output"], &["sh", "-c", "echo $$"]), 0);

    // Exit statuses are compared in any case.
    let ends = "test -z \"$LD_PRELOAD\"";
    let (out, _) = place.expect(&real(&["--ignore-output"], &["sh", "-c", ends]), 3);
    assert!(out.contains("ends with status 1") && out.contains("with status 0"), "{out}");
    let dies = "test -z \"$LD_PRELOAD\" || kill -9 $$";
    let (out, _) = place.expect(&real(&[], &["sh", "-c", dies]), 3);
    assert!(out.contains("signal 9"), "{out}");
}

#[test]
fn a_program_that_the_interposer_does_not_reach_is_reported() {
    let place = Place::new();
    let Some(program) = busy(&place, &["-static"]) else {
        eprintln!("remark: no static programs here; they are not tested");
        return;
    };
    let (_, err) = place.expect(&real(&[], &[&program]), 0);
    assert!(err.contains("no process loaded the interposer") && err.contains("static"), "{err}");
    let (_, err) = place.expect(&real(&["--record", "none.csv"], &["env", "-i", &program]), 0);
    assert!(err.contains("none.csv") || place.file("none.csv").exists(), "{err}");
}

#[test]
fn failing_commands_and_differing_standard_error_are_noted() {
    let place = Place::new();
    let (_, err) = place.expect(&real(&[], &["sh", "-c", "echo $$ >&2; exit 7"]), 0);
    assert!(err.contains("status 7") && err.contains("standard error differs"), "{err}");
    let (_, err) = place.expect(&real(&["--quiet"], &["sh", "-c", "exit 7"]), 0);
    assert_eq!(err, "");
}

#[test]
fn an_interrupted_comparison_shows_the_runs_so_far() {
    let place = Place::new();
    // A run has a folder of its own.
    let note = format!("echo >> '{}'; sleep 0.05", place.file("runs").display());
    let mut child = place
        .command(&["real", "--runs", "1000", "--preload", interposer(), "--", "sh", "-c", &note])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    let begin = std::time::Instant::now();
    while std::fs::read(place.file("runs")).map_or(0, |lines| lines.len()) < 20 {
        assert!(child.try_wait().expect("a child").is_none(), "it has ended by itself");
        assert!(begin.elapsed() < std::time::Duration::from_secs(120), "the program is not run");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = i32::try_from(child.id()).expect("a process number");
    // SAFETY: a child of ours that has not been waited for.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGINT) }, 0);
    let output = child.wait_with_output().expect("it ends");
    let (out, err) = crate::support::texts(&output);
    assert_eq!(output.status.code(), Some(130), "{out}{err}");
    assert!(out.contains("echo >> ") && !out.contains("DISAGREEMENT"), "{out}{err}");
}

#[test]
fn unusable_input_ends_with_2() {
    let place = Place::new();
    place.write("not.so", b"no library");
    place.write("script", b"#!/nonexistent/interpreter\n");
    for (options, command, words) in [
        (&[][..], &["no-such-command"][..], &["'no-such-command'", "PATH"][..]),
        (&[], &["./script"], &["./script"]),
        (&[], &["/"], &["cannot be started"]),
        (&["--variant", "zero=movntsp"], &["ls"], &["'movntsp'", "libc"]),
        (&["--variant", "checksum=adc"], &["ls"], &["'checksum'", "zero, copy"]),
        (&["--variant", "movntps"], &["ls"], &["FAMILY=NAME"]),
        (&["--variant", "zero=libc,zero=carryline"], &["ls"], &["second variant"]),
        (&["--family", "copy", "--variant", "zero=libc"], &["ls"], &["zero is not among"]),
        (&["--family", "coyp"], &["ls"], &["'coyp'", "'copy'"]),
        (&["--record", "nowhere/x.csv"], &["ls"], &["nowhere"]),
        (&["--record", "copy="], &["ls"], &["no file"]),
        (&["--preload", "absent.so"], &["ls"], &["absent.so"]),
        (&["--preload", "not.so"], &["ls"], &["not.so", "cannot be preloaded"]),
        (&["--runs", "0"], &["ls"], &["0"]),
    ] {
        // A later option replaces an earlier one.
        let (out, err) = place.expect(&real(options, command), 2);
        assert_eq!(out, "", "{options:?} {command:?} prints a result");
        assert!(words.iter().all(|word| err.contains(word)), "{options:?} {command:?}: {err}");
    }
    let (_, err) = place.expect(&["real"], 2);
    assert!(err.contains("COMMAND"), "{err}");
}

#[test]
fn a_missing_interposer_is_an_error_that_names_the_remedy() {
    // A copy of the command in its own folder.
    let place = Place::new();
    std::fs::create_dir(place.file("bin")).expect("a folder");
    let copy = place.file("bin/carryline");
    std::fs::copy(env!("CARGO_BIN_EXE_carryline"), &copy).expect("a copy");
    let real = |place: &Place| {
        let output = Command::new(&copy)
            .args(["real", "--runs", "1", "--", "ls", "/"])
            .current_dir(place.path())
            .output();
        let output = output.expect("it starts");
        (output.status.code(), crate::support::texts(&output))
    };
    let (status, (_, err)) = real(&place);
    assert_eq!(status, Some(2), "{err}");
    assert!(
        err.contains("libcarryline-preload.so") && err.contains("cargo build -p carryline-preload"),
        "{err}"
    );
    // Where it is installed, it is found.
    std::fs::create_dir_all(place.file("lib/carryline")).expect("a folder");
    std::fs::copy(interposer(), place.file("lib/carryline/libcarryline-preload.so")).expect("a copy");
    let (status, (out, err)) = real(&place);
    assert_eq!(status, Some(0), "{out}{err}");
}
