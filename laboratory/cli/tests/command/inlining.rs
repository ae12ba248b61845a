//! `carryline inlining`: the known behaviour of real compilers, and compilers that fail.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use crate::support::{Place, texts};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// Options that keep the timing short.
const QUICK: [&str; 2] = ["--budget", "100ms"];

/// True if the command is there and its version begins so.
fn is(compiler: &str, version: &str) -> bool {
    let output = Command::new(compiler).arg("-dumpversion").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with(version))
}

fn rows(found: &Value) -> &Vec<Value> {
    found["rows"].as_array().expect("rows")
}

fn row<'a>(found: &'a Value, flags: &str, function: &str) -> &'a Value {
    rows(found)
        .iter()
        .find(|row| row["flags"] == flags && row["function"] == function)
        .unwrap_or_else(|| panic!("{function} under {flags} in {found}"))
}

/// An executable script in the place's folder.
fn script(place: &Place, name: &str, text: &str) -> PathBuf {
    let path = place.write(name, format!("#!/bin/sh\n{text}\n").as_bytes());
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("an executable file");
    path
}

/// Asks one compiler under plain flags alone.
fn ask(place: &Place, compiler: &str, more: &[&str]) -> Value {
    let arguments: Vec<&str> = ["inlining", "--compiler", compiler].into_iter().chain(QUICK).collect();
    place.json(&arguments.into_iter().chain(more.iter().copied()).collect::<Vec<_>>())
}

/// With a limit at which some memcpys above it are inlined, or one above which all are `rep movs`.
fn gcc_12_inlines_as_known_above(limit: usize) {
    if !is("gcc", "12") {
        return;
    }
    let place = Place::new();
    let found = ask(&place, "gcc", &["--flags", "-O2", "--limit", &limit.to_string()]);
    let freestanding = ask(&place, "gcc", &["--flags", "-O2 -ffreestanding", "--limit", "511"]);
    let of_flags = |flags: &str| if flags == "-O2" { &found } else { &freestanding };
    for (flags, function, inlined, rep) in [
        ("-O2", "__builtin_memcpy", json!([[1, 256]]), json!([[257, 512]])),
        ("-O2", "memset", json!([[1, 80]]), json!([[81, 512]])),
        ("-O2", "__builtin_memmove", json!([[1, 2], [4, 4], [8, 8], [16, 16]]), json!([])),
        ("-O2", "bcopy", json!([[1, 2], [4, 4], [8, 8], [16, 16]]), json!([])),
        ("-O2 -ffreestanding", "memcpy", json!([]), json!([])),
        ("-O2 -ffreestanding", "__builtin_memcpy", json!([[1, 256]]), json!([[257, 512]])),
    ] {
        let row = row(of_flags(flags), flags, function);
        assert_eq!((&row["inlined_ranges"], &row["rep_ranges"]), (&inlined, &rep), "{row}");
        assert_eq!(row["status"], "ok");
    }
    assert_eq!(row(&found, "-O2", "memmove")["largest_inlined"], 16);
    assert_eq!(row(&freestanding, "-O2 -ffreestanding", "memcpy")["call_ranges"], json!([[1, 512]]));
    // Of memmove nothing above 16 is in place, so a limit there takes nothing away; of memcpy all is.
    let limits = found["limits"].as_array().expect("limits");
    let of = |function: &str| limits.iter().find(|row| row["function"] == function).expect(function);
    assert_eq!(of("__builtin_memmove")["in_place_above_ranges"], json!([]));
    let memcpy = of("__builtin_memcpy");
    assert_eq!(memcpy["reason"], Value::Null);
    assert_eq!(memcpy["sizes"].as_array().map(Vec::len), Some(512 - limit));
    for size in memcpy["sizes"].as_array().expect("sizes") {
        let rep = size["size"].as_u64() > Some(256);
        assert_eq!(size["how"], if rep { "rep" } else { "inlined" });
        assert!(size["inlined_ticks"].as_f64() > Some(0.0) && size["call_ticks"].as_f64() > Some(0.0));
    }
}

/// A limit just below the largest size leaves few loops to compile.
#[test]
fn gcc_12_inlines_as_known() {
    gcc_12_inlines_as_known_above(500);
}

mod deep {
    #[test]
    #[ignore = "deep: hundreds of loops to compile"]
    fn gcc_12_inlines_as_known_above_a_limit_that_calls_what_it_would_inline() {
        super::gcc_12_inlines_as_known_above(250);
    }
}

#[test]
fn clang_14_inlines_as_known() {
    if !is("clang", "14") {
        return;
    }
    let place = Place::new();
    let found =
        ask(&place, "clang", &["--flags", "-O2", "--flags", "-O2 -march=x86-64-v3", "--limit", "120"]);
    let memmove = row(&found, "-O2", "__builtin_memmove");
    assert_eq!(memmove["inlined_ranges"][0], json!([1, 94]));
    assert_eq!((&memmove["largest_inlined"], &memmove["gap_ranges"][0]), (&json!(128), &json!([95, 95])));
    assert_eq!(row(&found, "-O2", "memcpy")["inlined_ranges"], json!([[1, 128]]));
    assert_eq!(row(&found, "-O2", "memset")["inlined_ranges"], json!([[1, 256]]));
    assert_eq!(row(&found, "-O2 -march=x86-64-v3", "memcpy")["inlined_ranges"], json!([[1, 256]]));
    // It knows the name and cannot compile it.
    assert_eq!(row(&found, "-O2", "__builtin_bcopy")["status"], "failed");
    let limits = found["limits"].as_array().expect("limits");
    let memcpy = limits.iter().find(|row| row["function"] == "__builtin_memcpy").expect("memcpy");
    assert_eq!(memcpy["in_place_above_ranges"], json!([[121, 128]]));
}

#[test]
fn rustc_inlines_as_known() {
    if Command::new("rustc").arg("-V").output().is_err() {
        return;
    }
    let place = Place::new();
    let mut command = place.command(&["inlining", "--compiler", "rustc", "--format", "json"]);
    command.args(["--flags", "-C opt-level=2", "--flags", "--target no-such-target"]);
    // What chooses a toolchain may be kept below the user's home.
    command.env("HOME", std::env::var_os("HOME").unwrap_or_default());
    let output = command.output().expect("the command starts");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for function in ["ptr::copy", "ptr::copy_nonoverlapping", "ptr::write_bytes"] {
        let row = row(&found, "-C opt-level=2", function);
        assert_eq!(row["inlined_ranges"][0][0], 1, "a byte is never a call: {row}");
        assert!(row["largest_inlined"].as_u64() >= Some(16), "{row}");
    }
    let failed = rows(&found).iter().find(|row| row["status"] == "failed").expect("no such target");
    assert!(failed["reason"].as_str().is_some_and(|reason| reason.contains("no-such-target")), "{failed}");
}

#[test]
fn an_answer_is_kept_until_the_compiler_changes() {
    let place = Place::new();
    let calls = || std::fs::read_to_string(place.file("calls")).unwrap_or_default().matches(" -w ").count();
    let counting = format!("echo \"$@\" >> {}; exec cc \"$@\"", place.file("calls").display());
    let compiler = script(&place, "my-cc", &counting);
    let name = compiler.to_str().expect("a plain path");
    // One run for the probes and one for the loops, of which there are few above a limit near the largest size.
    let first = ask(&place, name, &["--flags", "-O0", "--limit", "500"]);
    assert_eq!(calls(), 2);
    let again = ask(&place, name, &["--flags", "-O0", "--limit", "500"]);
    assert_eq!(calls(), 2, "nothing is compiled twice");
    assert_eq!((&first["rows"], &first["limits"]), (&again["rows"], &again["limits"]));
    assert!(again["notes"].to_string().contains("--refresh"), "{}", again["notes"]);
    ask(&place, name, &["--flags", "-O0", "--limit", "500", "--no-cache"]);
    assert_eq!(calls(), 4);
    ask(&place, name, &["--flags", "-O0", "--limit", "500", "--refresh"]);
    assert_eq!(calls(), 6);
    std::fs::write(&compiler, format!("#!/bin/sh\n# newer\n{counting}\n")).expect("another script");
    ask(&place, name, &["--flags", "-O0", "--limit", "500"]);
    assert_eq!(calls(), 8);
}

#[test]
fn compilers_that_fail_are_rows_that_say_why() {
    let place = Place::new();
    let version = "case \"$1\" in --version) echo 'fake (GCC) 1.2.3'; exit 0;; esac";
    let compilers = [
        ("fails", format!("{version}; echo 'x: error: out of order' >&2; exit 1"), "out of order"),
        ("hangs", format!("{version}; sleep 3600"), "did not end within 1 s"),
        ("lazy", version.to_owned(), "wrote no object"),
        (
            "garbage",
            format!("{version}; while [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo junk > \"$2\"; shift; done"),
            "not an object file",
        ),
        ("silent", "sleep 3600".to_owned(), "does not report its version"),
        ("broken", "exit 7".to_owned(), "does not report its version"),
    ];
    // All are written before the first is started: a file that is open for writing cannot be run.
    let compilers = compilers.map(|(name, text, why)| (name, script(&place, name, &text), text, why));
    let check = |(name, compiler, text, why): &(&str, PathBuf, String, &str)| {
        // A short timeout only where it expires anyway.
        let patience = if text.contains("sleep") { "1" } else { "60" };
        let compiler = compiler.to_str().expect("a plain path");
        let arguments = ["inlining", "--flags", "-O2", "--patience", patience, "--compiler", compiler];
        let found = place.json_with_status(&arguments, 1);
        assert!(!rows(&found).is_empty(), "{name}");
        let reasons: Vec<&str> = rows(&found).iter().filter_map(|row| row["reason"].as_str()).collect();
        assert_eq!(reasons.len(), rows(&found).len(), "{name}: {found}");
        assert!(reasons.iter().any(|reason| reason.contains(why)), "{name}: {reasons:?}");
        assert!(rows(&found).iter().all(|row| row["status"] == "failed"), "{name}");
        let (table, _) = place.expect(&arguments, 1);
        assert!(table.contains(why), "{name}: {table}");
    };
    // In parallel: most of the time is spent waiting for those that hang.
    std::thread::scope(|scope| {
        let checks: Vec<_> = compilers.iter().map(|compiler| scope.spawn(|| check(compiler))).collect();
        for check in checks {
            if let Err(panic) = check.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

#[test]
fn without_a_compiler_there_is_a_message_and_status_1() {
    let place = Place::new();
    for format in ["table", "json"] {
        let mut command = place.command(&["inlining", "--format", format]);
        let output = command.env("PATH", place.path()).output().expect("the command starts");
        let (out, err) = texts(&output);
        assert_eq!((output.status.code(), out.as_str()), (Some(1), ""), "{err}");
        assert!(err.contains("--compiler"), "{err}");
    }
}

#[test]
fn a_compiler_that_cannot_be_run_is_a_usage_error() {
    let place = Place::new();
    place.write("plain", b"no program");
    for (compiler, what) in [
        ("./none", "no such file"),
        ("./plain", "not an executable"),
        (".", "no such program"),
        ("no-such-compiler", "PATH"),
    ] {
        let (_, err) = place.expect(&["inlining", "--compiler", compiler], 2);
        assert!(err.contains(what), "{compiler}: {err}");
    }
    place.expect(&["inlining", "--limit", "512"], 2);
    place.expect(&["inlining", "--patience", "0"], 2);
}
